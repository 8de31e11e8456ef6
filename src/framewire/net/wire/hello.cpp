#include "framewire/core/error.hpp"
#include "framewire/net/address.hpp"
#include "framewire/net/wire/fields.hpp"
#include "framewire/net/wire/wire.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

namespace framewire::net {

namespace {

// The index of a mode is its number in the hello.
constexpr delta::Mode modes[] = {delta::Mode::exact, delta::Mode::lossless, delta::Mode::bounded};

// Writes the block versions held, or none if there are too many runs.
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

// Reads the block versions of a viewer. Whether they fit the picture is checked by the stream.
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

// Checks the magic number and returns the version.
std::uint16_t read_preamble(ByteSpan bytes) {
    if (bytes.size() != preamble_bytes || !std::equal(magic.begin(), magic.end(), bytes.begin()))
        fail(ErrorCode::source_lost, "the other end speaks another protocol: it is no framewire stream");
    return Reader(bytes.subspan(magic.size()), "the preamble").take<std::uint16_t>();
}

[[noreturn]] void refuse_version(std::uint16_t version) {
    fail(ErrorCode::source_lost,
         "the other end speaks version {} of the stream protocol; versions {} to {} are supported", version,
         oldest_wire_version, wire_version);
}

// Returns what is invalid, or an empty string.
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

// Later versions may append fields, which this one ignores.
ViewerHello read_viewer_hello(ByteSpan payload, std::uint16_t version) {
    Reader reader(payload, "the viewer's hello");
    ViewerHello hello{.stream = reader.take_text()};
    if (!is_stream_name(hello.stream)) fail(ErrorCode::source_lost, "the viewer asks for a stream by no valid name");
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

}  // namespace framewire::net
