#include "framewire/codec/batch_assembly.cuh"
#include "framewire/codec/batch_kernels.hpp"
#include "framewire/codec/blocks.hpp"
#include "framewire/codec/prediction.hpp"
#include "framewire/cuda/check.hpp"
#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"

#include <algorithm>
#include <cstdint>

// Motion compensation by the threads of one thread block: the device counterpart of MotionWindow and PredictedPart.

namespace framewire::codec {

/// Copy of the area around a sub-block in the previous picture, in shared memory. It is large enough for every vector
/// and for the neighbours of the predicted pixels. Outside the picture, the nearest pixel is repeated.
///
///     |<- 17 ->|<- 8 ->|<- 17 + 1 ->|    both horizontally and vertically; vectors reach 15.75 pixels,
///                                      the slope one pixel further, interpolation one more to the right and below
template <int channels>
struct DeviceMotionWindow {
    static constexpr int margin = 17, side = part_side + 2 * margin + 1;
    static constexpr int stride =
        (side * channels + 3) / 4 * 4 + 4;  // bytes between rows; whole words can be read beyond the end of a row
    std::uint8_t bytes[side * stride];

    /// Loads the window around the sub-block with the first pixel (x, y). Called by all threads.
    __device__ void load(const cuda::KernelImage<const std::uint8_t>& picture, int stream, int frame_width,
                         int frame_height, int x, int y) {
        for (int i = static_cast<int>(threadIdx.x); i < side * side; i += static_cast<int>(blockDim.x)) {
            const int row = i / side, column = i % side;
            const int from_x = min(max(x - margin + column, 0), frame_width - 1);
            const int from_y = min(max(y - margin + row, 0), frame_height - 1);
            const auto* from = picture.row(stream, from_y) + std::int64_t{from_x} * channels;
            auto* to = bytes + row * stride + column * channels;
#pragma unroll
            for (int channel = 0; channel < channels; ++channel) to[channel] = from[channel];
        }
    }
    /// Returns the sample that `vector` predicts for the pixel (x, y) of the sub-block or of its border: bilinear
    /// interpolation in quarters of a pixel, rounded (format.md, "Prediction").
    __device__ int sample(int x, int y, int channel, MotionVector vector) const {
        const int qx = vector.x & (quarters - 1), qy = vector.y & (quarters - 1);
        const auto* at = bytes + (margin + y + (vector.y - qy) / quarters) * stride +
                         (margin + x + (vector.x - qx) / quarters) * channels + channel;
        const int above = at[0] * (quarters - qx) + at[channels] * qx;
        const int below = at[stride] * (quarters - qx) + at[stride + channels] * qx;
        return (above * (quarters - qy) + below * qy + 8) / 16;
    }
    /// Returns four bytes at the offset `at`, which need not be aligned.
    __device__ std::uint32_t word(int at) const {
        const auto* words = reinterpret_cast<const std::uint32_t*>(bytes) + at / 4;
        return __funnelshift_r(words[0], words[1], 8 * (at % 4));
    }
};

/// The camera's samples of a sub-block in rows of whole words, in shared memory. `mask` is 255 for bytes inside the
/// frame, else 0.
template <int channels>
struct CameraPart {
    static constexpr int row_words = part_side * channels / 4;
    std::uint32_t samples[part_side][row_words], mask[part_side][row_words];

    /// Returns a sample of the pixel (x, y) of the sub-block.
    __device__ int sample(int x, int y, int channel) const {
        return reinterpret_cast<const std::uint8_t*>(samples[y])[x * channels + channel];
    }
    /// Loads the sub-block at (x, y) of the picture. Called by all threads.
    __device__ void load(const cuda::KernelImage<const std::uint8_t>& camera, int stream, int x, int y, int width,
                         int height) {
        auto* const bytes = reinterpret_cast<std::uint8_t*>(samples);
        auto* const counts = reinterpret_cast<std::uint8_t*>(mask);
        constexpr int row_bytes = part_side * channels;
        for (int i = static_cast<int>(threadIdx.x); i < part_side * row_bytes; i += static_cast<int>(blockDim.x)) {
            const int row = i / row_bytes, at = i % row_bytes;
            const bool inside = row < height && at < width * channels;
            bytes[i] = inside ? camera.row(stream, y + row)[std::int64_t{x} * channels + at] : std::uint8_t{0};
            counts[i] = inside ? 255 : 0;
        }
    }
};

/// Returns the estimated cost of predicting two rows of a sub-block with `vector`. The estimate equals that of
/// look_for_motion(). Processes four bytes at a time.
template <int channels>
__device__ int motion_cost_of_rows(const CameraPart<channels>& part, const DeviceMotionWindow<channels>& window,
                                   MotionVector vector, int row, int height, int threshold) {
    const std::uint32_t qx = vector.x & (quarters - 1), qy = vector.y & (quarters - 1);
    const int from = (DeviceMotionWindow<channels>::margin + row + (vector.y - static_cast<int>(qy)) / quarters) *
                         DeviceMotionWindow<channels>::stride +
                     (DeviceMotionWindow<channels>::margin + (vector.x - static_cast<int>(qx)) / quarters) * channels;
    const auto limit = static_cast<std::uint32_t>(threshold) * 0x01010101u;
    std::uint32_t samples = 0, excess = 0;
    for (int each = 0; each < 2 && row + each < height; ++each)
#pragma unroll
        for (int i = 0; i < CameraPart<channels>::row_words; ++i) {
            const int at = from + each * DeviceMotionWindow<channels>::stride + 4 * i;
            auto predicted = window.word(at);
            if (qx | qy) {
                const auto right = window.word(at + channels);
                const auto below = window.word(at + DeviceMotionWindow<channels>::stride);
                const auto below_right = window.word(at + DeviceMotionWindow<channels>::stride + channels);
                // Each word has two samples; no sum exceeds 16 bits.
                const auto between = [&](int shift) {
                    const auto pair = [&](std::uint32_t word) { return word >> shift & 0x00FF00FFu; };
                    const auto upper = pair(predicted) * (4 - qx) + pair(right) * qx;
                    const auto lower = pair(below) * (4 - qx) + pair(below_right) * qx;
                    return (upper * (4 - qy) + lower * qy + 0x00080008u) >> 4 & 0x00FF00FFu;
                };
                predicted = between(0) | between(8) << 8;
            }
            const auto distance = __vabsdiffu4(part.samples[row + each][i], predicted);
            const auto over = __vcmpgtu4(distance, limit) & part.mask[row + each][i];
            samples += __popc(over) / 8;
            excess = __dp4a(__vsub4(distance, limit) & over, 0x01010101u, excess);
        }
    return static_cast<int>(samples) * motion_sample_cost +
           static_cast<int>(excess) * motion_step_cost / (2 * threshold + 1);
}

}  // namespace framewire::codec

