#pragma once

// The bytes on a connection between broadcaster and viewer, as docs/protocol.md has them: written and read by hand,
// little-endian, every length checked. What pictures and changes look like inside is the codec's affair.

#include "framewire/core/component.hpp"
#include "framewire/core/time/rational.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/net/wire/clean_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::net {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

/// The protocol this build speaks; both ends have to agree on it.
inline constexpr std::uint16_t wire_version = 5, oldest_wire_version = 4;

/// Both ends begin with the magic and the version.
inline constexpr std::size_t preamble_bytes = 6;
/// Each message begins with its type and the length of what follows.
inline constexpr std::size_t header_bytes = 5;
/// A picture or changes begin with version, frame index, times, threshold, flags and the number of objects ...
inline constexpr std::size_t state_header_bytes = 36;
/// ... each of which takes this.
inline constexpr std::size_t object_bytes = 16;
/// The most objects that go with one state; of more the first are sent.
inline constexpr std::size_t max_objects = 1024;

enum class MessageType : std::uint8_t {
    hello = 1,    ///< from either side, once, first
    picture = 2,  ///< a whole picture
    changes = 3,  ///< some blocks of a picture, as they are or from the version before
    alive = 4,    ///< nothing new, but the server is there
    end = 5,      ///< the stream came to its end
    error = 6,    ///< in words; the connection is closed after it
    drawn = 7,    ///< from a viewer: what it has drawn, and when
    clock = 8,    ///< the server's clock beside the viewer's
    control = 9,  ///< from a viewer: a wish, as text
    answer = 10,  ///< what became of a wish
};

/// The greatest numerator and denominator of a rate; video libraries count in int.
inline constexpr std::int64_t max_rate_term = 0x7fffffff;

/// What viewers are told of a stream before its first picture.
struct StreamInfo {
    Shape shape{};  ///< one frame
    delta::Mode mode = delta::Mode::exact;
    int threshold = 0;  ///< the greatest that there may be; each state tells its own
    Rational rate{30, 1};
    std::string source;  ///< where it comes from, for people to read
};

/// Throws Error{usage} unless the shape is allowed and one frame, the threshold 0..254 and the rate's terms 1 to
/// max_rate_term.
void validate(const StreamInfo& info);

/// Why a server turns a viewer away or breaks off.
enum class Refusal : std::uint8_t {
    no_such_stream = 1,
    too_many_viewers = 2,
    bad_request = 3,
    failed = 4,
    not_allowed = 5,  ///< no token, or a wrong one
};

struct MessageHeader {
    MessageType type{};
    std::uint32_t length_bytes = 0;
};

/// The greatest version and the greatest frame number, 2^53 - 1: far from overflows, and exact as a double, too.
inline constexpr std::uint64_t max_version = (std::uint64_t{1} << 53) - 1;
/// The furthest that a frame's time can be from 0, either way; some 300 years.
inline constexpr double max_seconds = 1e10;

/// The front of a picture or of changes: what they lead to.
struct StateHeader {
    std::uint64_t version = 0;      ///< 1 to max_version, once there is one
    std::int64_t frame = 0;         ///< 0 to max_version
    double seconds = 0;             ///< of the frame in its source
    std::uint64_t captured_us = 0;  ///< when the camera's machine had it, by the server's clock; 0 to max_version
    int threshold = 0;              ///< no byte of the state is further from the source, 0..254
    bool partial = false;           ///< the state is not complete with this message
    bool withdraws = false;  ///< nothing of an older state may be passed on any more: it may show what is hidden now
};

/// Whether two states are of one frame of the source: R may get sharper while the frame stays.
inline bool same_frame(const StateHeader& a, const StateHeader& b) {
    return a.frame == b.frame && a.seconds == b.seconds;
}

struct ServerError {
    Refusal reason{};
    std::string text;
};

/// What a viewer holds of a stream that it had before: the version in which each block came last.
struct HeldBlocks {
    struct Run {
        std::uint64_t version = 0;  ///< 0: never
        std::uint32_t blocks = 0;   ///< so many that follow each other, 1 and more
        bool operator==(const Run&) const = default;
    };
    std::uint64_t epoch = 0;  ///< of the stream; 0: nothing is held
    std::vector<Run> runs{};  ///< of all blocks of the picture, at most max_runs
    static constexpr std::size_t max_runs = 2048;
    bool operator==(const HeldBlocks&) const = default;
};

