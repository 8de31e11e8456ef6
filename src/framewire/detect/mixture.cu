#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/detect/mixture.hpp"

// Mixture of Gaussians on the GPU. Compiled without fused multiply-add (-fmad=false), so that every operation
// rounds as on the CPU.
//
// A warp owns a block of 32 pixels of one row, and a thread one pixel. The model stays in registers from the
// first frame of a batch to the last; only Gaussians ("modes") in use are read and written:
//
//     model (global) -> registers -> frame 0 -> ... -> frame n-1 -> model (global)
//                                      |                  |
//                                 1 word of mask     1 word of mask     by __ballot_sync(), bit = lane

namespace framewire {
namespace {

constexpr int threads_per_block = 256;
constexpr int warps_per_block = threads_per_block / 32;
constexpr int block_px = MixtureLayout::block_px;
// 64 registers per thread. A few values spill, which costs less than running a quarter fewer warps.
constexpr int blocks_per_multiprocessor = 4;
constexpr int steps_at_once = 32;
static_assert(block_px == 32, "a warp processes one block");

// The frames of a launch.
struct Frames {
    cuda::KernelImage<const std::uint8_t> images;
    int count, height, width;
};

// The masks of a launch, one word per 32 pixels.
struct Masks {
    std::uint32_t* foreground;
    std::uint32_t* shadows;  // null if no shadows are requested
    int row_words;
};

// Adds the dithering offset and rounds to nearest; `value` is 0 to 65535.
__device__ float stored(float value, float offset) {
    constexpr float whole = 12582912;  // from 1.5 * 2^23 on, floats are integers
    return value + offset + whole - whole;
}

// Returns the dot product. The order of the operations is fixed; see MixtureBackground.
template <int channels>
__device__ float product(const float (&a)[channels], const float (&b)[channels]) {
    float sum = a[0] * b[0];
    for (int c = 1; c < channels; ++c) sum = sum + a[c] * b[c];
    return sum;
}

// One Gaussian of a pixel, in stored units.
template <int channels>
struct Mode {
    float weight, variance, mean[channels];
};

// Model of one pixel and the verdict on its current value.
template <int channels>
struct Pixel {
    Mode<channels> modes[most_mixtures];
    bool background, shadow;

    // Loads all weights first: their loads do not depend on each other. A weight of 0 ends the list of modes.
    __device__ void load(const std::uint16_t* model, const MixtureLayout& layout, std::int64_t block, int lane) {
#pragma unroll
        for (int index = 0; index < most_mixtures; ++index) {
            modes[index] = {};
            if (index < layout.mixtures) modes[index].weight = model[layout.weights(index, block) + lane];
        }
#pragma unroll
        for (int index = 0; index < most_mixtures; ++index) {
            auto& mode = modes[index];
            if (mode.weight == 0) continue;
            const auto* features = model + layout.features(index, block) + lane;
            mode.variance = features[0];
#pragma unroll
            for (int c = 0; c < channels; ++c) mode.mean[c] = features[(c + 1) * block_px];
        }
    }

    // Stores all weights, but only the features of modes in use.
    __device__ void store(std::uint16_t* model, const MixtureLayout& layout, std::int64_t block, int lane) const {
#pragma unroll
        for (int index = 0; index < most_mixtures; ++index) {
            const auto& mode = modes[index];
            if (index < layout.mixtures)
                model[layout.weights(index, block) + lane] = static_cast<std::uint16_t>(mode.weight);
            if (mode.weight == 0) continue;
            auto* features = model + layout.features(index, block) + lane;
            features[0] = static_cast<std::uint16_t>(mode.variance);
#pragma unroll
            for (int c = 0; c < channels; ++c) features[(c + 1) * block_px] = static_cast<std::uint16_t>(mode.mean[c]);
        }
    }

    // Classifies a pixel of a row that does not learn: compares it with the background modes in whole levels.
    __device__ void classify(const MixtureTerms& terms, const float (&values)[channels]) {
        background = shadow = false;
        float total = 0;
#pragma unroll
        for (const auto& mode : modes) {
            if (mode.weight == 0 || !(total < terms.background_weight)) break;
            float levels[channels];
#pragma unroll
            for (int c = 0; c < channels; ++c) levels[c] = mixture_level(mode.mean[c]) - values[c] * (1 / value_unit);
            if (product(levels, levels) < mixture_reach(terms, mode.variance)) {
                background = true;
                break;
            }
            total += mode.weight;
        }
        if (!background && terms.shadows) shadow = is_shadow(terms, values);
    }

