#include "framewire/filters/gaussian.hpp"
#include "framewire/filters/kernel.cuh"

#include <algorithm>
#include <cstdint>

// The general kernel, for any window. A block slides down a strip of the image. In each step it
//
//   1. stages rows as quads (four pixels, channel by channel) in shared memory
//   2. row pass: staged rows    -> ring of 16-bit results, taps + step rows long, in shared memory
//   3. column pass: ring        -> rows_per_thread rows of the result per thread, in registers
//
// so every byte is read once, except at the strips' edges, and no intermediate result leaves the block.
//
// The row pass weighs two bytes per dp2a. The weights are stored as pairs for windows that start with the first byte of
// a pair (`even`) and for those that start with the second (`odd`), so that no byte has to be shifted for the four
// windows of a quad. The column pass adds the two taps of a weight first; with GaussianRounding::fine, whose row
// results have 14 bits, it does so for two pixels at once.

namespace framewire {
namespace {

constexpr int threads_per_block = 256;
constexpr int rows_per_thread = 4;  // rows of results that a thread holds in registers
// Weights that the column pass applies per loop iteration.
constexpr int terms_at_once = 4;
// Maximum number of pairs of weights along a row, including the zeros around them.
constexpr int most_pairs = max_window_px / 2 + 5;
// Maximum number of weights along a column, padded to whole iterations.
constexpr int most_terms = (max_window_px + 1) / 2 + 3;

// Returns the left shift of the weights for the column pass, which puts the result in the highest byte of the sum.
constexpr int column_scale_shift(GaussianRounding rounding) { return 24 - gaussian_column_shift(rounding); }

// Everything that a launch needs; passed as a kernel parameter.
struct Job {
    QuadSource in;
    cuda::KernelImage<std::uint8_t> out;

    int taps;
    WindowReach reach;
    int lead;       // number of bytes before the first tap in its quad
    int quads_in;   // number of quads that a strip reads, including its margins
    int quads_out;  // number of quads in a strip's result
    int band_rows;  // number of rows in a block's result
    int ring_rows;
    bool out_words;  // true if every row of the result starts at a multiple of 4 bytes

    std::uint32_t even[most_pairs], odd[most_pairs];  // element 0 is zero; the pairs and more zeros follow
    std::uint32_t column[most_terms];                 // weights along a column, padded with zeros
};

// Layout of a block for one kernel: it processes `planes` channels at once (all of them, or one if all do not fit) with
// one thread for each of `pitch` adjacent quads.
template <GaussianRounding rounding_, int channels_, int planes_, int pitch_>
struct Layout {
    static constexpr GaussianRounding rounding = rounding_;
    static constexpr int row_shift = gaussian_row_shift(rounding);
    static constexpr int channels = channels_, planes = planes_, pitch = pitch_;
    // Rows of threads in a block, rows of results per step, and rows staged at a time.
    static constexpr int groups = threads_per_block / pitch;
    static constexpr int step_rows = groups * rows_per_thread;
    static constexpr int staged_rows = pitch == 32 ? step_rows : groups;
    // A thread reads this many consecutive ring rows at once. The first rows_at_once - 1 ring rows are therefore
    // repeated after the end of the ring.
    static constexpr int rows_at_once = terms_at_once + rows_per_thread - 1;

    static constexpr int ring_rows(int taps) { return step_rows + taps - 1; }
    // Returns the bytes of shared memory for the staged rows and the ring.
    static constexpr std::int64_t shared_bytes(int taps, int quads_in) {
        return std::int64_t{4} * (staged_rows * planes * quads_in + 4) +
               std::int64_t{8} * (ring_rows(taps) + rows_at_once - 1) * planes * pitch;
    }
};

// The work of one block on one strip of one band.
template <class L>
class Strip {
public:
    // Computes the block's position in the image, and divides `shared` into the ring and the staged rows.
    __device__ Strip(const Job& job, std::uint32_t* shared)
        : job_(job),
          ring_(reinterpret_cast<uint2*>(shared)),
          staged_(shared + 2 * (job.ring_rows + L::rows_at_once - 1) * L::planes * L::pitch),
          quad_(static_cast<int>(threadIdx.x) % L::pitch),
          group_(static_cast<int>(threadIdx.x) / L::pitch),
          x_(static_cast<int>(blockIdx.x) * job.quads_out * quad_px),
          y_(static_cast<int>(blockIdx.y) * job.band_rows),
          frame_(static_cast<int>(blockIdx.z) / (L::channels / L::planes)),
          first_plane_(static_cast<int>(blockIdx.z) % (L::channels / L::planes)) {}