/// What a viewer begins with.
struct ViewerHello {
    std::string stream;   ///< by its name
    std::string token{};  ///< what lets it in, up to 255 bytes; empty: none
    HeldBlocks held{};
    std::uint16_t version = wire_version;  ///< of the protocol, that both ends speak
};

/// What a server begins with.
struct ServerHello {
    std::uint64_t epoch = 0;  ///< tells this stream's versions from those of another of the same name; not 0
    bool controls = false;    ///< whether it takes wishes
    StreamInfo info{};
};

/// What a viewer has drawn.
struct Drawn {
    std::uint64_t messages = 0;   ///< pictures and changes taken on this connection so far
    std::uint64_t version = 0;    ///< of the last of them
    std::uint64_t clock_us = 0;   ///< the viewer's, when it sends this
    std::uint32_t held_us = 0;    ///< from when that had come to when this is sent
    std::uint32_t coming_us = 0;  ///< from its first byte to its last
};

/// Two clocks at one time.
struct Clocks {
    std::uint64_t viewer_us = 0;  ///< Drawn::clock_us, moved on by what has passed since that came
    std::uint64_t server_us = 0;
};

/// What became of a wish, and unasked, how what may be wished for stands.
struct ControlAnswer {
    bool done = false;
    std::string text{};  ///< how it stands then, in the words of the server's program, or why it was not done
    static constexpr std::size_t max_text_bytes = 8192;
};

// Writing. Each gives or appends whole messages; the hellos have the preamble in front.

/// Throws Error{usage} on a name that is none and a token of more than 255 bytes.
Bytes viewer_hello(const ViewerHello& hello);
Bytes server_hello(const ServerHello& hello, std::uint16_t version = wire_version);
Bytes drawn_message(const Drawn& drawn);
Bytes clock_message(const Clocks& clocks);
/// Up to 255 bytes of the text.
Bytes control_message(std::string_view text);
Bytes answer_message(const ControlAnswer& answer);
/// A message without content: alive, end.
Bytes empty_message(MessageType type);
/// With the preamble of the oldest version in front if it is the first message of the server: every viewer reads it.
Bytes error_message(Refusal reason, std::string_view text, bool with_preamble);

/// Replaces `out` by the front of a picture or changes, with the boxes of the objects seen in the frame; the packed
/// bytes are then appended to it, and end_state() writes the length. Throws Error{internal} when they are too many for
/// a message. A time further from 0 than max_seconds is sent as that, none (NaN) as 0.
void begin_state(MessageType type, const StateHeader& state, std::span<const Component> objects, Bytes& out);
void end_state(Bytes& out);

// Reading. Everything read is taken for hostile: Error{source_lost} on what no framewire writes.

/// The version that a viewer offers, oldest_wire_version or later. Throws if it is no framewire or speaks only older
/// ones.
std::uint16_t read_viewer_preamble(ByteSpan bytes);
/// Throws if the other end is no framewire or speaks a version other than oldest_wire_version to wire_version.
void read_server_preamble(ByteSpan bytes);
/// Of a message to a viewer. Throws on types that no server sends and on lengths that type cannot have;
/// `max_packed_bytes` bounds pictures and changes.
MessageHeader read_header(ByteSpan bytes, std::size_t max_packed_bytes);
/// Of a message to a server. Throws likewise.
MessageHeader read_viewer_header(ByteSpan bytes);
/// Names are of the characters allowed. If the viewer offers a version later than wire_version, trailing bytes are
/// ignored.
ViewerHello read_viewer_hello(ByteSpan payload, std::uint16_t version);
ServerHello read_server_hello(ByteSpan payload);
Drawn read_drawn(ByteSpan payload);
Clocks read_clocks(ByteSpan payload);
std::string read_control(ByteSpan payload);
ControlAnswer read_answer(ByteSpan payload);
/// Gives the front and replaces `objects` by those of the frame, whose boxes lie within `shape`; their sums of
/// coordinates stay 0. Advances `payload` to the packed bytes.
StateHeader read_state(ByteSpan& payload, const Shape& shape, std::vector<Component>& objects);
ServerError read_error(ByteSpan payload);

}  // namespace framewire::net
