#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/filters/scale.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

// Scaling on the GPU with two kernels per group of frames:
//
//   columns_kernel   image (8 bits)      -> lines (16 bits): as high as the result, as wide as the image
//   rows_kernel      lines (16 bits)     -> result (8 bits)

namespace framewire {
namespace {

constexpr int threads_per_block = 128;
constexpr int group = 4;  // elements of a row that one thread of columns_kernel computes

// One axis in device memory, with its weights in pairs.
struct AxisOnDevice {
    // First source pixel of each pixel of the result.
    const std::int32_t* first;
    const std::int32_t* pairs;  // weights: [index * pairs_each + pair] along y, [pair * to + index] along x
    int from, to, pairs_each;   // source and result size, and number of pairs per pixel of the result
};

// Arguments of the kernels.
struct Job {
    AxisOnDevice columns, rows;
    cuda::KernelImage<const std::uint8_t> in;
    cuda::KernelImage<std::uint8_t> out;
    std::int16_t* line;  // results of the column pass for each row of the result
    int row_elements;    // elements per line
    int line_stride;     // distance between lines, in elements
};

// Returns the first weight of a pair.
__device__ int low_weight(std::int32_t pair) { return static_cast<std::int16_t>(pair); }
// Returns the second weight of a pair.
__device__ int high_weight(std::int32_t pair) { return pair >> 16; }

// Rounds, shifts and clamps a sum.
__device__ int held(int sum, int shift, int least, int most) {
    return min(max((sum + (1 << (shift - 1))) >> shift, least), most);
}

// Loads four elements of a row starting at `x`; elements beyond the end of the row are 0.
__device__ std::uint32_t load_four(const std::uint8_t* row, int x, int elements, bool aligned) {
    if (aligned && x + group <= elements) return *reinterpret_cast<const std::uint32_t*>(row + x);
    std::uint32_t bytes = 0;
    for (int index = 0; index < group && x + index < elements; ++index)
        bytes |= std::uint32_t{row[x + index]} << 8 * index;
    return bytes;
}

// Runs the column pass: one thread per four elements. blockIdx.y counts rows of the result, blockIdx.z frames.
__global__ void __launch_bounds__(threads_per_block) columns_kernel(Job job, bool aligned) {
    const int x = static_cast<int>(blockIdx.x * threads_per_block + threadIdx.x) * group;
    const int y = static_cast<int>(blockIdx.y), frame = static_cast<int>(blockIdx.z);
    if (x >= job.row_elements) return;
    const int first = job.columns.first[y], last = job.columns.from - 1;
    const auto* pairs = job.columns.pairs + y * job.columns.pairs_each;
    int sums[group] = {};
    for (int index = 0; index < job.columns.pairs_each; ++index) {
        const auto pair = pairs[index];
        const int row = first + 2 * index;
        // Rows beyond the last one have weight 0.
        const auto low = load_four(job.in.row(frame, min(row, last)), x, job.row_elements, aligned);
        const auto high = load_four(job.in.row(frame, min(row + 1, last)), x, job.row_elements, aligned);
#pragma unroll
        for (int element = 0; element < group; ++element)
            sums[element] += low_weight(pair) * static_cast<int>(low >> 8 * element & 255) +
                             high_weight(pair) * static_cast<int>(high >> 8 * element & 255);
    }
    auto* line = job.line + (std::int64_t{frame} * job.columns.to + y) * job.line_stride + x;
    short4 result;
    result.x = static_cast<short>(held(sums[0], scale_column_shift, -32768, 32767));
    result.y = static_cast<short>(held(sums[1], scale_column_shift, -32768, 32767));
    result.z = static_cast<short>(held(sums[2], scale_column_shift, -32768, 32767));
    result.w = static_cast<short>(held(sums[3], scale_column_shift, -32768, 32767));
    *reinterpret_cast<short4*>(line) = result;
}

// Runs the row pass: one thread per pixel. blockIdx.y counts rows, blockIdx.z frames.
template <int channels>
__global__ void __launch_bounds__(threads_per_block) rows_kernel(Job job) {
    const int x = static_cast<int>(blockIdx.x * threads_per_block + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y), frame = static_cast<int>(blockIdx.z);
    if (x >= job.rows.to) return;
    const auto* line = job.line + (std::int64_t{frame} * job.columns.to + y) * job.line_stride;
    const int first = job.rows.first[x], last = job.rows.from - 1;
    int sums[channels] = {};
    for (int index = 0; index < job.rows.pairs_each; ++index) {
        const auto pair = job.rows.pairs[index * job.rows.to + x];
        const auto* low = line + min(first + 2 * index, last) * channels;
        const auto* high = line + min(first + 2 * index + 1, last) * channels;
#pragma unroll
        for (int channel = 0; channel < channels; ++channel)
            sums[channel] += low_weight(pair) * low[channel] + high_weight(pair) * high[channel];
    }
    auto* out = job.out.row(frame, y) + x * channels;
#pragma unroll
    for (int channel = 0; channel < channels; ++channel)
        out[channel] = static_cast<std::uint8_t>(held(sums[channel], scale_row_shift, 0, 255));
}

// Returns the number of frames whose lines are kept in memory at a time. More frames would not make the GPU busier.
int frames_at_a_time(const Shape& to, std::int64_t line_bytes) {
    constexpr std::int64_t most_bytes = std::int64_t{64} << 20;
    const auto frames = most_bytes / (line_bytes * to.height);
    return static_cast<int>(std::clamp<std::int64_t>(frames, 1, std::min(to.frames, cuda::most_grid_blocks)));
}

// Device memory that lives as long as the plan.
struct Memory {
    cuda::DeviceBuffer first[2], pairs[2], lines;
};

// Uploads the first pixels and the weights of an axis. Along x the pairs are transposed, so that adjacent threads read
// adjacent words.
AxisOnDevice upload_axis(const ScaleAxis& axis, bool transposed, cuda::DeviceBuffer& first, cuda::DeviceBuffer& pairs,
                         const cuda::Stream& stream) {
    const int each = axis.stride / 2;
    std::vector<std::int32_t> all(axis.weights.size() / 2);
    for (int index = 0; index < axis.to; ++index)
        for (int pair = 0; pair < each; ++pair)
            std::memcpy(&all[static_cast<std::size_t>(transposed ? pair * axis.to + index : index * each + pair)],
                        axis.weights_of(index) + 2 * pair, sizeof all[0]);
    first = cuda::DeviceBuffer(axis.first.size() * sizeof axis.first[0]);
    pairs = cuda::DeviceBuffer(all.size() * sizeof all[0]);
    cuda::upload(axis.first.data(), first.data(), first.bytes(), stream);
    cuda::upload(all.data(), pairs.data(), pairs.bytes(), stream);
    stream.synchronize();
    return {first.as<const std::int32_t>(), pairs.as<const std::int32_t>(), axis.from, axis.to, each};
}

}  // namespace

// Uploads the weights and allocates the lines, which groups of frames use one after the other.
FilterOnDevice Scale::plan_for_cuda() const {
    const auto& stream = executor_->stream();
    const auto memory = std::make_shared<Memory>();
    Job job{};
    job.columns = upload_axis(columns_, false, memory->first[0], memory->pairs[0], stream);
    job.rows = upload_axis(rows_, true, memory->first[1], memory->pairs[1], stream);
    job.row_elements = static_cast<int>(from_.row_bytes());
    job.line_stride = cuda::parts(job.row_elements, group) * group;
    // Lines are padded to whole groups, so that the column pass stores full vectors.
    const auto line_bytes = static_cast<std::int64_t>(sizeof(std::int16_t)) * job.line_stride;
    const int at_a_time = frames_at_a_time(to_, line_bytes);
    memory->lines = cuda::DeviceBuffer(static_cast<std::size_t>(line_bytes * to_.height * at_a_time));
    job.line = memory->lines.as<std::int16_t>();
    return [job, memory, at_a_time, to = to_, executor = executor_](const FilterImages<MemorySpace::device>& images) {
        auto part = job;
        const cuda::KernelImage in(images.in);
        const cuda::KernelImage out(images.out);
        const bool aligned = in.aligned_to(group);
        for (int first = 0; first < to.frames; first += at_a_time) {
            const auto frames = static_cast<unsigned>(std::min(at_a_time, to.frames - first));
            const auto height = static_cast<unsigned>(to.height);
            part.in = in.from_frame(first);
            part.out = out.from_frame(first);
            cuda::Launch(executor->stream(),
                         dim3(cuda::blocks(job.row_elements, threads_per_block * group), height, frames),
                         threads_per_block)(columns_kernel, part, aligned);
            // Row pass for the same frames.
            const dim3 grid(cuda::blocks(to.width, threads_per_block), height, frames);
            if (to.channels == 3)
                cuda::Launch(executor->stream(), grid, threads_per_block)(rows_kernel<3>, part);
            else
                cuda::Launch(executor->stream(), grid, threads_per_block)(rows_kernel<1>, part);
        }
    };
}

void Scale::run(const FilterImages<MemorySpace::device>& images) const {
    validate(images.in, from_, "scale's image");
    validate(images.out, to_, "scale's result");
    on_device_(images);
}

}  // namespace framewire
