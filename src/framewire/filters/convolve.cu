#include "framewire/cuda/kernel.cuh"
#include "framewire/filters/convolve.hpp"
#include "framewire/filters/kernel.cuh"

#include <algorithm>
#include <bit>
#include <cstdint>

// A block loads the pixels that its results read into shared memory, one plane per channel. Each thread computes four
// quads, one below the other, of four adjacent pixels each. For a quad with `words` = 3:
//
//   shared row   [ quad-1 | quad | quad+1 ]     one 32-bit word of four bytes each
//   weights      one set of words for each pixel of the quad, shifted to that pixel's position
//
// so that one dp4a multiplies four bytes of a row by their weights.

namespace framewire {
namespace {

constexpr int block_width = 32, block_height = 8;
constexpr int rows_per_thread = 4, tile_rows = block_height * rows_per_thread;
constexpr int most_words = 5;  // maximum number of words of a row that one quad reads
// Loads that a thread keeps in flight while it fills shared memory.
constexpr int loads_at_once = 4;

// A weight is split into 256 * high + low, each a signed byte, because dp4a multiplies bytes. Matrices of small numbers
// need only the low part.
constexpr int most_parts = 2;
// Weights by part, line of the matrix, pixel of the quad, and word of the row.
using Weights = std::uint32_t[most_parts][max_convolve_size][quad_px][most_words];

// Exact n / divisor for 0 <= n < 2^28 and a divisor of at most 2^20 (multiplication by the reciprocal, Granlund and
// Montgomery 1994). The factor is 2^(32 + shift) / divisor rounded up, with 2^shift < divisor <= 2^(shift + 1); it has
// 32 bits and a relative error below 2^-31.
struct Division {
    std::uint32_t factor = 0;  // 0 for the divisor 1
    int shift = 0;

    // Finds the factor; see above.
    explicit Division(std::uint32_t divisor) {
        if (divisor == 1) return;
        shift = std::bit_width(divisor - 1) - 1;
        factor = static_cast<std::uint32_t>(((std::uint64_t{1} << (32 + shift)) + divisor - 1) / divisor);
    }

