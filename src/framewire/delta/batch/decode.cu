#include "framewire/cuda/device/check.hpp"
#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/cuda/kernel/warp.cuh"
#include "framewire/delta/batch/decode.hpp"
#include "framewire/delta/batch/step_contexts.cuh"
#include "framewire/delta/entropy/lane_tables.hpp"
#include "framewire/delta/entropy/lanes.hpp"
#include "framewire/delta/entropy/warp_reader.cuh"
#include "framewire/delta/packing/packed.hpp"
#include "framewire/delta/pictures/picture_forms.hpp"
#include "framewire/delta/prediction/foretold_formulas.hpp"
#include "framewire/delta/prediction/part_modes.hpp"
#include "framewire/delta/prediction/quantizer.hpp"

#include <algorithm>
#include <cstdint>

// A warp decodes a block. What is read next hangs on what was read before, so its lanes do the same, but where they
// find symbols, foretell a part's samples, and are the states of a picture's residuals.

namespace framewire::delta {
namespace decode_kernels {
namespace {

constexpr int warp_lanes = 32;
constexpr int part_pixels = part_side * part_side;
constexpr int parts_per_plane = parts_per_row * parts_per_row;
constexpr int other_residual = picture_models::small_symbols - 1;

struct Job {
    DecodeJob of;
    cuda::KernelImage<const std::uint8_t> before;
    cuda::KernelImage<std::uint8_t> after;
    BatchBlocks blocks;
    int frame_width, frame_height;
};

struct Part {
    std::uint8_t mode;
    MotionVector vector;
};

/// What decoding steps needs: the steps so far, the samples or differences, and a part as it is foretold.
template <int channels>
struct StepsMemory {
    BlockSteps<channels> block;
    std::uint8_t samples[block_side * block_side * channels];
    std::uint8_t foretold[part_pixels * channels], slopes[part_pixels];
    Part parts[parts_per_plane];
};

/// What decoding a picture needs.
template <int channels>
struct PictureMemory {
    std::uint8_t planes[channels][block_side + 1][block_side + 8];  // a row of zeros above and a column before
    std::uint8_t residuals[block_side * block_side * channels];
    std::uint8_t by[channels * parts_per_plane], part_class[channels * parts_per_plane];
    std::uint16_t first[channels * parts_per_plane];

    static constexpr int column = 4;
};

template <int channels>
union Shared {
    StepsMemory<channels> steps;
    PictureMemory<channels> picture;
};

/// Where a coded block is and goes.
struct Block {
    BlockPlace place;
    int stream, threshold;
    const std::uint8_t* bytes;
    std::uint32_t size;
};

__device__ void clear(void* memory, std::size_t bytes) {
    for (auto i = threadIdx.x; i < bytes / 4; i += warp_lanes) static_cast<std::uint32_t*>(memory)[i] = 0;
    __syncwarp();
}

/// read_pixel(): reads a pixel that changes.
template <int channels>
__device__ void read_pixel(const Job& job, WarpReader& reader, BlockSteps<channels>& block, const PixelNeighbours& near,
                           int x, int y, bool fine, int (&steps)[channels]) {
    const int model = near.pattern_model();
    int pattern;
    if constexpr (channels == 1)
        pattern = reader.read_flag(first_symbol<step_models::sign>(model)) ? 26 : 13;
    else
        pattern = __ldg(job.of.tables.patterns + reader.read(first_symbol<step_models::pattern>(model), 26));
    int signs[channels];
#pragma unroll
    for (int channel = 0; channel < channels; ++channel, pattern /= 3)
        signs[channel] = pattern % 3 == 2 ? -1 : pattern % 3;
    const int at = BlockSteps<channels>::at(x, y);
    __syncwarp();
    if (threadIdx.x == 0) block.traits[at] = BlockSteps<channels>::traits_of(signs);
    int before = -1, steps_before = 0;
#pragma unroll
    for (int i = 0; i < channels; ++i) {
        const int channel = coded_channel(i, channels);
        steps[channel] = 0;
        if (!signs[channel]) continue;
        const auto context =
            magnitude_context([&](int right, int down, int of) { return block.step(x + right, y + down, of); }, channel,
                              signs[channel], before, steps_before, i == 0, fine);
        const int symbol = reader.read(first_symbol<step_models::magnitude>(context.model), 20);
        const int bits = token_bits(symbol);
        const int folded = folded_of(symbol, bits ? reader.bits(bits) : 0);
        steps[channel] = signs[channel] * unfold(folded, context.expected);
        if (threadIdx.x == 0) block.steps[channel][at] = static_cast<std::int16_t>(steps[channel]);
        before = channel;
        steps_before = steps[channel];
    }
    __syncwarp();
}

struct NearParts {
    Part left, above;

