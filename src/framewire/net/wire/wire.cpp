#include "framewire/net/wire/wire.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/address.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <iterator>
#include <limits>
#include <utility>

namespace framewire::net {

namespace {

// As the hello numbers them.
constexpr delta::Mode modes[] = {delta::Mode::exact, delta::Mode::lossless, delta::Mode::bounded};

constexpr std::array<std::uint8_t, 4> magic{'F', 'W', 'I', 'R'};
constexpr std::size_t max_server_hello_bytes = 512;
constexpr std::size_t partial_at = 33;  // in a state's front
constexpr std::size_t drawn_bytes = 32, clock_bytes = 16, run_bytes = 12;
constexpr std::size_t max_error_bytes = 512;
constexpr std::size_t max_text_bytes = 255;  // its length is one byte
constexpr std::size_t max_viewer_hello_bytes = 2 * (1 + max_text_bytes) + 10 + HeldBlocks::max_runs * run_bytes;

template <std::unsigned_integral T>
void put(Bytes& out, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

void put_text(Bytes& out, std::string_view text) {
    const auto clean = clean_text(text, max_text_bytes);
    put(out, static_cast<std::uint8_t>(clean.size()));
    out.insert(out.end(), clean.begin(), clean.end());
}

void put_preamble(Bytes& out) {
    out.insert(out.end(), magic.begin(), magic.end());
    put(out, wire_version);
}

// The length is written by finish_message(), once the payload is there.
void start_message(Bytes& out, MessageType type) {
    put(out, static_cast<std::uint8_t>(type));
    put(out, std::uint32_t{0});
}

void finish_message(Bytes& out, std::size_t start) {
    const auto length = out.size() - start - header_bytes;
    if (length > std::numeric_limits<std::uint32_t>::max())
        fail(ErrorCode::internal, "a message of {} bytes is too long for the protocol", length);
    for (std::size_t i = 0; i < 4; ++i) out[start + 1 + i] = static_cast<std::uint8_t>(length >> (8 * i));
}

// Reads what put() wrote, from a message that may be anything.
class Reader {
public:
    Reader(ByteSpan bytes, const char* what) : rest_(bytes), what_(what) {}

    template <std::unsigned_integral T>
    T take() {
        T value = 0;
        const auto bytes = take_bytes(sizeof(T));
        for (std::size_t i = 0; i < sizeof(T); ++i)
            value = static_cast<T>(value | static_cast<T>(T{bytes[i]} << (8 * i)));
        return value;
    }

    std::string take_text() {
        const auto bytes = take_bytes(take<std::uint8_t>());
        return clean_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, max_text_bytes);
    }

    bool take_flag() {
        const auto flag = take<std::uint8_t>();
        if (flag > 1) fail(ErrorCode::source_lost, "{} has a flag of {}, which is 0 or 1", what_, flag);
        return flag == 1;
    }

    ByteSpan take_bytes(std::size_t count) {
        if (count > rest_.size())
            fail(ErrorCode::source_lost, "{} is cut off: {} more bytes are needed, {} are there", what_, count,
                 rest_.size());
        const auto bytes = rest_.first(count);
        rest_ = rest_.subspan(count);
        return bytes;
    }

    ByteSpan rest() const { return rest_; }

    void expect_end() const {
        if (!rest_.empty())
            fail(ErrorCode::source_lost, "{} is {} bytes longer than it should be", what_, rest_.size());
    }

private:
    ByteSpan rest_;
    const char* what_;
};

// Bytes of the UTF-8 character at the front of `text`, 0 when there is no valid one (RFC 3629).
std::size_t character_bytes(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0};
    };
    const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
    const auto first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf && follows(1)) return 2;
    if (first >= 0xe0 && first <= 0xef && follows(1) && follows(2)) {
        const bool overlong = first == 0xe0 && byte(1) < 0xa0;
        const bool surrogate = first == 0xed && byte(1) > 0x9f;
        return overlong || surrogate ? 0 : 3;
    }
    if (first >= 0xf0 && first <= 0xf4 && follows(1) && follows(2) && follows(3)) {
        const bool overlong = first == 0xf0 && byte(1) < 0x90;
        const bool beyond_unicode = first == 0xf4 && byte(1) > 0x8f;
        return overlong || beyond_unicode ? 0 : 4;
    }
    return 0;
}

