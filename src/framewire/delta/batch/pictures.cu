#include "framewire/cuda/device/check.hpp"
#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/delta/batch/pictures.hpp"
#include "framewire/delta/entropy/chain.cuh"
#include "framewire/delta/entropy/lane_tables.hpp"
#include "framewire/delta/entropy/lanes.hpp"
#include "framewire/delta/pictures/picture_forms.hpp"

#include <cstdint>

// A thread block codes one block of 64x64 pixels. All its threads find each part's best predictor; then the lanes of
// one warp are the 32 states of its residuals.

namespace framewire::delta {
namespace pictures_kernels {
namespace {

constexpr int threads_per_block = 128;
constexpr int warp_lanes = 32;
static_assert(residual_lanes == warp_lanes);
constexpr int parts_per_plane = parts_per_row * parts_per_row;
constexpr int rows_of_parts = parts_per_plane * part_side;  // of one plane, each of 8 samples
constexpr int other_residual = picture_models::small_symbols - 1;

struct Job {
    cuda::KernelImage<const std::uint8_t> pictures;
    BatchBlocks blocks;
    CoderTables tables;
    CodedBlocks coded;
};

/// Rows of a plane begin at a multiple of 4 bytes and have a column of zeros before and a row of zeros above.
constexpr int plane_stride = block_side + 8, plane_first = 4;
constexpr int most_part_words = 3 * parts_per_plane + 2;  // one for each part, and the state

template <int channels>
struct Shared {
    std::uint8_t planes[channels][block_side + 1][plane_stride];
    std::uint16_t words[block_side * block_side * channels / 2 + most_part_words];  // more are never sent
    ChainSymbol staged[warp_lanes];
    std::uint8_t by[channels * parts_per_plane], part_class[channels * parts_per_plane];
    // Of each part the number of its first residual, and where among the planes its first sample is.
    std::uint16_t first[channels * parts_per_plane], sample[channels * parts_per_plane];
    std::uint8_t* to;
    std::uint32_t size, form;

    __device__ const std::uint8_t* row(int plane, int y) const { return &planes[plane][y + 1][plane_first]; }
};

// The parts of a block in the order in which they are coded; those at its edges may be smaller.
struct Parts {
    BlockPlace place;
    int columns, rows;