// Motion search by all threads of a thread block: the device counterpart of MotionSearch.

namespace framewire::codec {

/// A candidate vector and its estimated cost.
struct TriedVector {
    MotionVector vector;
    std::uint32_t cost;  // in 1/16 bits, or `nothing`
};

/// Memory and parameters of the motion search for one sub-block, in shared memory.
template <int channels>
struct VectorSearch {
    static constexpr int most_found = 4, most_tried = 2 + 25 * 25;

    DeviceMotionWindow<channels> window;
    CameraPart<channels> camera;
    TriedVector tried[most_tried], found[most_found];  // candidates of the current pass, and the best ones so far
    int found_count;
    int range, threshold,
        wanted;  ///< search range in pixels, threshold of the frame, and maximum number of vectors to return
};

/// Cost of a vector that must not be tried.
inline constexpr std::uint32_t nothing = ~0u;
/// Number of lanes that share a vector. Each computes two rows of the sub-block.
inline constexpr int pair_lanes = part_side / 2;

/// Copies the `count` cheapest of the first `tried` vectors to search.found. Among equal costs, earlier vectors come
/// first; duplicates are ignored. Called by one warp.
template <int channels>
__device__ void keep_best(VectorSearch<channels>& search, int tried, int count) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    int found = 0;
    for (; found < count; ++found) {
        std::uint32_t cost = nothing;
        int at = VectorSearch<channels>::most_tried;
        for (int i = lane; i < tried; i += 32)
            if (search.tried[i].cost < cost) {
                cost = search.tried[i].cost;
                at = i;
            }
#pragma unroll
        for (int step = 16; step > 0; step /= 2) {
            const auto other_cost = __shfl_xor_sync(~0u, cost, step);
            const int other_at = __shfl_xor_sync(~0u, at, step);
            if (other_cost < cost || (other_cost == cost && other_at < at)) {
                cost = other_cost;
                at = other_at;
            }
        }
        if (cost == nothing) break;
        const auto best = search.tried[at].vector;
        if (lane == 0) search.found[found] = {best, cost};
        __syncwarp();
        for (int i = lane; i < tried; i += 32)
            if (search.tried[i].vector == best) search.tried[i].cost = nothing;
        __syncwarp();
    }
    if (lane == 0) search.found_count = found;
}

/// Adds the cost of the prediction error to the cost of the vectors `first` to `tried` - 1. Uses four lanes per vector.
/// Called by all threads.
template <int channels>
__device__ void find_costs(VectorSearch<channels>& search, int height, int first, int tried) {
    const int row = static_cast<int>(threadIdx.x) % pair_lanes * 2;
    for (int base = first; base < tried; base += static_cast<int>(blockDim.x) / pair_lanes) {
        const int i = base + static_cast<int>(threadIdx.x) / pair_lanes;
        int cost = 0;
        bool counts = false;
        if (i < tried) {
            const auto vector = search.tried[i].vector;
            counts = search.tried[i].cost != nothing;
            if (counts) cost = motion_cost_of_rows(search.camera, search.window, vector, row, height, search.threshold);
        }
#pragma unroll
        for (int step = 1; step < pair_lanes; step *= 2) cost += __shfl_xor_sync(~0u, cost, step);
        if (counts && row == 0) search.tried[i].cost += static_cast<std::uint32_t>(cost);
    }
}

/// Returns a vector with the cost of signalling it, or with the cost `nothing` if it is zero or out of range.
__device__ inline TriedVector to_try(MotionVector vector, int cost) {
    const bool none = vector == MotionVector{} || abs(vector.x) > max_motion || abs(vector.y) > max_motion;
    return {vector, none ? nothing : static_cast<std::uint32_t>(cost)};
}

