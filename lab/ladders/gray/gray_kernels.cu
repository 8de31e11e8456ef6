#include "framewire/core/error.hpp"
#include "framewire/cuda/kernel.cuh"
#include "ladders/gray/gray_kernels.hpp"
#include "ladders/pictures/chunk_loop.cuh"

namespace framewire::bench {
namespace {

// Every thread processes whole pixels. The report divides bytes: a range that starts inside a pixel sums only a part of
// it.
__global__ void gray_bytes_one_block(const std::uint8_t* in, std::uint8_t* out, std::int64_t pixels, int pixels_each) {
    const auto begin = std::int64_t{threadIdx.x} * pixels_each;
    const auto end = min(begin + pixels_each, pixels);
    for (auto i = 3 * begin; i < 3 * end; i += 3) {
        const auto gray = static_cast<std::uint8_t>((in[i] + in[i + 1] + in[i + 2]) / 3);
        out[i] = gray;
        out[i + 1] = gray;
        out[i + 2] = gray;
    }
}

// Accumulates a gray value from consecutive bytes, B first.
template <LadderGray way>
struct Sum;

template <>
struct Sum<LadderGray::average> {
    int sum = 0;
    __device__ void add(int, std::uint8_t byte) { sum += byte; }
    __device__ std::uint8_t gray() const { return static_cast<std::uint8_t>(sum / 3); }
};

template <>
struct Sum<LadderGray::weighted_doubles> {
    double sum = 0;
    __device__ void add(int channel, std::uint8_t byte) {
        sum += (channel == 0 ? 0.114 : channel == 1 ? 0.587 : 0.299) * byte;
    }
    // The report truncates.
    __device__ std::uint8_t gray() const { return static_cast<std::uint8_t>(sum + 0.5); }
};

template <>
struct Sum<LadderGray::weighted_integers> {
    int sum = 1 << 14;
    __device__ void add(int channel, std::uint8_t byte) {
        sum += (channel == 0 ? 3735 : channel == 1 ? 19235 : 9798) * byte;
    }
    __device__ std::uint8_t gray() const { return static_cast<std::uint8_t>(sum >> 15); }
};

// A thread processes chunks in groups of three, so whole pixels. The report's threads start at any chunk, sum parts of
// pixels there and write bytes of their neighbours.
template <LadderGray way, class Chunk>
__global__ void gray_chunks_one_block(const std::uint8_t* in, std::uint8_t* out, std::int64_t pixels, int chunks_each) {
    constexpr int size = sizeof(Chunk);
    const auto begin = std::int64_t{threadIdx.x} * chunks_each;
    const auto bytes = 3 * pixels;
    Sum<way> sum;
    int channel = 0;
    for (auto i = begin; i < begin + chunks_each && i * size < bytes; ++i) {
        const Chunk chunk = reinterpret_cast<const Chunk*>(in)[i];
        const auto* chunk_bytes = reinterpret_cast<const std::uint8_t*>(&chunk);
#pragma unroll
        for (int j = 0; j < size; ++j) {
            const auto at = i * size + j;
            sum.add(channel, chunk_bytes[j]);
            if (++channel < 3) continue;
            if (at < bytes) {
                const auto gray = sum.gray();
                out[at - 2] = gray;
                out[at - 1] = gray;
                out[at] = gray;
            }
            sum = {};
            channel = 0;
        }
    }
}

template <LadderGray way, class Chunk>
void launch(const GrayJob& job, const cuda::Stream& stream) {
    const auto threes = cuda::parts(3 * job.pixels, static_cast<std::int64_t>(3 * sizeof(Chunk)));
    const auto chunks_each = static_cast<int>(3 * cuda::parts(threes, job.threads));
    cuda::Launch(stream, 1, static_cast<unsigned>(job.threads))(gray_chunks_one_block<way, Chunk>, job.in, job.out,
                                                                job.pixels, chunks_each);
}

template <LadderGray way>
void launch_way(const GrayJob& job, int chunk_bytes, const cuda::Stream& stream) {
    switch (chunk_bytes) {
        case 4: return launch<way, std::uint32_t>(job, stream);
        case 16: return launch<way, uint4>(job, stream);
        case 32: return launch<way, Chunk32>(job, stream);
        default: fail(ErrorCode::internal, "gray supports chunks of 4, 16 or 32 bytes");
    }
}

}  // namespace

void gray_by_bytes(const GrayJob& job, const cuda::Stream& stream) {
    cuda::Launch(stream, 1, static_cast<unsigned>(job.threads))(gray_bytes_one_block, job.in, job.out, job.pixels,
                                                                static_cast<int>(cuda::parts(job.pixels, job.threads)));
}

void gray_by_chunks(const GrayJob& job, int chunk_bytes, LadderGray way, const cuda::Stream& stream) {
    switch (way) {
        case LadderGray::average: return launch_way<LadderGray::average>(job, chunk_bytes, stream);
        case LadderGray::weighted_doubles: return launch_way<LadderGray::weighted_doubles>(job, chunk_bytes, stream);
        case LadderGray::weighted_integers: return launch_way<LadderGray::weighted_integers>(job, chunk_bytes, stream);
    }
}

}  // namespace framewire::bench
