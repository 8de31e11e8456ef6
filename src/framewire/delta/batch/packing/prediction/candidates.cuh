#pragma once

// Candidate predictions for a sub-block, their steps and their cost. For .cu files only. The CPU does the same in
// prediction_encoder.cpp.

#include "framewire/cuda/kernel/scan.cuh"
#include "framewire/delta/batch/near_parts.cuh"
#include "framewire/delta/batch/packing/prediction/vector_search.cuh"
#include "framewire/delta/batch/step_contexts.cuh"
#include "framewire/delta/prediction/foretold_formulas.hpp"
#include "framewire/delta/prediction/quantization/quantizer.hpp"

#include <cstdint>

namespace framewire::delta {

/// Number of pixels of a sub-block; arrays of its pixels have rows of 8.
inline constexpr int part_pixels = part_side * part_side;
/// Maximum number of entries before a sub-block's pixels: its mode, its vector kind, and for each of the two components
/// a symbol, bits and a sign.
inline constexpr int entries_before_pixels = 8;

/// One way to predict a sub-block, and the result of quantizing the difference. In shared memory.
template <int channels>
struct Candidate {
    MotionVector vector;                        ///< 0 unless `by` is motion
    Foretold by;                                ///< the kind of prediction
    std::uint32_t cost;                         ///< in 1/8 bits; set only if there are several candidates
    bool has_steps;                             ///< some pixel has a step
    std::int16_t steps[channels][part_pixels];  ///< signed magnitudes
    std::uint8_t traits[part_pixels], slopes[part_pixels],
        samples[part_pixels * channels];  ///< traits, slopes and reconstructed samples
};

/// Position of a sub-block in its block, in pixels, and its size, which may be 0 or less at the edges of the frame.
struct PartPlace {
    int index, column, row, left, top, width, height;

    /// Computes the position of sub-block number `part`, counted as if the block were whole.
    __device__ PartPlace(const BlockPlace& block, int part)
        : index(part),
          column(part % parts_per_row),
          row(part / parts_per_row),
          left(column * part_side),
          top(row * part_side),
          width(min(part_side, block.width - left)),
          height(min(part_side, block.height - top)) {}
};

/// Input for candidates: the steps and samples of the block coded so far, the camera's samples, and the surroundings of
/// the sub-block in the previous picture. Refers to shared memory.
template <int channels>
struct PartInput {
    const BlockSteps<channels>& block;
    const std::uint8_t* samples;  ///< reconstructed samples of the block, in rows of 64 pixels
    const VectorSearch<channels>& search;
    const CoderTables& tables;

    /// Returns a reconstructed sample; coordinates in the block.
    __device__ std::uint8_t sample(int x, int y, int channel) const {
        return samples[(y * block_side + x) * channels + channel];
    }
};

/// View of a block's steps in which a candidate replaces the sub-block at (left, top). Has the interface that
/// neighbours_of() and pixel_entries() need.
template <int channels>
struct WithCandidate {
    const BlockSteps<channels>& block;
    const Candidate<channels>& candidate;
    int left, top;

    /// Returns true if the pixel belongs to the candidate.
    __device__ bool inside(int x, int y) const {
        return x >= left && x < left + part_side && y >= top && y < top + part_side;
    }
    /// Returns the step of a channel.
    __device__ int step(int x, int y, int channel) const {
        return inside(x, y) ? candidate.steps[channel][(y - top) * part_side + x - left] : block.step(x, y, channel);
    }
    /// Returns the traits of a pixel.
    __device__ PixelTraits traits_at(int x, int y) const {
        return inside(x, y) ? PixelTraits{candidate.traits[(y - top) * part_side + x - left]} : block.traits_at(x, y);
    }
};

/// Appends entries to an array.
struct EntryWriter {
    std::uint16_t* to;

