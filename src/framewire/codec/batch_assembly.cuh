#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/coder_tables.cuh"
#include "framewire/codec/delta.hpp"
#include "framewire/codec/models.hpp"
#include "framewire/codec/prediction.hpp"
#include "framewire/codec/sub_block_contexts.hpp"
#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"

#include <cstdint>

// Comparison of a block of 64x64 pixels with the reference, by a thread block. For .cu files only.

namespace framewire::codec {

/// Number of bytes that are off by more than the threshold, and the errors of all other bytes.
struct Errors {
    std::uint32_t count = 0, largest = 0, squared = 0;

    /// Returns the sum over the lanes of a warp. `squared` cannot overflow: a block has at most 12288 bytes with a
    /// squared error of at most 254^2 each.
    __device__ Errors of_warp() const {
        return {cuda::warp_sum(count), cuda::warp_max(largest), cuda::warp_sum(squared)};
    }
    /// Adds the errors of another area.
    __device__ void add(const Errors& other) {
        count += other.count;
        largest = max(largest, other.largest);
        squared += other.squared;
    }
    /// Adds the errors, but not the count, to the summary of a stream. Atomic.
    __device__ void add_errors_to(Summary& summary) const {
        if (largest) atomicMax(&summary.max_error, largest);
        static_assert(sizeof(summary.squared_error) == sizeof(unsigned long long));
        if (squared)
            atomicAdd(reinterpret_cast<unsigned long long*>(&summary.squared_error),
                      static_cast<unsigned long long>(squared));
    }
};

/// Number of bytes that a thread loads at once. For vector loads, rows must be aligned to this number.
inline constexpr int compared_bytes = 16;

/// A block in both pictures that are compared.
struct ComparedBlock {
    const cuda::KernelImage<const std::uint8_t>&current, &reference;
    int stream;
    BlockPlace place;
};

/// The bytes of a block that one thread holds in registers, in groups of 16. Four threads share a row; each has every
/// fourth group. The thread block covers threads / 4 rows at once and reads each byte once. If `vectors` is set, rows
/// are aligned, and whole blocks are read with 16-byte loads.
///
///     thread    0 | 1 | 2 | 3 | 0 | ...   groups of 16 bytes in row 0
///               4 | 5 | 6 | 7 | 4 | ...   row 1
template <int channels, bool vectors, int threads>
class ComparedBytes {
public:
    /// Loads the thread's bytes of both pictures. Bytes outside the block load as 0 in both, so they do not differ.
    __device__ explicit ComparedBytes(const ComparedBlock& at)
        : whole_(vectors && at.place.width == block_side),
          row_bytes_(at.place.width * channels),
          rows_(at.place.height) {
        load(at.current, at, now_);
        load(at.reference, at, held_);
    }

    /// Returns the errors of this thread's bytes, without reduction over threads.
    __device__ Errors compare(std::uint32_t threshold) const {
        // Fast path, because usually no byte is off by more than the threshold. The maxima are computed in 16-bit
        // lanes, of which only the high byte is used.
        std::uint32_t squared = 0, largest_odd = 0, largest_even = 0;
#pragma unroll
        for (int i = 0; i < groups; ++i)
#pragma unroll
            for (int word = 0; word < 4; ++word) {
                const auto distance = __vabsdiffu4(now_[i][word], held_[i][word]);
                squared = __dp4a(distance, distance, squared);
                largest_odd = __vmaxu2(largest_odd, distance);
                largest_even = __vmaxu2(largest_even, distance << 8);
            }
        const auto largest = __vmaxu2(largest_odd, largest_even) & 0xFF00FF00u;
        const auto of_both = max(largest >> 24, largest >> 8 & 0xFFu);
        return of_both <= threshold ? Errors{0, of_both, squared} : count_changes(threshold);
    }

private:
    static constexpr int threads_per_row = 4, rows_at_once = threads / threads_per_row;
    static constexpr int groups = block_side / rows_at_once * channels;
    static_assert(threads_per_row * channels * compared_bytes == block_side * channels);