    __device__ explicit Parts(const BlockPlace& of) : place(of), columns(of.part_columns()), rows(of.part_rows()) {}
    __device__ int per_plane() const { return columns * rows; }
    __device__ int left(int part) const { return part % columns * part_side; }
    __device__ int top(int part) const { return part / columns * part_side; }
    __device__ int width(int part) const { return min(part_side, place.width - left(part)); }
    __device__ int height(int part) const { return min(part_side, place.height - top(part)); }
    // How many samples of its plane lie in parts before it.
    __device__ int before(int part) const {
        return top(part) * place.width + left(part) * height(part);
    }
};

template <int channels>
__device__ void load_planes(const Job& job, int stream, const BlockPlace& place, Shared<channels>& shared) {
    auto* const all = reinterpret_cast<std::uint32_t*>(shared.planes);
    for (int i = static_cast<int>(threadIdx.x); i < static_cast<int>(sizeof(shared.planes) / 4);
         i += threads_per_block)
        all[i] = 0;
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < block_side * block_side; i += threads_per_block) {
        const int x = i % block_side, y = i / block_side;
        if (x >= place.width || y >= place.height) continue;
        const auto* pixel = job.pictures.row(stream, place.y + y) + std::int64_t{place.x + x} * channels;
        const auto to = [&](int plane) -> std::uint8_t& { return shared.planes[plane][y + 1][plane_first + x]; };
        if constexpr (channels == 1) {
            to(0) = pixel[0];
        } else {
            const auto green = pixel[1];
            to(0) = green;
            to(1) = static_cast<std::uint8_t>(pixel[0] - green);
            to(2) = static_cast<std::uint8_t>(pixel[2] - green);
        }
    }
    __syncthreads();
}

// The bytes at `at`, which begins one after a word does, or the byte before them.
__device__ std::uint32_t word_before(std::uint32_t before, std::uint32_t word) {
    return __funnelshift_l(before, word, 8);
}

// Sums of the residuals of one row of a part, without their signs, for the three predictors.
struct RowSums {
    std::uint32_t of[predictors];
};
__device__ RowSums sum_row(const std::uint8_t* row, int x, int width) {
    RowSums sums{};
    const auto* here = reinterpret_cast<const std::uint32_t*>(row + x);
    const auto* above = reinterpret_cast<const std::uint32_t*>(row - plane_stride + x);
    std::uint32_t here_before = here[-1], above_before = above[-1];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int inside = min(4, width - 4 * half);
        if (inside <= 0) break;
        const auto mask = inside == 4 ? ~0u : (1u << (8 * inside)) - 1;
        const auto now = here[half], up = above[half];
        const auto left = word_before(here_before, now), corner = word_before(above_before, up);
        const auto rise = __vsub4(now, up);
        const auto add = [&](Predictor by, std::uint32_t residual) {
            sums.of[static_cast<int>(by)] = __dp4a(__vabs4(residual) & mask, 0x01010101u,
                                                   sums.of[static_cast<int>(by)]);
        };
        add(Predictor::slope, __vsub4(rise, __vsub4(left, corner)));
        add(Predictor::left, __vsub4(now, left));
        add(Predictor::above, rise);
        here_before = now;
        above_before = up;
    }
    return sums;
}

// Finds each part's predictor and class: eight lanes for the eight rows of a part.
template <int channels>
__device__ void choose(const Parts& parts, Shared<channels>& shared) {
    const int rows = channels * rows_of_parts;
    for (int i = static_cast<int>(threadIdx.x); i < rows; i += threads_per_block) {
        const int y = i % part_side, number = i / part_side;
        const int plane = number / parts_per_plane, part = number % parts_per_plane;
        const bool is_part = part < parts.per_plane();
        RowSums sums{};
        if (is_part && y < parts.height(part))
            sums = sum_row(shared.row(plane, parts.top(part) + y), parts.left(part), parts.width(part));
#pragma unroll
        for (int step = 1; step < part_side; step *= 2)
#pragma unroll
            for (auto& of : sums.of) of += __shfl_xor_sync(~0u, of, step);
        if (!is_part || y != 0) continue;
        int by = 0;
#pragma unroll
        for (int other = 1; other < predictors; ++other)
            if (sums.of[other] < sums.of[by]) by = other;
        const int samples = parts.width(part) * parts.height(part);
        const int index = plane * parts.per_plane() + part;
        std::uint32_t least = sums.of[0];
        for (const auto of : sums.of) least = min(least, of);
        shared.by[index] = static_cast<std::uint8_t>(by);
        shared.part_class[index] = static_cast<std::uint8_t>(residual_class(least, samples));
        shared.first[index] = static_cast<std::uint16_t>(plane * parts.place.pixels() + parts.before(part));
        shared.sample[index] = static_cast<std::uint16_t>(shared.row(plane, parts.top(part)) + parts.left(part) -
                                                          &shared.planes[0][0][0]);
    }
}

// `number`: within its part, which is `width` wide.
template <int channels>
__device__ std::uint32_t residual_of(const Shared<channels>& shared, int index, int number, int width) {
    const int y = width == part_side ? number / part_side : number / width, x = number - y * width;
    const auto* const at = &shared.planes[0][0][0] + shared.sample[index] + y * plane_stride + x;
    const int left = at[-1], above = at[-plane_stride], corner = at[-plane_stride - 1];
    const auto by = static_cast<Predictor>(shared.by[index]);
    const int foretold = by == Predictor::left ? left : by == Predictor::above ? above : left + above - corner;
    const int residual = static_cast<std::int8_t>(at[0] - foretold);
    return static_cast<std::uint32_t>(residual < 0 ? -2 * residual - 1 : 2 * residual);
}

// Words of all lanes, from the end of a block's words on; those that no longer fit are only counted.
struct Words {
    std::uint16_t* words;
    int room, used;

