#pragma once

// The bytes on a connection between broadcaster and viewer, as docs/protocol.md has them: written and read by hand,
// little-endian, every length checked. What pictures and changes look like inside is the codec's affair: here they are
// opaque bytes with a version.

#include "framewire/core/component.hpp"
#include "framewire/core/time/rational.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/delta.hpp"

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
inline constexpr std::uint16_t wire_version = 4;

/// Both ends begin with the magic and the version.
inline constexpr std::size_t preamble_bytes = 6;
/// Each message begins with its type and the length of what follows.
inline constexpr std::size_t header_bytes = 5;
/// A picture or changes begin with version, frame index, time and the number of objects ...
inline constexpr std::size_t state_header_bytes = 26;
/// ... each of which takes this.
inline constexpr std::size_t object_bytes = 16;
/// The most objects that go with one state; of more the first are sent.
inline constexpr std::size_t max_objects = 1024;

enum class MessageType : std::uint8_t {
    hello = 1,    ///< from either side, once, first
    picture = 2,  ///< a whole picture
    changes = 3,  ///< from one version to the next
    alive = 4,    ///< nothing new, but the server is there
    end = 5,      ///< the stream came to its end
    error = 6,    ///< in words; the connection is closed after it
};

/// The greatest numerator and denominator of a rate; video libraries count in int.
inline constexpr std::int64_t max_rate_term = 0x7fffffff;

/// What viewers are told of a stream before its first picture.
struct StreamInfo {
    Shape shape{};  ///< one frame
    delta::Mode mode = delta::Mode::exact;
    int threshold = 0;  ///< the one in force
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
    not_allowed = 5,  ///< no token, or a wrong one; another time it will be no different
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
    std::uint64_t version = 0;  ///< 1 to max_version, once there is one
    std::int64_t frame = 0;     ///< 0 to max_version
    double seconds = 0;
};

/// What a viewer asks for.
struct ClientHello {
    std::string stream;  ///< of the characters allowed
    std::string token;   ///< any bytes; empty: none
};

struct ServerError {
    Refusal reason{};
    std::string text;
};

// Writing. Each gives or appends whole messages; the hellos have the preamble in front.

/// A token longer than 255 bytes throws Error{usage}, and a stream's name that is not allowed; empty: no token.
Bytes client_hello(std::string_view stream, std::string_view token = {});
Bytes server_hello(const StreamInfo& info);
/// A message without content: alive, end.
Bytes empty_message(MessageType type);
/// With the preamble in front when it is the first thing the server says.
Bytes error_message(Refusal reason, std::string_view text, bool with_preamble);

/// Replaces `out` by the front of a picture or changes, with the boxes of the objects seen in the frame; the packed
/// bytes are then appended to it, and end_state() writes the length. Throws Error{internal} when they are too many for
/// a message. A time further from 0 than max_seconds is sent as that, none (NaN) as 0.
void begin_state(MessageType type, const StateHeader& state, std::span<const Component> objects, Bytes& out);
void end_state(Bytes& out);

// Reading. Everything read is taken for hostile: Error{source_lost} on what no framewire writes.

/// Throws when the other end is no framewire or speaks another version.
void read_preamble(ByteSpan bytes);
/// Throws on unknown types and on lengths that type cannot have; `max_packed_bytes` bounds pictures and changes.
MessageHeader read_header(ByteSpan bytes, std::size_t max_packed_bytes);
ClientHello read_client_hello(ByteSpan payload);
StreamInfo read_server_hello(ByteSpan payload);
/// Gives the front and replaces `objects` by those of the frame, whose boxes lie within `shape`; their sums of
/// coordinates stay 0. Advances `payload` to the packed bytes.
StateHeader read_state(ByteSpan& payload, const Shape& shape, std::vector<Component>& objects);
ServerError read_error(ByteSpan payload);

/// `text` as valid UTF-8 of at most `max_bytes`, without control characters (C0, C1, DEL) and without what would break
/// its line, turn its direction or hide in it (U+2028, U+202E, ...); what is not is replaced by '?'.
std::string clean_text(std::string_view text, std::size_t max_bytes);

}  // namespace framewire::net