/// Finds the same vectors as MotionSearch for a sub-block of `height` rows, and stores them in search.found. The
/// camera's samples and the window must be loaded. Called by all threads.
///
///     pass 1   vectors of the left and upper neighbour, and the full grid of whole pixels within `range`
///     pass 2   the best vectors of pass 1, and 3x3 vectors at half pixels around each
///     pass 3   the best vectors of pass 2, and 3x3 vectors at quarter pixels around each
template <int channels>
__device__ void find_vectors(const NearParts& near, int height, VectorSearch<channels>& search) {
    const int side = 2 * search.range + 1, grid = side * side, tried = 2 + grid;
    for (int i = static_cast<int>(threadIdx.x); i < tried; i += static_cast<int>(blockDim.x)) {
        TriedVector of{{}, nothing};
        if (i == 0) {
            if (near.has_left()) of = to_try(near.left.vector, near_vector_cost());
        } else if (i == 1) {
            if (near.has_above()) of = to_try(near.above.vector, near_vector_cost());
        } else {
            const MotionVector vector{((i - 2) % side - search.range) * quarters,
                                      ((i - 2) / side - search.range) * quarters};
            of = to_try(vector, new_vector_cost(vector));
        }
        search.tried[i] = of;
    }
    __syncthreads();
    find_costs(search, height, 0, tried);
    __syncthreads();
    if (threadIdx.x < 32) keep_best(search, tried, search.wanted);
    __syncthreads();
    // Refine around the best vectors, first by half pixels, then by quarter pixels.
    for (const int step : {2, 1}) {
        const int centres = search.found_count, around = centres + centres * 9;
        if (static_cast<int>(threadIdx.x) < around) {
            const int i = static_cast<int>(threadIdx.x);
            TriedVector of;
            if (i < centres) {
                of = search.found[i];
            } else {
                const int number = i - centres, at = number % 9;
                const auto centre = search.found[number / 9].vector;
                const MotionVector vector{centre.x + (at % 3 - 1) * step, centre.y + (at / 3 - 1) * step};
                of = to_try(vector, new_vector_cost(vector));
            }
            search.tried[i] = of;
        }
        __syncthreads();
        find_costs(search, height, centres, around);
        __syncthreads();
        if (threadIdx.x < 32) keep_best(search, around, search.wanted);
        __syncthreads();
    }
}

}  // namespace framewire::codec

// Candidate predictions for a sub-block, their steps and their costs. prediction.cpp is the CPU version.

namespace framewire::codec {

/// Number of pixels of a sub-block. Arrays of its pixels have rows of 8.
inline constexpr int part_pixels = part_side * part_side;
/// Maximum number of entries before those of a sub-block's pixels: the mode, the vector kind, and for each of the two
/// components a symbol, raw bits and a sign.
inline constexpr int entries_before_pixels = 8;

/// A possible prediction of a sub-block, and the result of quantizing the difference. In shared memory.
template <int channels>
struct Candidate {
    MotionVector vector;                        ///< 0 unless `by` is motion
    Predicted by;                               ///< the kind of prediction
    std::uint32_t cost;                         ///< in 1/8 bits; set only if there are several candidates
    bool has_steps;                             ///< whether any pixel has a step
    std::int16_t steps[channels][part_pixels];  ///< signed magnitudes
    std::uint8_t traits[part_pixels], slopes[part_pixels],
        samples[part_pixels * channels];  ///< traits, slopes and reconstructed samples
};

/// Position of a sub-block in its block, and its size in pixels, which may be 0 or less at the edges of the frame.
struct PartPlace {
    int index, column, row, left, top, width, height;

    /// Computes the position of sub-block `part`. Sub-blocks are numbered as if the block were whole.
    __device__ PartPlace(const BlockPlace& block, int part)
        : index(part),
          column(part % parts_per_row),
          row(part / parts_per_row),
          left(column * part_side),
          top(row * part_side),
          width(min(part_side, block.width - left)),
          height(min(part_side, block.height - top)) {}
};

/// Input for computing candidates: the steps and samples of the block that are already coded, the camera's samples, and
/// the area around the sub-block in the previous picture. Refers to shared memory.
template <int channels>
struct PartInput {
    const BlockSteps<channels>& block;
    const std::uint8_t* samples;  ///< reconstructed samples of the block, in rows of 64 pixels
    const VectorSearch<channels>& search;
    const CoderTables& tables;

    /// Returns a reconstructed sample of the pixel (x, y) of the block.
    __device__ std::uint8_t sample(int x, int y, int channel) const {
        return samples[(y * block_side + x) * channels + channel];
    }
};

/// View of a block's steps in which a candidate replaces the sub-block at (left, top). Has the members that
/// neighbours_of() and pixel_entries() require.
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

/// Writer that appends entries to an array.
struct EntryWriter {
    std::uint16_t* to;