    static __device__ int y_of(int i) {
        return static_cast<int>(threadIdx.x) / threads_per_row + i / channels * rows_at_once;
    }
    static __device__ int at_of(int i) {
        return (static_cast<int>(threadIdx.x) % threads_per_row + i % channels * threads_per_row) * compared_bytes;
    }
    __device__ void load(const cuda::KernelImage<const std::uint8_t>& from, const ComparedBlock& at,
                         std::uint32_t (&to)[groups][4]) const {
        const auto* const first = from.row(at.stream, at.place.y) + std::int64_t{at.place.x} * channels;
        if (whole_) {
#pragma unroll
            for (int i = 0; i < groups; ++i) {
                uint4 words{};
                if (y_of(i) < rows_)
                    words = *reinterpret_cast<const uint4*>(first + y_of(i) * from.row_stride + at_of(i));
                to[i][0] = words.x, to[i][1] = words.y, to[i][2] = words.z, to[i][3] = words.w;
            }
            return;
        }
#pragma unroll
        for (int i = 0; i < groups; ++i) {
            const auto* const bytes = first + y_of(i) * from.row_stride + at_of(i);
            to[i][0] = to[i][1] = to[i][2] = to[i][3] = 0;
#pragma unroll
            for (int byte = 0; byte < compared_bytes; ++byte)
                if (y_of(i) < rows_ && at_of(i) + byte < row_bytes_)
                    to[i][byte / 4] |= std::uint32_t{bytes[byte]} << (byte % 4 * 8);
        }
    }

    // Slow path of compare(): counts the bytes that are off by more than the threshold, and excludes them from the
    // errors.
    __device__ Errors count_changes(std::uint32_t threshold) const {
        const auto limit = threshold * 0x01010101u;
        Errors errors;
        std::uint32_t largest = 0;
#pragma unroll
        for (int i = 0; i < groups; ++i)
#pragma unroll
            for (int word = 0; word < 4; ++word) {
                const auto distance = __vabsdiffu4(now_[i][word], held_[i][word]);
                const auto mask = __vcmpgtu4(distance, limit);
                const auto error = distance & ~mask;
                errors.count += __popc(mask) / 8;
                errors.squared = __dp4a(error, error, errors.squared);
                largest = __vmaxu4(largest, error);
            }
        const auto pairs = __vmaxu2(largest & 0x00FF00FFu, largest >> 8 & 0x00FF00FFu);
        errors.largest = max(pairs & 0xFFFFu, pairs >> 16);
        return errors;
    }

    std::uint32_t now_[groups][4], held_[groups][4];
    bool whole_;
    int row_bytes_, rows_;
};

}  // namespace framewire::codec

// Contexts and symbols of a pixel on the device, computed from the steps of its block in shared memory. For .cu files
// only. The formulas are those of format.md, "A pixel"; sub_block_contexts.hpp implements them for the CPU.

namespace framewire::codec {

/// Returns the i-th channel in coding order: 1, 0, 2, or only 0 in gray pictures.
FRAMEWIRE_HOST_DEVICE constexpr int coded_channel(int i, int channels) {
    return channels == 1 ? 0 : i == 0 ? 1 : i == 1 ? 0 : 2;
}

/// Summary of a pixel's steps: E of format.md (no, some or all channels change) in bits 0 and 1, and D (directions that
/// occur) in the bits above.
struct PixelTraits {
    std::uint8_t bits;

    /// Returns E: 0, 1 or 2.
    __device__ int extent() const { return bits & 3; }
    /// Returns D: 0..3.
    __device__ int direction() const { return bits >> 2; }
};

/// Steps and traits of a block of 64x64 pixels. Pixels outside the block read as 0.
template <int channels>
struct BlockSteps {
    std::int16_t steps[channels][block_side * block_side];
    std::uint8_t traits[block_side * block_side];

    /// Returns the index of the pixel (x, y) of the block.
    FRAMEWIRE_HOST_DEVICE static constexpr int at(int x, int y) { return y * block_side + x; }