    // Returns n / divisor.
    __device__ std::uint32_t operator()(std::uint32_t n) const {
        return factor == 0 ? n : __umulhi(n, factor) >> shift;
    }
};
static_assert(256u * max_convolve_divisor < 1u << 28 && max_convolve_divisor <= 1 << 20);

// Everything that a launch needs; passed as a kernel parameter.
struct Job {
    QuadSource in;
    cuda::KernelImage<std::uint8_t> out;
    bool aligned;  // true if every row of `out` starts at a multiple of 4 bytes
    // `bias` is added to every sum before clamping it to 0..`most` and dividing: half a divisor for rounding, plus
    // offset * divisor.
    int size, bias, most;
    Division division;
    Weights weights;
};

// Adds four products of signed weights and unsigned bytes.
__device__ int add_products(std::uint32_t weights, std::uint32_t bytes, int sum) {
    asm("dp4a.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(weights), "r"(bytes));
    return sum;
}

// `words` is the number of words of a row that a quad reads, 3 or 5. `parts` is 1 if all weights fit a signed byte,
// otherwise 2.
template <int channels, int words, int parts>
__global__ void __launch_bounds__(block_width* block_height) convolve_kernel(__grid_constant__ const Job job) {
    constexpr int before = words / 2;  // quads on either side that a quad reads
    constexpr int seen_quads = block_width + 2 * before;
    constexpr int most_reach = before == 1 ? quad_px : max_convolve_size / 2;
    __shared__ std::uint32_t seen[channels][tile_rows + 2 * most_reach][seen_quads];
    const int reach = job.size / 2;
    const int first_quad = static_cast<int>(blockIdx.x) * block_width,
              first_row = static_cast<int>(blockIdx.y) * tile_rows;
    const int frame = static_cast<int>(blockIdx.z);
    const int thread_x = static_cast<int>(threadIdx.x), thread_y = static_cast<int>(threadIdx.y);

    // Load only the rows that are needed for results inside the image.
    const int rows = min(tile_rows, job.in.height - first_row) + 2 * reach;
    // Load the columns of quads that the block reads.
    for (int column = thread_x; column < seen_quads; column += block_width) {
        const int x = (first_quad + column - before) * quad_px;
        if (x >= job.in.width + reach) break;
        load_column<channels, loads_at_once>(job.in, frame, first_row - reach, x, thread_y, block_height, rows,
                                             [&](int row, const Quad<channels>& quad) {
#pragma unroll
                                                 for (int channel = 0; channel < channels; ++channel)
                                                     seen[channel][row][column] = quad.plane[channel];
                                             });
    }
    __syncthreads();

    // Compute the thread's quads of results.
    const int x = (first_quad + thread_x) * quad_px, y = first_row + thread_y * rows_per_thread;
    if (x >= job.in.width) return;
    Quad<channels> result[rows_per_thread] = {};
#pragma unroll
    for (int channel = 0; channel < channels; ++channel) {
        int sums[parts][rows_per_thread][quad_px] = {};
        for (int line = 0; line < job.size; ++line)
#pragma unroll
            for (int row = 0; row < rows_per_thread; ++row)
#pragma unroll
                for (int word = 0; word < words; ++word) {
                    const auto bytes = seen[channel][thread_y * rows_per_thread + row + line][thread_x + word];
#pragma unroll
                    for (int part = 0; part < parts; ++part)
#pragma unroll
                        for (int pixel = 0; pixel < quad_px; ++pixel)
                            sums[part][row][pixel] =
                                add_products(job.weights[part][line][pixel][word], bytes, sums[part][row][pixel]);
                }
#pragma unroll
        for (int row = 0; row < rows_per_thread; ++row)
#pragma unroll
            for (int pixel = 0; pixel < quad_px; ++pixel) {
                // Join the parts, clamp to the range of results and divide.
                int sum = sums[0][row][pixel] + job.bias;
                if constexpr (parts == 2) sum += sums[1][row][pixel] * 256;
                result[row].plane[channel] |= job.division(static_cast<std::uint32_t>(min(max(sum, 0), job.most)))
                                              << 8 * pixel;
            }
    }
#pragma unroll
    for (int row = 0; row < rows_per_thread; ++row)
        if (y + row < job.in.height) store_quad(job.out.row(frame, y + row), x, job.in.width, job.aligned, result[row]);
}

using Kernel = void (*)(Job);

// Returns the kernel for the given number of words per row and of parts per weight.
template <int channels>
Kernel kernel_for(int words, int parts) {
    if (words == 3) return parts == 1 ? convolve_kernel<channels, 3, 1> : convolve_kernel<channels, 3, 2>;
    return parts == 1 ? convolve_kernel<channels, 5, 1> : convolve_kernel<channels, 5, 2>;
}

}  // namespace

// Arranges the weights for every pixel of a quad, in as many words per row as a quad's windows read.
FilterOnDevice Convolve::plan_for_cuda() const {
    Job job{.in = {shape_, border_},
            .out = {},
            .aligned = false,
            .size = size_,
            .bias = divisor_ / 2 + offset_ * divisor_,
            .most = 256 * divisor_ - 1,
            .division = Division(static_cast<std::uint32_t>(divisor_)),
            .weights = {}};
    const int before = std::max(1, cuda::parts(size_ / 2, quad_px)), words = 2 * before + 1;
    int parts = 1;
    // Put every weight at its byte, as seen from each pixel of a quad.
    for (const auto& tap : taps_)
        for (int pixel = 0; pixel < quad_px; ++pixel) {
            const int byte = before * quad_px + pixel + tap.right;
            const int low = static_cast<std::int8_t>(tap.weight & 255), high = (tap.weight - low) / 256;
            if (high != 0) parts = 2;
            const int both[most_parts] = {low, high};
            for (int part = 0; part < most_parts; ++part)
                job.weights[part][tap.down + size_ / 2][pixel][byte / quad_px] |=
                    std::uint32_t{static_cast<std::uint8_t>(both[part])} << 8 * (byte % quad_px);
        }
    const auto kernel = shape_.channels == 3 ? kernel_for<3>(words, parts) : kernel_for<1>(words, parts);
    // Number of blocks across and down an image.
    const dim3 across(cuda::blocks(shape_.width, block_width * quad_px), cuda::blocks(shape_.height, tile_rows));
    return [=, shape = shape_, executor = executor_](const FilterImages<MemorySpace::device>& images) {
        auto with_images = job;
        with_images.in.set(images.in);
        with_images.out = cuda::KernelImage(images.out);
        with_images.aligned = with_images.out.aligned_to(quad_px);
        for_grids(with_images, static_cast<int>(across.x), static_cast<int>(across.y), shape.frames, 1,
                  [&](const Job& some, const dim3& grid) {
                      cuda::Launch(executor->stream(), grid, dim3(block_width, block_height))(kernel, some);
                  });
    };
}

void Convolve::run(const FilterImages<MemorySpace::device>& images) const {
    validate(images.in, shape_, "convolve's image");
    validate(images.out, shape_, "convolve's result");
    on_device_(images);
}

}  // namespace framewire