    // Updates the model by one frame: all weights decay, the first mode near enough learns, weights are
    // normalised, and a pixel without a near mode starts a new one.
    __device__ void update(const MixtureTerms& terms, const MixtureStep& step, const float (&values)[channels]) {
        background = modes[0].weight == 0;
        shadow = false;
        bool matched = false;
        float total = 0;
#pragma unroll
        for (int index = 0; index < most_mixtures; ++index) {
            auto& mode = modes[index];
            if (mode.weight == 0) break;
            mode.weight = step.keep * mode.weight - step.decay;
            const bool near = !matched && learn(mode, terms, step, values, total);
            if (mode.weight < step.decay) mode.weight = 0;
            total += mode.weight;
            if (near) {
                matched = true;
                promote(index);
            }
        }
        if (modes[1].weight == 0) {
            // A single mode gets the total weight, which the division below would also give.
            modes[0].weight = modes[0].weight > 0 ? most_stored : 0;
        } else {
            // Weights add up to weight_unit again.
            const float factor = weight_unit / total;
#pragma unroll
            for (auto& mode : modes) mode.weight = fminf(mode.weight * factor, most_stored);
        }
        if (!background && terms.shadows) shadow = is_shadow(terms, values);
        if (!matched && step.gain > 0) begin_mode(terms, step, values);
#pragma unroll
        for (auto& mode : modes) mode.weight = stored(mode.weight, step.offset);
    }

private:
    // Returns true if the pixel belongs to the mode, which then learns from it.
    __device__ bool learn(Mode<channels>& mode, const MixtureTerms& terms, const MixtureStep& step,
                          const float (&values)[channels], float total) {
        float difference[channels];
#pragma unroll
        for (int c = 0; c < channels; ++c) difference[c] = mode.mean[c] - values[c];
        const float distance = product(difference, difference);
        if (total < terms.background_weight && distance < terms.background_distance * mode.variance) background = true;
        if (!(distance < terms.near_distance * mode.variance)) return false;
        mode.weight += step.gain;
        const float share = fminf(step.gain / mode.weight, 1);
#pragma unroll
        for (int c = 0; c < channels; ++c) mode.mean[c] = stored(mode.mean[c] - share * difference[c], step.offset);
        const float variance = mode.variance + share * (distance * (1 / value_unit) - mode.variance);
        mode.variance = stored(fminf(fmaxf(variance, terms.var_min), terms.var_max), step.offset);
        return true;
    }

    // Moves a mode that has gained weight before all modes that are not heavier.
    __device__ void promote(int from) {
#pragma unroll
        for (int index = most_mixtures - 1; index > 0; --index) {
            if (index > from) continue;
            if (modes[index].weight < modes[index - 1].weight) break;
            const auto heavier = modes[index];
            modes[index] = modes[index - 1];
            modes[index - 1] = heavier;
        }
    }

    // Returns true if the pixel is a darker version of one of its background modes (Prati et al. 2003).
    __device__ bool is_shadow(const MixtureTerms& terms, const float (&values)[channels]) const {
        float total = 0;
#pragma unroll
        for (const auto& mode : modes) {
            if (mode.weight == 0) return false;
            // The value is compared with the mean scaled by dot / square, its projection.
            const float dot = product(values, mode.mean), square = product(mode.mean, mode.mean);
            if (square == 0) return false;
            if (dot <= square && dot >= terms.shadow_threshold * square) {
                const float ratio = dot / square;
                float rest[channels];
#pragma unroll
                for (int c = 0; c < channels; ++c) rest[c] = ratio * mode.mean[c] - values[c];
                if (product(rest, rest) < terms.background_distance * mode.variance * ratio * ratio) return true;
            }
            total += mode.weight;
            if (total > terms.background_weight) return false;
        }
        return false;
    }