    /// Returns the step of a channel, or 0 to the left of the block and above it.
    __device__ int step(int x, int y, int channel) const { return x < 0 || y < 0 ? 0 : steps[channel][at(x, y)]; }
    /// Returns the traits of a pixel, or 0 outside the block.
    __device__ PixelTraits traits_at(int x, int y) const {
        return {x < 0 || y < 0 || x >= block_side ? std::uint8_t{0} : traits[at(x, y)]};
    }
    /// Returns the traits for `channels` steps.
    template <class Steps>
    static __device__ std::uint8_t traits_of(const Steps& of) {
        int up = 0, down = 0;
#pragma unroll
        for (int channel = 0; channel < channels; ++channel) {
            up += of[channel] > 0;
            down += of[channel] < 0;
        }
        const int extent = up + down == 0 ? 0 : up + down == channels ? 2 : 1;
        return static_cast<std::uint8_t>(extent | (up != 0) << 2 | (down != 0) << 3);
    }
};

/// Neighbourhood of a pixel, which determines the models for its flag and its pattern.
struct PixelNeighbours {
    PixelTraits left, above, above_left, above_right;
    bool second;  ///< whether the pixel two to the left or the one two above changes

    /// Returns how many of the pixels above left and above right change.
    __device__ int corners() const { return (above_left.bits != 0) + (above_right.bits != 0); }
    /// Returns the number of the pattern model, or of the sign model in gray pictures.
    __device__ int pattern_model() const {
        const int of_left = left.bits ? left.direction() : above_left.direction();
        const int of_above = above.bits ? above.direction() : above_right.direction();
        return of_left + 4 * of_above + 16 * (left.extent() == 2 || above.extent() == 2);
    }
};

/// Returns the neighbourhood of the pixel (x, y). `Block` is BlockSteps or a type with the same step() and traits_at().
template <class Block>
__device__ PixelNeighbours neighbours_of(const Block& block, int x, int y) {
    // Above right of a sub-block's last column, pixels are only known in the first row, because the sub-block to the
    // right is coded later.
    const bool unknown = x % part_side == part_side - 1 && y % part_side != 0;
    return {block.traits_at(x - 1, y), block.traits_at(x, y - 1), block.traits_at(x - 1, y - 1),
            unknown ? PixelTraits{0} : block.traits_at(x + 1, y - 1),
            (block.traits_at(x - 2, y).bits | block.traits_at(x, y - 2).bits) != 0};
}

/// Returns the entry for a raw number of `count` bits, as in class Symbols.
__device__ inline std::uint16_t bits_entry(int value, int count) {
    return static_cast<std::uint16_t>(step_models::trained_symbols + (1 << count) + value);
}
/// Returns the number of raw bits of an entry, or 0 for symbols of trained models. Device version of
/// step_models::bits_of().
__device__ inline int bits_of_entry(std::uint32_t entry) {
    return entry > step_models::trained_symbols ? 31 - __clz(static_cast<int>(entry - step_models::trained_symbols))
                                                : 0;
}

/// Entries of one pixel in coding order: at most 2, plus 2 per channel.
template <int channels>
struct PixelEntries {
    static constexpr int most = 2 + 2 * channels;
    std::uint16_t of[most];  ///< flag, pattern, and for each channel the magnitude and its raw bits; 0 if absent
    bool changes;            ///< whether the pixel changes; if false, only of[0] is valid

