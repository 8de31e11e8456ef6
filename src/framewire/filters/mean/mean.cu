#include "framewire/cuda/check.hpp"
#include "framewire/filters/mean/mean.hpp"
#include "framewire/filters/quads.cuh"
#include "framewire/filters/window.hpp"

#include <algorithm>
#include <cstdint>

// Two kernels, both of which slide down a strip of the image and work on quads (four pixels, channel by channel).
//
// Small windows: rows first. dp4a sums the bytes of each row's windows into a ring in shared memory; running sums go
// down the columns of that, two to a word. Each byte is read once but for the strips' rims.
//
// Large windows: columns first. Every thread keeps the sums of four columns, and reads the row that enters its windows
// and the one that leaves them. Windows then are differences of prefix sums, which are kept for every fourth pixel.

namespace framewire {
namespace {

struct Job {
    QuadSource in;
    DeviceRows<std::uint8_t> out;
    int size;
    WindowReach reach;
    int lead;       // pixels before the first tap in its quad
    int quads_in;   // of a strip, with its rims
    int quads_out;  // of a strip's result
    int band_rows;  // of a block's result
    MeanDivision division;
};

// The quads that windows see beside the first one's.
int rim_quads(const Job& job) { return (job.lead + job.size + quad_px - 1 + 3) / quad_px - 1; }

__device__ std::uint32_t four_bytes(std::uint32_t b0, std::uint32_t b1, std::uint32_t b2, std::uint32_t b3,
                                    int from_byte) {
    const auto selector = static_cast<std::uint32_t>(from_byte | (4 + from_byte) << 4);
    return byte_perm(byte_perm(b0, b1, selector), byte_perm(b2, b3, selector), 0x5410);
}

constexpr int small_most_words = (mean_16_bit_size + quad_px - 1 + 3) / 4;
static_assert(small_most_words % 2 == 1, "the ring's pairs of words come after an odd number and one");

// For windows of up to mean_16_bit_size: a warp's lanes are a row's quads. Along the columns each thread has two
// pixels.
template <int channels>
struct SmallLayout {
    static constexpr int quads = 32;
    static constexpr int groups = 2 * channels;  // warps
    static constexpr int threads = groups * quads;
    static constexpr int step_rows = 24;
    static int ring_rows(int size) { return step_rows + size - 1; }
    static int shared_bytes(int size) {
        return 4 * (quads * channels * (step_rows + 2 * ring_rows(size)) + small_most_words + 1);
    }
};

struct SmallJob : Job {
    std::uint32_t multiplier;                       // so that the mean is the highest byte of the product
    std::uint32_t ones[small_most_words][quad_px];  // which bytes of a word are in each of a quad's windows
};

template <int channels>
__global__ void __launch_bounds__(SmallLayout<channels>::threads) small_kernel(__grid_constant__ const SmallJob job) {
    using L = SmallLayout<channels>;
    extern __shared__ std::uint32_t shared[];
    auto* staged = shared;  // [row][plane][quad]: bytes, later the results
    auto* ring =
        shared + L::step_rows * channels * L::quads + small_most_words + 1;  // [row][plane][pair]: two 16-bit sums

    const int lane = static_cast<int>(threadIdx.x) % L::quads, group = static_cast<int>(threadIdx.x) / L::quads;
    const int x0 = static_cast<int>(blockIdx.x) * job.quads_out * quad_px;
    const int y0 = static_cast<int>(blockIdx.y) * job.band_rows;
    const int frame = static_cast<int>(blockIdx.z);
    const int rows_out = min(job.band_rows, job.in.height - y0);
    const int rows_in = rows_out + job.size - 1;
    const int ring_rows = L::step_rows + job.size - 1;
    const int words = (job.size + quad_px - 1 + 3) / 4;
    const auto shift = static_cast<unsigned>(8 * job.lead);

    // This thread's two columns: their place in a row of the ring, and their running sums, rounding included.
    const int column = static_cast<int>(threadIdx.x);
    std::uint32_t sums = job.division.bias * 0x10001u;
    int newest = 0, oldest = 0;  // rows of the ring

    for (int done = 0; done < rows_in; done += L::step_rows) {
        const int rows = min(L::step_rows, rows_in - done);
        load_column<channels, 4>(job.in, frame, y0 - job.reach.before + done,
                                 x0 - job.lead - job.reach.before + lane * quad_px, group, L::groups, rows,
                                 [&](int row, const Quad<channels>& pixels) {
#pragma unroll
                                     for (int plane = 0; plane < channels; ++plane)
                                         staged[(row * channels + plane) * L::quads + lane] = pixels.plane[plane];
                                 });
        __syncthreads();
        for (int row = group; row < rows; row += L::groups) {
            const int to = newest + row < ring_rows ? newest + row : newest + row - ring_rows;
#pragma unroll
            for (int plane = 0; plane < channels; ++plane) {
                // What the last quads read behind the row belongs to no result.
                const auto* from = staged + (row * channels + plane) * L::quads + lane;
                std::uint32_t sum[quad_px] = {};
                auto word = from[0];
                for (int index = 0; index < words; ++index) {
                    const auto next = from[index + 1];
                    const auto bytes = __funnelshift_r(word, next, shift);
                    word = next;
#pragma unroll
                    for (int pixel = 0; pixel < quad_px; ++pixel)
                        sum[pixel] = __dp4a(bytes, job.ones[index][pixel], sum[pixel]);
                }
                reinterpret_cast<uint2*>(ring)[(to * channels + plane) * L::quads + lane] = {sum[0] | sum[1] << 16,
                                                                                             sum[2] | sum[3] << 16};
            }
        }
        __syncthreads();
        for (int row = 0; row < rows; ++row) {
            sums += ring[newest * channels * 2 * L::quads + column];
            newest = newest + 1 < ring_rows ? newest + 1 : 0;
            if (done + row < job.size - 1) continue;
            const auto left = (sums & 0xffff) * job.multiplier, right = (sums >> 16) * job.multiplier;
            reinterpret_cast<std::uint16_t*>(staged)[row * channels * 2 * L::quads + column] =
                static_cast<std::uint16_t>(byte_perm(left, right, 0x0073));
            sums -= ring[oldest * channels * 2 * L::quads + column];
            oldest = oldest + 1 < ring_rows ? oldest + 1 : 0;
        }
        __syncthreads();
        const int x = x0 + lane * quad_px;
        if (lane < job.quads_out && x < job.in.width)
            for (int row = group; row < rows; row += L::groups) {
                if (done + row < job.size - 1) continue;
                Quad<channels> result;
#pragma unroll
                for (int plane = 0; plane < channels; ++plane)
                    result.plane[plane] = staged[(row * channels + plane) * L::quads + lane];
                store_quad(job.out.row(frame, y0 + done + row - (job.size - 1)), x, job.in.width, job.out.aligned,
                           result);
            }
        __syncthreads();
    }
}

// For all windows: a thread for each quad of columns, and a warp for each channel of a row along the rows.
template <int channels>
struct LargeLayout {
    static constexpr int threads = 384;
    static constexpr int blocks = 3;            // of a multiprocessor
    static constexpr int lines = threads / 32;  // channels times rows a step
    static constexpr int step_rows = lines / channels;
    static constexpr int quads_per_lane = threads / 32;
    // One place is left free behind every lane's quads, so that lanes do not meet in a bank of shared memory.
    static constexpr int pitch = threads + 32 + 2;
    static __device__ int place(int quad) { return quad + quad / quads_per_lane; }
    static constexpr int shared_bytes = lines * pitch * (8 + 4);
};

// Two bytes of a word as two 16-bit numbers.
__device__ std::uint32_t low_pair(std::uint32_t bytes) { return byte_perm(bytes, 0, 0x4140); }
__device__ std::uint32_t high_pair(std::uint32_t bytes) { return byte_perm(bytes, 0, 0x4342); }

// Of eight columns' sums: those from `first` (0 to 3) on, four of them.
__device__ uint2 four_sums(uint2 low, uint2 high, int first) {
    const bool second_word = first >= 2;
    const auto a = second_word ? low.y : low.x, b = second_word ? high.x : low.y, c = second_word ? high.y : high.x;
    const std::uint32_t selector = first % 2 ? 0x5432 : 0x3210;
    return {byte_perm(a, b, selector), byte_perm(b, c, selector)};
}

// `before` and the sums of a quad's first columns, for each of which `ones` has a byte.
__device__ std::uint32_t add_first(std::uint32_t before, uint2 quad, std::uint32_t ones) {
    return __dp2a_lo(quad.x, ones, __dp2a_hi(quad.y, ones, before));
}

template <int channels>
__global__ void __launch_bounds__(LargeLayout<channels>::threads, LargeLayout<channels>::blocks)
    large_kernel(__grid_constant__ const Job job) {
    using L = LargeLayout<channels>;
    extern __shared__ std::uint32_t shared[];
    auto* columns = reinterpret_cast<uint2*>(shared);   // [row][plane][place]: four 16-bit sums
    auto* prefixes = shared + 2 * L::lines * L::pitch;  // [row][plane][place]: sums of all before, later results

    const int quad = static_cast<int>(threadIdx.x), lane = quad % 32, line = quad / 32;
    const int x0 = static_cast<int>(blockIdx.x) * job.quads_out * quad_px;
    const int y0 = static_cast<int>(blockIdx.y) * job.band_rows;
    const int frame = static_cast<int>(blockIdx.z);
    const int y_end = min(y0 + job.band_rows, job.in.height);
    const int x_in = x0 - job.lead - job.reach.before + quad * quad_px;
    const int end = job.lead + job.size, end_quads = end / quad_px;
    const auto first_ones = (1u << (8 * job.lead)) - 1 & 0x01010101u;
    const auto end_ones = (1u << (8 * (end % quad_px))) - 1 & 0x01010101u;

    uint2 sums[channels] = {};
    const auto add = [&](int, const Quad<channels>& pixels) {
#pragma unroll
        for (int plane = 0; plane < channels; ++plane) {
            sums[plane].x += low_pair(pixels.plane[plane]);
            sums[plane].y += high_pair(pixels.plane[plane]);
        }
    };
    const bool sees_columns = quad < job.quads_in;
    if (sees_columns) load_column<channels, 6>(job.in, frame, y0 - job.reach.before, x_in, 0, 1, job.size - 1, add);

    for (int y = y0; y < y_end; y += L::step_rows) {
        // The windows' sums of columns, row by row: the row that enters is added, later the one that leaves taken away.
        if (sees_columns)
            load_column_pair<channels>(job.in, frame, y + job.reach.after, y - job.reach.before, x_in, L::step_rows,
                                       [&](int row, const Quad<channels>& entering, const Quad<channels>& leaving) {
                                           add(row, entering);
#pragma unroll
                                           for (int plane = 0; plane < channels; ++plane) {
                                               columns[(row * channels + plane) * L::pitch + L::place(quad)] =
                                                   sums[plane];
                                               sums[plane].x -= low_pair(leaving.plane[plane]);
                                               sums[plane].y -= high_pair(leaving.plane[plane]);
                                           }
                                       });
        __syncthreads();

        // This warp's line: what is before each of a lane's quads, first in the lane, then in all lanes before it.
        const auto* line_columns = columns + line * L::pitch;
        auto* line_prefixes = prefixes + line * L::pitch;
        std::uint32_t own[L::quads_per_lane], total = 0;
#pragma unroll
        for (int at = 0; at < L::quads_per_lane; ++at) {
            own[at] = total;
            total = add_first(total, line_columns[lane * (L::quads_per_lane + 1) + at], 0x01010101u);
        }
        auto before = total;
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) {
            const auto other = __shfl_up_sync(0xffffffffu, before, distance);
            if (lane >= distance) before += other;
        }
        before -= total;
#pragma unroll
        for (int at = 0; at < L::quads_per_lane; ++at)
            line_prefixes[lane * (L::quads_per_lane + 1) + at] = before + own[at];
        __syncwarp();

        // A window's sum is what is before its end less what is before its first column; then one column in, one out.
        for (int first = 0; first < job.quads_out; first += 32) {
            const int at = min(first + lane, job.quads_out - 1);
            const auto low = line_columns[L::place(at)], high = line_columns[L::place(at + 1)];
            const auto end_low = line_columns[L::place(at + end_quads)],
                       end_high = line_columns[L::place(at + end_quads + 1)];
            const auto leaving = four_sums(low, high, job.lead), entering = four_sums(end_low, end_high, end % quad_px);
            const auto sum_0 = job.division.bias +
                               add_first(line_prefixes[L::place(at + end_quads)], end_low, end_ones) -
                               add_first(line_prefixes[L::place(at)], low, first_ones);
            const auto sum_1 = sum_0 + (entering.x & 0xffff) - (leaving.x & 0xffff);
            const auto sum_2 = sum_1 + (entering.x >> 16) - (leaving.x >> 16);
            const auto sum_3 = sum_2 + (entering.y & 0xffff) - (leaving.y & 0xffff);
            const auto mean = [&](std::uint32_t sum) {
                return __umulhi(sum, job.division.multiplier) >> (job.division.shift - 32);
            };
            const auto result = four_bytes(mean(sum_0), mean(sum_1), mean(sum_2), mean(sum_3), 0);
            __syncwarp();  // all lanes have read the prefixes that results now replace
            line_prefixes[L::place(at)] = result;
            __syncwarp();
        }
        __syncthreads();

        const int x = x0 + quad * quad_px;
        if (quad < job.quads_out && x < job.in.width)
            for (int row = 0; row < L::step_rows && y + row < y_end; ++row) {
                Quad<channels> result;
#pragma unroll
                for (int plane = 0; plane < channels; ++plane)
                    result.plane[plane] = prefixes[(row * channels + plane) * L::pitch + L::place(quad)];
                store_quad(job.out.row(frame, y + row), x, job.in.width, job.out.aligned, result);
            }
        // The next step's prefixes come after its own barrier, which no warp passes before all have stored.
    }
}

template <int channels>
void launch_small(const Job& any, int frames, cudaStream_t stream) {
    using L = SmallLayout<channels>;
    SmallJob job{any};
    job.division = mean_division(job.size, 16);
    job.multiplier = job.division.multiplier << (24 - job.division.shift);
    for (int byte = 0; byte < 4 * small_most_words; ++byte)
        for (int pixel = 0; pixel < quad_px; ++pixel)
            if (byte >= pixel && byte < pixel + job.size) job.ones[byte / 4][pixel] |= 1u << (8 * (byte % 4));
    job.quads_in = L::quads;
    job.quads_out = L::quads - rim_quads(job);
    const int strips = parts(job.in.width, job.quads_out * quad_px);
    // High bands sum up fewer rows twice; many make enough blocks for the whole GPU.
    const int bands = std::max(parts(job.in.height, 4 * L::step_rows), bands_for_all(strips, frames));
    job.band_rows = band_rows(job.in.height, bands, L::step_rows);
    for_grids(job, strips, frames, 1, [&](const SmallJob& part, dim3 grid) {
        small_kernel<channels><<<grid, L::threads, L::shared_bytes(job.size), stream>>>(part);
    });
}

template <int channels>
void launch_large(Job job, int frames, cudaStream_t stream) {
    using L = LargeLayout<channels>;
    job.division = mean_division(job.size, 32);
    // Strips of one width, so that none is nearly empty.
    const int quads = parts(job.in.width, quad_px);
    job.quads_out = parts(quads, parts(quads, L::threads - rim_quads(job)));
    job.quads_in = job.quads_out + rim_quads(job);
    const int strips = parts(quads, job.quads_out);
    // Each band begins with as many rows as the window has: no more bands than run at once.
    const std::int64_t columns = std::int64_t{strips} * frames;
    const int at_once = L::blocks * device_attribute(cudaDevAttrMultiProcessorCount);
    const int bands = static_cast<int>(std::max<std::int64_t>(1, at_once / columns));
    job.band_rows = band_rows(job.in.height, bands, L::step_rows);
    cuda::check(
        cudaFuncSetAttribute(large_kernel<channels>, cudaFuncAttributeMaxDynamicSharedMemorySize, L::shared_bytes));
    for_grids(job, strips, frames, 1, [&](const Job& part, dim3 grid) {
        large_kernel<channels><<<grid, L::threads, L::shared_bytes, stream>>>(part);
    });
}

}  // namespace

void Mean::run(const FilterImages<MemorySpace::device>& images) const {
    validate(images.in, shape_, "mean's image");
    validate(images.out, shape_, "mean's result");
    const auto reach = window_reach(parameters_.size);
    const Job job{.in = {DeviceRows<const std::uint8_t>(images.in), shape_.width, shape_.height, parameters_.border},
                  .out = DeviceRows<std::uint8_t>(images.out),
                  .size = parameters_.size,
                  .reach = reach,
                  .lead = (quad_px - reach.before % quad_px) % quad_px};
    const auto stream = executor_->stream().handle();
    const bool small = parameters_.size <= mean_16_bit_size;
    if (shape_.channels == 3)
        small ? launch_small<3>(job, shape_.frames, stream) : launch_large<3>(job, shape_.frames, stream);
    else
        small ? launch_small<1>(job, shape_.frames, stream) : launch_large<1>(job, shape_.frames, stream);
}

}  // namespace framewire
