#pragma once

// Only for .cu files: what a part of a block may be foretold by, and what that costs.

#include "framewire/cuda/kernel/scan.cuh"
#include "framewire/delta/batch/near_parts.cuh"
#include "framewire/delta/batch/packing/prediction/vector_search.cuh"
#include "framewire/delta/batch/step_contexts.cuh"
#include "framewire/delta/prediction/foretold_formulas.hpp"
#include "framewire/delta/prediction/quantization/quantizer.hpp"

#include <cstdint>

namespace framewire::delta {

inline constexpr int part_pixels = part_side * part_side;
/// Symbols before a part's pixels: its mode, a kind of vector, and of two numbers each a symbol, bits, and a sign.
inline constexpr int entries_before_pixels = 8;

/// What a part may be foretold by, and what comes of it. Pixels in rows of 8.
template <int channels>
struct Candidate {
    MotionVector vector;
    Foretold by;
    std::uint32_t cost;  // in 1/8 bits
    bool has_steps;
    std::int16_t steps[channels][part_pixels];
    std::uint8_t traits[part_pixels], slopes[part_pixels], samples[part_pixels * channels];
};

/// Where a part lies.
struct PartPlace {
    int index, column, row, left, top, width, height;

    __device__ PartPlace(const BlockPlace& block, int part)
        : index(part),
          column(part % parts_per_row),
          row(part / parts_per_row),
          left(column * part_side),
          top(row * part_side),
          width(min(part_side, block.width - left)),
          height(min(part_side, block.height - top)) {}
};

/// What candidates for a part look at: the steps and samples of the block so far, the camera's samples, and what is
/// around the part in the picture before. In shared memory.
template <int channels>
struct PartInput {
    const BlockSteps<channels>& block;
    const std::uint8_t* samples;  ///< of the block, rows of 64 pixels
    const VectorSearch<channels>& search;
    const CoderTables& tables;

    __device__ std::uint8_t sample(int x, int y, int channel) const {
        return samples[(y * block_side + x) * channels + channel];
    }
};

/// A block's steps with a candidate's in its part.
template <int channels>
struct WithCandidate {
    const BlockSteps<channels>& block;
    const Candidate<channels>& candidate;
    int left, top;

    __device__ bool inside(int x, int y) const {
        return x >= left && x < left + part_side && y >= top && y < top + part_side;
    }
    __device__ int step(int x, int y, int channel) const {
        return inside(x, y) ? candidate.steps[channel][(y - top) * part_side + x - left] : block.step(x, y, channel);
    }
    __device__ PixelTraits traits_at(int x, int y) const {
        return inside(x, y) ? PixelTraits{candidate.traits[(y - top) * part_side + x - left]} : block.traits_at(x, y);
    }
};

/// Symbols one after the other.
struct EntryWriter {
    std::uint16_t* to;

    __device__ void add(int index) { *to++ = static_cast<std::uint16_t>(index); }
    __device__ void add_bits(int value, int count) {
        if (count) *to++ = bits_entry(value, count);
    }
};
__device__ inline int bit_width(int value) { return 32 - __clz(value); }
__device__ inline void add_distance(EntryWriter& to, int model, int distance) {
    const int far = abs(distance), bits = bit_width(far);
    to.add(model + bits);
    if (bits == 0) return;
    to.add_bits(far & ((1 << (bits - 1)) - 1), bits - 1);
    to.add_bits(distance < 0, 1);
}
/// A part's mode and its vector.
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
/// Adds up what entries cost: of all sets, as step_costs() has them, and numbers of bits.
struct Costs {
    unsigned long long of_sets = 0;
    int bits = 0;

    __device__ void add(const CoderTables& tables, std::uint32_t entry) {
        bits += bits_of_entry(entry);
        of_sets += tables.step_costs[entry];
    }
    template <int channels>
    __device__ void add(const CoderTables& tables, const PixelEntries<channels>& pixel) {
        add(tables, pixel.of[0]);
        if (pixel.changes)
#pragma unroll
            for (int i = 1; i < PixelEntries<channels>::most; ++i)
                if (pixel.of[i]) add(tables, pixel.of[i]);
    }
    __device__ std::uint32_t of_set(int set) const {
        return static_cast<std::uint32_t>(of_sets >> (16 * set)) & 0xFFFFu;
    }
};

/// The steps of one pixel of a candidate.
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

/// Fills a candidate's steps and samples. By one warp.
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
        // From one diagonal to the next: a pixel looks to its left and above.
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

template <int channels>
__device__ PartMode mode_of(const Candidate<channels>& candidate) {
    return candidate.by == Foretold::inside      ? PartMode::inside
           : candidate.by == Foretold::reference ? PartMode::changes
           : candidate.has_steps                 ? PartMode::moved_changes
                                                 : PartMode::moved;
}

/// The symbols of a candidate and what they cost; they are written where there is `to`. Returns how many. By one warp.
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
