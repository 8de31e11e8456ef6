#include "framewire/cuda/device/check.hpp"
#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/cuda/kernel/warp.cuh"
#include "framewire/delta/batch/packing/prediction/candidates.cuh"
#include "framewire/delta/batch/packing/prediction/prediction.hpp"
#include "framewire/delta/batch/packing/step_chain.cuh"
#include "framewire/delta/prediction/quantization/step_sizes.hpp"

#include <algorithm>
#include <cstdint>

// Prediction encoder for batches. A thread block takes one block of the list after the other and, because each
// sub-block depends on those before it, codes the sub-blocks in order:
//
//     begin_block    all threads   previous picture -> shared.after; marks sub-blocks within the threshold
//     find_vectors   all threads   motion search; 4 lanes per vector
//     quantize,      one warp      inside, reference, and up to 4 vectors -> shared.candidates
//     code_part        per candidate
//     take_part      warp 0        the cheapest candidate -> shared.block, shared.after, scratch.entries
//     write_block    warp 0        joined entries -> rANS words at the end of the block's slot
//
// If the first step size suggests it, the block is coded a second time with the largest one, and the cheaper result
// stays.

namespace framewire::delta {
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
};

// Scratch memory of a thread block, in device memory: the entries of each sub-block for each step size that is tried,
// and the size and all entries of the result.
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
        changed_samples[sizes_tried];  // per step size: raw bits, sum of magnitudes, samples with a step
    std::uint32_t may_stay[2];         // bit per sub-block: within the threshold without any change
    std::uint32_t item;
    int furthest;  // largest difference between camera and previous picture in the block

    __device__ std::uint8_t& sample(int x, int y, int channel) {
        return after[(y * block_side + x) * channels + channel];
    }
};

static_assert(sizeof(Shared<3>) <= 64 * 1024, "as much as a block has on Turing");

// Loads the block of the previous picture and finds the sub-blocks that are within the threshold already. All threads
// call it.
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

// Copies the chosen candidate into the block. One warp calls it.
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

// Returns the set of models that most blocks choose, by which candidates are compared.
__device__ int usual_set(int threshold) { return threshold >= 14 ? 2 : 3; }

// Codes the block with one step size: fills its entries, costs and reconstruction. The vectors are searched for if
// `look` is set; otherwise those found by the previous call are reused. All threads call it.
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
        const NearParts near(shared.parts, index);
        auto* const entries = scratch.entries[tried][index];
        // A sub-block that is within the threshold stays and costs a single symbol.
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
        // Inputs of all candidates: the camera's samples and the surroundings in the previous picture.
        shared.search.camera.load(job.camera, stream, x, y, place.width, place.height);
        if (!job.fresh) shared.search.window.load(job.before, stream, job.frame_width, job.frame_height, x, y);
        __syncthreads();
        if (!job.fresh && look) {
            find_vectors(near, place.height, shared.search);
            const int found = shared.search.found_count;
            if (static_cast<int>(threadIdx.x) < found)
                shared.vectors[index][threadIdx.x] = shared.search.found[threadIdx.x].vector;
            if (threadIdx.x == 0) shared.vector_counts[index] = static_cast<std::uint8_t>(found);
            __syncthreads();
        }
        // The list of candidates: inside, reference, and the vectors that were found. Without a previous picture, only
        // the first.
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

// Joins the entries of one attempt and writes the coded block. All threads call it.
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

// Writes the reconstructed block to the picture `after`. All threads call it.
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
        // First attempt, with motion search. A second attempt with the largest step size reuses its vectors.
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

}  // namespace framewire::delta