    __device__ static bool moves(const Part& part) {
        return part.mode == static_cast<int>(PartMode::moved) || part.mode == static_cast<int>(PartMode::moved_changes);
    }
    __device__ MotionVector vector() const {
        return moves(left) ? left.vector : moves(above) ? above.vector : MotionVector{};
    }
};

__device__ int read_distance(WarpReader& reader, int model) {
    const int bits = reader.read(model, 9);
    if (bits == 0) return 0;
    const int low = bits > 1 ? reader.bits(bits - 1) : 0;
    const int distance = 1 << (bits - 1) | low;
    return reader.bits(1) ? -distance : distance;
}
__device__ bool read_vector(WarpReader& reader, const NearParts& near, MotionVector& vector) {
    const bool has_left = NearParts::moves(near.left), has_above = NearParts::moves(near.above);
    const int kind = reader.read(first_symbol<step_models::vector_kind>(has_left + 2 * has_above), 3);
    if (kind == as_left || kind == as_above) {
        vector = kind == as_left ? near.left.vector : near.above.vector;
        return kind == as_left ? has_left : has_above;
    }
    vector = near.vector();
    const int model = 2 * (has_left || has_above);
    vector.x += read_distance(reader, first_symbol<step_models::vector_bits>(model));
    vector.y += read_distance(reader, first_symbol<step_models::vector_bits>(model + 1));
    return abs(vector.x) <= max_motion && abs(vector.y) <= max_motion;
}

// Fills a part's foretold samples and slopes, from `vector` away in the picture before.
template <int channels>
__device__ void foretell(const Job& job, const Block& block, StepsMemory<channels>& memory, int left, int top,
                         MotionVector vector) {
    const int qx = vector.x & (quarters - 1), qy = vector.y & (quarters - 1);
    const int from_x = block.place.x + left + (vector.x - qx) / quarters;
    const int from_y = block.place.y + top + (vector.y - qy) / quarters;
    const auto sample = [&](int x, int y, int channel) {
        const auto row = [&](int down) {
            return job.before.row(block.stream, min(max(from_y + y + down, 0), job.frame_height - 1)) + channel;
        };
        const auto at = [&](int right) {
            return std::int64_t{min(max(from_x + x + right, 0), job.frame_width - 1)} * channels;
        };
        const auto *upper = row(0), *lower = row(1);
        const int above = upper[at(0)] * (quarters - qx) + upper[at(1)] * qx;
        const int below = lower[at(0)] * (quarters - qx) + lower[at(1)] * qx;
        return (above * (quarters - qy) + below * qy + 8) / 16;
    };
    constexpr int slope_from = slope_channel(channels);
    for (int i = static_cast<int>(threadIdx.x); i < part_pixels; i += warp_lanes) {
        const int x = i % part_side, y = i / part_side;
#pragma unroll
        for (int channel = 0; channel < channels; ++channel)
            memory.foretold[i * channels + channel] = static_cast<std::uint8_t>(sample(x, y, channel));
        const int rise = max(abs(sample(x + 1, y, slope_from) - sample(x - 1, y, slope_from)),
                             abs(sample(x, y + 1, slope_from) - sample(x, y - 1, slope_from)));
        memory.slopes[i] = static_cast<std::uint8_t>(slope_of(rise, block.threshold));
    }
    __syncwarp();
}

// A pixel as its neighbours in the block foretell it; returns the rise.
template <int channels>
__device__ int foretell_inside(const StepsMemory<channels>& memory, int x, int y, int (&foretold)[channels]) {
    const auto sample = [&](int right, int down, int channel) -> int {
        return memory.samples[BlockSteps<channels>::at(x + right, y + down) * channels + channel];
    };
    int rise = 0;
#pragma unroll
    for (int channel = 0; channel < channels; ++channel) {
        foretold[channel] = 128;
        if (x && y) {
            const int left = sample(-1, 0, channel), above = sample(0, -1, channel), corner = sample(-1, -1, channel);
            foretold[channel] = min(max(left + above - corner, min(left, above)), max(left, above));
            if (channel == slope_channel(channels)) rise = max(abs(left - corner), abs(above - corner));
        } else if (x) {
            foretold[channel] = sample(-1, 0, channel);
        } else if (y) {
            foretold[channel] = sample(0, -1, channel);
        }
    }
    return rise;
}

// Reads a block of changes into `samples` as differences, or one that is foretold as it is then.
template <int channels>
__device__ bool read_steps(const Job& job, const Block& of, StepsMemory<channels>& memory, bool changes, bool fresh) {
    clear(&memory, sizeof(memory));
    WarpWords words(of.bytes, of.size);
    WarpReader reader(words, job.of.tables.step_ranges);
    reader.use(job.of.tables.step_ranges + reader.bits(2) * step_models::symbols);
    const int size = changes ? 0 : reader.bits(Quantizer::size_bits);
    if (size >= Quantizer::sizes) return false;
    const Quantizer quantizer(of.threshold, size);
    constexpr Part none{static_cast<std::uint8_t>(PartMode::none), {}};
    for (int row = 0; row < of.place.part_rows(); ++row)
        for (int column = 0; column < of.place.part_columns(); ++column) {
            const int index = row * parts_per_row + column, left = column * part_side, top = row * part_side;
            const NearParts near{column ? memory.parts[index - 1] : none,
                                 row ? memory.parts[index - parts_per_row] : none};
            const auto mode = static_cast<PartMode>(
                reader.read(first_symbol<step_models::mode>(near.left.mode * 6 + near.above.mode), 5));
            if (changes ? mode != PartMode::stays && mode != PartMode::changes : fresh && mode != PartMode::inside)
                return false;
            MotionVector vector{};
            if ((mode == PartMode::moved || mode == PartMode::moved_changes) && !read_vector(reader, near, vector))
                return false;
            __syncwarp();
            if (threadIdx.x == 0) memory.parts[index] = {static_cast<std::uint8_t>(mode), vector};
            __syncwarp();
            const bool has_steps = mode != PartMode::stays && mode != PartMode::moved;
            if (changes && !has_steps) continue;
            const auto by = changes                           ? Foretold::differences
                            : mode == PartMode::inside        ? Foretold::inside
                            : mode == PartMode::moved_changes ? Foretold::moved
                                                              : Foretold::reference;
            const bool from_before = by == Foretold::moved || by == Foretold::reference;
            if (from_before) foretell(job, of, memory, left, top, vector);
            for (int y = top; y < min(top + part_side, of.place.height); ++y)
                for (int x = left; x < min(left + part_side, of.place.width); ++x) {
                    int foretold[channels] = {}, steps[channels] = {}, slope = 0;
                    if (from_before) {
                        const int at = (y - top) * part_side + x - left;
#pragma unroll
                        for (int channel = 0; channel < channels; ++channel)
                            foretold[channel] = memory.foretold[at * channels + channel];
                        slope = memory.slopes[at];
                    } else if (by == Foretold::inside) {
                        slope = slope_of(foretell_inside(memory, x, y, foretold), of.threshold);
                    }
                    if (has_steps) {
                        const auto beside = neighbours_of(memory.block, x, y);
                        const int model = changed_model(beside.left.extent(), beside.above.extent(), beside.corners(),
                                                        beside.second, by, slope);
                        if (reader.read_flag(first_symbol<step_models::changed>(model)))
                            read_pixel(job, reader, memory.block, beside, x, y, changes || quantizer.fine(), steps);
                    }
                    auto* const sample = memory.samples + BlockSteps<channels>::at(x, y) * channels;
                    bool too_far = false;
#pragma unroll
                    for (int channel = 0; channel < channels; ++channel) {
                        std::uint8_t value;
                        if (changes) {
                            const int far = abs(steps[channel]) + of.threshold;
                            too_far |= steps[channel] && far > 255;
                            value = static_cast<std::uint8_t>(steps[channel] == 0  ? 0
                                                              : steps[channel] > 0 ? far
                                                                                   : -far);
                        } else {
                            value = quantizer.sample(foretold[channel], steps[channel]);
                        }
                        if (threadIdx.x == 0) sample[channel] = value;
                    }
                    if (too_far) return false;
                    __syncwarp();
                }
        }
    return words.at_end() && reader.at_end();
}

/// Words that 32 states read, each when it needs one; the lowest lane's first.
struct LaneWords {
    const std::uint8_t* bytes;
    std::uint32_t size, read = 0;  // in words
    bool overrun = false;

