#include "framewire/cuda/device/check.hpp"
#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/cuda/kernel/scan.cuh"
#include "framewire/cuda/kernel/warp.cuh"
#include "framewire/delta/batch/motion.cuh"
#include "framewire/delta/batch/prediction.hpp"
#include "framewire/delta/batch/step_contexts.cuh"
#include "framewire/delta/entropy/chain.cuh"
#include "framewire/delta/prediction/foretold_formulas.hpp"
#include "framewire/delta/prediction/part_modes.hpp"
#include "framewire/delta/prediction/quantizer.hpp"
#include "framewire/delta/prediction/step_sizes.hpp"

#include <algorithm>
#include <cstdint>

// A thread block takes the blocks of the list one by one, and the parts of a block one after the other, since each
// looks at those before. All its threads look for motion; a warp each finds what a candidate costs.

namespace framewire::delta {
namespace prediction_kernels {
namespace {

constexpr int threads_per_block = 128, warps_per_block = threads_per_block / 32;
constexpr int part_count = parts_per_row * parts_per_row;
constexpr int part_pixels = part_side * part_side;
constexpr int most_found = 4;
constexpr int most_candidates = most_found + 2;
constexpr int sizes_tried = 2;
constexpr int most_tried_vectors = 2 + 25 * 25;
constexpr std::uint32_t nothing = ~0u;
constexpr int pair_lanes = part_side / 2;  // lanes that share a vector, two rows each

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
};

/// Of a thread block, in device memory: the symbols of each part, for each size of a step that is tried.
template <int channels>
struct Scratch {
    // Those before a part's pixels: its mode, a kind of vector, and of two numbers each a symbol, bits, and a sign.
    static constexpr int before_pixels = 8;
    static constexpr int part_entries = before_pixels + part_pixels * PixelEntries<channels>::most;
    std::uint16_t entries[sizes_tried][part_count][part_entries];
};

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

struct Part {
    std::uint8_t mode;
    MotionVector vector;
};

struct Tried {
    MotionVector vector;
    std::uint32_t cost;
};

template <int channels>
struct Shared {
    BlockSteps<channels> block;
    std::uint8_t after[block_side * block_side * channels];  // the block as a viewer will have it
    MotionWindow<channels> window;
    CameraPart<channels> camera;
    Candidate<channels> candidates[most_candidates];
    Tried tried[most_tried_vectors];
    Tried found[most_found];
    MotionVector vectors[part_count][most_found];
    std::uint8_t vector_counts[part_count];
    Part parts[part_count];
    ChainSymbol staged[32];
    std::uint16_t counts[sizes_tried][part_count];
    std::uint32_t costs[sizes_tried][step_models::sets];
    std::uint32_t plain_bits[sizes_tried], all_steps[sizes_tried], changed_samples[sizes_tried];
    std::uint32_t may_stay[2];
    std::uint32_t item;
    int found_count, furthest;  // how far samples are off as they were

