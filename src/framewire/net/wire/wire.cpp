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
constexpr std::size_t max_hello_bytes = 512;
constexpr std::size_t max_error_bytes = 512;
constexpr std::size_t max_text_bytes = 255;  // its length is one byte

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

    std::string take_text() { return clean_text(take_raw_text(), max_text_bytes); }

    // As it is: to be compared, never to be shown.
    std::string take_raw_text() {
        const auto bytes = take_bytes(take<std::uint8_t>());
        return {bytes.begin(), bytes.end()};
    }

    ByteSpan rest() const { return rest_; }

    void expect_end() const {
        if (!rest_.empty())
            fail(ErrorCode::source_lost, "{} is {} bytes longer than it should be", what_, rest_.size());
    }

private:
    ByteSpan take_bytes(std::size_t count) {
        if (count > rest_.size())
            fail(ErrorCode::source_lost, "{} is cut off: {} more bytes are needed, {} are there", what_, count,
                 rest_.size());
        const auto bytes = rest_.first(count);
        rest_ = rest_.subspan(count);
        return bytes;
    }

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

Bytes client_hello(std::string_view stream, std::string_view token) {
    validate_stream_name(stream);
    if (token.size() > max_text_bytes)
        fail(ErrorCode::usage, "a token of {} bytes; {} is the most", token.size(), max_text_bytes);
    Bytes out;
    put_preamble(out);
    start_message(out, MessageType::hello);
    put_text(out, stream);
    put(out, static_cast<std::uint8_t>(token.size()));
    out.insert(out.end(), token.begin(), token.end());
    finish_message(out, preamble_bytes);
    return out;
}

Bytes server_hello(const StreamInfo& info) {
    validate(info);
    Bytes out;
    put_preamble(out);
    start_message(out, MessageType::hello);
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

void read_preamble(ByteSpan bytes) {
    // What a connection over TLS begins with: a handshake, or an alert (RFC 8446, 5.1).
    if (bytes.size() >= 2 && (bytes[0] == 0x16 || bytes[0] == 0x15) && bytes[1] == 0x03)
        fail(ErrorCode::source_lost, "the other end speaks TLS, and this one does not: tcp:// and tls:// are mixed up");
    if (bytes.size() != preamble_bytes || !std::equal(magic.begin(), magic.end(), bytes.begin()))
        fail(ErrorCode::source_lost, "the other end speaks another protocol: it is no framewire stream");
    Reader reader(bytes.subspan(magic.size()), "the preamble");
    if (const auto version = reader.take<std::uint16_t>(); version != wire_version)
        fail(ErrorCode::source_lost, "the other end speaks version {} of the stream protocol, this is version {}",
             version, wire_version);
}

MessageHeader read_header(ByteSpan bytes, std::size_t max_packed_bytes) {
    Reader reader(bytes, "a message's header");
    const auto type = reader.take<std::uint8_t>();
    const auto length = reader.take<std::uint32_t>();
    reader.expect_end();
    std::size_t least = 0, most = 0;
    switch (static_cast<MessageType>(type)) {
        case MessageType::hello: least = 1, most = max_hello_bytes; break;
        case MessageType::picture:
        case MessageType::changes:
            least = state_header_bytes;
            most = state_header_bytes + max_objects * object_bytes + max_packed_bytes;
            break;
        case MessageType::alive:
        case MessageType::end: break;
        case MessageType::error: least = 2, most = max_error_bytes; break;
        default: fail(ErrorCode::source_lost, "a message of the unknown type {}", type);
    }
    if (length < least || length > most)
        fail(ErrorCode::source_lost, "a message of type {} claims {} bytes; {} to {} are possible", type, length, least,
             most);
    return {static_cast<MessageType>(type), length};
}

ClientHello read_client_hello(ByteSpan payload) {
    Reader reader(payload, "the viewer's hello");
    ClientHello hello;
    hello.stream = reader.take_text();
    hello.token = reader.take_raw_text();
    reader.expect_end();
    if (!is_stream_name(hello.stream)) fail(ErrorCode::source_lost, "the viewer asks for a stream by no valid name");
    return hello;
}

StreamInfo read_server_hello(ByteSpan payload) {
    Reader reader(payload, "the server's hello");
    StreamInfo info;
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
    if (const auto found = problem(info); !found.empty())
        fail(ErrorCode::source_lost, "the server's hello has {}", found);
    return info;
}

StateHeader read_state(ByteSpan& payload, const Shape& shape, std::vector<Component>& objects) {
    Reader reader(payload, "a picture's front");
    StateHeader state;
    state.version = reader.take<std::uint64_t>();
    const auto frame = reader.take<std::uint64_t>();
    state.seconds = std::bit_cast<double>(reader.take<std::uint64_t>());
    if (state.version < 1 || state.version > max_version || frame > max_version ||
        !(std::abs(state.seconds) <= max_seconds))
        fail(ErrorCode::source_lost, "a picture has version {}, frame {} and time {}, which cannot be", state.version,
             frame, state.seconds);
    state.frame = static_cast<std::int64_t>(frame);
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