// Of the valid character in `bytes`.
char32_t code_point(std::string_view bytes) {
    constexpr std::array<unsigned, 5> front_bits{0, 0x7f, 0x1f, 0x0f, 0x07};
    char32_t code = static_cast<std::uint8_t>(bytes[0]) & front_bits[bytes.size()];
    for (const char next : bytes.substr(1)) code = code << 6 | (static_cast<std::uint8_t>(next) & 0x3f);
    return code;
}

// What a terminal or a line of text would act upon instead of showing it. Joiners (U+200C, U+200D) are letters' affair.
bool acts_on_text(char32_t code) {
    constexpr std::pair<char32_t, char32_t> ranges[] = {
        {0x00, 0x1f},        // C0
        {0x7f, 0x9f},        // DEL, C1
        {0xad, 0xad},        // soft hyphen
        {0x61c, 0x61c},      // Arabic letter mark
        {0x180e, 0x180e},    // vowel separator without a width
        {0x200b, 0x200b},    // space without a width
        {0x200e, 0x200f},    // marks of direction
        {0x2028, 0x202e},    // ends of line and paragraph, embedded and overridden directions
        {0x2060, 0x206f},    // invisible operators, isolated directions, deprecated controls
        {0xfeff, 0xfeff},    // byte order mark
        {0xfff9, 0xfffb},    // annotations
        {0xe0000, 0xe007f},  // tags
    };
    return std::any_of(std::begin(ranges), std::end(ranges),
                       [code](const auto& range) { return code >= range.first && code <= range.second; });
}

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

void put_held(Bytes& out, const HeldBlocks& held) {
    const auto runs =
        held.runs.size() <= HeldBlocks::max_runs ? std::span(held.runs) : std::span<const HeldBlocks::Run>();
    put(out, runs.empty() ? 0 : held.epoch);
    put(out, static_cast<std::uint16_t>(runs.size()));
    for (const auto& run : runs) {
        put(out, run.version);
        put(out, run.blocks);
    }
}

HeldBlocks take_held(Reader& reader) {
    HeldBlocks held{.epoch = reader.take<std::uint64_t>()};
    const auto count = reader.take<std::uint16_t>();
    if (count > HeldBlocks::max_runs)
        fail(ErrorCode::source_lost, "a viewer tells of {} runs of blocks; up to {} are possible", count,
             HeldBlocks::max_runs);
    held.runs.reserve(count);
    for (int i = 0; i < count; ++i) {
        const auto version = reader.take<std::uint64_t>();
        held.runs.push_back({version, reader.take<std::uint32_t>()});
        if (version > max_version) fail(ErrorCode::source_lost, "a viewer holds version {}, which cannot be", version);
    }
    return held;
}

std::uint16_t read_preamble(ByteSpan bytes) {
    if (bytes.size() != preamble_bytes || !std::equal(magic.begin(), magic.end(), bytes.begin()))
        fail(ErrorCode::source_lost, "the other end speaks another protocol: it is no framewire stream");
    return Reader(bytes.subspan(magic.size()), "the preamble").take<std::uint16_t>();
}

[[noreturn]] void refuse_version(std::uint16_t version) {
    fail(ErrorCode::source_lost, "the other end speaks version {} of the stream protocol, this is version {}", version,
         wire_version);
}

MessageHeader take_header(ByteSpan bytes) {
    Reader reader(bytes, "a message's header");
    const auto type = static_cast<MessageType>(reader.take<std::uint8_t>());
    const auto length = reader.take<std::uint32_t>();
    reader.expect_end();
    return {type, length};
}

// Throws unless the message's length is possible.
MessageHeader within(const MessageHeader& header, std::size_t least, std::size_t most) {
    if (header.length_bytes < least || header.length_bytes > most)
        fail(ErrorCode::source_lost, "a message of type {} claims {} bytes; {} to {} are possible",
             static_cast<int>(header.type), header.length_bytes, least, most);
    return header;
}

// What validate() finds wrong, empty when nothing is.
std::string problem(const StreamInfo& info) {
    const auto& shape = info.shape;
    const auto side_allowed = [](int side_px) { return side_px >= 1 && side_px <= max_side_px; };
    if (!side_allowed(shape.width) || !side_allowed(shape.height) || shape.frames != 1 ||
        (shape.channels != 1 && shape.channels != 3))
        return fmt::format("frames of {} with {} channels; sides of 1 to {} and 1 or 3 channels are allowed",
                           to_string(shape), shape.channels, max_side_px);
    if (info.threshold < 0 || info.threshold > 254)
        return fmt::format("the threshold {}; 0 to 254 is allowed", info.threshold);
    const auto term_allowed = [](std::int64_t term) { return term >= 1 && term <= max_rate_term; };
    if (!term_allowed(info.rate.numerator) || !term_allowed(info.rate.denominator))
        return fmt::format("the rate {}/{}; two numbers from 1 to {} are allowed", info.rate.numerator,
                           info.rate.denominator, max_rate_term);
    return {};
}

}  // namespace