    /// Returns the number of entries that are present.
    __device__ int count() const {
        int entries = 1;
        if (changes)
#pragma unroll
            for (int i = 1; i < most; ++i) entries += of[i] != 0;
        return entries;
    }
    /// Writes the entries that are present, without gaps.
    __device__ void write(std::uint16_t* to) const {
        *to++ = of[0];
        if (!changes) return;
#pragma unroll
        for (int i = 1; i < most; ++i)
            if (of[i]) *to++ = of[i];
    }
};

/// Returns the pattern of a pixel's steps: the sum over channels c of 3^c times 0 (stays), 1 (up) or 2 (down). A gray
/// pixel counts as one with three equal channels.
template <int channels>
__device__ int pattern_of(const int (&own)[channels]) {
    int pattern = 0, weight = channels == 1 ? 13 : 1;
#pragma unroll
    for (int channel = 0; channel < channels; ++channel, weight *= 3)
        pattern += own[channel] > 0 ? weight : own[channel] < 0 ? 2 * weight : 0;
    return pattern;
}
/// Returns the entry for the flag whether a pixel changes.
__device__ inline std::uint16_t changed_entry(const PixelNeighbours& near, bool changes, Predicted by, int slope) {
    const int model = changed_model(near.left.extent(), near.above.extent(), near.corners(), near.second, by, slope);
    return static_cast<std::uint16_t>(first_symbol<step_models::changed>(model) + changes);
}
/// Returns the entry for a changed pixel's pattern, or for its sign in gray pictures.
template <int channels>
__device__ std::uint16_t pattern_entry(const PixelNeighbours& near, int pattern, const std::uint8_t* pattern_ranks) {
    const int model = near.pattern_model();
    return static_cast<std::uint16_t>(channels == 1
                                          ? first_symbol<step_models::sign>(model) + (pattern == 26)
                                          : first_symbol<step_models::pattern>(model) + __ldg(pattern_ranks + pattern));
}

/// Returns the entries of the pixel (x, y). The steps of this pixel and of all pixels coded before it must be in
/// `block`. `fine`: whether the step size is less than 3 or the block is a block of changes. `pattern_ranks`: table in
/// device memory.
template <int channels, class Block>
__device__ PixelEntries<channels> pixel_entries(const Block& block, int x, int y, Predicted by, int slope, bool fine,
                                                const std::uint8_t* pattern_ranks) {
    const auto near = neighbours_of(block, x, y);
    PixelEntries<channels> entries{};
    int own[channels];
#pragma unroll
    for (int channel = 0; channel < channels; ++channel) own[channel] = block.step(x, y, channel);
    const int pattern = pattern_of(own);
    entries.changes = pattern != 0;
    entries.of[0] = changed_entry(near, entries.changes, by, slope);
    if (!entries.changes) return entries;
    entries.of[1] = pattern_entry<channels>(near, pattern, pattern_ranks);
    int before = -1, steps_before = 0;
#pragma unroll
    for (int i = 0; i < channels; ++i) {
        const int channel = coded_channel(i, channels);
        if (!own[channel]) continue;
        const int sign = own[channel] > 0 ? 1 : -1;
        const auto context =
            magnitude_context([&](int right, int down, int of) { return block.step(x + right, y + down, of); }, channel,
                              sign, before, steps_before, i == 0, fine);
        const auto token = token_of(fold(own[channel] * sign, context.expected));
        entries.of[2 + 2 * i] =
            static_cast<std::uint16_t>(first_symbol<step_models::magnitude>(context.model) + token.symbol);
        entries.of[3 + 2 * i] = token.bits ? bits_entry(token.value, token.bits) : std::uint16_t{0};
        before = channel;
        steps_before = own[channel];
    }
    return entries;
}

}  // namespace framewire::codec

// Functions that join the entries of a block's sub-blocks and code them with rANS. For .cu files only.

