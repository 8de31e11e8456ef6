#pragma once

#include "framewire/codec/delta.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::net {

/// Returns `text` as valid UTF-8 of at most `max_bytes` bytes. Invalid bytes, control characters (C0, C1, DEL) and
/// characters that break the line, change its direction or are invisible (U+2028, U+202E, ...) are replaced by '?'.
std::string clean_text(std::string_view text, std::size_t max_bytes);

}  // namespace framewire::net

// The stream protocol between server and viewer, see docs/protocol.md. All integers are little-endian, and every length
// is checked. The content of keyframes and delta frames is defined by the codec, see codec/format.md.
//
//   preamble   "FWIR" u16 version                       once per direction, before the hello
//   message    u8 type  u32 length  payload[length]
//   state      u64 version  u64 frame  f64 seconds  u64 captured_us
//              u8 threshold  u8 flags  u16 objects  objects * 16 bytes  packed bytes

namespace framewire::net {

/// Bytes of a message.
using Bytes = std::vector<std::uint8_t>;
/// A view of bytes that are owned elsewhere.
using ByteSpan = std::span<const std::uint8_t>;

/// The protocol version of this build, and the oldest one that it accepts.
inline constexpr std::uint16_t wire_version = 5, oldest_wire_version = 4;

/// Size of the preamble: the magic number and the version.
inline constexpr std::size_t preamble_bytes = 6;
/// Size of a message header: the type and the length of the payload.
inline constexpr std::size_t header_bytes = 5;
/// Size of a state header: version, frame number, times, threshold, flags and number of objects.
inline constexpr std::size_t state_header_bytes = 36;
/// Size of each object after the state header.
inline constexpr std::size_t object_bytes = 16;
/// Maximum number of objects per state. If there are more, only the first ones are sent.
inline constexpr std::size_t max_objects = 1024;

/// Message types. Their numbers are part of the protocol.
enum class MessageType : std::uint8_t {
    /// The first message of each side.
    hello = 1,
    /// A keyframe.
    picture = 2,
    /// A delta frame, or some independently coded blocks.
    changes = 3,
    /// Keep-alive of the server.
    alive = 4,
    /// The end of the stream.
    end = 5,
    /// An error text; the connection is closed after it.
    error = 6,
    /// A viewer's acknowledgement.
    drawn = 7,
    /// The server's clock and the viewer's clock.
    clock = 8,
    /// A viewer's control request, as text.
    control = 9,
    /// The answer to a control request.
    answer = 10,
};

/// Greatest numerator and denominator of a frame rate; video libraries use int for them.
inline constexpr std::int64_t max_rate_term = 0x7fffffff;

/// Parameters of a stream, which viewers receive before its first picture.
struct StreamInfo {
    /// Size and channels of one frame.
    Shape shape{};
    /// How the stream is coded.
    codec::Mode mode = codec::Mode::exact;
    /// The greatest bound of all states; each state has its own.
    int threshold = 0;
    /// Frames per second.
    Rational rate{30, 1};
    /// Human-readable description of the source.
    std::string source;
};

/// Throws Error{usage} unless `info` has one frame of an allowed shape (sides of 1 to max_side_px, 1 or 3 channels), a
/// threshold of 0 to 254 and rate terms of 1 to max_rate_term.
void validate(const StreamInfo& info);

/// Why a server refuses or disconnects a viewer. The numbers are part of the protocol.
enum class Refusal : std::uint8_t {
    no_such_stream = 1,
    too_many_viewers = 2,
    bad_request = 3,
    failed = 4,
    /// The token is missing or wrong.
    not_allowed = 5,
};

/// The header of a message.
struct MessageHeader {
    MessageType type{};
    std::uint32_t length_bytes = 0;
};

/// Greatest version and frame number, 2^53 - 1: far from overflow, and exact as a double.
inline constexpr std::uint64_t max_version = (std::uint64_t{1} << 53) - 1;
/// Greatest absolute value of a frame's time in seconds, about 300 years.
inline constexpr double max_seconds = 1e10;

/// Version and metadata of the state that a keyframe, a delta frame or blocks lead to.
struct StateHeader {
    /// Version, 1 to max_version; 0 if there is no state.
    std::uint64_t version = 0;
    /// Frame number in the source, 0 to max_version.
    std::int64_t frame = 0;
    /// Time of the frame in its source.
    double seconds = 0;
    /// Capture time by the server's clock in microseconds, 0 to max_version.
    std::uint64_t captured_us = 0;
    /// The bound of the state, 0 to 254.
    int threshold = 0;
    /// True if the state is not complete after this message.
    bool partial = false;
    /// True if older states are withdrawn and must not be passed on, because they may show what is hidden now.
    bool withdraws = false;
};

/// Returns true if two states belong to the same source frame. Refinement creates new states of the same frame.
inline bool same_frame(const StateHeader& a, const StateHeader& b) {
    return a.frame == b.frame && a.seconds == b.seconds;
}

/// An error message of the server.
struct ServerError {
    Refusal reason{};
    std::string text;
};

/// Block versions that a viewer holds from an earlier connection, run-length encoded in block order.
struct BlockVersions {
    /// Consecutive blocks of the same version.
    struct Run {
        /// Version in which the blocks were last received; 0: never.
        std::uint64_t version = 0;
        /// Number of blocks, at least 1.
        std::uint32_t blocks = 0;
        bool operator==(const Run&) const = default;
    };
    /// Epoch of the stream; 0: nothing is held.
    std::uint64_t epoch = 0;
    /// Runs that together cover all blocks of the picture; at most max_runs.
    std::vector<Run> runs{};
    static constexpr std::size_t max_runs = 2048;
    bool operator==(const BlockVersions&) const = default;
};

/// The first message of a viewer.
struct ViewerHello {
    /// Name of the requested stream.
    std::string stream;
    /// The viewer's token, at most 255 bytes. Empty if it has none.
    std::string token{};
    /// Blocks that the viewer already holds.
    BlockVersions held{};
    /// Protocol version that both ends support.
    std::uint16_t version = wire_version;
};

/// The first message of a server.
struct ServerHello {
    /// Identifies one life of the stream, so that versions are comparable. Never 0.
    std::uint64_t epoch = 0;
    /// True if the server accepts control requests.
    bool controls = false;
    /// Parameters of the stream.
    StreamInfo info{};
};

/// An acknowledgement: what a viewer has drawn.
struct Drawn {
    /// Keyframes and delta frames received on this connection so far.
    std::uint64_t messages = 0;
    /// Version of the latest of these messages.
    std::uint64_t version = 0;
    /// The viewer's clock when it sends the acknowledgement, in microseconds.
    std::uint64_t clock_us = 0;
    /// Time from the end of the latest message to the acknowledgement, in microseconds.
    std::uint32_t held_us = 0;
    /// Time from the first to the last byte of the latest message, in microseconds.
    std::uint32_t coming_us = 0;
};

/// The clocks of both ends at the same time, in microseconds.
struct Clocks {
    /// Drawn::clock_us plus the time since it was received.
    std::uint64_t viewer_us = 0;
    /// The server's clock.
    std::uint64_t server_us = 0;
};

/// The answer to a control request; also sent unsolicited after a change by another viewer.
struct ControlAnswer {
    /// True if the request was accepted.
    bool done = false;
    /// The resulting settings in the format of the server's program, or the reason for the refusal.
    std::string text{};
    /// True if the request came from another viewer. Always false if either end uses version 4.
    bool unsolicited = false;
    static constexpr std::size_t max_text_bytes = 8192;
};

// Writing. Each function returns or appends complete messages; hellos and first errors include the preamble.

/// Returns a viewer's hello. Throws Error{usage} if the stream name is invalid or the token has more than 255 bytes.
Bytes viewer_hello(const ViewerHello& hello);
/// Returns a server's hello in the given protocol version. Throws Error{usage} as validate() does.
Bytes server_hello(const ServerHello& hello, std::uint16_t version = wire_version);
/// Returns an acknowledgement.
Bytes drawn_message(const Drawn& drawn);
/// Returns a message with the clocks of both ends.
Bytes clock_message(const Clocks& clocks);
/// Returns a control request with at most 255 bytes of the text.
Bytes control_message(std::string_view text);
/// Returns the answer to a control request. An unsolicited answer must have `done` set.
Bytes answer_message(const ControlAnswer& answer);
/// Returns a message without payload: alive or end.
Bytes empty_message(MessageType type);
/// Returns an error message. If it is the server's first message, it starts with a preamble of the oldest version,
/// which every viewer can read.
Bytes error_message(Refusal reason, std::string_view text, bool with_preamble);

/// Replaces `out` with the start of a state message and the boxes of `objects`. The caller appends the packed bytes and
/// then calls end_state(), which writes the length. Times beyond max_seconds are clamped to it; NaN is sent as 0.
void begin_state(MessageType type, const StateHeader& state, std::span<const Component> objects, Bytes& out);
/// Writes the length. Throws Error{internal} if the message is too long.
void end_state(Bytes& out);

// Reading. All input is untrusted: the functions throw Error{source_lost} on anything that a correct peer does not
// send.

/// Returns the version that a viewer offers, at least oldest_wire_version. Throws if the peer does not speak this
/// protocol, or only older versions of it.
std::uint16_t read_viewer_preamble(ByteSpan bytes);
/// Throws if the peer does not speak this protocol, or a version outside oldest_wire_version to wire_version.
void read_server_preamble(ByteSpan bytes);
/// Reads the header of a message to a viewer. Throws if no server sends this type or its length is impossible.
/// `max_packed_bytes` limits keyframes and delta frames.
MessageHeader read_header(ByteSpan bytes, std::size_t max_packed_bytes);
/// Reads the header of a message to a server. Throws like read_header().
MessageHeader read_viewer_header(ByteSpan bytes);
/// Reads a viewer's hello. The stream name is valid afterwards. If the viewer offers a version later than wire_version,
/// trailing bytes are ignored.
ViewerHello read_viewer_hello(ByteSpan payload, std::uint16_t version);
/// Reads a server's hello. Its parameters are valid afterwards.
ServerHello read_server_hello(ByteSpan payload);
/// Reads an acknowledgement.
Drawn read_drawn(ByteSpan payload);
/// Reads the clocks of both ends.
Clocks read_clocks(ByteSpan payload);
/// Reads a control request.
std::string read_control(ByteSpan payload);
/// Reads the answer to a control request.
ControlAnswer read_answer(ByteSpan payload);
/// Reads a state header and replaces `objects` with the frame's objects, whose boxes lie inside `shape` and whose
/// coordinate sums are 0. Advances `payload` to the packed bytes.
StateHeader read_state(ByteSpan& payload, const Shape& shape, std::vector<Component>& objects);
/// Reads an error message.
ServerError read_error(ByteSpan payload);

/// Maximum length of a text field in bytes; the length is stored in one byte.
inline constexpr std::size_t max_text_bytes = 255;

/// Magic number that starts the preamble of both ends.
inline constexpr std::array<std::uint8_t, 4> magic{'F', 'W', 'I', 'R'};

/// Appends an unsigned integer in little-endian order.
template <std::unsigned_integral T>
void put(Bytes& out, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

/// Appends a text with its length, cleaned by clean_text().
inline void put_text(Bytes& out, std::string_view text) {
    const auto clean = clean_text(text, max_text_bytes);
    put(out, static_cast<std::uint8_t>(clean.size()));
    out.insert(out.end(), clean.begin(), clean.end());
}

/// Appends the magic number and the version.
inline void put_preamble(Bytes& out, std::uint16_t version) {
    out.insert(out.end(), magic.begin(), magic.end());
    put(out, version);
}

/// Appends a message header. finish_message() writes its length when the payload is complete.
inline void start_message(Bytes& out, MessageType type) {
    put(out, static_cast<std::uint8_t>(type));
    put(out, std::uint32_t{0});
}

/// Writes the length of the message that starts at offset `start`. Throws Error{internal} if it exceeds 32 bits.
inline void finish_message(Bytes& out, std::size_t start) {
    const auto length = out.size() - start - header_bytes;
    if (length > std::numeric_limits<std::uint32_t>::max())
        fail(ErrorCode::internal, "a message of {} bytes is too long for the protocol", length);
    for (std::size_t i = 0; i < 4; ++i) out[start + 1 + i] = static_cast<std::uint8_t>(length >> (8 * i));
}

/// Reads fields from an untrusted message. All functions throw Error{source_lost} if the message is too short or
/// invalid.
class Reader {
public:
    /// `what` names the message in errors and must outlive the reader.
    Reader(ByteSpan bytes, const char* what) : rest_(bytes), what_(what) {}

    /// Reads an unsigned integer in little-endian order.
    template <std::unsigned_integral T>
    T take() {
        T value = 0;
        const auto bytes = take_bytes(sizeof(T));
        for (std::size_t i = 0; i < sizeof(T); ++i)
            value = static_cast<T>(value | static_cast<T>(T{bytes[i]} << (8 * i)));
        return value;
    }

    /// Reads a text with its length, cleaned by clean_text().
    std::string take_text() {
        const auto bytes = take_bytes(take<std::uint8_t>());
        return clean_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, max_text_bytes);
    }

    /// Reads a byte that must be 0 or 1.
    bool take_flag() {
        const auto flag = take<std::uint8_t>();
        if (flag > 1) fail(ErrorCode::source_lost, "{} contains a flag that is {} instead of 0 or 1", what_, flag);
        return flag == 1;
    }

    /// Returns the next `count` bytes.
    ByteSpan take_bytes(std::size_t count) {
        if (count > rest_.size())
            fail(ErrorCode::source_lost, "{} is truncated: {} more bytes are needed, but only {} follow", what_, count,
                 rest_.size());
        const auto bytes = rest_.first(count);
        rest_ = rest_.subspan(count);
        return bytes;
    }

    /// Returns the bytes that have not been read.
    ByteSpan rest() const { return rest_; }

    /// Throws unless everything has been read.
    void expect_end() const {
        if (!rest_.empty()) fail(ErrorCode::source_lost, "{} is {} bytes too long", what_, rest_.size());
    }

private:
    ByteSpan rest_;
    const char* what_;
};

}  // namespace framewire::net