    /// Appends a symbol of a trained model.
    __device__ void add(int index) { *to++ = static_cast<std::uint16_t>(index); }
    /// Appends a raw number of `count` bits, unless `count` is 0.
    __device__ void add_bits(int value, int count) {
        if (count) *to++ = bits_entry(value, count);
    }
};
/// Returns the number of bits of a nonnegative number.
__device__ inline int bit_width(int value) { return 32 - __clz(value); }
/// Appends a component of a vector difference: the number of its bits, the bits below the highest, and the sign.
__device__ inline void add_distance(EntryWriter& to, int model, int distance) {
    const int far = abs(distance), bits = bit_width(far);
    to.add(model + bits);
    if (bits == 0) return;
    to.add_bits(far & ((1 << (bits - 1)) - 1), bits - 1);
    to.add_bits(distance < 0, 1);
}
/// Writes the entries of a sub-block's mode and vector. Returns their number, at most `entries_before_pixels`.
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
/// Sum of the costs of entries, for all sets of models at once as in step_costs(), and the number of raw bits.
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

/// Quantizes one pixel against its prediction and stores the steps, samples, traits and slope. Returns true if the
/// pixel has a step.
template <int channels>
__device__ bool take_pixel(const PartInput<channels>& input, const Quantizer& quantizer, Candidate<channels>& candidate,
                           int x, int y, const int (&predicted)[channels], int rise) {
    const int at = y * part_side + x;
    int own[channels];
    bool any = false;
#pragma unroll
    for (int channel = 0; channel < channels; ++channel) {
        own[channel] = quantizer.steps(input.search.camera.sample(x, y, channel), predicted[channel]);
        any |= own[channel] != 0;
        candidate.steps[channel][at] = static_cast<std::int16_t>(own[channel]);
        candidate.samples[at * channels + channel] = quantizer.sample(predicted[channel], own[channel]);
    }
    candidate.traits[at] = BlockSteps<channels>::traits_of(own);
    candidate.slopes[at] = static_cast<std::uint8_t>(slope_of(rise, quantizer.threshold()));
    return any;
}

/// Computes a candidate's steps, samples, traits and slopes. Called by one warp.
///
/// Predictions from the previous picture are independent of each other, so each lane processes every 32nd pixel.
/// Predictions from neighbours depend on reconstructed samples to the left and above, so the warp processes one
/// diagonal after the other.
template <int channels>
__device__ void quantize(const PartInput<channels>& input, const PartPlace& place, const Quantizer& quantizer,
                         Candidate<channels>& candidate) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    constexpr int slope_from = slope_channel(channels);
    bool any = false;
    for (int at = lane; at < part_pixels; at += 32) {
        const int x = at % part_side, y = at / part_side;
        if (x < place.width && y < place.height) {
            if (candidate.by == Predicted::inside) continue;
            int predicted[channels];
#pragma unroll
            for (int channel = 0; channel < channels; ++channel)
                predicted[channel] = input.search.window.sample(x, y, channel, candidate.vector);
            const auto beside = [&](int right, int down) {
                return input.search.window.sample(x + right, y + down, slope_from, candidate.vector);
            };
            const int rise = max(abs(beside(1, 0) - beside(-1, 0)), abs(beside(0, 1) - beside(0, -1)));
            any |= take_pixel(input, quantizer, candidate, x, y, predicted, rise);
        } else {
#pragma unroll
            for (int channel = 0; channel < channels; ++channel) candidate.steps[channel][at] = 0;
            candidate.traits[at] = 0;
        }
    }
    if (candidate.by == Predicted::inside) {
        // Lane y processes the pixel of row y on the current diagonal.
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
            int predicted[channels], rise = 0;
#pragma unroll
            for (int channel = 0; channel < channels; ++channel) {
                predicted[channel] = 128;
                // The median edge detector of JPEG-LS (ITU-T T.87): l + a - c, clamped to the range between l and a.
                if (has_left && has_above) {
                    const int left = sample(-1, 0, channel), above = sample(0, -1, channel),
                              corner = sample(-1, -1, channel);
                    predicted[channel] = min(max(left + above - corner, min(left, above)), max(left, above));
                    if (channel == slope_from) rise = max(abs(left - corner), abs(above - corner));
                } else if (has_left) {
                    predicted[channel] = sample(-1, 0, channel);
                } else if (has_above) {
                    predicted[channel] = sample(0, -1, channel);
                }
            }
            any |= take_pixel(input, quantizer, candidate, x, y, predicted, rise);
        }
    }
    any = __any_sync(~0u, any);
    if (lane == 0) candidate.has_steps = any;
    __syncwarp();
}

/// Returns the mode that signals the candidate.
template <int channels>
__device__ PartMode mode_of(const Candidate<channels>& candidate) {
    return candidate.by == Predicted::inside      ? PartMode::inside
           : candidate.by == Predicted::reference ? PartMode::changes
           : candidate.has_steps                  ? PartMode::moved_changes
                                                  : PartMode::moved;
}

/// Adds the costs of a candidate's entries to `costs`, each lane those of its own entries, and writes the entries to
/// `to` unless it is null. Returns the number of entries, or only of those for mode and vector if `to` is null. Called
/// by one warp.
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