    /// Appends a symbol of a trained model.
    __device__ void add(int index) { *to++ = static_cast<std::uint16_t>(index); }
    /// Appends a raw number of `count` bits; nothing if `count` is 0.
    __device__ void add_bits(int value, int count) {
        if (count) *to++ = bits_entry(value, count);
    }
};
/// Returns the number of bits that a number of 0 or more needs.
__device__ inline int bit_width(int value) { return 32 - __clz(value); }
/// Appends a component of a vector difference: the number of its bits, the bits below the highest, and the sign.
__device__ inline void add_distance(EntryWriter& to, int model, int distance) {
    const int far = abs(distance), bits = bit_width(far);
    to.add(model + bits);
    if (bits == 0) return;
    to.add_bits(far & ((1 << (bits - 1)) - 1), bits - 1);
    to.add_bits(distance < 0, 1);
}
/// Writes the entries of a sub-block's mode and vector. Returns how many there are, at most `entries_before_pixels`.
__device__ inline int part_entries(const NearParts& near, PartMode mode, MotionVector vector, std::uint16_t* to) {
    EntryWriter writer{to};
    writer.add(near.mode_model() + static_cast<int>(mode));
    if (mode != PartMode::moved && mode != PartMode::moved_changes) return 1;
    const auto kind = near.has_left() && vector == near.left.vector     ? as_left
                      : near.has_above() && vector == near.above.vector ? as_above
                                                                        : new_vector;
    writer.add(near.kind_model() + kind);
    if (kind == new_vector) {
        const auto from = near.vector();
        add_distance(writer, near.bits_model(0), vector.x - from.x);
        add_distance(writer, near.bits_model(1), vector.y - from.y);
    }
    return static_cast<int>(writer.to - to);
}
/// Sum of the costs of entries: for all sets of models at once, as in step_costs(), and the number of raw bits.
struct Costs {
    unsigned long long of_sets = 0;  // four sums of 16 bits, one per set
    int bits = 0;

    /// Adds the cost of one entry.
    __device__ void add(const CoderTables& tables, std::uint32_t entry) {
        bits += bits_of_entry(entry);
        of_sets += tables.step_costs[entry];
    }
    /// Adds the cost of one pixel.
    template <int channels>
    __device__ void add(const CoderTables& tables, const PixelEntries<channels>& pixel) {
        add(tables, pixel.of[0]);
        if (pixel.changes)
#pragma unroll
            for (int i = 1; i < PixelEntries<channels>::most; ++i)
                if (pixel.of[i]) add(tables, pixel.of[i]);
    }
    /// Returns the sum for one set of models, without the raw bits.
    __device__ std::uint32_t of_set(int set) const {
        return static_cast<std::uint32_t>(of_sets >> (16 * set)) & 0xFFFFu;
    }
};

/// Quantizes one pixel against its prediction and stores steps, samples, traits and slope. Returns true if it has a
/// step.
template <int channels>
__device__ bool take_pixel(const PartInput<channels>& input, const Quantizer& quantizer, Candidate<channels>& candidate,
                           int x, int y, const int (&foretold)[channels], int rise) {
    const int at = y * part_side + x;
    int own[channels];
    bool any = false;
#pragma unroll
    for (int channel = 0; channel < channels; ++channel) {
        own[channel] = quantizer.steps(input.search.camera.sample(x, y, channel), foretold[channel]);
        any |= own[channel] != 0;
        candidate.steps[channel][at] = static_cast<std::int16_t>(own[channel]);
        candidate.samples[at * channels + channel] = quantizer.sample(foretold[channel], own[channel]);
    }
    candidate.traits[at] = BlockSteps<channels>::traits_of(own);
    candidate.slopes[at] = static_cast<std::uint8_t>(slope_of(rise, quantizer.threshold()));
    return any;
}

/// Fills a candidate's steps, samples, traits and slopes. One warp calls it.
///
/// Predictions from the previous picture are independent of each other, so each lane takes every 32nd pixel.
/// Predictions from neighbours depend on reconstructed samples to the left and above, so the warp goes from diagonal to
/// diagonal.
template <int channels>
__device__ void quantize(const PartInput<channels>& input, const PartPlace& place, const Quantizer& quantizer,
                         Candidate<channels>& candidate) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    constexpr int slope_from = slope_channel(channels);
    bool any = false;
    for (int at = lane; at < part_pixels; at += 32) {
        const int x = at % part_side, y = at / part_side;
        if (x < place.width && y < place.height) {
            if (candidate.by == Foretold::inside) continue;
            int foretold[channels];
#pragma unroll
            for (int channel = 0; channel < channels; ++channel)
                foretold[channel] = input.search.window.sample(x, y, channel, candidate.vector);
            const auto beside = [&](int right, int down) {
                return input.search.window.sample(x + right, y + down, slope_from, candidate.vector);
            };
            const int rise = max(abs(beside(1, 0) - beside(-1, 0)), abs(beside(0, 1) - beside(0, -1)));
            any |= take_pixel(input, quantizer, candidate, x, y, foretold, rise);
        } else {
#pragma unroll
            for (int channel = 0; channel < channels; ++channel) candidate.steps[channel][at] = 0;
            candidate.traits[at] = 0;
        }
    }
    if (candidate.by == Foretold::inside) {
        // Lane y has the pixel of its row on the current diagonal.
        for (int diagonal = 0; diagonal < place.width + place.height - 1; ++diagonal) {
            __syncwarp();
            const int y = lane, x = diagonal - y;
            if (y >= place.height || x < 0 || x >= place.width) continue;
            const auto sample = [&](int right, int down, int channel) -> int {
                const int in_x = x + right, in_y = y + down;
                return in_x >= 0 && in_y >= 0 ? candidate.samples[(in_y * part_side + in_x) * channels + channel]
                                              : input.sample(place.left + in_x, place.top + in_y, channel);
            };
            const bool has_left = place.left + x > 0, has_above = place.top + y > 0;
            int foretold[channels], rise = 0;
#pragma unroll
            for (int channel = 0; channel < channels; ++channel) {
                foretold[channel] = 128;
                // The median edge detector of JPEG-LS (ITU-T T.87): l + a - c, clamped to the range between l and a.
                if (has_left && has_above) {
                    const int left = sample(-1, 0, channel), above = sample(0, -1, channel),
                              corner = sample(-1, -1, channel);
                    foretold[channel] = min(max(left + above - corner, min(left, above)), max(left, above));
                    if (channel == slope_from) rise = max(abs(left - corner), abs(above - corner));
                } else if (has_left) {
                    foretold[channel] = sample(-1, 0, channel);
                } else if (has_above) {
                    foretold[channel] = sample(0, -1, channel);
                }
            }
            any |= take_pixel(input, quantizer, candidate, x, y, foretold, rise);
        }
    }
    any = __any_sync(~0u, any);
    if (lane == 0) candidate.has_steps = any;
    __syncwarp();
}