    // For each step of the band, fills the ring up to the last row that the next results need, and then computes them.
    __device__ void run() {
        const int y_end = min(y_ + job_.band_rows, job_.in.height);
        int loaded = 0, slot = 0;  // rows put into the ring so far; position of the next one
        const auto load = [&](int until) {
            while (loaded < until) {
                const int rows = min(until - loaded, L::staged_rows);
                stage(y_ - job_.reach.before + loaded, rows);
                __syncthreads();
                weigh_rows(slot, rows);
                __syncthreads();
                loaded += rows;
                slot = wrapped(slot + rows);
            }
        };
        for (int y = y_, first = 0; y < y_end; y += L::step_rows) {
            load(y - y_ + L::step_rows + job_.taps - 1);
            weigh_columns(y, y_end, first);
            first = wrapped(first + L::step_rows);
        }
    }

private:
    // Wraps a ring position that is out of range by less than the length of the ring.
    __device__ int wrapped(int slot) const {
        return slot < 0 ? slot + job_.ring_rows : slot >= job_.ring_rows ? slot - job_.ring_rows : slot;
    }

    // Loads `rows` rows, starting at image row `y`, into shared memory.
    __device__ void stage(int y, int rows) {
        for (int quad = quad_; quad < job_.quads_in; quad += L::pitch) {
            const int x = x_ - job_.lead - job_.reach.before + quad * quad_px;
            load_column<L::channels, 4>(
                job_.in, frame_, y, x, group_, L::groups, rows, [&](int row, const Quad<L::channels>& pixels) {
#pragma unroll
                    for (int plane = 0; plane < L::planes; ++plane)
                        staged_[(row * L::planes + plane) * job_.quads_in + quad] = plane_of(pixels, plane);
                });
        }
    }

    // Returns one channel of a quad. `plane` counts only the channels that the block processes.
    __device__ std::uint32_t plane_of(const Quad<L::channels>& quad, int plane) const {
        if constexpr (L::planes == L::channels) {
            return quad.plane[plane];
        } else {
            return first_plane_ == 0 ? quad.plane[0] : first_plane_ == 1 ? quad.plane[1] : quad.plane[2];
        }
    }

    // Row pass: filters the staged rows and writes their results to the ring from position `slot` on.
    __device__ void weigh_rows(int slot, int rows) {
        if (quad_ >= job_.quads_out) return;
        for (int row = group_; row < rows; row += L::groups) {
            const int to = wrapped(slot + row);
#pragma unroll
            for (int plane = 0; plane < L::planes; ++plane) {
                const auto result = weigh_quad(staged_ + (row * L::planes + plane) * job_.quads_in + quad_);
                ring_[(to * L::planes + plane) * L::pitch + quad_] = result;
                if (to < L::rows_at_once - 1)
                    ring_[((to + job_.ring_rows) * L::planes + plane) * L::pitch + quad_] = result;
            }
        }
    }

    // Returns the row pass's results for one quad, whose windows start with bytes 0, 1, 2 and 3 after the lead. Bytes
    // read after the last tap have weight zero.
    __device__ uint2 weigh_quad(const std::uint32_t* words) const {
        constexpr std::uint32_t half = 1u << (L::row_shift - 1);
        std::uint32_t sum[quad_px] = {half, half, half, half};
        const int count = (job_.taps + quad_px - 1 + 3) / 4;
        const auto shift = static_cast<unsigned>(8 * job_.lead);
        auto word = words[0];
        for (int index = 0; index < count; ++index) {
            const auto next = words[index + 1];
            const auto bytes = __funnelshift_r(word, next, shift);
            word = next;
            const int pair = 2 * index;
            sum[0] = __dp2a_lo(job_.even[pair + 1], bytes, sum[0]);
            sum[0] = __dp2a_hi(job_.even[pair + 2], bytes, sum[0]);
            sum[1] = __dp2a_lo(job_.odd[pair + 1], bytes, sum[1]);
            sum[1] = __dp2a_hi(job_.odd[pair + 2], bytes, sum[1]);
            sum[2] = __dp2a_lo(job_.even[pair], bytes, sum[2]);
            sum[2] = __dp2a_hi(job_.even[pair + 1], bytes, sum[2]);
            sum[3] = __dp2a_lo(job_.odd[pair], bytes, sum[3]);
            sum[3] = __dp2a_hi(job_.odd[pair + 1], bytes, sum[3]);
        }
        for (auto& one : sum) one >>= L::row_shift;
        return {sum[0] | sum[1] << 16, sum[2] | sum[3] << 16};
    }

