#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/media/synth.hpp"
#include "framewire/media/synth_noise.hpp"

#include <cstdint>

namespace framewire::synth {
namespace {

// noise_kernel: one thread block per row; threads stride over its bytes.
//
//   block y    row y of the picture
//   reads      row y of `clean`, row_bytes bytes of `table` from a hashed position
//   writes     row y of `out`
//
// The position depends on seed, frame and row as in SensorNoise::add(), so both give the same bytes.
constexpr int threads_per_block = 256;

__global__ void __launch_bounds__(threads_per_block)
    noise_kernel(cuda::KernelImage<const std::uint8_t> clean, const std::int8_t* table, std::uint64_t seed,
                 std::uint64_t frame, cuda::KernelImage<std::uint8_t> out, int row_bytes) {
    const auto y = static_cast<int>(blockIdx.x);
    const auto* noise = table + hash(seed, frame, static_cast<std::uint64_t>(y)) % noise_places;
    const auto* from = clean.row(0, y);
    auto* to = out.row(0, y);
    for (int at = static_cast<int>(threadIdx.x); at < row_bytes; at += threads_per_block)
        to[at] = static_cast<std::uint8_t>(min(max(from[at] + noise[at], 0), 255));
}

}  // namespace

NoisyOnGpu::NoisyOnGpu(const SensorNoise& noise, const Shape& shape)
    : seed_(noise.seed_), table_(noise.table_.size()), picture_(shape) {
    const cuda::Stream stream;
    if (!noise.table_.empty()) cuda::upload(noise.table_.data(), table_.data(), noise.table_.size(), stream);
    stream.synchronize();
}

void NoisyOnGpu::render(HostView<const std::uint8_t> picture, int begin, int end, std::int64_t frame,
                        DeviceView<std::uint8_t> out, const cuda::Stream& stream) {
    const auto& shape = picture_.shape();
    validate(picture, shape, "the camera's picture");
    validate(out, shape, "the picture with noise");
    const auto clean = picture_.view();
    if (begin < end) {
        const Shape rows{1, end - begin, shape.width, shape.channels};
        cuda::upload({picture.row(0, begin), rows, picture.row_stride_bytes(), 0},
                     {clean.row(0, begin), rows, clean.row_stride_bytes(), 0}, stream);
    }
    if (table_.bytes() == 0) return cuda::copy(clean, out, stream);
    cuda::Launch(stream, static_cast<unsigned>(shape.height), threads_per_block)(
        noise_kernel, cuda::KernelImage<const std::uint8_t>(clean), table_.as<std::int8_t>(), seed_,
        static_cast<std::uint64_t>(frame), cuda::KernelImage<std::uint8_t>(out), static_cast<int>(shape.row_bytes()));
}

}  // namespace framewire::synth