    __device__ std::uint8_t& sample(int x, int y, int channel) {
        return after[(y * block_side + x) * channels + channel];
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

/// What the parts to the left and above tell.
struct Near {
    Part left, above;

    template <int channels>
    __device__ Near(const Shared<channels>& shared, const PartPlace& place)
        : left(place.column ? shared.parts[place.index - 1] : Part{static_cast<std::uint8_t>(PartMode::none), {}}),
          above(place.row ? shared.parts[place.index - parts_per_row]
                          : Part{static_cast<std::uint8_t>(PartMode::none), {}}) {}
    static __device__ bool moves(const Part& part) {
        return part.mode == static_cast<int>(PartMode::moved) || part.mode == static_cast<int>(PartMode::moved_changes);
    }
    __device__ int mode_model() const { return first_symbol<step_models::mode>(left.mode * 6 + above.mode); }
    __device__ MotionVector vector() const {
        return moves(left) ? left.vector : moves(above) ? above.vector : MotionVector{};
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
__device__ int bit_width(int value) { return 32 - __clz(value); }
__device__ void add_distance(EntryWriter& to, int model, int distance) {
    const int far = abs(distance), bits = bit_width(far);
    to.add(model + bits);
    if (bits == 0) return;
    to.add_bits(far & ((1 << (bits - 1)) - 1), bits - 1);
    to.add_bits(distance < 0, 1);
}
/// A part's mode and its vector.
__device__ int part_entries(const Near& near, PartMode mode, MotionVector vector, std::uint16_t* to) {
    EntryWriter writer{to};
    writer.add(near.mode_model() + static_cast<int>(mode));
    if (mode != PartMode::moved && mode != PartMode::moved_changes) return 1;
    const bool has_left = Near::moves(near.left), has_above = Near::moves(near.above);
    const auto kind = has_left && vector == near.left.vector     ? as_left
                      : has_above && vector == near.above.vector ? as_above
                                                                 : new_vector;
    writer.add(first_symbol<step_models::vector_kind>(has_left + 2 * has_above) + kind);
    if (kind == new_vector) {
        const auto from = near.vector();
        const int model = 2 * (has_left || has_above);
        add_distance(writer, first_symbol<step_models::vector_bits>(model), vector.x - from.x);
        add_distance(writer, first_symbol<step_models::vector_bits>(model + 1), vector.y - from.y);
    }
    return static_cast<int>(writer.to - to);
}
__device__ int plain_bits(std::uint32_t entry) { return entry & plain_entry ? static_cast<int>(entry >> 8 & 15) : 0; }

/// Adds up what entries cost: of all sets, as step_costs() has them, and plain bits.
struct Costs {
    unsigned long long of_sets = 0;
    int bits = 0;

    __device__ void add(const CoderTables& tables, std::uint32_t entry) {
        if (entry & plain_entry)
            bits += plain_bits(entry);
        else
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

// Which parts are within the threshold as they were; and the block as it was. By all threads.
template <int channels>
__device__ void begin_block(const Job& job, int stream, const BlockPlace& place, Shared<channels>& shared) {
    if (threadIdx.x < 2) shared.may_stay[threadIdx.x] = ~0u;
    if (threadIdx.x == 0) shared.furthest = 0;
    __syncthreads();
    int furthest = 0;
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
        }
        if (far) {
            const int part = y / part_side * parts_per_row + x / part_side;
            atomicAnd(&shared.may_stay[part / 32], ~(1u << (part % 32)));
        }
    }
    const auto furthest_of_warp = cuda::warp_max(static_cast<std::uint32_t>(furthest));
    if (threadIdx.x % 32 == 0) atomicMax(&shared.furthest, static_cast<int>(furthest_of_warp));
}

// The `count` first of what was tried, by cost and then by order, each vector once. By one warp.
template <int channels>
__device__ void keep_best(Shared<channels>& shared, int tried, int count) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    int found = 0;
    for (; found < count; ++found) {
        std::uint32_t cost = nothing;
        int at = most_tried_vectors;
        for (int i = lane; i < tried; i += 32)
            if (shared.tried[i].cost < cost) {
                cost = shared.tried[i].cost;
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
        const auto best = shared.tried[at].vector;
        if (lane == 0) shared.found[found] = {best, cost};
        __syncwarp();
        for (int i = lane; i < tried; i += 32)
            if (shared.tried[i].vector == best) shared.tried[i].cost = nothing;
        __syncwarp();
    }
    if (lane == 0) shared.found_count = found;
}

// Finds what the vectors from number `first` on cost, four lanes for each.
template <int channels>
__device__ void find_costs(const Job& job, Shared<channels>& shared, const PartPlace& place, int first, int tried) {
    const int row = static_cast<int>(threadIdx.x) % pair_lanes * 2;
    for (int base = first; base < tried; base += threads_per_block / pair_lanes) {
        const int i = base + static_cast<int>(threadIdx.x) / pair_lanes;
        int cost = 0;
        bool counts = false;
        if (i < tried) {
            const auto vector = shared.tried[i].vector;
            counts = shared.tried[i].cost != nothing;
            if (counts)
                cost = motion_cost_of_rows(shared.camera, shared.window, vector, row, place.height, job.threshold);
        }
#pragma unroll
        for (int step = 1; step < pair_lanes; step *= 2) cost += __shfl_xor_sync(~0u, cost, step);
        if (counts && row == 0) shared.tried[i].cost += static_cast<std::uint32_t>(cost);
    }
}

/// What is tried at first costs what telling it does; `nothing` where it is no vector to try.
__device__ Tried to_try(MotionVector vector, int cost) {
    const bool none = vector == MotionVector{} || abs(vector.x) > max_motion || abs(vector.y) > max_motion;
    return {vector, none ? nothing : static_cast<std::uint32_t>(cost)};
}

// The vectors that MotionSearch finds. By all threads.
template <int channels>
__device__ void find_vectors(const Job& job, const Near& near, const PartPlace& place, Shared<channels>& shared) {
    const int side = 2 * job.range + 1, grid = side * side, tried = 2 + grid;
    for (int i = static_cast<int>(threadIdx.x); i < tried; i += threads_per_block) {
        Tried of{{}, nothing};
        if (i == 0) {
            if (Near::moves(near.left)) of = to_try(near.left.vector, near_vector_cost());
        } else if (i == 1) {
            if (Near::moves(near.above)) of = to_try(near.above.vector, near_vector_cost());
        } else {
            const MotionVector vector{((i - 2) % side - job.range) * quarters, ((i - 2) / side - job.range) * quarters};
            of = to_try(vector, new_vector_cost(vector));
        }
        shared.tried[i] = of;
    }
    __syncthreads();
    find_costs(job, shared, place, 0, tried);
    __syncthreads();
    if (threadIdx.x < 32) keep_best(shared, tried, job.candidates);
    __syncthreads();
    // Then between the pixels, around the best of them.
    for (const int step : {2, 1}) {
        const int centres = shared.found_count, around = centres + centres * 9;
        if (static_cast<int>(threadIdx.x) < around) {
            const int i = static_cast<int>(threadIdx.x);
            Tried of;
            if (i < centres) {
                of = shared.found[i];
            } else {
                const int number = i - centres, at = number % 9;
                const auto centre = shared.found[number / 9].vector;
                const MotionVector vector{centre.x + (at % 3 - 1) * step, centre.y + (at / 3 - 1) * step};
                of = to_try(vector, new_vector_cost(vector));
            }
            shared.tried[i] = of;
        }
        __syncthreads();
        find_costs(job, shared, place, centres, around);
        __syncthreads();
        if (threadIdx.x < 32) keep_best(shared, around, job.candidates);
        __syncthreads();
    }
    if (threadIdx.x < shared.found_count) shared.vectors[place.index][threadIdx.x] = shared.found[threadIdx.x].vector;
    if (threadIdx.x == 0) shared.vector_counts[place.index] = static_cast<std::uint8_t>(shared.found_count);
}

/// The steps of one pixel of a candidate.
template <int channels>
__device__ bool take_pixel(const Shared<channels>& shared, const Quantizer& quantizer, Candidate<channels>& candidate,
                           int x, int y, const int (&foretold)[channels], int rise) {
    const int at = y * part_side + x;
    int own[channels];
    bool any = false;
#pragma unroll
    for (int channel = 0; channel < channels; ++channel) {
        own[channel] = quantizer.steps(shared.camera.sample(x, y, channel), foretold[channel]);
        any |= own[channel] != 0;
        candidate.steps[channel][at] = static_cast<std::int16_t>(own[channel]);
        candidate.samples[at * channels + channel] = quantizer.sample(foretold[channel], own[channel]);
    }
    candidate.traits[at] = BlockSteps<channels>::traits_of(own);
    candidate.slopes[at] = static_cast<std::uint8_t>(slope_of(rise, quantizer.threshold()));
    return any;
}

// Fills a candidate's steps and samples. By one warp.
template <int channels>
__device__ void quantize(Shared<channels>& shared, const PartPlace& place, const Quantizer& quantizer,
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
                foretold[channel] = shared.window.sample(x, y, channel, candidate.vector);
            const auto beside = [&](int right, int down) {
                return shared.window.sample(x + right, y + down, slope_from, candidate.vector);
            };
            const int rise = max(abs(beside(1, 0) - beside(-1, 0)), abs(beside(0, 1) - beside(0, -1)));
            any |= take_pixel(shared, quantizer, candidate, x, y, foretold, rise);
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
                                              : shared.sample(place.left + in_x, place.top + in_y, channel);
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
            any |= take_pixel(shared, quantizer, candidate, x, y, foretold, rise);
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

// The symbols of a candidate and what they cost; they are written where there is `to`. Returns how many. By one warp.
template <int channels>
__device__ int code_part(const Job& job, const Shared<channels>& shared, const Near& near, const PartPlace& place,
                         bool fine, const Candidate<channels>& candidate, std::uint16_t* to, Costs& costs) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const auto mode = mode_of(candidate);
    int count = 0;
    if (lane == 0) {
        std::uint16_t entries[Scratch<channels>::before_pixels];
        count = part_entries(near, mode, candidate.vector, entries);
        for (int i = 0; i < count; ++i) {
            costs.add(job.tables, entries[i]);
            if (to) to[i] = entries[i];
        }
    }
    count = __shfl_sync(~0u, count, 0);
    if (mode == PartMode::moved) return count;
    const WithCandidate<channels> block{shared.block, candidate, place.left, place.top};
    const int pixels = place.width * place.height;
    for (int first = 0; first < pixels; first += 32) {
        const int i = first + lane;
        const bool inside = i < pixels;
        PixelEntries<channels> pixel{};
        if (inside) {
            const int x = i % place.width, y = i / place.width;
            pixel = pixel_entries<channels>(block, place.left + x, place.top + y, candidate.by,
                                            candidate.slopes[y * part_side + x], fine, job.tables.pattern_ranks);
            costs.add(job.tables, pixel);
        }
        if (!to) continue;
        const auto own = inside ? static_cast<std::uint32_t>(pixel.count()) : 0u;
        const auto up_to = cuda::inclusive_warp_sum(own);
        if (inside) pixel.write(to + count + up_to - own);
        count += static_cast<int>(__shfl_sync(~0u, up_to, 31));
    }
    return count;
}

// Makes the candidate the part.
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

/// The set of models that most blocks take.
__device__ int usual_set(int threshold) { return threshold >= 14 ? 2 : 3; }

// The symbols of a block with steps of a size, and the block as it is then. Vectors are those found before unless it is
// to `look` for them.
template <int channels>
__device__ void code_block(const Job& job, int stream, const BlockPlace& block, const Quantizer& quantizer, int tried,
                           bool look, Shared<channels>& shared, Scratch<channels>& scratch) {
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    if (threadIdx.x < step_models::sets) shared.costs[tried][threadIdx.x] = 0;
    if (threadIdx.x == 0) shared.plain_bits[tried] = shared.all_steps[tried] = shared.changed_samples[tried] = 0;
    __syncthreads();
    for (int index = 0; index < part_count; ++index) {
        const PartPlace place(block, index);
        if (place.width <= 0 || place.height <= 0) {
            if (threadIdx.x == 0) shared.counts[tried][index] = 0;
            continue;
        }
        const Near near(shared, place);
        auto* const entries = scratch.entries[tried][index];
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
        const int x = block.x + place.left, y = block.y + place.top;
        shared.camera.load(job.camera, stream, x, y, place.width, place.height);
        if (!job.fresh) shared.window.load(job.before, stream, job.frame_width, job.frame_height, x, y);
        __syncthreads();
        if (!job.fresh && look) {
            find_vectors(job, near, place, shared);
            __syncthreads();
        }
        const int vectors = job.fresh ? 0 : shared.vector_counts[index];
        const int candidates = job.fresh ? 1 : 2 + vectors;
        if (static_cast<int>(threadIdx.x) < candidates) {
            auto& candidate = shared.candidates[threadIdx.x];
            candidate.by = threadIdx.x == 0   ? Foretold::inside
                           : threadIdx.x == 1 ? Foretold::reference
                                              : Foretold::moved;
            candidate.vector = threadIdx.x < 2 ? MotionVector{} : shared.vectors[index][threadIdx.x - 2];
        }
        __syncthreads();
        for (int i = warp; i < candidates; i += warps_per_block) {
            auto& candidate = shared.candidates[i];
            quantize(shared, place, quantizer, candidate);
            if (candidates == 1) continue;
            Costs costs;
            code_part(job, shared, near, place, quantizer.fine(), candidate, nullptr, costs);
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
            const int count = code_part(job, shared, near, place, quantizer.fine(), candidate, entries, costs);
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
}

__device__ int best_set(const std::uint32_t (&costs)[step_models::sets]) {
    int best = 0;
    for (int set = 1; set < step_models::sets; ++set)
        if (costs[set] < costs[best]) best = set;
    return best;
}

// What the symbols take that were tried, in 1/8 bits.
template <int channels>
__device__ std::uint32_t cost_of(const Shared<channels>& shared, int tried) {
    return shared.costs[tried][best_set(shared.costs[tried])] + 8 * (shared.plain_bits[tried] + Quantizer::size_bits);
}

// By one warp.
template <int channels>
__device__ void write_block(const Job& job, int block, int size, int tried, Shared<channels>& shared,
                            const Scratch<channels>& scratch) {
    const int lane = static_cast<int>(threadIdx.x % 32), set = best_set(shared.costs[tried]);
    const auto* const symbols = job.tables.steps + set * step_models::symbols;
    auto* const end = job.coded.slot_end(block);
    Chain chain{rans::least_state, reinterpret_cast<std::uint16_t*>(end)};
    for (int part = part_count - 1; part >= 0; --part) {
        const auto* const entries = scratch.entries[tried][part];
        chain.put_all(shared.counts[tried][part], shared.staged, [&](int i) {
            const std::uint32_t entry = entries[i];
            return entry & plain_entry ? chain_bits(entry & 0xFFu, static_cast<int>(entry >> 8 & 15))
                                       : chain_symbol(symbols, static_cast<int>(entry));
        });
    }
    chain.put(chain_bits(static_cast<std::uint32_t>(size), Quantizer::size_bits), lane == 0);
    chain.put(chain_bits(static_cast<std::uint32_t>(set), 2), lane == 0);
    chain.finish(lane == 0);
    if (lane == 0)
        job.coded.sizes[block] = static_cast<std::uint32_t>(end - reinterpret_cast<const std::uint8_t*>(chain.word));
}

// The block as it is now, for the picture after.
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
    const auto count = job.list.size(job.blocks);
    for (;;) {
        if (threadIdx.x == 0) shared.item = atomicAdd(job.list.next, 1u);
        __syncthreads();
        const auto item = shared.item;
        if (item >= count) return;
        const int block = job.list.block(item), stream = job.blocks.stream(block);
        const auto place = job.blocks.place(block);

        begin_block(job, stream, place, shared);
        __syncthreads();
        int size = first_step_size(job.threshold, shared.furthest, job.fresh), tried = 0;
        code_block(job, stream, place, Quantizer(job.threshold, size), 0, true, shared, scratch);
        give_block(job, stream, place, shared);
        __syncthreads();
        if (tries_largest(job.threshold, shared.all_steps[0], shared.changed_samples[0])) {
            begin_block(job, stream, place, shared);
            code_block(job, stream, place, Quantizer(job.threshold, step_sizes::largest), 1, false, shared, scratch);
            if (takes_largest(cost_of(shared, 1), cost_of(shared, 0))) {
                size = step_sizes::largest;
                tried = 1;
                give_block(job, stream, place, shared);
            }
        }
        if (threadIdx.x < 32) write_block(job, block, size, tried, shared, scratch);
        __syncthreads();
    }
}

constexpr int advance_threads = 128;

struct AdvanceJob {
    cuda::KernelImage<const std::uint8_t> camera, after;
    cuda::KernelImage<std::uint8_t> before;
    BatchBlocks blocks;
    BlockList list;
    const std::uint8_t* is_camera;
    Summary* summaries;
};

__global__ void __launch_bounds__(advance_threads) advance_kernel(AdvanceJob job) {
    const auto count = job.list.size(job.blocks);
    for (auto item = blockIdx.x; item < count; item += gridDim.x) {
        const int block = job.list.block(item), stream = job.blocks.stream(block);
        const auto place = job.blocks.place(block);
        const int row_bytes = place.width * job.blocks.channels, lane = static_cast<int>(threadIdx.x % 32);
        std::uint32_t largest = 0, squared = 0;
        for (int y = static_cast<int>(threadIdx.x / 32); y < place.height; y += advance_threads / 32) {
            const auto from = std::int64_t{place.x} * job.blocks.channels;
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
        cuda::allow_shared_memory(kernel);
        int each = 0;
        cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads_per_block, shared));
        workers_ = static_cast<unsigned>(std::max(1, each) * cuda::multiprocessors());
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
        kernel<<<std::min(workers_, static_cast<unsigned>(job.blocks.count())), threads_per_block, shared,
                 stream.handle()>>>(job);
        cuda::check_launch();
    });
}

void advance_blocks(DeviceView<const std::uint8_t> camera, DeviceView<const std::uint8_t> after,
                    DeviceView<std::uint8_t> before, const BlockList& list, const std::uint8_t* is_camera,
                    Summary* summaries, const cuda::Stream& stream) {
    using namespace prediction_kernels;
    const auto& shape = camera.shape();
    const AdvanceJob job{cuda::KernelImage(camera),
                         cuda::KernelImage(after),
                         cuda::KernelImage(before),
                         {BlockGrid(shape), shape.channels, shape.frames},
                         list,
                         is_camera,
                         summaries};
    constexpr unsigned most = 4096;
    advance_kernel<<<std::min(most, static_cast<unsigned>(job.blocks.count())), advance_threads, 0, stream.handle()>>>(
        job);
    cuda::check_launch();
}

}  // namespace framewire::delta