    // Runs the column pass of one step. `first` is the ring position where the step's first window starts.
    __device__ void weigh_columns(int y, int y_end, int first) {
        y += group_ * rows_per_thread;
        const int x = x_ + quad_ * quad_px;
        if (quad_ >= job_.quads_out || x >= job_.in.width || y >= y_end) return;
        first = wrapped(first + group_ * rows_per_thread);
        Quad<L::planes> result[rows_per_thread];
#pragma unroll
        for (int plane = 0; plane < L::planes; ++plane) weigh_column(first, plane, result);
#pragma unroll
        for (int row = 0; row < rows_per_thread; ++row)
            if (y + row < y_end) store(job_.out.row(frame_, y + row), x, result[row]);
    }

    // Adds the two taps of one weight to the sums of two pixels.
    static __device__ void add_pair(std::uint32_t one, std::uint32_t other, std::uint32_t weight, std::uint32_t& first,
                                    std::uint32_t& second) {
        if constexpr (L::rounding == GaussianRounding::fine) {
            const auto both = one + other;  // two sums of two 14-bit numbers
            first += (both & 0xffff) * weight;
            second += (both >> 16) * weight;
        } else {
            first += ((one & 0xffff) + (other & 0xffff)) * weight;
            second += ((one >> 16) + (other >> 16)) * weight;
        }
    }

    // Runs the column pass for one channel of a thread's rows of results.
    __device__ void weigh_column(int first, int plane, Quad<L::planes> (&result)[rows_per_thread]) const {
        std::uint32_t sum[rows_per_thread][quad_px];
#pragma unroll
        for (auto& row : sum)
#pragma unroll
            for (auto& pixel : row) pixel = 1u << 23;
#pragma unroll 1
        for (int term = 0; term < (job_.taps + 1) / 2; term += terms_at_once) {
            // Ring rows that hold the upper and the lower taps of these weights, for all results of the thread.
            const auto* upper = ring_ + (wrapped(first + term) * L::planes + plane) * L::pitch + quad_;
            const auto* lower =
                ring_ + (wrapped(first + job_.taps - term - terms_at_once) * L::planes + plane) * L::pitch + quad_;
            uint2 up[L::rows_at_once], low[L::rows_at_once];
#pragma unroll
            for (int row = 0; row < L::rows_at_once; ++row) {
                up[row] = upper[row * L::planes * L::pitch];
                low[row] = lower[row * L::planes * L::pitch];
            }
#pragma unroll
            for (int at = 0; at < terms_at_once; ++at) {
                const auto weight = job_.column[term + at];
#pragma unroll
                for (int row = 0; row < rows_per_thread; ++row) {
                    const auto& other = low[row + terms_at_once - 1 - at];
                    add_pair(up[row + at].x, other.x, weight, sum[row][0], sum[row][1]);
                    add_pair(up[row + at].y, other.y, weight, sum[row][2], sum[row][3]);
                }
            }
        }
#pragma unroll
        for (int row = 0; row < rows_per_thread; ++row)
            result[row].plane[plane] = byte_perm(byte_perm(sum[row][0], sum[row][1], 0x0073),
                                                 byte_perm(sum[row][2], sum[row][3], 0x0073), 0x5410);
    }

    // Stores a quad of results; byte by byte if the block processes one of three channels.
    __device__ void store(std::uint8_t* row, int x, const Quad<L::planes>& quad) const {
        if constexpr (L::planes == L::channels) {
            store_quad<L::channels>(row, x, job_.in.width, job_.out_words, quad);
        } else {
            for (int pixel = 0; pixel < quad_px && x + pixel < job_.in.width; ++pixel)
                row[(x + pixel) * L::channels + first_plane_] = static_cast<std::uint8_t>(quad.plane[0] >> (8 * pixel));
        }
    }