    // Starts a mode for a pixel that belongs to none, replacing the lightest mode if all are in use.
    __device__ void begin_mode(const MixtureTerms& terms, const MixtureStep& step, const float (&values)[channels]) {
#pragma unroll
        for (int index = 0; index < most_mixtures; ++index) {
            auto& mode = modes[index];
            mode.weight = index + 1 < terms.mixtures ? mode.weight * step.keep : 0;
        }
        Mode<channels> fresh{modes[0].weight > 0 ? step.gain : most_stored, terms.var_init, {}};
#pragma unroll
        for (int c = 0; c < channels; ++c) fresh.mean[c] = values[c];
            // Works from the last place up: the new mode goes before all modes that are not heavier, which move back.
#pragma unroll
        for (int index = most_mixtures - 1; index >= 0; --index) {
            if (index > 0 && !(modes[index - 1].weight > fresh.weight))
                modes[index] = modes[index - 1];
            else if (!(modes[index].weight > fresh.weight))
                modes[index] = fresh;
        }
    }
};

// Loads one pixel through the read-only cache.
template <int channels>
__device__ void load_values(const Frames& frames, int frame, int y, int x, std::uint8_t (&values)[channels]) {
    const auto* pixel = frames.images.row(frame, y) + x * channels;
#pragma unroll
    for (int c = 0; c < channels; ++c) values[c] = __ldg(pixel + c);
}

// Updates or classifies, one thread per pixel. Steps are computed once per block for up to `steps_at_once` frames, in
// shared memory.
template <int channels>
__global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
    mixture_kernel(Frames frames, Masks masks, MixtureTerms terms, MixtureLayout layout, std::uint16_t* model,
                   MixtureClock* clock) {
    __shared__ MixtureStep steps[steps_at_once];
    const auto frames_seen = clock->frames_seen;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto block = static_cast<std::int64_t>(blockIdx.x) * warps_per_block + threadIdx.x / 32;
    const bool warp_has_block = block < layout.blocks;
    const int y = warp_has_block ? static_cast<int>(block / layout.row_blocks) : 0;
    const int word = warp_has_block ? static_cast<int>(block % layout.row_blocks) : 0;
    // Lanes to the right of the image repeat its last pixel; their bits are masked out.
    const int x = min(word * block_px + lane, frames.width - 1);
    const auto inside = __ballot_sync(~0u, word * block_px + lane < frames.width);
    const int own_words = word == layout.row_blocks - 1 ? masks.row_words - word : 1;

    Pixel<channels> pixel;
    if (warp_has_block) pixel.load(model, layout, block, lane);
    std::uint8_t next[channels];
    load_values(frames, 0, y, x, next);
    for (int first = 0; first < frames.count; first += steps_at_once) {
        const int count = min(steps_at_once, frames.count - first);
        __syncthreads();
        if (static_cast<int>(threadIdx.x) < count)
            steps[threadIdx.x] = mixture_step(terms, frames_seen + first + threadIdx.x);
        __syncthreads();
        if (!warp_has_block) continue;
        for (int index = 0; index < count; ++index) {
            const int frame = first + index;
            float values[channels];
#pragma unroll
            for (int c = 0; c < channels; ++c) values[c] = value_unit * static_cast<float>(next[c]);
            // Prefetches the pixel of the next frame.
            load_values(frames, min(frame + 1, frames.count - 1), y, x, next);
            if (mixture_learns(terms, steps[index], y))
                pixel.update(terms, steps[index], values);
            else
                pixel.classify(terms, values);
            const auto foreground = __ballot_sync(~0u, !pixel.background && !pixel.shadow) & inside;
            const auto shadows = __ballot_sync(~0u, pixel.shadow) & inside;
            const auto at = (static_cast<std::int64_t>(frame) * frames.height + y) * masks.row_words + word + lane;
            // Words after the last block of the row are empty.
            if (lane < own_words) {
                masks.foreground[at] = lane == 0 ? foreground : 0;
                if (masks.shadows) masks.shadows[at] = lane == 0 ? shadows : 0;
            }
        }
    }
    if (warp_has_block) pixel.store(model, layout, block, lane);

    // The last block to finish counts the frames. The count lives on the GPU so that a replayed graph continues
    // it.
    __syncthreads();
    if (threadIdx.x == 0 && atomicInc(&clock->blocks_done, gridDim.x - 1) == gridDim.x - 1)
        clock->frames_seen = frames_seen + frames.count;
}

// Writes the mean of the heaviest mode of each pixel.
template <int channels>
__global__ void __launch_bounds__(threads_per_block)
    background_kernel(MixtureLayout layout, const std::uint16_t* model, std::uint8_t* picture, std::int64_t row_stride,
                      int width) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto block = static_cast<std::int64_t>(blockIdx.x) * warps_per_block + threadIdx.x / 32;
    if (block >= layout.blocks) return;
    const int x = static_cast<int>(block % layout.row_blocks) * block_px + lane;
    if (x >= width) return;
    const bool used = model[layout.weights(0, block) + lane] > 0;
    for (int c = 0; c < channels; ++c) {
        const int mean = used ? model[layout.features(0, block) + (c + 1) * block_px + lane] : 0;
        picture[block / layout.row_blocks * row_stride + x * channels + c] =
            static_cast<std::uint8_t>((mean + 128) >> 8);
    }
}

// Returns the number of thread blocks for all blocks of pixels.
unsigned grid_of(const MixtureLayout& layout) { return cuda::blocks(layout.blocks, warps_per_block); }

}  // namespace

void MixtureBackground::run(DeviceView<const std::uint8_t> frames, DeviceBitMaskView<std::uint32_t> foreground,
                            DeviceBitMaskView<std::uint32_t> shadows) {
    check(frames, foreground, shadows);
    const auto kernel = shape_.channels == 3 ? mixture_kernel<3> : mixture_kernel<1>;
    cuda::Launch(executor_->stream(), grid_of(layout_), threads_per_block)(
        kernel, {cuda::KernelImage(frames), frames.shape().frames, shape_.height, shape_.width},
        {foreground.data(), shadows.data(), foreground.row_words()}, terms_, layout_, model_.as<std::uint16_t>(),
        clock_.as<MixtureClock>());
}

void MixtureBackground::draw_background(DeviceView<std::uint8_t> picture) const {
    validate(picture, shape_, "the mixture's background");
    const auto kernel = shape_.channels == 3 ? background_kernel<3> : background_kernel<1>;
    cuda::Launch(executor_->stream(), grid_of(layout_), threads_per_block)(
        kernel, layout_, model_.as<std::uint16_t>(), picture.data(), picture.row_stride_bytes(), shape_.width);
}

}  // namespace framewire