namespace advance_kernels {
namespace {

// Updates the reference pictures with the coded blocks and measures the remaining error.
//
//     grid.x     items of the list, with a stride of gridDim.x
//     warp w     rows w, w + 4, ... of a block
//     lane i     bytes i, i + 32, ... of a row: reads camera and after, writes before
constexpr int advance_threads = 128;

struct Job {
    cuda::KernelImage<const std::uint8_t> camera, after;
    cuda::KernelImage<std::uint8_t> before;
    BatchBlocks blocks;
    BlockList list;
    const std::uint8_t* is_camera;
    Summary* summaries;
};

__global__ void __launch_bounds__(advance_threads) advance_kernel(Job job) {
    const auto count = job.list.size();
    for (auto item = blockIdx.x; item < count; item += gridDim.x) {
        const int block = job.list.block(job.list.place(item)), stream = job.blocks.stream(block);
        const auto place = job.blocks.place(block);
        const int row_bytes = place.width * job.blocks.channels, lane = static_cast<int>(threadIdx.x % 32);
        std::uint32_t largest = 0, squared = 0;
        for (int y = static_cast<int>(threadIdx.x / 32); y < place.height; y += advance_threads / 32) {
            const auto from = std::int64_t{place.x} * job.blocks.channels;
            // If the stream got a lossless keyframe, R becomes the camera's picture.
            const auto& taken = job.is_camera && job.is_camera[stream] ? job.camera : job.after;
            const auto* after = taken.row(stream, place.y + y) + from;
            const auto* now = job.camera.row(stream, place.y + y) + from;
            auto* held = job.before.row(stream, place.y + y) + from;
            for (int i = lane; i < row_bytes; i += 32) {
                const int sample = after[i];
                const auto error = static_cast<std::uint32_t>(abs(now[i] - sample));
                held[i] = static_cast<std::uint8_t>(sample);
                largest = max(largest, error);
                squared += error * error;
            }
        }
        largest = cuda::warp_max(largest);
        squared = cuda::warp_sum(squared);
        if (lane != 0) continue;
        auto& summary = job.summaries[stream];
        if (largest) atomicMax(&summary.max_error, largest);
        if (squared)
            atomicAdd(reinterpret_cast<unsigned long long*>(&summary.squared_error),
                      static_cast<unsigned long long>(squared));
    }
}

}  // namespace
}  // namespace advance_kernels

void advance_blocks(DeviceView<const std::uint8_t> camera, DeviceView<const std::uint8_t> after,
                    DeviceView<std::uint8_t> before, const BlockList& list, const std::uint8_t* is_camera,
                    Summary* summaries, const cuda::Stream& stream) {
    using namespace advance_kernels;
    const auto& shape = camera.shape();
    const Job job{cuda::KernelImage(camera),
                  cuda::KernelImage(after),
                  cuda::KernelImage(before),
                  {BlockGrid(shape), shape.channels, shape.frames},
                  list,
                  is_camera,
                  summaries};
    constexpr unsigned most = 4096;
    cuda::Launch(stream, std::min(most, static_cast<unsigned>(job.blocks.count())), advance_threads)(advance_kernel,
                                                                                                     job);
}

}  // namespace framewire::codec

// Prediction encoder for batches. A thread block codes one block of the list after the other. It codes the sub-blocks
// in order, because each depends on those before it:
//
//     begin_block    all threads   previous picture -> shared.after; marks sub-blocks within the threshold
//     find_vectors   all threads   motion search; 4 lanes per vector
//     quantize,      one warp      inside, reference, and up to 4 vectors -> shared.candidates
//     code_part        per candidate
//     take_part      warp 0        the cheapest candidate -> shared.block, shared.after, scratch.entries
//     write_block    warp 0        joined entries -> rANS words at the end of the block's slot
//
// If the first step size suggests it, the block is coded a second time with the largest one, and the cheaper result
// stays. At effort 0, delta frames have only the candidate `reference` and are coded once.

namespace framewire::codec {
namespace prediction_kernels {
namespace {

constexpr int threads_per_block = 128, warps_per_block = threads_per_block / 32;
constexpr int part_count = parts_per_row * parts_per_row;
constexpr int sizes_tried = 2;

struct Job {
    cuda::KernelImage<const std::uint8_t> camera;
    cuda::KernelImage<const std::uint8_t> before;
    cuda::KernelImage<std::uint8_t> after;
    int frame_width, frame_height;
    BatchBlocks blocks;
    BlockList list;
    int threshold, range, candidates;
    bool fresh;
    CoderTables tables;
    CodedBlocks coded;
    std::uint8_t* scratch;

