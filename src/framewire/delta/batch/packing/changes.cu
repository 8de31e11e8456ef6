#include "framewire/cuda/device/check.hpp"
#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/scan.cuh"
#include "framewire/cuda/kernel/warp.cuh"
#include "framewire/delta/batch/packing/changes.hpp"
#include "framewire/delta/batch/packing/compare.hpp"
#include "framewire/delta/batch/packing/runs.cuh"
#include "framewire/delta/batch/packing/step_chain.cuh"
#include "framewire/delta/batch/step_contexts.cuh"
#include "framewire/delta/prediction/part_modes.hpp"

#include <algorithm>
#include <cstdint>

// Two launches. In the first one a thread block takes the blocks of the list one by one: all its threads find the
// symbols, each of pixels of its own, since what contexts ask for is known beforehand. In the second one a warp codes
// the symbols of a block. Each symbol waits for the one before it, so that takes long, and what helps is that all
// blocks are under way at once: no thread block waits there for its one warp.

namespace framewire::delta {
namespace changes_kernels {
namespace {

constexpr int threads_per_block = 256;
constexpr int parts = parts_per_row * parts_per_row;
constexpr int part_pixels = part_side * part_side;
constexpr int pixels_each = block_side * block_side / threads_per_block;

/// Of a thread block, in device memory: the symbols of each part, and of all of them.
template <int channels>
struct Scratch {
    static constexpr int part_entries = 1 + part_pixels * PixelEntries<channels>::most;
    std::uint16_t entries[parts][part_entries], joined[parts * part_entries];
    std::uint8_t magnitudes[parts][part_pixels * channels];
};

template <int channels>
struct Shared {
    union {
        BlockSteps<channels> block;
        ChainMemory chain;  // when symbols are found
    };
    RunsFound runs;
    std::uint32_t counts[parts], ends[parts];
    std::uint32_t costs[step_models::sets];
    std::uint32_t changed_parts[2];
    std::uint32_t item;
    std::uint32_t next_part;  // whose turn it is

    __device__ bool part_changes(int part) const { return changed_parts[part / 32] >> (part % 32) & 1; }
};

/// A block and how many symbols it has, which wait at the beginning of its slot to be coded; behind them its magnitudes
/// if it is one in runs, else none.
struct Waiting {
    int block, entries;
    StepHead head;
    int lists, magnitudes;