namespace framewire::codec {

/// Concatenates the entries of a block's 64 sub-blocks into `to` and returns their number. Sub-block i has counts[i]
/// entries at entries_of(i). `ends`, in shared memory, receives the end of each sub-block's entries. Called by all
/// threads of a thread block.
template <int threads, class Count, class EntriesOf>
__device__ int join_entries(const Count* counts, std::uint32_t (&ends)[parts_per_row * parts_per_row],
                            EntriesOf&& entries_of, std::uint16_t* to) {
    static_assert(parts_per_row * parts_per_row == 64);
    if (threadIdx.x < 32) {
        const auto first_half = cuda::inclusive_warp_sum(static_cast<std::uint32_t>(counts[threadIdx.x]));
        const auto half = __shfl_sync(~0u, first_half, 31);
        ends[threadIdx.x] = first_half;
        ends[threadIdx.x + 32] = half + cuda::inclusive_warp_sum(static_cast<std::uint32_t>(counts[threadIdx.x + 32]));
    }
    __syncthreads();
    // Read several entries before the first one is written, so that the reads are in flight together.
    constexpr std::uint32_t read_ahead = 8;
    const auto count = ends[63];
    int part = 0;
    for (auto first = threadIdx.x; first < count; first += threads * read_ahead) {
        std::uint16_t read[read_ahead];
#pragma unroll
        for (std::uint32_t i = 0; i < read_ahead; ++i)
            if (const auto at = first + i * threads; at < count) {
                while (ends[part] <= at) ++part;
                read[i] = entries_of(part)[at - (part ? ends[part - 1] : 0)];
            }
#pragma unroll
        for (std::uint32_t i = 0; i < read_ahead; ++i)
            if (const auto at = first + i * threads; at < count) to[at] = read[i];
    }
    return static_cast<int>(count);
}

/// Returns the set of models with the lowest cost, or the first of them if several have the same cost.
__device__ inline int best_set(const std::uint32_t (&costs)[step_models::sets]) {
    int best = 0;
    for (int set = 1; set < step_models::sets; ++set)
        if (costs[set] < costs[best]) best = set;
    return best;
}

/// Parameters that a block of a delta frame signals before its other symbols.
struct StepHead {
    int set;     ///< set of models
    int states;  ///< choice of the number of states, as in step_states
};
/// Returns the head that makes the block smallest, chosen by the same rule as in class Symbols.
__device__ inline StepHead best_head(const std::uint32_t (&costs)[step_models::sets]) {
    const int set = best_set(costs);
    return {set, step_states::choice_for(costs[set])};
}

/// Codes `count` entries as class Symbols does. The words end at `end`; returns their beginning. Called by one warp.
///
/// An entry results in at most one word, and the last entry is read first. Therefore, `entries` may lie in the memory
/// before `end`, if there is room for the states in between: words never overwrite entries that have not been read.
__device__ inline std::uint16_t* put_step_symbols(std::uint16_t* end, ChainMemory& memory, const CoderTables& tables,
                                                  const StepHead& head, const std::uint16_t* entries, int count) {
    const auto* const symbols = tables.steps + head.set * step_models::symbols;
    const auto put_all = [&]<int choice>() {
        Chains<step_states::count(choice)> chains(end, memory);
        chains.put_all(
            count, [&](int i) -> std::uint32_t { return entries[i]; },
            [&](std::uint32_t entry) { return chain_symbol(symbols, static_cast<int>(entry)); });
        return chains.others_finished();
    };
    static_assert(step_states::choices == 3);
    auto chain = head.states == 0   ? put_all.template operator()<0>()
                 : head.states == 1 ? put_all.template operator()<1>()
                                    : put_all.template operator()<2>();
    chain.put(chain_symbol(tables.states, head.states));
    chain.put(chain_bits(static_cast<std::uint32_t>(head.set), step_states::set_bits));
    return chain.finish();
}

}  // namespace framewire::codec

// Modes and vectors of the coded sub-blocks of a block on the device. For .cu files only; the CPU has CodedParts.

namespace framewire::codec {

/// Mode and vector of a coded sub-block.
struct CodedPart {
    std::uint8_t mode;    ///< mode, as a PartMode
    MotionVector vector;  ///< vector; meaningful only in the two modes with motion
};

/// Context for coding a sub-block's mode and vector: the sub-blocks to the left and above (format.md, "Prediction").
struct NearParts {
    CodedPart left, above;

    /// Looks up the neighbours of sub-block `index` in `parts`, the sub-blocks of the block that are already coded.
    __device__ NearParts(const CodedPart* parts, int index)
        : left(index % parts_per_row ? parts[index - 1] : none()),
          above(index / parts_per_row ? parts[index - parts_per_row] : none()) {}
    /// Returns true if the given sub-block has a vector.
    static __device__ bool moves(const CodedPart& part) {
        return part.mode == static_cast<int>(PartMode::moved) || part.mode == static_cast<int>(PartMode::moved_changes);
    }
    /// Returns true if the left neighbour has a vector.
    __device__ bool has_left() const { return moves(left); }
    /// Returns true if the upper neighbour has a vector.
    __device__ bool has_above() const { return moves(above); }
    /// Returns the first symbol of the model for the mode.
    __device__ int mode_model() const { return first_symbol<step_models::mode>(left.mode * 6 + above.mode); }
    /// Returns the predicted vector: that of the left sub-block, or else that of the upper one, or else 0.
    __device__ MotionVector vector() const {
        return moves(left) ? left.vector : moves(above) ? above.vector : MotionVector{};
    }
    /// Returns the first symbol of the model for the vector kind.
    __device__ int kind_model() const { return first_symbol<step_models::vector_kind>(has_left() + 2 * has_above()); }
    /// Returns the first symbol of the model for the number of bits of a vector difference; axis 0 is x, 1 is y.
    __device__ int bits_model(int axis) const {
        return first_symbol<step_models::vector_bits>(axis + 2 * (has_left() || has_above()));
    }

private:
    static __device__ CodedPart none() { return {static_cast<std::uint8_t>(PartMode::none), {}}; }
};

}  // namespace framewire::codec