void validate(const StreamInfo& info) {
    if (const auto found = problem(info); !found.empty()) fail(ErrorCode::usage, "a stream cannot have {}", found);
}

Bytes viewer_hello(const ViewerHello& hello) {
    validate_stream_name(hello.stream);
    if (hello.token.size() > max_text_bytes)
        fail(ErrorCode::usage, "a token of {} bytes; up to {} are allowed", hello.token.size(), max_text_bytes);
    Bytes out;
    put_preamble(out);
    start_message(out, MessageType::hello);
    put_text(out, hello.stream);
    put(out, static_cast<std::uint8_t>(hello.token.size()));
    out.insert(out.end(), hello.token.begin(), hello.token.end());
    put_held(out, hello.held);
    finish_message(out, preamble_bytes);
    return out;
}

Bytes server_hello(const ServerHello& hello) {
    const auto& info = hello.info;
    validate(info);
    Bytes out;
    put_preamble(out);
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
    if (with_preamble) put_preamble(out);
    const auto start = out.size();
    start_message(out, MessageType::error);
    put(out, static_cast<std::uint8_t>(reason));
    put_text(out, text);
    finish_message(out, start);
    return out;
}

void begin_state(MessageType type, const StateHeader& state, std::span<const Component> objects, Bytes& out) {
    out.clear();
    start_message(out, type);
    put(out, state.version);
    put(out, static_cast<std::uint64_t>(state.frame));
    const double seconds = std::isnan(state.seconds) ? 0 : std::clamp(state.seconds, -max_seconds, max_seconds);
    put(out, std::bit_cast<std::uint64_t>(seconds));
    put(out, state.captured_us);
    put(out, static_cast<std::uint8_t>(state.threshold));
    put(out, static_cast<std::uint8_t>(state.partial));
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

void mark_partial(Bytes& state) { state[header_bytes + partial_at] = 1; }

std::uint16_t read_viewer_preamble(ByteSpan bytes) {
    const auto version = read_preamble(bytes);
    if (version < wire_version) refuse_version(version);
    return version;
}

void read_server_preamble(ByteSpan bytes) {
    if (const auto version = read_preamble(bytes); version != wire_version) refuse_version(version);
}

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

ViewerHello read_viewer_hello(ByteSpan payload, std::uint16_t version) {
    Reader reader(payload, "the viewer's hello");
    ViewerHello hello{.stream = reader.take_text()};
    if (!is_stream_name(hello.stream)) fail(ErrorCode::source_lost, "the viewer asks for a stream by no valid name");
    const auto token = reader.take_bytes(reader.take<std::uint8_t>());
    hello.token.assign(token.begin(), token.end());
    hello.held = take_held(reader);
    if (version == wire_version) reader.expect_end();
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
    if (mode >= std::size(modes)) fail(ErrorCode::source_lost, "the server's hello has the unknown mode {}", mode);
    info.mode = modes[mode];
    info.threshold = reader.take<std::uint8_t>();
    info.rate.numerator = reader.take<std::uint32_t>();
    info.rate.denominator = reader.take<std::uint32_t>();
    info.source = reader.take_text();
    reader.expect_end();
    if (hello.epoch == 0) fail(ErrorCode::source_lost, "the server's hello has the epoch 0, which none is");
    if (const auto found = problem(info); !found.empty())
        fail(ErrorCode::source_lost, "the server's hello has {}", found);
    return hello;
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
    state.partial = reader.take_flag();
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

std::string clean_text(std::string_view text, std::size_t max_bytes) {
    std::string clean;
    while (!text.empty()) {
        const auto bytes = character_bytes(text);
        const bool good = bytes > 0 && !acts_on_text(code_point(text.substr(0, bytes)));
        const auto piece = good ? text.substr(0, bytes) : std::string_view("?");
        if (clean.size() + piece.size() > max_bytes) break;
        clean += piece;
        text.remove_prefix(std::max<std::size_t>(bytes, 1));
    }
    return clean;
}

}  // namespace framewire::net