    __device__ WaitingMagnitudes magnitudes_behind(std::uint16_t* first_entry) const {
        return {first_entry + entries, lists, magnitudes};
    }
};
/// Those of a batch. In device memory.
struct WaitingList {
    std::uint32_t* count;
    Waiting* waiting;
};
/// Whether it may wait there: what is coded comes from the other end, and must not reach what is still to be read. Of
/// the magnitudes `others` are told by bits.
__device__ bool may_wait(const Waiting& of, std::uint32_t others, const CodedBlocks& coded) {
    // The states, what is said of them, and to spare.
    constexpr std::uint32_t room_for_states = 4 * step_states::most + 128;
    auto bytes = static_cast<std::uint32_t>(of.entries) * sizeof(std::uint16_t) + room_for_states;
    if (of.lists) {
        // Each symbol takes 12 bits at most, entries not before all magnitudes are coded.
        const auto coded_bytes = static_cast<std::uint32_t>(of.magnitudes) * 3 / 2 + others;
        bytes += WaitingMagnitudes{nullptr, of.lists, of.magnitudes}.bytes() + 4 * residual_lanes + coded_bytes;
    }
    return bytes <= coded.slot_bytes;
}

struct CodingJob {
    WaitingList list;
    CoderTables tables;
    CodedBlocks coded;
};
struct Job {
    CodingJob later;
    BatchBlocks blocks;
    BlockList list;
    const std::uint8_t* differences;
    int threshold;
    std::uint8_t* scratch;
};

// By one warp.
__device__ void code_block(const CodingJob& job, const Waiting& of, std::uint16_t* entries, ChainMemory& memory) {
    auto* const end = reinterpret_cast<std::uint16_t*>(job.coded.slot_end(of.block));
    auto* const end_of_symbols = of.lists ? put_magnitudes(end, of.magnitudes_behind(entries), job.tables) : end;
    auto* begin = put_step_symbols(end_of_symbols, memory, job.tables, of.head, entries, of.entries);
    if (of.lists) begin -= step_states::form_bytes / sizeof(*begin);
    if (threadIdx.x % 32 != 0) return;
    if (of.lists) begin[0] = step_states::runs_form, begin[1] = 0;
    job.coded.sizes[of.block] = static_cast<std::uint32_t>(end - begin) * sizeof(*begin);
}

// Pixels lie in groups of four, whose differences are whole words and mostly 0. A thread has each group that is number
// threads_per_block * i + its own, and a bit for each of its pixels.
constexpr int group = 4, groups_each = pixels_each / group;

__device__ int first_of_group(int i) { return (static_cast<int>(threadIdx.x) + i * threads_per_block) * group; }
/// The pixel that a bit stands for.
__device__ int pixel_of(int bit) { return first_of_group(bit / group) + bit % group; }

// Finds the steps from the differences, and which pixels have some. Each difference stands for two numbers, and which
// one depends on the steps to the left and above; so the nearer ones are guessed, and what disagrees with its
// neighbours turned round until nothing does.
template <int channels>
__device__ std::uint32_t find_steps(const Job& job, const std::uint8_t* differences, Shared<channels>& shared) {
    auto& steps = shared.block.steps;
    const int threshold = job.threshold;
    std::uint32_t changed = 0, doubtful = 0;
#pragma unroll 2
    for (int i = 0; i < groups_each; ++i) {
        const int first = first_of_group(i);
        std::uint32_t words[channels], any = 0;
#pragma unroll
        for (int word = 0; word < channels; ++word) {
            words[word] = reinterpret_cast<const std::uint32_t*>(differences + first * channels)[word];
            any |= words[word];
        }
        if (!any) {
#pragma unroll
            for (int channel = 0; channel < channels; ++channel)
                *reinterpret_cast<short4*>(&steps[channel][first]) = short4{0, 0, 0, 0};
            continue;
        }
#pragma unroll
        for (int pixel = 0; pixel < group; ++pixel)
#pragma unroll
            for (int channel = 0; channel < channels; ++channel) {
                const int byte = pixel * channels + channel;
                const int difference = static_cast<int>(words[byte / 4] >> (8 * (byte % 4)) & 0xFFu);
                const bool either = difference > threshold && 256 - difference > threshold;
                const bool up = (difference < 128 && difference > threshold) || difference > 255 - threshold;
                changed |= static_cast<std::uint32_t>(difference != 0) << (i * group + pixel);
                doubtful |= static_cast<std::uint32_t>(either) << (i * group + pixel);
                steps[channel][first + pixel] = static_cast<std::int16_t>(difference == 0 ? 0
                                                                          : up            ? difference - threshold
                                                                               : difference - 256 + threshold);
            }
    }
    bool disagree;
    do {
        __syncthreads();
        std::uint32_t turned[channels] = {};
        for (auto left = doubtful; left; left &= left - 1) {
            const int bit = __ffs(static_cast<int>(left)) - 1;
            const int at = pixel_of(bit), x = at % block_side, y = at / block_side;
            int like = 0;
#pragma unroll
            for (int j = 0; j < channels; ++j) {
                const int channel = coded_channel(j, channels);
                const int own = steps[channel][at];
                if (!own) continue;
                const auto difference = static_cast<std::uint8_t>(own > 0 ? own + threshold : own - threshold + 256);
                if (!like) like = shared.block.step(x - 1, y, channel) + shared.block.step(x, y - 1, channel);
                like = signed_steps(difference, threshold, like);
                turned[channel] |= static_cast<std::uint32_t>(like != own) << bit;
            }
        }
        std::uint32_t any = 0;
#pragma unroll
        for (int channel = 0; channel < channels; ++channel) any |= turned[channel];
        disagree = __syncthreads_or(any != 0);
#pragma unroll
        for (int channel = 0; channel < channels; ++channel)
            for (auto left = turned[channel]; left; left &= left - 1) {
                auto& own = steps[channel][pixel_of(__ffs(static_cast<int>(left)) - 1)];
                own = static_cast<std::int16_t>(own > 0 ? own + 2 * threshold - 256 : own - 2 * threshold + 256);
            }
    } while (disagree);
    return changed;
}

// `changed`: which of this thread's pixels have steps.
template <int channels>
__device__ void find_traits(std::uint32_t changed, Shared<channels>& shared) {
    std::uint32_t samples = 0;
    for (int i = 0; i < groups_each; ++i) {
        const int first = first_of_group(i);
        std::uint32_t all = 0;
        if (changed >> (i * group) & 0xFu) {
#pragma unroll
            for (int pixel = 0; pixel < group; ++pixel) {
                int own[channels];
#pragma unroll
                for (int channel = 0; channel < channels; ++channel) {
                    own[channel] = shared.block.steps[channel][first + pixel];
                    samples += own[channel] != 0;
                }
                all |= std::uint32_t{BlockSteps<channels>::traits_of(own)} << (8 * pixel);
            }
            const int part = first / block_side / part_side * parts_per_row + first % block_side / part_side;
            atomicOr(&shared.changed_parts[part / 32], 1u << (part % 32));
        }
        *reinterpret_cast<std::uint32_t*>(&shared.block.traits[first]) = all;
    }
    samples = cuda::warp_sum(samples);
    if (threadIdx.x % 32 == 0 && samples) atomicAdd(&shared.runs.samples, samples);
}

// Whether the block is one in runs. By all threads.
template <int channels>
__device__ bool look_for_runs(const BlockPlace& place, Shared<channels>& shared) {
    const int changed_parts = __popc(shared.changed_parts[0]) + __popc(shared.changed_parts[1]);
    if (!may_be_runs(static_cast<int>(shared.runs.samples), changed_parts, channels)) return false;
    find_run_rows<threads_per_block>(place, shared.block, shared.runs);
    __syncthreads();
    return shared.runs.all_count();
}

__device__ void add_cost(unsigned long long cost, std::uint32_t (&costs)[step_models::sets]) {
#pragma unroll
    for (int set = 0; set < step_models::sets; ++set)
        costs[set] += static_cast<std::uint32_t>(cost >> (16 * set)) & 0xFFFFu;
}

// A warp finds the symbols of a part, and adds what they cost to `costs` of this lane.
template <int channels>
__device__ void find_part(const Job& job, const BlockPlace& place, int part, bool in_runs, Shared<channels>& shared,
                          Scratch<channels>& scratch, std::uint32_t (&costs)[step_models::sets]) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int column = part % parts_per_row, row = part / parts_per_row;
    auto* const entries = scratch.entries[part];
    if (in_runs && lane < channels) shared.runs.counts[part][lane] = 0;
    __syncwarp();
    if (column >= place.part_columns() || row >= place.part_rows()) {
        if (lane == 0) shared.counts[part] = 0;
        return;
    }
    constexpr int none = static_cast<int>(PartMode::none);
    const bool changes = shared.part_changes(part);
    std::uint32_t count = 1;
    unsigned long long cost = 0;
    if (lane == 0) {
        const int left = column ? shared.part_changes(part - 1) : none;
        const int above = row ? shared.part_changes(part - parts_per_row) : none;
        const int entry = first_symbol<step_models::mode>(left * 6 + above) + changes;
        entries[0] = static_cast<std::uint16_t>(entry);
        cost = job.later.tables.step_costs[entry];
    }
    if (changes && in_runs) {
        count += find_run_part(place, part, shared.block, job.later.tables, shared.runs, entries + 1,
                               scratch.magnitudes[part], cost);
    } else if (changes) {
        const int left = column * part_side, top = row * part_side;
        const int width = min(part_side, place.width - left), height = min(part_side, place.height - top);
        for (int first = 0; first < width * height; first += 32) {
            const int i = first + lane;
            const bool inside = i < width * height;
            PixelEntries<channels> pixel{};
            if (inside) {
                pixel = pixel_entries<channels>(shared.block, left + i % width, top + i / width, Foretold::differences,
                                                0, true, job.later.tables.pattern_ranks);
                cost += pixel.cost(job.later.tables.step_costs);
            }
            const auto own = inside ? static_cast<std::uint32_t>(pixel.count()) : 0u;
            const auto up_to = cuda::inclusive_warp_sum(own);
            if (inside) pixel.write(entries + count + up_to - own);
            count += __shfl_sync(~0u, up_to, 31);
        }
    }
    if (lane == 0) shared.counts[part] = count;
    add_cost(cost, costs);
}

template <int channels>
__global__ void __launch_bounds__(threads_per_block, 4) changes_kernel(Job job) {
    extern __shared__ __align__(16) std::uint8_t memory[];
    auto& shared = *reinterpret_cast<Shared<channels>*>(memory);
    auto& scratch = reinterpret_cast<Scratch<channels>*>(job.scratch)[blockIdx.x];
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    const auto count = job.list.size();

    for (;;) {
        if (threadIdx.x == 0) {
            shared.item = job.list.next();
            shared.next_part = 0;
            shared.runs.clear();
        }
        if (threadIdx.x < step_models::sets) shared.costs[threadIdx.x] = 0;
        if (threadIdx.x < 2) shared.changed_parts[threadIdx.x] = 0;
        __syncthreads();
        const auto item = shared.item;
        if (item >= count) return;
        const auto slot = job.list.place(item);
        const int block = job.list.block(slot);
        const auto place = job.blocks.place(block);

        const auto changed = find_steps(job, job.differences + slot * block_slot_bytes(channels), shared);
        __syncthreads();
        find_traits(changed, shared);
        __syncthreads();
        const bool in_runs = look_for_runs(place, shared);
        std::uint32_t costs[step_models::sets] = {};
        // Warps take parts as they are done with others: those without changes take little.
        for (;;) {
            const int part = __shfl_sync(~0u, lane == 0 ? static_cast<int>(atomicAdd(&shared.next_part, 1u)) : 0, 0);
            if (part >= parts) break;
            find_part(job, place, part, in_runs, shared, scratch, costs);
        }
        const auto entries_of = [&](int part) { return scratch.entries[part]; };
        if (in_runs) {
            __syncthreads();
            unsigned long long cost = 0;
            find_run_classes<channels>(shared.runs, shared.counts, entries_of, job.later.tables, cost);
            add_cost(cost, costs);
            if (warp == 0) count_magnitudes<channels>(shared.runs);
        }
#pragma unroll
        for (int set = 0; set < step_models::sets; ++set) {
            const auto sum = cuda::warp_sum(costs[set]);
            if (lane == 0) atomicAdd(&shared.costs[set], sum);
        }
        __syncthreads();

        const auto entries = static_cast<int>(cuda::warp_sum(shared.counts[lane] + shared.counts[lane + 32]));
        Waiting waiting{block, entries, best_head(shared.costs), 0, 0};
        if (in_runs) {
            waiting.lists = static_cast<int>(shared.runs.lists);
            waiting.magnitudes = static_cast<int>(shared.runs.magnitudes);
        }
        const bool waits = may_wait(waiting, shared.runs.others, job.later.coded);
        auto* const joined = waits ? reinterpret_cast<std::uint16_t*>(job.later.coded.slot(block)) : scratch.joined;
        join_entries<threads_per_block>(shared.counts, shared.ends, entries_of, joined);
        if (in_runs)
            join_magnitudes<threads_per_block, channels>(
                shared.runs, [&](int part) { return scratch.magnitudes[part]; }, waiting.magnitudes_behind(joined));
        if (waits && threadIdx.x == 0) job.later.list.waiting[atomicAdd(job.later.list.count, 1u)] = waiting;
        __syncthreads();
        if (!waits && warp == 0) code_block(job.later, waiting, joined, shared.chain);
        __syncthreads();
    }
}

__global__ void __launch_bounds__(32, 32) coding_kernel(CodingJob job) {
    extern __shared__ __align__(16) std::uint8_t memory[];
    const auto count = *job.list.count;
    for (auto item = blockIdx.x; item < count; item += gridDim.x) {
        const auto waiting = job.list.waiting[item];
        code_block(job, waiting, reinterpret_cast<std::uint16_t*>(job.coded.slot(waiting.block)),
                   *reinterpret_cast<ChainMemory*>(memory));
    }
}

template <class Body>
auto with_kernel(int channels, Body&& body) {
    return channels == 1 ? body(changes_kernel<1>, sizeof(Shared<1>), sizeof(Scratch<1>))
                         : body(changes_kernel<3>, sizeof(Shared<3>), sizeof(Scratch<3>));
}

}  // namespace
}  // namespace changes_kernels