    // Returns true for delta frames at effort 0, whose blocks are coded once, like QuickPredictionEncoder codes them.
    __device__ bool quick() const { return candidates == 0 && !fresh; }
};

// Scratch memory of a thread block, in device memory: the entries of each sub-block for each attempted step size, and
// the step size and all entries of the result.
template <int channels>
struct Scratch {
    static constexpr int part_entries = entries_before_pixels + part_pixels * PixelEntries<channels>::most;
    std::uint16_t entries[sizes_tried][part_count][part_entries], joined[1 + part_count * part_entries];
};

template <int channels>
struct Shared {
    BlockSteps<channels> block;
    std::uint8_t after[block_side * block_side * channels];  // the block as viewers will see it
    static constexpr int most_found = VectorSearch<channels>::most_found;
    VectorSearch<channels> search;
    Candidate<channels> candidates[most_found + 2];
    MotionVector vectors[part_count][most_found];
    std::uint8_t vector_counts[part_count];
    CodedPart parts[part_count];
    ChainMemory chain;
    std::uint16_t counts[sizes_tried][part_count];
    std::uint32_t ends[part_count];
    std::uint32_t costs[sizes_tried][step_models::sets];
    std::uint32_t plain_bits[sizes_tried], all_steps[sizes_tried],
        changed_samples[sizes_tried];  // per attempt: raw bits, sum of magnitudes, samples with a step
    std::uint32_t may_stay[2];         // a bit per sub-block: the previous picture is within the threshold
    std::uint32_t item;
    int furthest;                          // largest difference between camera and previous picture in the block
    std::uint32_t beyond_samples, excess;  // samples beyond the threshold, and the sum of the amounts by which they are