    __device__ std::uint32_t at(std::uint32_t word) const {
        return 2 * word + 2 <= size ? bytes[2 * word] | std::uint32_t{bytes[2 * word + 1]} << 8 : 0u;
    }
};

// Reads the residuals, 32 at a time.
template <int channels>
__device__ bool read_residuals(const Job& job, const Block& of, PictureMemory<channels>& memory, LaneWords words) {
    const int lane = static_cast<int>(threadIdx.x), samples = channels * of.place.pixels();
    const int part_count = channels * of.place.part_columns() * of.place.part_rows();
    const auto lower = (1u << lane) - 1;
    std::uint32_t state = words.at(words.read + 2 * static_cast<std::uint32_t>(lane)) |
                          words.at(words.read + 2 * static_cast<std::uint32_t>(lane) + 1) << 16;
    words.read += 2 * warp_lanes;
    if (2 * words.read > words.size) return false;
    int index = 0;
    for (int begin = 0; begin < samples; begin += warp_lanes) {
        const int number = begin + lane;
        const bool active = number < samples;
        bool other = false, first_word = false, second_word = false;
        std::uint32_t symbol = 0;
        if (active) {
            while (index + 1 < part_count && memory.first[index + 1] <= number) ++index;
            const int part_class = memory.part_class[index];
            const auto place = __ldg(job.of.tables.picture_places + part_class * rans::probability_one +
                                     (state & (rans::probability_one - 1)));
            state =
                (place >> LaneTables::place_bits & (rans::probability_one - 1)) * (state >> rans::probability_bits) +
                (place & (rans::probability_one - 1));
            symbol = place >> (LaneTables::place_bits + LaneTables::frequency_bits);
            other = part_class < picture_models::small_classes && symbol == other_residual;
            first_word = state < rans::least_state;
            // Whether the bits of another residual ask for a second word the first one does not tell.
            if (other) second_word = first_word ? state < 1u << 7 : state < rans::least_state << 8;
        }
        const auto first = __ballot_sync(~0u, first_word), second = __ballot_sync(~0u, second_word);
        const auto at = words.read + static_cast<std::uint32_t>(__popc(first & lower) + __popc(second & lower));
        if (first_word) state = state << 16 | words.at(at);
        if (other) {
            symbol = state & 0xFFu;
            state >>= 8;
            if (second_word) state = state << 16 | words.at(at + first_word);
        }
        if (active) memory.residuals[number] = static_cast<std::uint8_t>(symbol);
        words.read += static_cast<std::uint32_t>(__popc(first) + __popc(second));
        if (2 * words.read > words.size) return false;
    }
    __syncwarp();
    return __all_sync(~0u, state == rans::least_state) && 2 * words.read == words.size;
}

// Adds the residuals up: eight lanes are the columns of a part, and each plane has eight of its own.
template <int channels>
__device__ void add_residuals(const Block& of, PictureMemory<channels>& memory) {
    const int lane = static_cast<int>(threadIdx.x), plane = lane / part_side, column = lane % part_side;
    const int columns = of.place.part_columns(), per_plane = columns * of.place.part_rows();
    for (int part = 0; part < per_plane; ++part) {
        const int left = part % columns * part_side, top = part / columns * part_side;
        const int width = min(part_side, of.place.width - left), height = min(part_side, of.place.height - top);
        for (int y = 0; y < height; ++y) {
            int residual = 0;
            auto by = Predictor::slope;
            std::uint8_t* here = nullptr;
            bool active = plane < channels && column < width;
            if (active) {
                const int index = plane * per_plane + part;
                by = static_cast<Predictor>(memory.by[index]);
                const int folded = memory.residuals[memory.first[index] + y * width + column];
                residual = folded & 1 ? ~(folded >> 1) : folded >> 1;
                here = &memory.planes[plane][top + y + 1][PictureMemory<channels>::column + left];
            }
            int along = residual;
#pragma unroll
            for (int step = 1; step < part_side; step *= 2) {
                const int other = __shfl_up_sync(~0u, along, step, part_side);
                if (column >= step) along += other;
            }
            if (active) {
                constexpr int stride = block_side + 8;
                const auto* const above = here - stride;
                const int value = by == Predictor::left    ? here[-1] + along
                                  : by == Predictor::above ? above[column] + residual
                                                           : above[column] + along + here[-1] - above[-1];
                here[column] = static_cast<std::uint8_t>(value);
            }
            __syncwarp();
        }
    }
}

// Reads a block of a picture and writes it.
template <int channels>
__device__ bool read_picture(const Job& job, const Block& of, PictureMemory<channels>& memory) {
    const int lane = static_cast<int>(threadIdx.x), samples = channels * of.place.pixels();
    const int row_bytes = of.place.width * channels;
    if (of.size < form_bytes) return false;
    std::uint32_t form = 0;
    for (int i = 0; i < form_bytes; ++i) form |= std::uint32_t{of.bytes[i]} << (8 * i);
    const auto row = [&](int y) {
        return job.after.row(of.stream, of.place.y + y) + std::int64_t{of.place.x} * channels;
    };
    if (form == form_plain) {
        if (of.size != static_cast<std::uint32_t>(form_bytes + samples + samples % 2)) return false;
        for (int i = lane; i < samples; i += warp_lanes) row(i / row_bytes)[i % row_bytes] = of.bytes[form_bytes + i];
        return true;
    }
    if (form != form_whole) return false;
    clear(&memory, sizeof(memory));

    WarpWords words(of.bytes + form_bytes, of.size - form_bytes);
    WarpReader reader(words, job.of.tables.picture_ranges);
    const int columns = of.place.part_columns(), per_plane = columns * of.place.part_rows();
    int before = 0;
    for (int plane = 0, index = 0; plane < channels; ++plane)
        for (int part = 0; part < per_plane; ++part, ++index) {
            const int symbol = reader.read(first_symbol<picture_models::part>(before),
                                           picture_models::predictors * picture_models::classes);
            before = symbol % picture_models::classes;
            const int left = part % columns * part_side, top = part / columns * part_side;
            const int height = min(part_side, of.place.height - top);
            if (lane > 0) continue;
            memory.by[index] = static_cast<std::uint8_t>(symbol / picture_models::classes);
            memory.part_class[index] = static_cast<std::uint8_t>(before);
            memory.first[index] =
                static_cast<std::uint16_t>(plane * of.place.pixels() + top * of.place.width + left * height);
        }
    __syncwarp();
    if (!reader.at_end() || words.overrun()) return false;
    if (!read_residuals(job, of, memory, LaneWords{of.bytes + form_bytes, of.size - form_bytes, words.words_read()}))
        return false;
    add_residuals(of, memory);
    for (int i = lane; i < of.place.pixels(); i += warp_lanes) {
        const int x = i % of.place.width, y = i / of.place.width;
        const auto sample = [&](int plane) { return memory.planes[plane][y + 1][PictureMemory<channels>::column + x]; };
        auto* const pixel = row(y) + x * channels;
        const auto green = sample(0);
        if constexpr (channels == 1) {
            pixel[0] = green;
        } else {
            pixel[0] = static_cast<std::uint8_t>(sample(1) + green);
            pixel[1] = green;
            pixel[2] = static_cast<std::uint8_t>(sample(2) + green);
        }
    }
    __syncwarp();
    return true;
}

template <int channels>
__global__ void __launch_bounds__(warp_lanes) decode_blocks_kernel(Job job) {
    extern __shared__ __align__(16) std::uint8_t memory[];
    auto& shared = *reinterpret_cast<Shared<channels>*>(memory);
    for (;;) {
        std::uint32_t number = 0;
        if (threadIdx.x == 0) number = atomicAdd(job.of.next, 1u);
        number = __shfl_sync(~0u, number, 0);
        if (number >= job.of.item_count) return;
        const auto& item = job.of.items[number];
        const int stream = job.blocks.stream(item.block);
        const auto kind = static_cast<PackedHead::Kind>(job.of.streams[stream].kind);
        const Block block{job.blocks.place(item.block), stream, job.of.streams[stream].threshold,
                          job.of.bytes + item.begin, item.size};
        bool whole;
        if (kind == PackedHead::Kind::picture) {
            whole = read_picture(job, block, shared.picture);
        } else {
            whole = read_steps(job, block, shared.steps, kind == PackedHead::Kind::changes,
                               kind == PackedHead::Kind::first_picture);
            __syncwarp();
            const int row_bytes = block.place.width * channels;
            for (int y = 0; whole && y < block.place.height; ++y)
                for (int i = static_cast<int>(threadIdx.x); i < row_bytes; i += warp_lanes)
                    job.after.row(stream, block.place.y + y)[std::int64_t{block.place.x} * channels + i] =
                        shared.steps.samples[y * block_side * channels + i];
        }
        if (!whole && threadIdx.x == 0) job.of.streams[stream].broken = 1;
        __syncwarp();
    }
}

constexpr int apply_threads = 128;

struct ApplyJob {
    DecodeJob of;
    cuda::KernelImage<const std::uint8_t> after;
    cuda::KernelImage<std::uint8_t> reference;
    BatchBlocks blocks;
};

__global__ void __launch_bounds__(apply_threads) apply_blocks_kernel(ApplyJob job) {
    const auto& item = job.of.items[blockIdx.x];
    const int stream = job.blocks.stream(item.block);
    const auto of_stream = job.of.streams[stream];
    if (of_stream.broken) return;
    const bool changes = static_cast<PackedHead::Kind>(of_stream.kind) == PackedHead::Kind::changes;
    const auto place = job.blocks.place(item.block);
    const auto from = std::int64_t{place.x} * job.blocks.channels;
    const int row_bytes = place.width * job.blocks.channels;
    for (int y = static_cast<int>(threadIdx.x / 32); y < place.height; y += apply_threads / 32) {
        const auto* after = job.after.row(stream, place.y + y) + from;
        auto* held = job.reference.row(stream, place.y + y) + from;
        for (int i = static_cast<int>(threadIdx.x % 32); i < row_bytes; i += 32)
            held[i] = static_cast<std::uint8_t>(changes ? held[i] + after[i] : after[i]);
    }
}

template <class Body>
auto with_kernel(int channels, Body&& body) {
    return channels == 1 ? body(decode_blocks_kernel<1>, sizeof(Shared<1>))
                         : body(decode_blocks_kernel<3>, sizeof(Shared<3>));
}

}  // namespace
}  // namespace decode_kernels

void decode_blocks(const DecodeJob& of, DeviceView<const std::uint8_t> before, DeviceView<std::uint8_t> after,
                   const cuda::Stream& stream) {
    using namespace decode_kernels;
    if (of.item_count == 0) return;
    const auto& shape = before.shape();
    const Job job{of,
                  cuda::KernelImage(before),
                  cuda::KernelImage(after),
                  {BlockGrid(shape), shape.channels, shape.frames},
                  shape.width,
                  shape.height};
    with_kernel(shape.channels, [&](auto* kernel, std::size_t shared) {
        cuda::allow_shared_memory(kernel);
        int each = 0;
        cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, warp_lanes, shared));
        const auto workers = static_cast<unsigned>(std::max(1, each) * cuda::multiprocessors());
        kernel<<<std::min(workers, of.item_count), warp_lanes, shared, stream.handle()>>>(job);
        cuda::check_launch();
    });
}

void apply_blocks(const DecodeJob& of, DeviceView<const std::uint8_t> after, DeviceView<std::uint8_t> reference,
                  const cuda::Stream& stream) {
    using namespace decode_kernels;
    if (of.item_count == 0) return;
    const auto& shape = reference.shape();
    const ApplyJob job{
        of, cuda::KernelImage(after), cuda::KernelImage(reference), {BlockGrid(shape), shape.channels, shape.frames}};
    apply_blocks_kernel<<<of.item_count, apply_threads, 0, stream.handle()>>>(job);
    cuda::check_launch();
}

}  // namespace framewire::delta
