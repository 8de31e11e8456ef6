#include "framewire/codec/delta.hpp"
#include "framewire/codec/encoder.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"

#include <span>

// Parameters of the difference encoder, and constructors that both backends share. encode() and decode() are in a
// separate source file per backend.

namespace framewire::codec {

namespace {

constexpr NamedValue<Mode> mode_names[] = {
    {"exact", Mode::exact}, {"lossless", Mode::lossless}, {"bounded", Mode::bounded}};

}  // namespace

std::string_view to_string(Mode mode) { return name_of(mode_names, mode); }

const ParameterFields<EncoderParameters>& encoder_fields() {
    static const ParameterFields<EncoderParameters> fields = {
        parameter_field(&EncoderParameters::threshold,
                        {.name = "threshold", .help = "send bytes that differ by more than this", .maximum = 254}),
        parameter_field(
            &EncoderParameters::mode, mode_names,
            {.name = "mode", .help = "exact: sent bytes are exact; lossless: threshold 0; bounded: smallest stream"}),
        parameter_field(
            &EncoderParameters::effort,
            {.name = "effort",
             .help = "how thoroughly mode bounded searches for predictions; 0: not at all, which is fastest",
             .maximum = 2}),
    };
    return fields;
}

EncoderParameters parse_encoder(std::string_view text) {
    return encoder_fields().from(
        parse_parameters(text, {.who = "the encoder", .parameters = encoder_fields().infos()}));
}

void validate(const EncoderParameters& parameters, const char* what) { encoder_fields().check(parameters, what); }

Encoder::Encoder(EncoderParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "the encoder's frame");
    codec::validate(parameters, "the encoder");
    if (parameters.mode == Mode::bounded) fail(ErrorCode::usage, "bounded mode has no list of changes");
    workspace_ =
        BackendBuffer(executor.backend() == Backend::cpu
                          ? static_cast<std::size_t>(CpuChunks(shape).per_frame * shape.frames) * sizeof(Summary)
                          : CudaWorkspace::bytes(shape),
                      executor);
    workspace_.fill(0);
}

int Encoder::threshold_of_frame(std::optional<int> threshold) const {
    if (threshold) validate_packed_threshold(*threshold);
    return threshold.value_or(parameters_.effective_threshold());
}

Decoder::Decoder(const Shape& shape, Executor& executor) : shape_(shape), executor_(&executor) {
    validate(shape, "the decoder's frame");
}

}  // namespace framewire::codec

// Difference decoder on the CPU. It first validates the positions of all streams, and then applies chunks of changes in
// parallel: positions ascend, so no two chunks change the same byte.

namespace framewire::codec {
namespace {

constexpr std::int64_t changes_per_chunk = 65536;

using Positions = std::span<const std::uint32_t>;

// Throws an error that describes an invalid position. Call it only if there is one.
[[noreturn]] void refuse(Positions positions, std::int64_t frame_bytes) {
    for (std::size_t i = 1; i < positions.size(); ++i)
        if (positions[i] <= positions[i - 1])
            fail(ErrorCode::source_lost, "change {} is at byte {}, after byte {}: positions must ascend", i,
                 positions[i], positions[i - 1]);
    fail(ErrorCode::source_lost, "a change is at byte {}, but the frame has {} bytes", positions.back(), frame_bytes);
}

// Returns how many positions are not greater than the one before. The inner loop has a fixed length and no branch, so
// that the compiler vectorizes it.
std::uint32_t count_descents(Positions positions) {
    constexpr std::size_t block = 64;
    std::uint32_t descents = 0;
    std::size_t i = 1;
    for (; i + block <= positions.size(); i += block) {
        const auto* before = positions.data() + i - 1;
        std::uint32_t in_block = 0;
        for (std::size_t j = 0; j < block; ++j) in_block += static_cast<std::uint32_t>(before[j + 1] <= before[j]);
        descents += in_block;
    }
    for (; i < positions.size(); ++i) descents += positions[i] <= positions[i - 1] ? 1 : 0;
    return descents;
}

// Throws unless the positions ascend strictly and lie in the frame. The last position is then the largest, so it is the
// only one to compare with the size of the frame.
void check_positions(Positions positions, std::int64_t frame_bytes) {
    if (positions.empty()) return;
    if (count_descents(positions) > 0 || positions.back() >= frame_bytes) refuse(positions, frame_bytes);
}

constexpr std::size_t run_bytes = 32;

// Adds the differences to the frame. Moving objects change adjacent bytes, so it first tries to add `run_bytes` changes
// at once. Because positions ascend, the first and the last position of a run show whether its changes are adjacent.
void apply(Positions positions, const std::uint8_t* differences, HostView<std::uint8_t> frame) {
    const auto row_bytes = static_cast<std::uint32_t>(frame.shape().row_bytes());
    for (std::size_t i = 0; i < positions.size();) {
        const auto y = positions[i] / row_bytes;
        const auto row_begin = y * row_bytes;
        auto* row = frame.row(0, static_cast<int>(y));
        while (i < positions.size() && positions[i] - row_begin < row_bytes) {
            const auto x = positions[i] - row_begin;
            if (i + run_bytes <= positions.size() && positions[i + run_bytes - 1] - positions[i] == run_bytes - 1 &&
                x + run_bytes <= row_bytes) {
                add_run<run_bytes>(differences + i, row + x);
                i += run_bytes;
            } else {
                row[x] = static_cast<std::uint8_t>(row[x] + differences[i]);
                ++i;
            }
        }
    }
}

}  // namespace

void Decoder::decode(const ChangesView<MemorySpace::host>& changes, HostView<std::uint8_t> reference) const {
    validate(reference, shape_, "the decoder's reference");
    validate_found(changes, shape_, "the decoder's changes");
    const auto positions_of = [&](int stream) {
        return Positions(changes.positions + stream * changes.capacity, changes.summaries[stream].count);
    };
    // Check all streams before the first byte is written, so that the reference is unchanged if one of them throws.
    for (int stream = 0; stream < shape_.frames; ++stream) {
        const auto count = changes.summaries[stream].count;
        if (count > changes.capacity)
            fail(ErrorCode::source_lost, "there are {} changes, but the frame has {} bytes", count, changes.capacity);
        check_positions(positions_of(stream), shape_.frame_bytes());
    }
    const auto& pool = executor_->pool();
    pool.for_chunks(shape_.frames, 1, [&](std::int64_t chunk, std::int64_t, std::int64_t) {
        const auto stream = static_cast<int>(chunk);
        const auto positions = positions_of(stream);
        const auto* differences = changes.differences + stream * changes.capacity;
        const auto frame = reference.frames(stream, 1);
        pool.for_chunks(
            std::ssize(positions), changes_per_chunk, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                apply(positions.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
                      differences + begin, frame);
            });
    });
}

}  // namespace framewire::codec
