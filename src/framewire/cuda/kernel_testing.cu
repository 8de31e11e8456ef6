#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_testing.hpp"

namespace framewire::cuda::kernel_testing {
namespace {

// An array on the GPU that starts as 0xA5 bytes or as a copy of host values.
template <class Value>
class OnDevice {
public:
    OnDevice(std::size_t count, Executor& executor)
        : executor_(&executor), count_(count), buffer_(count * sizeof(Value)) {
        fill(buffer_.data(), 0xA5, buffer_.bytes(), executor.stream());
    }
    OnDevice(const std::vector<Value>& values, Executor& executor) : OnDevice(values.size(), executor) {
        upload(values.data(), buffer_.data(), buffer_.bytes(), executor.stream());
        executor.stream().synchronize();
    }
    Value* data() { return buffer_.template as<Value>(); }
    std::vector<Value> back() {
        std::vector<Value> values(count_);
        download(buffer_.data(), values.data(), buffer_.bytes(), executor_->stream());
        executor_->stream().synchronize();
        return values;
    }

private:
    Executor* executor_;
    std::size_t count_;
    DeviceBuffer buffer_;
};

// A value of three words, to test shuffles of values larger than a register.
struct Triple {
    std::uint32_t a, b, c;

    __device__ friend Triple operator+(const Triple& x, const Triple& y) { return {x.a + y.a, x.b + y.b, x.c + y.c}; }
    __device__ friend Triple operator-(const Triple& x, const Triple& y) { return {x.a - y.a, x.b - y.b, x.c - y.c}; }
};

__global__ void warp_kernel(const std::uint32_t* values, std::uint32_t* words, std::uint64_t* wide, float* floats) {
    const auto lane = threadIdx.x, value = values[lane];
    const auto wide_value = static_cast<unsigned long long>(value) << 20 | lane;
    words[lane] = warp_sum(value);
    words[32 + lane] = warp_or(value);
    words[64 + lane] = warp_max(value);
    words[96 + lane] = inclusive_warp_sum(value);
    wide[lane] = warp_sum(wide_value);
    wide[32 + lane] = inclusive_warp_sum(wide_value);
    floats[lane] = warp_sum(static_cast<float>(value % 256));
}

template <int warps>
__global__ void block_kernel(const std::uint32_t* values, std::uint32_t* out) {
    __shared__ BlockScan<Triple, warps> triples;
    __shared__ BlockScan<std::uint32_t, warps> words;
    constexpr int threads = 32 * warps;
    const auto thread = threadIdx.x, value = values[thread];
    const auto in_warp = triples.begin({value, 1, 2 * value});
    const auto word_in_warp = words.begin(value);
    __syncthreads();
    const auto [before, total] = triples.end(in_warp);
    // The three members must be sums over the same threads.
    out[thread] = before.b == thread && before.c == 2 * before.a ? before.a : ~0u;
    out[threads + thread] = total.b == threads && total.c == 2 * total.a ? total.a : ~0u;
    out[2 * threads + thread] = words.end_by_warp(word_in_warp);
    __syncthreads();
    const auto square_in_warp = words.begin(value * value);
    __syncthreads();
    out[3 * threads + thread] = words.end(square_in_warp).before;
}

// Every seventh block counts to a thousand first, so that later blocks have to wait for it.
template <class Tiles>
__global__ void look_back_kernel(const std::uint64_t* values, unsigned long long* words, Tiles tiles,
                                 std::uint64_t* before) {
    const auto tile = blockIdx.x;
    if (tile % 7 == 3)
        for (int turn = 0; turn < 1000; ++turn) asm volatile("");
    const auto own = static_cast<typename Tiles::Value>(values[tile]);
    const auto sum = LookBack(words, tiles).sum_before(tile, own);
    if (threadIdx.x == 31) before[tile] = sum;
}

__global__ void copy_kernel(const std::uint8_t* bytes, const int* counts, int chunks, std::uint8_t* out) {
    extern __shared__ uint4 shared[];
    auto* staged = reinterpret_cast<std::uint8_t*>(shared);
    for (int first = 0; first < chunks; first += 32) {
        const int chunk = first + static_cast<int>(threadIdx.x);
        if (chunk < chunks) copy_chunk_async(staged + chunk * chunk_bytes, bytes + chunk * chunk_bytes, counts[chunk]);
        commit_copies();
    }
    wait_for_copies<0>();
    __syncwarp();
    for (int byte = static_cast<int>(threadIdx.x); byte < chunks * chunk_bytes; byte += 32) out[byte] = staged[byte];
}

template <class Number>
std::vector<Number> row(const std::vector<Number>& rows, std::size_t index, std::size_t length) {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(index * length);
    return {begin, begin + static_cast<std::ptrdiff_t>(length)};
}

}  // namespace

WarpResults join_in_warp(const std::vector<std::uint32_t>& values, Executor& executor) {
    OnDevice<std::uint32_t> in(values, executor), words(4 * 32, executor);
    OnDevice<std::uint64_t> wide(2 * 32, executor);
    OnDevice<float> floats(32, executor);
    Launch(executor.stream(), 1, 32)(warp_kernel, in.data(), words.data(), wide.data(), floats.data());
    const auto all = words.back();
    const auto all_wide = wide.back();
    return {row(all, 0, 32),      row(all, 1, 32),      row(all, 2, 32), row(all, 3, 32),
            row(all_wide, 0, 32), row(all_wide, 1, 32), floats.back()};
}

BlockResults scan_in_block(const std::vector<std::uint32_t>& values, Executor& executor) {
    const auto threads = values.size();
    OnDevice<std::uint32_t> in(values, executor), out(4 * threads, executor);
    const auto kernel = threads == 32    ? block_kernel<1>
                        : threads == 128 ? block_kernel<4>
                        : threads == 288 ? block_kernel<9>
                                         : block_kernel<32>;
    Launch(executor.stream(), 1, static_cast<unsigned>(threads))(kernel, in.data(), out.data());
    const auto all = out.back();
    return {row(all, 0, threads), row(all, 1, threads), row(all, 2, threads), row(all, 3, threads)};
}

std::vector<std::uint64_t> look_back_numbered(const std::vector<std::uint64_t>& values, int launches,
                                              Executor& executor) {
    OnDevice<std::uint64_t> in(values, executor), before(values.size(), executor);
    OnDevice<unsigned long long> words(std::vector<unsigned long long>(values.size()), executor);
    for (int launch = 1; launch <= launches; ++launch) {
        Launch(executor.stream(), static_cast<unsigned>(values.size()), 32)(
            look_back_kernel<NumberedTiles>, in.data(), words.data(), NumberedTiles{static_cast<std::uint32_t>(launch)},
            before.data());
    }
    return before.back();
}

std::vector<std::uint64_t> look_back_cleared(const std::vector<std::uint64_t>& values, Executor& executor) {
    OnDevice<std::uint64_t> in(values, executor), before(values.size(), executor);
    OnDevice<unsigned long long> words(std::vector<unsigned long long>(values.size()), executor);
    Launch(executor.stream(), static_cast<unsigned>(values.size()), 32)(look_back_kernel<ClearedTiles>, in.data(),
                                                                        words.data(), ClearedTiles{}, before.data());
    return before.back();
}

std::vector<std::uint8_t> copy_chunks(const std::vector<std::uint8_t>& bytes, const std::vector<int>& counts,
                                      Executor& executor) {
    OnDevice<std::uint8_t> in(bytes, executor), out(bytes.size(), executor);
    OnDevice<int> device_counts(counts, executor);
    Launch(executor.stream(), 1, 32, bytes.size())(copy_kernel, in.data(), device_counts.data(),
                                                   static_cast<int>(counts.size()), out.data());
    return out.back();
}

std::function<void()> fill_on_kept_handle(DeviceBuffer& buffer, KeptHandle how, Executor& executor) {
    cudaStream_t kept = nullptr;
    executor.stream().queue([&](cudaStream_t handle) { kept = handle; });
    const auto fill = [kept, &buffer] { check(cudaMemsetAsync(buffer.data(), 5, buffer.bytes(), kept)); };
    if (how == KeptHandle::past_queue) return fill;
    return [fill, &executor] { executor.stream().queue([&](cudaStream_t) { fill(); }); };
}

std::vector<std::pair<int, int>> launches_for(int frames, int blocks_per_frame) {
    std::vector<std::pair<int, int>> launches;
    for_frames(frames, blocks_per_frame, [&](int first, int count) { launches.emplace_back(first, count); });
    return launches;
}

}  // namespace framewire::cuda::kernel_testing