    __device__ void put(int before, std::uint32_t state) {
        const int at = room - 1 - used - before;
        if (at >= 0) words[at] = static_cast<std::uint16_t>(state);
    }
};

// Codes the residuals, the last one first, 32 at a time.
template <int channels>
__device__ void put_residuals(const Job& job, const Parts& parts, const Shared<channels>& shared, Words& words) {
    const int lane = static_cast<int>(threadIdx.x % warp_lanes);
    const auto later = lane == 31 ? 0u : ~0u << (lane + 1);  // lanes whose residuals come before, being later ones
    const int samples = channels * parts.place.pixels();
    const int last_width = parts.width(parts.columns - 1);
    int index = channels * parts.per_plane() - 1;
    std::uint32_t state = rans::least_state;
    const auto prepare = [&](int number, std::uint32_t& residual, bool& other) {
        while (shared.first[index] > number) --index;
        const int part_class = shared.part_class[index];
        const bool small = part_class < picture_models::small_classes;
        // Parts but those at the right edge are as wide as any.
        const int width = last_width == part_side || (index + 1) % parts.columns ? part_side : last_width;
        residual = residual_of(shared, index, number - shared.first[index], width);
        other = small && residual >= other_residual;
        const int first = small ? first_symbol<picture_models::small_residual>(part_class)
                                : first_symbol<picture_models::large_residual>(part_class - picture_models::small_classes);
        return chain_symbol(job.tables.pictures, first + static_cast<int>(other ? other_residual : residual));
    };
    int begin = (samples - 1) / warp_lanes * warp_lanes;
    std::uint32_t residual = 0;
    bool other = false;
    ChainSymbol symbol{};
    if (begin + lane < samples) symbol = prepare(begin + lane, residual, other);
    for (; begin >= 0; begin -= warp_lanes) {
        const bool active = begin + lane < samples;
        const bool bits_full = active && other && state >= 1u << (31 - 8);
        const auto before_bits = state;
        if (bits_full) state >>= 16;
        if (active && other) state = state << 8 | residual;
        const bool full = active && state >= symbol.first_too_large;
        const auto of_bits = __ballot_sync(~0u, bits_full), of_symbols = __ballot_sync(~0u, full);
        const int before = __popc(of_bits & later) + __popc(of_symbols & later);
        if (bits_full) words.put(before, before_bits);
        if (full) words.put(before + bits_full, state);
        words.used += __popc(of_bits) + __popc(of_symbols);
        const auto coded = symbol;
        // What comes next is looked up while this is coded.
        const bool was_active = active;
        if (begin > 0) symbol = prepare(begin - warp_lanes + lane, residual, other);
        if (was_active) {
            const auto rest = full ? state >> 16 : state;
            const auto quotient = __umulhi(rest, coded.reciprocal) >> (coded.complement_and_shift >> 16);
            state = rest + coded.bias + quotient * (coded.complement_and_shift & 0xFFFFu);
        }
    }
    words.put(2 * (31 - lane), state >> 16);
    words.put(2 * (31 - lane) + 1, state);
    words.used += 2 * warp_lanes;
}

template <int channels>
__global__ void __launch_bounds__(threads_per_block) pictures_kernel(Job job) {
    extern __shared__ std::uint8_t memory[];
    auto& shared = *reinterpret_cast<Shared<channels>*>(memory);
    const int block = static_cast<int>(blockIdx.x), stream = job.blocks.stream(block);
    const auto place = job.blocks.place(block);
    const Parts parts(place);
    const int plain_bytes = place.pixels() * channels;

    load_planes(job, stream, place, shared);
    choose(parts, shared);
    __syncthreads();
    if (threadIdx.x < warp_lanes) {
        const int lane = static_cast<int>(threadIdx.x);
        // A block whose words would take as much as its bytes is sent plain.
        Words words{shared.words, plain_bytes / 2 + most_part_words, 0};
        put_residuals(job, parts, shared, words);
        __syncwarp();
        if (words.used * 2 < plain_bytes) {
            Chain chain{rans::least_state, shared.words + words.room - words.used};
            chain.put_all(channels * parts.per_plane(), shared.staged, [&](int part) {
                const int before = part ? shared.part_class[part - 1] : 0;
                return chain_symbol(job.tables.pictures, first_symbol<picture_models::part>(before) +
                                                             shared.by[part] * picture_models::classes +
                                                             shared.part_class[part]);
            });
            chain.finish(lane == 0);
            words.used = static_cast<int>(shared.words + words.room - chain.word);
        }
        if (lane == 0) {
            shared.form = words.used * 2 < plain_bytes ? form_whole : form_plain;
            shared.size = form_bytes + (shared.form == form_whole
                                            ? static_cast<std::uint32_t>(words.used) * 2
                                            : static_cast<std::uint32_t>(plain_bytes + plain_bytes % 2));
            shared.to = job.coded.take(block, shared.size);
        }
    }
    __syncthreads();
    auto* const to = shared.to;
    if (threadIdx.x < form_bytes) to[threadIdx.x] = static_cast<std::uint8_t>(shared.form >> (8 * threadIdx.x));
    if (shared.form == form_whole) {
        const auto count = (shared.size - form_bytes) / 2;
        const auto* const from = shared.words + plain_bytes / 2 + most_part_words - count;
        for (auto i = threadIdx.x; i < count; i += threads_per_block)
            reinterpret_cast<std::uint16_t*>(to + form_bytes)[i] = from[i];
        return;
    }
    const int row_bytes = place.width * channels;
    for (int i = static_cast<int>(threadIdx.x); i < plain_bytes + plain_bytes % 2; i += threads_per_block)
        to[form_bytes + i] = i < plain_bytes ? job.pictures.row(stream, place.y + i / row_bytes)[
                                                   std::int64_t{place.x} * channels + i % row_bytes]
                                             : std::uint8_t{0};
}

}  // namespace
}  // namespace pictures_kernels

void encode_pictures(DeviceView<const std::uint8_t> pictures, const CoderTables& tables, const CodedBlocks& coded,
                     const cuda::Stream& stream) {
    using namespace pictures_kernels;
    const auto& shape = pictures.shape();
    const Job job{cuda::KernelImage(pictures), {BlockGrid(shape), shape.channels, shape.frames}, tables, coded};
    const auto launch = [&](auto* kernel, std::size_t shared) {
        kernel<<<static_cast<unsigned>(job.blocks.count()), threads_per_block, shared, stream.handle()>>>(job);
        cuda::check_launch();
    };
    shape.channels == 1 ? launch(pictures_kernel<1>, sizeof(Shared<1>)) : launch(pictures_kernel<3>, sizeof(Shared<3>));
}

}  // namespace framewire::delta