BatchChangesEncoder::BatchChangesEncoder(const BatchBlocks& blocks)
    : blocks_(blocks), waiting_(static_cast<std::size_t>(blocks.count()) * sizeof(changes_kernels::Waiting)) {
    using namespace changes_kernels;
    const auto count = static_cast<unsigned>(blocks.count());
    finders_ = with_kernel(blocks.channels, [&](auto* kernel, std::size_t shared, std::size_t scratch) {
        const auto finders = std::min(count, cuda::blocks_at_once(kernel, threads_per_block, shared));
        scratch_ = cuda::DeviceBuffer(finders * scratch);
        return finders;
    });
    coders_ = std::min(count, cuda::blocks_at_once(coding_kernel, 32, sizeof(ChainMemory)));
}

void BatchChangesEncoder::encode(const BlockList& list, const std::uint8_t* differences, int threshold,
                                 const CoderTables& tables, const CodedBlocks& coded,
                                 const cuda::Stream& stream) const {
    using namespace changes_kernels;
    const WaitingList waiting{&list.counts[BlockList::waiting], waiting_.as<Waiting>()};
    const CodingJob later{waiting, tables, coded};
    const Job job{later, blocks_, list, differences, threshold, scratch_.data()};
    with_kernel(blocks_.channels, [&](auto* kernel, std::size_t shared, std::size_t) {
        cuda::Launch(stream, finders_, threads_per_block, shared)(kernel, job);
    });
    cuda::Launch(stream, coders_, 32, sizeof(ChainMemory))(coding_kernel, later);
}

}  // namespace framewire::delta
