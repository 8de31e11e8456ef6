#include "framewire/net/wire.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/text.hpp"
#include "framewire/core/utf8.hpp"
#include "framewire/net/address.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

namespace framewire::net {
namespace {

// Returns true for characters that terminals or text layout interpret instead of showing them. The joiners U+200C and
// U+200D are excluded, because scripts need them.
bool acts_on_text(char32_t code) {
    constexpr std::pair<char32_t, char32_t> ranges[] = {
        {0x00, 0x1f},        // C0
        {0x7f, 0x9f},        // DEL, C1
        {0xad, 0xad},        // soft hyphen
        {0x61c, 0x61c},      // Arabic letter mark
        {0x180e, 0x180e},    // Mongolian vowel separator, of zero width
        {0x200b, 0x200b},    // zero-width space
        {0x200e, 0x200f},    // directional marks
        {0x2028, 0x202e},    // line and paragraph separators, directional embeddings and overrides
        {0x2060, 0x206f},    // invisible operators, directional isolates, deprecated controls
        {0xfeff, 0xfeff},    // byte order mark
        {0xfff9, 0xfffb},    // interlinear annotations
        {0xe0000, 0xe007f},  // tags
    };
    return std::any_of(std::begin(ranges), std::end(ranges),
                       [code](const auto& range) { return code >= range.first && code <= range.second; });
}

}  // namespace

// Replaces one byte at a time if the text is invalid, so that decoding resumes at the next valid character.
std::string clean_text(std::string_view text, std::size_t max_bytes) {
    std::string clean;
    while (!text.empty()) {
        const auto [code, bytes, valid] = first_character(text);
        const auto piece = valid && !acts_on_text(code) ? text.substr(0, bytes) : std::string_view("?");
        if (clean.size() + piece.size() > max_bytes) break;
        clean += piece;
        text.remove_prefix(valid ? bytes : 1);
    }
    return clean;
}

namespace {

// The index of a mode is its number in the hello.
constexpr codec::Mode modes[] = {codec::Mode::exact, codec::Mode::lossless, codec::Mode::bounded};

// Appends the block versions held, or none if there are too many runs.
void put_held(Bytes& out, const BlockVersions& held) {
    const auto runs =
        held.runs.size() <= BlockVersions::max_runs ? std::span(held.runs) : std::span<const BlockVersions::Run>();
    put(out, runs.empty() ? 0 : held.epoch);
    put(out, static_cast<std::uint16_t>(runs.size()));
    for (const auto& run : runs) {
        put(out, run.version);
        put(out, run.blocks);
    }
}

// Reads the block versions of a viewer. The stream checks that they fit the picture.
BlockVersions take_held(Reader& reader) {
    BlockVersions held{.epoch = reader.take<std::uint64_t>()};
    const auto count = reader.take<std::uint16_t>();
    if (count > BlockVersions::max_runs)
        fail(ErrorCode::source_lost, "a viewer's hello has {} runs of blocks; the limit is {}", count,
             BlockVersions::max_runs);
    held.runs.reserve(count);
    for (int i = 0; i < count; ++i) {
        const auto version = reader.take<std::uint64_t>();
        held.runs.push_back({version, reader.take<std::uint32_t>()});
        if (version > max_version)
            fail(ErrorCode::source_lost, "a viewer's hello has an invalid block version: {}", version);
    }
    return held;
}

// Checks the magic number and returns the version.
std::uint16_t read_preamble(ByteSpan bytes) {
    if (bytes.size() != preamble_bytes || !std::equal(magic.begin(), magic.end(), bytes.begin()))
        fail(ErrorCode::source_lost, "the peer uses a different protocol: this is not a framewire stream");
    return Reader(bytes.subspan(magic.size()), "the preamble").take<std::uint16_t>();
}

[[noreturn]] void refuse_version(std::uint16_t version) {
    fail(ErrorCode::source_lost, "the peer uses version {} of the stream protocol; supported: {} to {}", version,
         oldest_wire_version, wire_version);
}

// Describes what is invalid, or returns an empty string.
std::string problem(const StreamInfo& info) {
    const auto& shape = info.shape;
    const auto side_allowed = [](int side_px) { return side_px >= 1 && side_px <= max_side_px; };
    if (!side_allowed(shape.width) || !side_allowed(shape.height) || shape.frames != 1 ||
        (shape.channels != 1 && shape.channels != 3))
        return fmt::format("frames of {} with {} channels; allowed: sides of 1 to {}, and 1 or 3 channels",
                           to_string(shape), shape.channels, max_side_px);
    if (info.threshold < 0 || info.threshold > 254)
        return fmt::format("a threshold of {}; allowed: 0 to 254", info.threshold);
    const auto term_allowed = [](std::int64_t term) { return term >= 1 && term <= max_rate_term; };
    if (!term_allowed(info.rate.numerator) || !term_allowed(info.rate.denominator))
        return fmt::format("a frame rate of {}/{}; allowed: numerator and denominator from 1 to {}",
                           info.rate.numerator, info.rate.denominator, max_rate_term);
    return {};
}

}  // namespace

void validate(const StreamInfo& info) {
    if (const auto found = problem(info); !found.empty()) fail(ErrorCode::usage, "a stream cannot have {}", found);
}

Bytes viewer_hello(const ViewerHello& hello) {
    validate_stream_name(hello.stream);
    if (hello.token.size() > max_text_bytes)
        fail(ErrorCode::usage, "the token has {} bytes; the limit is {}", hello.token.size(), max_text_bytes);
    Bytes out;
    put_preamble(out, hello.version);
    start_message(out, MessageType::hello);
    put_text(out, hello.stream);
    put(out, static_cast<std::uint8_t>(hello.token.size()));
    out.insert(out.end(), hello.token.begin(), hello.token.end());
    put_held(out, hello.held);
    finish_message(out, preamble_bytes);
    return out;
}

Bytes server_hello(const ServerHello& hello, std::uint16_t version) {
    const auto& info = hello.info;
    validate(info);
    Bytes out;
    put_preamble(out, version);
    start_message(out, MessageType::hello);
    put(out, hello.epoch);
    put(out, static_cast<std::uint8_t>(hello.controls));
    put(out, static_cast<std::uint16_t>(info.shape.width));
    put(out, static_cast<std::uint16_t>(info.shape.height));
    put(out, static_cast<std::uint8_t>(info.shape.channels));
    put(out, static_cast<std::uint8_t>(std::find(std::begin(modes), std::end(modes), info.mode) - std::begin(modes)));
    put(out, static_cast<std::uint8_t>(info.threshold));
    put(out, static_cast<std::uint32_t>(info.rate.numerator));
    put(out, static_cast<std::uint32_t>(info.rate.denominator));
    put_text(out, info.source);
    finish_message(out, preamble_bytes);
    return out;
}

std::uint16_t read_viewer_preamble(ByteSpan bytes) {
    const auto version = read_preamble(bytes);
    if (version < oldest_wire_version) refuse_version(version);
    return version;
}

void read_server_preamble(ByteSpan bytes) {
    const auto version = read_preamble(bytes);
    if (version < oldest_wire_version || version > wire_version) refuse_version(version);
}

// Later versions may append fields, which this version ignores.
ViewerHello read_viewer_hello(ByteSpan payload, std::uint16_t version) {
    Reader reader(payload, "the viewer's hello");
    ViewerHello hello{.stream = reader.take_text()};
    if (!is_stream_name(hello.stream))
        fail(ErrorCode::source_lost, "the viewer requests a stream with an invalid name");
    const auto token = reader.take_bytes(reader.take<std::uint8_t>());
    hello.token.assign(token.begin(), token.end());
    hello.held = take_held(reader);
    if (version <= wire_version) reader.expect_end();
    hello.version = std::min(version, wire_version);
    return hello;
}

ServerHello read_server_hello(ByteSpan payload) {
    Reader reader(payload, "the server's hello");
    ServerHello hello;
    hello.epoch = reader.take<std::uint64_t>();
    hello.controls = reader.take_flag();
    auto& info = hello.info;
    info.shape.width = reader.take<std::uint16_t>();
    info.shape.height = reader.take<std::uint16_t>();
    info.shape.channels = reader.take<std::uint8_t>();
    const auto mode = reader.take<std::uint8_t>();
    if (mode >= std::size(modes)) fail(ErrorCode::source_lost, "the server's hello has an unknown mode: {}", mode);
    info.mode = modes[mode];
    info.threshold = reader.take<std::uint8_t>();
    info.rate.numerator = reader.take<std::uint32_t>();
    info.rate.denominator = reader.take<std::uint32_t>();
    info.source = reader.take_text();
    reader.expect_end();
    if (hello.epoch == 0) fail(ErrorCode::source_lost, "the server's hello has the invalid epoch 0");
    if (const auto found = problem(info); !found.empty())
        fail(ErrorCode::source_lost, "the server's hello has {}", found);
    return hello;
}

namespace {

// Flags of a state header.
constexpr std::uint8_t partial_flag = 1, withdraws_flag = 2;

// Limits of message sizes in bytes.
constexpr std::size_t max_server_hello_bytes = 512;
constexpr std::size_t drawn_bytes = 32, clock_bytes = 16, run_bytes = 12;
constexpr std::size_t max_error_bytes = 512;
constexpr std::size_t max_viewer_hello_bytes = 2 * (1 + max_text_bytes) + 10 + BlockVersions::max_runs * run_bytes;

// Reads one detected object and checks that its box lies inside the picture.
Component take_object(Reader& reader, const Shape& shape) {
    Component object{};
    const auto id = reader.take<std::uint32_t>();
    for (auto* side : {&object.x, &object.y, &object.width, &object.height}) *side = reader.take<std::uint16_t>();
    const auto area = reader.take<std::uint32_t>();
    const bool within = object.width >= 1 && object.height >= 1 && object.x + object.width <= shape.width &&
                        object.y + object.height <= shape.height;
    constexpr std::uint32_t largest_id = std::numeric_limits<std::int32_t>::max();
    if (id < 1 || id > largest_id || !within || area < 1 || area > std::int64_t{object.width} * object.height)
        fail(ErrorCode::source_lost, "a frame contains an invalid object {}: {} pixels in a box of {}x{} at {},{}", id,
             area, object.width, object.height, object.x, object.y);
    object.id = static_cast<std::int32_t>(id);
    object.area = static_cast<std::int32_t>(area);
    return object;
}

// Reads the type and the length.
MessageHeader take_header(ByteSpan bytes) {
    Reader reader(bytes, "a message's header");
    const auto type = static_cast<MessageType>(reader.take<std::uint8_t>());
    const auto length = reader.take<std::uint32_t>();
    reader.expect_end();
    return {type, length};
}

// Returns `header`. Throws if its length is not from `least` to `most`.
MessageHeader within(const MessageHeader& header, std::size_t least, std::size_t most) {
    if (header.length_bytes < least || header.length_bytes > most)
        fail(ErrorCode::source_lost, "a message of type {} declares a length of {} bytes; allowed: {} to {}",
             static_cast<int>(header.type), header.length_bytes, least, most);
    return header;
}

}  // namespace

Bytes drawn_message(const Drawn& drawn) {
    Bytes out;
    start_message(out, MessageType::drawn);
    put(out, drawn.messages);
    put(out, drawn.version);
    put(out, drawn.clock_us);
    put(out, drawn.held_us);
    put(out, drawn.coming_us);
    finish_message(out, 0);
    return out;
}

Bytes clock_message(const Clocks& clocks) {
    Bytes out;
    start_message(out, MessageType::clock);
    put(out, clocks.viewer_us);
    put(out, clocks.server_us);
    finish_message(out, 0);
    return out;
}

Bytes control_message(std::string_view text) {
    Bytes out;
    start_message(out, MessageType::control);
    put_text(out, text);
    finish_message(out, 0);
    return out;
}

namespace {

// First byte of an answer to another viewer's request; 0 and 1 are refused and accepted requests of this viewer.
constexpr std::uint8_t answer_unsolicited = 2;

}  // namespace

Bytes answer_message(const ControlAnswer& answer) {
    Bytes out;
    start_message(out, MessageType::answer);
    put(out, static_cast<std::uint8_t>(answer.unsolicited ? answer_unsolicited : answer.done));
    const auto text = clean_text(answer.text, ControlAnswer::max_text_bytes);
    out.insert(out.end(), text.begin(), text.end());
    finish_message(out, 0);
    return out;
}

Bytes empty_message(MessageType type) {
    Bytes out;
    start_message(out, type);
    return out;
}

Bytes error_message(Refusal reason, std::string_view text, bool with_preamble) {
    Bytes out;
    if (with_preamble) put_preamble(out, oldest_wire_version);
    const auto start = out.size();
    start_message(out, MessageType::error);
    put(out, static_cast<std::uint8_t>(reason));
    put_text(out, text);
    finish_message(out, start);
    return out;
}

// The comment at the head of wire.hpp shows the layout.
void begin_state(MessageType type, const StateHeader& state, std::span<const Component> objects, Bytes& out) {
    out.clear();
    start_message(out, type);
    put(out, state.version);
    put(out, static_cast<std::uint64_t>(state.frame));
    const double seconds = std::isnan(state.seconds) ? 0 : std::clamp(state.seconds, -max_seconds, max_seconds);
    put(out, std::bit_cast<std::uint64_t>(seconds));
    put(out, state.captured_us);
    put(out, static_cast<std::uint8_t>(state.threshold));
    put(out, static_cast<std::uint8_t>((state.partial ? partial_flag : 0) | (state.withdraws ? withdraws_flag : 0)));
    objects = objects.first(std::min(objects.size(), max_objects));
    put(out, static_cast<std::uint16_t>(objects.size()));
    for (const auto& object : objects) {
        put(out, static_cast<std::uint32_t>(object.id));
        for (const int side : {object.x, object.y, object.width, object.height})
            put(out, static_cast<std::uint16_t>(side));
        put(out, static_cast<std::uint32_t>(object.area));
    }
}

void end_state(Bytes& out) { finish_message(out, 0); }

MessageHeader read_header(ByteSpan bytes, std::size_t max_packed_bytes) {
    switch (const auto header = take_header(bytes); header.type) {
        case MessageType::hello: return within(header, 1, max_server_hello_bytes);
        case MessageType::picture:
        case MessageType::changes:
            return within(header, state_header_bytes,
                          state_header_bytes + max_objects * object_bytes + max_packed_bytes);
        case MessageType::alive:
        case MessageType::end: return within(header, 0, 0);
        case MessageType::error: return within(header, 2, max_error_bytes);
        case MessageType::clock: return within(header, clock_bytes, clock_bytes);
        case MessageType::answer: return within(header, 1, 1 + ControlAnswer::max_text_bytes);
        default: fail(ErrorCode::source_lost, "unknown message type {}", static_cast<int>(header.type));
    }
}

MessageHeader read_viewer_header(ByteSpan bytes) {
    switch (const auto header = take_header(bytes); header.type) {
        case MessageType::hello: return within(header, 1, max_viewer_hello_bytes);
        case MessageType::drawn: return within(header, drawn_bytes, drawn_bytes);
        case MessageType::control: return within(header, 1, 1 + max_text_bytes);
        default: fail(ErrorCode::source_lost, "unknown message type {}", static_cast<int>(header.type));
    }
}

Drawn read_drawn(ByteSpan payload) {
    Reader reader(payload, "a viewer's acknowledgement");
    Drawn drawn;
    drawn.messages = reader.take<std::uint64_t>();
    drawn.version = reader.take<std::uint64_t>();
    drawn.clock_us = reader.take<std::uint64_t>();
    drawn.held_us = reader.take<std::uint32_t>();
    drawn.coming_us = reader.take<std::uint32_t>();
    reader.expect_end();
    if (drawn.clock_us > max_version)
        fail(ErrorCode::source_lost, "a viewer's clock is out of range: {}", drawn.clock_us);
    return drawn;
}

Clocks read_clocks(ByteSpan payload) {
    Reader reader(payload, "the server's clock");
    Clocks clocks;
    clocks.viewer_us = reader.take<std::uint64_t>();
    clocks.server_us = reader.take<std::uint64_t>();
    reader.expect_end();
    if (clocks.viewer_us > max_version || clocks.server_us > max_version)
        fail(ErrorCode::source_lost, "the clocks of viewer and server are out of range: {} and {}", clocks.viewer_us,
             clocks.server_us);
    return clocks;
}

std::string read_control(ByteSpan payload) {
    Reader reader(payload, "a viewer's control request");
    auto text = reader.take_text();
    reader.expect_end();
    return text;
}

ControlAnswer read_answer(ByteSpan payload) {
    Reader reader(payload, "the answer to a control request");
    const auto kind = reader.take<std::uint8_t>();
    if (kind > answer_unsolicited)
        fail(ErrorCode::source_lost, "the answer to a control request has an unknown kind: {}", kind);
    ControlAnswer answer{.done = kind != 0, .unsolicited = kind == answer_unsolicited};
    const auto text = reader.rest();
    answer.text = clean_text({reinterpret_cast<const char*>(text.data()), text.size()}, ControlAnswer::max_text_bytes);
    return answer;
}

StateHeader read_state(ByteSpan& payload, const Shape& shape, std::vector<Component>& objects) {
    Reader reader(payload, "a picture's header");
    StateHeader state;
    state.version = reader.take<std::uint64_t>();
    const auto frame = reader.take<std::uint64_t>();
    state.seconds = std::bit_cast<double>(reader.take<std::uint64_t>());
    const auto captured_us = reader.take<std::uint64_t>();
    if (state.version < 1 || state.version > max_version || frame > max_version || captured_us > max_version ||
        !(std::abs(state.seconds) <= max_seconds))
        fail(ErrorCode::source_lost, "a frame header is invalid: version {}, frame number {}, time {}, clock {}",
             state.version, frame, state.seconds, captured_us);
    state.frame = static_cast<std::int64_t>(frame);
    state.captured_us = captured_us;
    state.threshold = reader.take<std::uint8_t>();
    const auto flags = reader.take<std::uint8_t>();
    if (flags > (partial_flag | withdraws_flag))
        fail(ErrorCode::source_lost, "the flags of a frame header are {}; allowed: 0 to 3", flags);
    state.partial = (flags & partial_flag) != 0;
    state.withdraws = (flags & withdraws_flag) != 0;
    const auto count = reader.take<std::uint16_t>();
    if (count > max_objects)
        fail(ErrorCode::source_lost, "a frame has {} objects; the limit is {}", count, max_objects);
    objects.clear();
    for (int index = 0; index < count; ++index) objects.push_back(take_object(reader, shape));
    payload = reader.rest();
    return state;
}

ServerError read_error(ByteSpan payload) {
    Reader reader(payload, "an error message");
    const auto reason = reader.take<std::uint8_t>();
    auto text = reader.take_text();
    reader.expect_end();
    if (reason < 1 || reason > 5) fail(ErrorCode::source_lost, "an error message has an unknown reason: {}", reason);
    return {static_cast<Refusal>(reason), std::move(text)};
}

}  // namespace framewire::net