    const Job& job_;
    uint2* ring_;            // [row][plane][pitch]: four 16-bit results
    std::uint32_t* staged_;  // [row][plane][quads_in]
    int quad_, group_;
    int x_, y_, frame_, first_plane_;
};

template <class L>
__global__ void __launch_bounds__(threads_per_block, 4) gaussian_kernel(__grid_constant__ const Job job) {
    extern __shared__ std::uint32_t shared[];
    Strip<L>(job, shared).run();
}

// Fills in the weights of both passes.
void set_weights(Job& job, const GaussianWeights& weights) {
    const auto weight = [&](int tap) {
        if (tap < 0 || tap >= weights.taps) return 0u;
        const int mirrored = weights.taps - 1 - tap;
        return static_cast<std::uint32_t>(weights.folded[std::min(tap, mirrored)]) * (tap == mirrored ? 2u : 1u);
    };
    for (int pair = 0; pair + 1 < most_pairs; ++pair) {
        job.even[pair + 1] = weight(2 * pair) | weight(2 * pair + 1) << 16;
        job.odd[pair + 1] = weight(2 * pair - 1) | weight(2 * pair) << 16;
    }
    for (int term = 0; term < weights.terms(); ++term)
        job.column[term] = static_cast<std::uint32_t>(weights.folded[term]) << column_scale_shift(weights.rounding);
}

// Returns the number of quads that the windows of a quad read beyond that quad.
int rim_quads(const Job& job) { return (job.lead + job.taps + quad_px - 1 + 3) / quad_px - 1; }

// Makes the plan for one layout: divides images of `shape` into strips and bands.
template <class L>
FilterOnDevice plan(Job job, const Shape& shape, int quads_out, Executor& executor) {
    job.quads_out = quads_out;
    job.quads_in = quads_out + rim_quads(job);
    job.ring_rows = L::ring_rows(job.taps);
    const int strips = cuda::parts(shape.width, quads_out * quad_px);
    // High bands repeat less of the row pass; many bands give enough blocks to fill the GPU.
    constexpr int blocks_per_frame = L::channels / L::planes;
    const int bands = std::max(cuda::parts(shape.height, std::max(128, 8 * job.taps)),
                               bands_for_all(strips * blocks_per_frame, shape.frames));
    job.band_rows = band_rows(shape.height, bands, L::step_rows);
    const auto shared_bytes = static_cast<std::size_t>(L::shared_bytes(job.taps, job.quads_in));
    cuda::allow_shared_memory(gaussian_kernel<L>);
    return [job, strips, shared_bytes, &executor](const FilterImages<MemorySpace::device>& images) {
        auto with_images = job;
        with_images.in.set(images.in);
        with_images.out = cuda::KernelImage(images.out);
        with_images.out_words = with_images.out.aligned_to(4);
        for_grids(with_images, strips, cuda::parts(job.in.height, job.band_rows), images.in.shape().frames,
                  blocks_per_frame, [&](const Job& part, dim3 grid) {
                      cuda::Launch(executor.stream(), grid, threads_per_block, shared_bytes)(gaussian_kernel<L>, part);
                  });
    };
}

// Makes the plan; chooses the layout and the width of a strip.
template <GaussianRounding rounding, int channels>
FilterOnDevice plan(const Job& job, const Shape& shape, Executor& executor) {
    // A strip takes 32 quads including its margins, or without them if they would leave too few quads for results.
    const int rim = rim_quads(job), quads_out = rim <= 8 ? 32 - rim : 32;
    // If two blocks per multiprocessor do not fit, process one channel at a time in a narrow strip, which fits the
    // shared memory of every GPU.
    const int most_shared = std::min(100 * 1024, cuda::limits().block_shared_bytes);
    using All = Layout<rounding, channels, channels, 32>;
    using Narrow = Layout<rounding, channels, 1, 16>;
    constexpr int most_rim = (3 + max_window_px + quad_px - 1 + 3) / quad_px - 1;
    static_assert(Narrow::shared_bytes(max_window_px, 16 + most_rim) <= 48 * 1024);
    return All::shared_bytes(job.taps, quads_out + rim) > most_shared ? plan<Narrow>(job, shape, 16, executor)
                                                                      : plan<All>(job, shape, quads_out, executor);
}

}  // namespace

// Chooses among three kernels: short weights (gaussian_short.cu), tensor cores (gaussian_matrix.cu), and the general
// one.
FilterOnDevice Gaussian::plan_for_cuda() const {
    if (short_on_cuda(weights_)) return gaussian_of_short_weights(weights_, border_, shape_, *executor_);
    if (gaussian_fits_matrices(weights_)) return gaussian_by_matrices(weights_, border_, shape_, *executor_);
    Job job{.in = QuadSource(shape_, border_),
            .taps = weights_.taps,
            .reach = weights_.reach,
            .lead = (quad_px - weights_.reach.before % quad_px) % quad_px};
    set_weights(job, weights_);
    const auto plan_with = [&]<GaussianRounding rounding>() {
        return shape_.channels == 3 ? plan<rounding, 3>(job, shape_, *executor_)
                                    : plan<rounding, 1>(job, shape_, *executor_);
    };
    return weights_.rounding == GaussianRounding::fine ? plan_with.template operator()<GaussianRounding::fine>()
                                                       : plan_with.template operator()<GaussianRounding::opencv>();
}

void Gaussian::run(const FilterImages<MemorySpace::device>& images) const {
    validate(images.in, shape_, "gaussian's image");
    validate(images.out, shape_, "gaussian's result");
    on_device_(images);
}

}  // namespace framewire