/// Returns the mode that signals the candidate.
template <int channels>
__device__ PartMode mode_of(const Candidate<channels>& candidate) {
    return candidate.by == Foretold::inside      ? PartMode::inside
           : candidate.by == Foretold::reference ? PartMode::changes
           : candidate.has_steps                 ? PartMode::moved_changes
                                                 : PartMode::moved;
}

/// Adds the cost of a candidate's entries to `costs`, which are per lane, and writes the entries to `to` unless that is
/// null. Returns the number of entries, or only those of the mode and vector if `to` is null. One warp calls it.
template <int channels>
__device__ int code_part(const PartInput<channels>& input, const NearParts& near, const PartPlace& place, bool fine,
                         const Candidate<channels>& candidate, std::uint16_t* to, Costs& costs) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const auto mode = mode_of(candidate);
    int count = 0;
    if (lane == 0) {
        std::uint16_t entries[entries_before_pixels];
        count = part_entries(near, mode, candidate.vector, entries);
        for (int i = 0; i < count; ++i) {
            costs.add(input.tables, entries[i]);
            if (to) to[i] = entries[i];
        }
    }
    count = __shfl_sync(~0u, count, 0);
    if (mode == PartMode::moved) return count;
    const WithCandidate<channels> block{input.block, candidate, place.left, place.top};
    const int pixels = place.width * place.height;
    for (int first = 0; first < pixels; first += 32) {
        const int i = first + lane;
        const bool inside = i < pixels;
        PixelEntries<channels> pixel{};
        if (inside) {
            const int x = i % place.width, y = i / place.width;
            pixel = pixel_entries<channels>(block, place.left + x, place.top + y, candidate.by,
                                            candidate.slopes[y * part_side + x], fine, input.tables.pattern_ranks);
            costs.add(input.tables, pixel);
        }
        if (!to) continue;
        const auto own = inside ? static_cast<std::uint32_t>(pixel.count()) : 0u;
        const auto up_to = cuda::inclusive_warp_sum(own);
        if (inside) pixel.write(to + count + up_to - own);
        count += static_cast<int>(__shfl_sync(~0u, up_to, 31));
    }
    return count;
}

}  // namespace framewire::delta