    __device__ std::uint8_t& sample(int x, int y, int channel) {
        return after[(y * block_side + x) * channels + channel];
    }
};

static_assert(sizeof(Shared<3>) <= cuda::least_block_shared_bytes);

// Loads the block of the previous picture and finds the sub-blocks that are already within the threshold. Called by all
// threads.
template <int channels>
__device__ void begin_block(const Job& job, int stream, const BlockPlace& place, Shared<channels>& shared) {
    if (threadIdx.x < 2) shared.may_stay[threadIdx.x] = ~0u;
    if (threadIdx.x == 0) {
        shared.furthest = 0;
        shared.beyond_samples = shared.excess = 0;
    }
    __syncthreads();
    int furthest = 0;
    std::uint32_t beyond_samples = 0, excess = 0;
    for (int i = static_cast<int>(threadIdx.x); i < block_side * block_side; i += threads_per_block) {
        const int x = i % block_side, y = i / block_side;
#pragma unroll
        for (int channel = 0; channel < channels; ++channel) shared.block.steps[channel][i] = 0;
        shared.block.traits[i] = 0;
        if (x >= place.width || y >= place.height) continue;
        const auto at = std::int64_t{place.x + x} * channels;
        const auto* now = job.camera.row(stream, place.y + y) + at;
        const auto* held = job.before.row(stream, place.y + y) + at;
        bool far = job.fresh;
#pragma unroll
        for (int channel = 0; channel < channels; ++channel) {
            const int was = job.fresh ? 0 : held[channel];
            shared.sample(x, y, channel) = static_cast<std::uint8_t>(was);
            const int distance = abs(now[channel] - was);
            far |= distance > job.threshold;
            furthest = max(furthest, distance);
            if (distance > job.threshold) {
                ++beyond_samples;
                excess += static_cast<std::uint32_t>(distance - job.threshold);
            }
        }
        if (far) {
            const int part = y / part_side * parts_per_row + x / part_side;
            atomicAnd(&shared.may_stay[part / 32], ~(1u << (part % 32)));
        }
    }
    const auto furthest_of_warp = cuda::warp_max(static_cast<std::uint32_t>(furthest));
    beyond_samples = cuda::warp_sum(beyond_samples);
    excess = cuda::warp_sum(excess);
    if (threadIdx.x % 32 == 0) {
        atomicMax(&shared.furthest, static_cast<int>(furthest_of_warp));
        atomicAdd(&shared.beyond_samples, beyond_samples);
        atomicAdd(&shared.excess, excess);
    }
}

// Copies the chosen candidate into the block. Called by one warp.
template <int channels>
__device__ void take_part(Shared<channels>& shared, const PartPlace& place, const Candidate<channels>& candidate,
                          int tried) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    std::uint32_t changed = 0, steps = 0;
    for (int at = lane; at < part_pixels; at += 32) {
        const int x = at % part_side, y = at / part_side;
        if (x >= place.width || y >= place.height) continue;
        const int in_block = BlockSteps<channels>::at(place.left + x, place.top + y);
#pragma unroll
        for (int channel = 0; channel < channels; ++channel) {
            const int own = candidate.steps[channel][at];
            shared.block.steps[channel][in_block] = static_cast<std::int16_t>(own);
            shared.after[in_block * channels + channel] = candidate.samples[at * channels + channel];
            changed += own != 0;
            steps += static_cast<std::uint32_t>(abs(own));
        }
        shared.block.traits[in_block] = candidate.traits[at];
    }
    changed = cuda::warp_sum(changed);
    steps = cuda::warp_sum(steps);
    if (lane == 0) {
        shared.parts[place.index] = {static_cast<std::uint8_t>(mode_of(candidate)), candidate.vector};
        shared.changed_samples[tried] += changed;
        shared.all_steps[tried] += steps;
    }
}

// Returns the set of models that most blocks choose. Candidates are compared by their costs with this set.
__device__ int usual_set(int threshold) { return threshold >= 14 ? 2 : 3; }

// Codes the block with one step size: computes the entries, costs and reconstruction. Searches for vectors if `look` is
// set; otherwise reuses the vectors of the previous call. Called by all threads.
template <int channels>
__device__ void code_block(const Job& job, int stream, const BlockPlace& block, const Quantizer& quantizer, int tried,
                           bool look, Shared<channels>& shared, Scratch<channels>& scratch) {
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    if (threadIdx.x < step_models::sets) shared.costs[tried][threadIdx.x] = 0;
    if (threadIdx.x == 0) shared.plain_bits[tried] = shared.all_steps[tried] = shared.changed_samples[tried] = 0;
    const bool quick = job.quick();
    __syncthreads();
    for (int index = 0; index < part_count; ++index) {
        const PartPlace place(block, index);
        if (place.width <= 0 || place.height <= 0) {
            if (threadIdx.x == 0) shared.counts[tried][index] = 0;
            continue;
        }
        const NearParts near(shared.parts, index);
        auto* const entries = scratch.entries[tried][index];
        // A sub-block that is within the threshold stays unchanged and costs a single symbol.
        if (shared.may_stay[index / 32] >> (index % 32) & 1) {
            __syncthreads();
            if (threadIdx.x == 0) {
                const int entry = near.mode_model() + static_cast<int>(PartMode::stays);
                Costs costs;
                costs.add(job.tables, static_cast<std::uint32_t>(entry));
                for (int set = 0; set < step_models::sets; ++set) shared.costs[tried][set] += costs.of_set(set);
                entries[0] = static_cast<std::uint16_t>(entry);
                shared.counts[tried][index] = 1;
                shared.parts[index] = {static_cast<std::uint8_t>(PartMode::stays), {}};
            }
            __syncthreads();
            continue;
        }
        const PartInput<channels> input{shared.block, shared.after, shared.search, job.tables};
        const int x = block.x + place.left, y = block.y + place.top;
        // Load the inputs of all candidates: the camera's samples, and the area in the previous picture.
        shared.search.camera.load(job.camera, stream, x, y, place.width, place.height);
        if (!job.fresh) shared.search.window.load(job.before, stream, job.frame_width, job.frame_height, x, y);
        __syncthreads();
        if (!job.fresh && look && !quick) {
            find_vectors(near, place.height, shared.search);
            const int found = shared.search.found_count;
            if (static_cast<int>(threadIdx.x) < found)
                shared.vectors[index][threadIdx.x] = shared.search.found[threadIdx.x].vector;
            if (threadIdx.x == 0) shared.vector_counts[index] = static_cast<std::uint8_t>(found);
            __syncthreads();
        }
        // Candidates: inside, reference, and the vectors that were found; only the first if there is no previous
        // picture, and only the second if nothing is searched.
        const int vectors = job.fresh || quick ? 0 : shared.vector_counts[index];
        const int candidates = job.fresh || quick ? 1 : 2 + vectors;
        if (static_cast<int>(threadIdx.x) < candidates) {
            auto& candidate = shared.candidates[threadIdx.x];
            candidate.by = quick              ? Predicted::reference
                           : threadIdx.x == 0 ? Predicted::inside
                           : threadIdx.x == 1 ? Predicted::reference
                                              : Predicted::moved;
            candidate.vector = threadIdx.x < 2 ? MotionVector{} : shared.vectors[index][threadIdx.x - 2];
        }
        __syncthreads();
        // Each warp quantizes its candidates and computes their exact costs with the usual set of models.
        for (int i = warp; i < candidates; i += warps_per_block) {
            auto& candidate = shared.candidates[i];
            quantize(input, place, quantizer, candidate);
            if (candidates == 1) continue;
            Costs costs;
            code_part(input, near, place, quantizer.fine(), candidate, nullptr, costs);
            const auto cost = cuda::warp_sum(costs.of_set(usual_set(quantizer.threshold())) +
                                             8 * static_cast<std::uint32_t>(costs.bits));
            if (lane == 0) candidate.cost = cost;
        }
        __syncthreads();
        if (warp == 0) {
            int best = 0;
            for (int i = 1; i < candidates; ++i)
                if (shared.candidates[i].cost < shared.candidates[best].cost) best = i;
            const auto& candidate = shared.candidates[best];
            Costs costs;
            const int count = code_part(input, near, place, quantizer.fine(), candidate, entries, costs);
#pragma unroll
            for (int set = 0; set < step_models::sets; ++set) {
                const auto sum = cuda::warp_sum(costs.of_set(set));
                if (lane == 0) shared.costs[tried][set] += sum;
            }
            const auto bits = cuda::warp_sum(static_cast<std::uint32_t>(costs.bits));
            if (lane == 0) {
                shared.plain_bits[tried] += bits;
                shared.counts[tried][index] = static_cast<std::uint16_t>(count);
            }
            __syncwarp();
            take_part(shared, place, candidate, tried);
        }
        __syncthreads();
    }
    __syncthreads();
}

// Returns the cost of the block as coded in attempt `tried`, in 1/8 bits.
template <int channels>
__device__ std::uint32_t cost_of(const Shared<channels>& shared, int tried) {
    return shared.costs[tried][best_set(shared.costs[tried])] + 8 * (shared.plain_bits[tried] + Quantizer::size_bits);
}

// Joins the entries of one attempt and writes the coded block. Called by all threads.
template <int channels>
__device__ void write_block(const Job& job, int block, int size, int tried, Shared<channels>& shared,
                            Scratch<channels>& scratch) {
    if (threadIdx.x == 0) scratch.joined[0] = bits_entry(size, Quantizer::size_bits);
    const int count = 1 + join_entries<threads_per_block>(
                              shared.counts[tried], shared.ends, [&](int part) { return scratch.entries[tried][part]; },
                              scratch.joined + 1);
    __syncthreads();
    if (threadIdx.x >= 32) return;
    auto* const end = job.coded.slot_end(block);
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(
        put_step_symbols(reinterpret_cast<std::uint16_t*>(end), shared.chain, job.tables,
                         best_head(shared.costs[tried]), scratch.joined, count));
    if (threadIdx.x == 0) job.coded.sizes[block] = static_cast<std::uint32_t>(end - begin);
}

// Writes the reconstructed block to the picture `after`. Called by all threads.
template <int channels>
__device__ void give_block(const Job& job, int stream, const BlockPlace& place, const Shared<channels>& shared) {
    const int row_bytes = place.width * channels;
    for (int i = static_cast<int>(threadIdx.x); i < place.height * block_side * channels; i += threads_per_block) {
        const int y = i / (block_side * channels), at = i % (block_side * channels);
        if (at < row_bytes) job.after.row(stream, place.y + y)[std::int64_t{place.x} * channels + at] = shared.after[i];
    }
}

template <int channels>
__global__ void __launch_bounds__(threads_per_block) prediction_kernel(Job job) {
    extern __shared__ __align__(16) std::uint8_t memory[];
    auto& shared = *reinterpret_cast<Shared<channels>*>(memory);
    auto& scratch = reinterpret_cast<Scratch<channels>*>(job.scratch)[blockIdx.x];
    const auto count = job.list.size();
    if (threadIdx.x == 0) {
        shared.search.range = job.range;
        shared.search.threshold = job.threshold;
        shared.search.wanted = job.candidates;
    }
    for (;;) {
        if (threadIdx.x == 0) shared.item = job.list.next();
        __syncthreads();
        const auto item = shared.item;
        if (item >= count) return;
        const int block = job.list.block(job.list.place(item)), stream = job.blocks.stream(block);
        const auto place = job.blocks.place(block);

        begin_block(job, stream, place, shared);
        __syncthreads();
        // Make a first attempt, with motion search. A second attempt with the largest step size reuses its vectors.
        int size = job.quick() ? quick_step_size(job.threshold, shared.furthest - job.threshold, shared.beyond_samples,
                                                 shared.excess)
                               : first_step_size(job.threshold, shared.furthest, job.fresh);
        int tried = 0;
        code_block(job, stream, place, Quantizer(job.threshold, size), 0, true, shared, scratch);
        give_block(job, stream, place, shared);
        __syncthreads();
        if (!job.quick() && tries_largest(job.threshold, shared.all_steps[0], shared.changed_samples[0])) {
            begin_block(job, stream, place, shared);
            code_block(job, stream, place, Quantizer(job.threshold, step_sizes::largest), 1, false, shared, scratch);
            if (takes_largest(cost_of(shared, 1), cost_of(shared, 0))) {
                size = step_sizes::largest;
                tried = 1;
                give_block(job, stream, place, shared);
            }
        }
        write_block(job, block, size, tried, shared, scratch);
        __syncthreads();
    }
}

template <class Body>
auto with_kernel(int channels, Body&& body) {
    return channels == 1 ? body(prediction_kernel<1>, sizeof(Shared<1>), sizeof(Scratch<1>))
                         : body(prediction_kernel<3>, sizeof(Shared<3>), sizeof(Scratch<3>));
}

}  // namespace
}  // namespace prediction_kernels

