#include "framewire/net/wire/wire.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/wire/fields.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace framewire::net {

namespace {

// Flags of a state header.
constexpr std::uint8_t partial_flag = 1, withdraws_flag = 2;

// Limits of message sizes in bytes.
constexpr std::size_t max_server_hello_bytes = 512;
constexpr std::size_t drawn_bytes = 32, clock_bytes = 16, run_bytes = 12;
constexpr std::size_t max_error_bytes = 512;
constexpr std::size_t max_viewer_hello_bytes = 2 * (1 + max_text_bytes) + 10 + HeldBlocks::max_runs * run_bytes;

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
        fail(ErrorCode::source_lost, "a picture has object {} of {} pixels in a box of {}x{} at {},{}, which cannot be",
             id, area, object.width, object.height, object.x, object.y);
    object.id = static_cast<std::int32_t>(id);
    object.area = static_cast<std::int32_t>(area);
    return object;
}

// Reads type and length.
MessageHeader take_header(ByteSpan bytes) {
    Reader reader(bytes, "a message's header");
    const auto type = static_cast<MessageType>(reader.take<std::uint8_t>());
    const auto length = reader.take<std::uint32_t>();
    reader.expect_end();
    return {type, length};
}

// Throws unless the length is possible for the type.
MessageHeader within(const MessageHeader& header, std::size_t least, std::size_t most) {
    if (header.length_bytes < least || header.length_bytes > most)
        fail(ErrorCode::source_lost, "a message of type {} claims {} bytes; {} to {} are possible",
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

Bytes answer_message(const ControlAnswer& answer) {
    Bytes out;
    start_message(out, MessageType::answer);
    put(out, static_cast<std::uint8_t>(answer.done));
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

// The layout is at the head of wire.hpp.
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
        default: fail(ErrorCode::source_lost, "a message of the unknown type {}", static_cast<int>(header.type));
    }
}

MessageHeader read_viewer_header(ByteSpan bytes) {
    switch (const auto header = take_header(bytes); header.type) {
        case MessageType::hello: return within(header, 1, max_viewer_hello_bytes);
        case MessageType::drawn: return within(header, drawn_bytes, drawn_bytes);
        case MessageType::control: return within(header, 1, 1 + max_text_bytes);
        default: fail(ErrorCode::source_lost, "a message of the unknown type {}", static_cast<int>(header.type));
    }
}

Drawn read_drawn(ByteSpan payload) {
    Reader reader(payload, "what a viewer has drawn");
    Drawn drawn;
    drawn.messages = reader.take<std::uint64_t>();
    drawn.version = reader.take<std::uint64_t>();
    drawn.clock_us = reader.take<std::uint64_t>();
    drawn.held_us = reader.take<std::uint32_t>();
    drawn.coming_us = reader.take<std::uint32_t>();
    reader.expect_end();
    if (drawn.clock_us > max_version)
        fail(ErrorCode::source_lost, "a viewer's clock says {}, which cannot be", drawn.clock_us);
    return drawn;
}

Clocks read_clocks(ByteSpan payload) {
    Reader reader(payload, "the server's clock");
    Clocks clocks;
    clocks.viewer_us = reader.take<std::uint64_t>();
    clocks.server_us = reader.take<std::uint64_t>();
    reader.expect_end();
    if (clocks.viewer_us > max_version || clocks.server_us > max_version)
        fail(ErrorCode::source_lost, "clocks say {} and {}, which cannot be", clocks.viewer_us, clocks.server_us);
    return clocks;
}

std::string read_control(ByteSpan payload) {
    Reader reader(payload, "a viewer's wish");
    auto text = reader.take_text();
    reader.expect_end();
    return text;
}

ControlAnswer read_answer(ByteSpan payload) {
    Reader reader(payload, "the answer to a wish");
    ControlAnswer answer{.done = reader.take_flag()};
    const auto text = reader.rest();
    answer.text = clean_text({reinterpret_cast<const char*>(text.data()), text.size()}, ControlAnswer::max_text_bytes);
    return answer;
}

StateHeader read_state(ByteSpan& payload, const Shape& shape, std::vector<Component>& objects) {
    Reader reader(payload, "a picture's front");
    StateHeader state;
    state.version = reader.take<std::uint64_t>();
    const auto frame = reader.take<std::uint64_t>();
    state.seconds = std::bit_cast<double>(reader.take<std::uint64_t>());
    const auto captured_us = reader.take<std::uint64_t>();
    if (state.version < 1 || state.version > max_version || frame > max_version || captured_us > max_version ||
        !(std::abs(state.seconds) <= max_seconds))
        fail(ErrorCode::source_lost, "a picture has version {}, frame {}, time {} and clock {}, which cannot be",
             state.version, frame, state.seconds, captured_us);
    state.frame = static_cast<std::int64_t>(frame);
    state.captured_us = captured_us;
    state.threshold = reader.take<std::uint8_t>();
    const auto flags = reader.take<std::uint8_t>();
    if (flags > (partial_flag | withdraws_flag))
        fail(ErrorCode::source_lost, "a picture's front has flags of {}, and only 0 to 3 have a meaning", flags);
    state.partial = (flags & partial_flag) != 0;
    state.withdraws = (flags & withdraws_flag) != 0;
    const auto count = reader.take<std::uint16_t>();
    if (count > max_objects)
        fail(ErrorCode::source_lost, "a picture has {} objects; up to {} are possible", count, max_objects);
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
    if (reason < 1 || reason > 5) fail(ErrorCode::source_lost, "an error message of the unknown kind {}", reason);
    return {static_cast<Refusal>(reason), std::move(text)};
}

}  // namespace framewire::net