BatchPredictionEncoder::BatchPredictionEncoder(int channels, Effort effort) : channels_(channels), effort_(effort) {
    using namespace prediction_kernels;
    scratch_ = with_kernel(channels, [&](auto* kernel, std::size_t shared, std::size_t scratch) {
        workers_ = cuda::blocks_at_once(kernel, threads_per_block, shared);
        return cuda::DeviceBuffer(workers_ * scratch);
    });
}

void BatchPredictionEncoder::encode(DeviceView<const std::uint8_t> camera, DeviceView<const std::uint8_t> before,
                                    DeviceView<std::uint8_t> after, const BlockList& list, int threshold, bool fresh,
                                    const CoderTables& tables, const CodedBlocks& coded, const cuda::Stream& stream) {
    using namespace prediction_kernels;
    const auto& shape = camera.shape();
    const Job job{cuda::KernelImage(camera),
                  cuda::KernelImage(before),
                  cuda::KernelImage(after),
                  shape.width,
                  shape.height,
                  {BlockGrid(shape), shape.channels, shape.frames},
                  list,
                  threshold,
                  effort_.range,
                  effort_.candidates,
                  fresh,
                  tables,
                  coded,
                  scratch_.data()};
    with_kernel(channels_, [&](auto* kernel, std::size_t shared, std::size_t) {
        cuda::Launch(stream, std::min(workers_, static_cast<unsigned>(job.blocks.count())), threads_per_block, shared)(
            kernel, job);
    });
}

}  // namespace framewire::codec
