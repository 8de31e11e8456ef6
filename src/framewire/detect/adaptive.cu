#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/detect/adaptive.hpp"

// The adaptive background on the GPU. Per frame:
//
//     frame -> luma, chroma -> texture -> classify, adapt, learn -> foreground -> median -> clean -> dilation -> near
//
// A thread processes a group of four pixels, whose bytes it holds in one word per plane, and eight threads process a
// block of the model. The planes of a frame stay in the L2 cache. An array of a block is one sector of 32 bytes; most
// pixels match their first two samples, and the others are not read then.

namespace framewire {
namespace {

constexpr int threads_per_block = 128;
constexpr int group_px = 4;
constexpr int block_groups = AdaptiveLayout::block_px / group_px;

// A byte for each pixel of a group; masks have the bytes 0 and 255.
using Bytes = std::uint32_t;
constexpr Bytes ones = 0x01010101u;

__device__ Bytes repeated(int value) { return static_cast<Bytes>(value) * ones; }
// Makes a mask of four bits.
__device__ Bytes mask_of(std::uint32_t bits) { return (bits * 0x00204081u & ones) * 255u; }
// Returns the four bits of a mask.
__device__ std::uint32_t bits_of(Bytes mask) { return (mask & ones) * 0x01020408u >> 24; }
// Shifts each byte.
template <int bits>
__device__ Bytes shifted_right(Bytes bytes) {
    return bytes >> bits & repeated(255 >> bits);
}
__device__ Bytes selected(Bytes mask, Bytes set, Bytes unset) { return (set & mask) | (unset & ~mask); }

// Planes that kernels write.
struct Planes {
    std::uint8_t *luma, *u, *v, *near_texture, *far_texture;
    std::int64_t stride;
    int width, height;

    // Returns the position of a pixel.
    __device__ std::int64_t at(int x, int y) const { return y * stride + x; }
};

// Stores a group of a row that is `width` pixels wide. Beyond the ends of the row its last pixels are repeated.
__device__ void store_group(std::uint8_t* row, int x, int width, Bytes bytes) {
    const auto words = [&](int at) -> Bytes& { return *reinterpret_cast<Bytes*>(row + at); };
    const int inside = width - x;
    if (inside < group_px) bytes = __byte_perm(bytes, 0, inside == 1 ? 0x0000 : inside == 2 ? 0x1110 : 0x2210);
    words(x) = bytes;
    if (x == 0) words(-group_px) = __byte_perm(bytes, 0, 0x0000);
    if (inside <= group_px) words(x + group_px) = __byte_perm(bytes, 0, 0x3333);
}

// Returns the group of a row whose first pixel is at any `x`.
__device__ Bytes load_group(const std::uint8_t* row, int x) {
    const auto* words = reinterpret_cast<const Bytes*>(row + (x & -group_px));
    return __funnelshift_r(words[0], words[1], (x & (group_px - 1)) * 8);
}

// Writes luma and chroma of a group; blockIdx.y is the row. Rows of the frame start at multiples of four bytes if
// `aligned`.
template <int channels>
__global__ void __launch_bounds__(threads_per_block)
    planes_kernel(const std::uint8_t* frame, std::int64_t row_stride, bool aligned, Planes planes) {
    const int x = static_cast<int>(blockIdx.x * threads_per_block + threadIdx.x) * group_px;
    const int y = static_cast<int>(blockIdx.y);
    if (x >= planes.width) return;
    const auto* pixels = frame + y * row_stride + x * channels;
    Bytes words[channels] = {};
    if (aligned && x + group_px <= planes.width) {
#pragma unroll
        for (int word = 0; word < channels; ++word) words[word] = reinterpret_cast<const Bytes*>(pixels)[word];
    } else {
#pragma unroll
        for (int byte = 0; byte < channels * group_px; ++byte)
            if (x + byte / channels < planes.width) words[byte / 4] |= Bytes{pixels[byte]} << byte % 4 * 8;
    }
    Bytes luma = words[0], u = 0, v = 0;
    if constexpr (channels == 3) {
        luma = 0;
#pragma unroll
        for (int pixel = 0; pixel < group_px; ++pixel) {
            const auto byte = [&](int at) { return static_cast<int>(words[at / 4] >> at % 4 * 8 & 255); };
            const int b = byte(3 * pixel), g = byte(3 * pixel + 1), r = byte(3 * pixel + 2);
            luma |= Bytes{adaptive_luma(b, g, r)} << pixel * 8;
            u |= Bytes{adaptive_u(b, g, r)} << pixel * 8;
            v |= Bytes{adaptive_v(b, g, r)} << pixel * 8;
        }
        store_group(planes.u + planes.at(0, y), x, planes.width, u);
        store_group(planes.v + planes.at(0, y), x, planes.width, v);
    }
    store_group(planes.luma + planes.at(0, y), x, planes.width, luma);
}

// Returns the texture of a group at a distance. `headroom` is 127 minus texture_threshold() of each pixel.
template <int distance>
__device__ Bytes texture(const Planes& planes, int x, int y, Bytes centre, Bytes headroom) {
    Bytes bits = 0;
    int bit = 0;
#pragma unroll
    for (int dy = -1; dy <= 1; ++dy) {
        const auto* row = planes.luma + planes.at(0, min(max(y + dy * distance, 0), planes.height - 1));
        const auto* words = reinterpret_cast<const Bytes*>(row + x);
        const Bytes here = words[0];
        const Bytes neighbours[3] = {__funnelshift_l(words[-1], here, 8 * distance), here,
                                     __funnelshift_r(here, words[1], 8 * distance)};
#pragma unroll
        for (int dx = -1; dx <= 1; ++dx) {
            if (dx == 0 && dy == 0) continue;
            const auto difference = __vabsdiffu4(neighbours[dx + 1], centre);
            // The highest bit of each byte: the sum of the lower bits reaches 128, or the difference does.
            const auto differs = (((difference & 0x7F7F7F7Fu) + headroom) | difference) & 0x80808080u;
            bits |= differs >> (7 - bit);
            ++bit;
        }
    }
    return bits;
}

// Writes the texture of a group; blockIdx.y is the row.
__global__ void __launch_bounds__(threads_per_block) texture_kernel(Planes planes) {
    const int x = static_cast<int>(blockIdx.x * threads_per_block + threadIdx.x) * group_px;
    const int y = static_cast<int>(blockIdx.y);
    if (x >= planes.width) return;
    const auto centre = *reinterpret_cast<const Bytes*>(planes.luma + planes.at(x, y));
    const auto threshold = shifted_right<4>(centre) + shifted_right<5>(centre) + repeated(texture_threshold(0));
    const auto headroom = repeated(127) - threshold;
    store_group(planes.near_texture + planes.at(0, y), x, planes.width, texture<1>(planes, x, y, centre, headroom));
    store_group(planes.far_texture + planes.at(0, y), x, planes.width, texture<2>(planes, x, y, centre, headroom));
}

// AdaptiveFeatures of a group.
struct Features {
    Bytes y, near_texture, far_texture, u, v;
};

// Makes features of what `load` returns for each plane.
template <int channels, class Load>
__device__ Features features(const AdaptivePicture& picture, const Load& load) {
    Features now{load(picture.luma), load(picture.near_texture), load(picture.far_texture), 0, 0};
    if constexpr (channels == 3) {
        now.u = load(picture.u);
        now.v = load(picture.v);
    }
    return now;
}

// Starts to bring the memory around an address into the L2 cache.
__device__ void prefetch(const void* from) { asm volatile("prefetch.global.L2 [%0];" ::"l"(from)); }

// The model of a group.
struct Group {
    const AdaptiveLayout& layout;
    std::uint8_t* block;
    int index;  // in the block

    __device__ Bytes& bytes(int offset) const { return reinterpret_cast<Bytes*>(block + offset)[index]; }
    __device__ uint2& words(int offset) const { return reinterpret_cast<uint2*>(block + offset)[index]; }

    template <int channels>
    __device__ Features sample(int slot) const {
        const auto load = [&](int feature) { return bytes(layout.sample(slot, feature)); };
        Features sample{load(0), load(1), load(2), 0, 0};
        if constexpr (channels == 3) {
            sample.u = load(3);
            sample.v = load(4);
        }
        return sample;
    }
    // Replaces a sample of the pixels of a mask.
    template <int channels>
    __device__ void learn(int slot, Bytes pixels, const Features& value) const {
        if (pixels == 0) return;
        const auto old = sample<channels>(slot);
        const auto store = [&](int feature, Bytes is, Bytes was) {
            bytes(layout.sample(slot, feature)) = selected(pixels, is, was);
        };
        store(0, value.y, old.y);
        store(1, value.near_texture, old.near_texture);
        store(2, value.far_texture, old.far_texture);
        if constexpr (channels == 3) {
            store(3, value.u, old.u);
            store(4, value.v, old.v);
        }
    }
    // Prefetches a sample.
    template <int channels>
    __device__ void prefetch_sample(int slot) const {
        for (int feature = 0; feature < (channels == 3 ? 5 : 3); ++feature)
            prefetch(&bytes(layout.sample(slot, feature)));
    }
};

// The state of a group other than its samples.
struct State {
    uint2 radius, distance;
    Bytes flicker, age;
};

// Returns the sums of the bits of the bytes of two words.
__device__ Bytes set_bits(Bytes a, Bytes b) {
    const auto of_nibbles = [](Bytes bytes) {
        bytes -= bytes >> 1 & 0x55555555u;
        return (bytes & 0x33333333u) + (bytes >> 2 & 0x33333333u);
    };
    const auto sums = of_nibbles(a) + of_nibbles(b);
    return (sums & 0x0F0F0F0Fu) + (sums >> 4 & 0x0F0F0F0Fu);
}

// Returns the part of `pixels` that look like a shadow on a sample.
__device__ Bytes shadows(Bytes pixels, Bytes now, Bytes sample, Bytes chroma, Bytes texture) {
    pixels &= __vcmpleu4(chroma, repeated(12)) & __vcmpleu4(texture, repeated(4));
    if (pixels == 0) return 0;
    const auto darkest = shifted_right<2>(sample) + shifted_right<3>(sample) + shifted_right<5>(sample);
    return pixels & __vcmpltu4(now, sample) & __vcmpgeu4(now, darkest) & __vcmpgtu4(sample, repeated(40));
}

// Compares a group with its samples, as compare_adaptive() of the reference does. `first` are the samples that all
// groups need. Returns the mask of the foreground and sets the distances from the nearest samples.
template <int channels>
__device__ Bytes compare(const AdaptiveTerms& terms, const Group& group, uint2 radius, const Features& now,
                         const Features (&first)[adaptive_matches], Bytes& nearest) {
    const auto colour_of = [&](std::uint32_t of_pixel) {
        return min(static_cast<std::uint32_t>(terms.threshold) * of_pixel >> 8, 255u);
    };
    const auto colour_limit = colour_of(radius.x & 0xFFFF) | colour_of(radius.x >> 16) << 8 |
                              colour_of(radius.y & 0xFFFF) << 16 | colour_of(radius.y >> 16) << 24;
    const auto texture_limit = __byte_perm(radius.x, radius.y, 0x7531) + repeated(terms.texture) - ones;
    nearest = ~Bytes{0};
    Bytes matches = 0, open = ~Bytes{0};
    const auto look_at = [&](const Features& sample) {
        const auto texture = set_bits(now.near_texture ^ sample.near_texture, now.far_texture ^ sample.far_texture);
        Bytes chroma = 0;
        if constexpr (channels == 3) chroma = __vaddus4(__vabsdiffu4(now.u, sample.u), __vabsdiffu4(now.v, sample.v));
        const auto colour = __vaddus4(__vabsdiffu4(now.y, sample.y), chroma - shifted_right<2>(chroma));
        auto match = open & __vcmpleu4(colour, colour_limit) & __vcmpleu4(texture, texture_limit);
        if constexpr (channels == 3) match &= __vcmpleu4(chroma, repeated(most_adaptive_chroma));
        if (terms.shadows && match != open) match |= shadows(open & ~match, now.y, sample.y, chroma, texture);
        nearest = __vminu4(nearest, __vaddus4(colour, texture << 2) | ~open);
        matches += match & ones;
        static_assert(adaptive_matches == 2);
        open = ~((matches >> 1 & ones) * 255u);
    };
    for (const auto& sample : first) look_at(sample);
    for (int slot = adaptive_matches; slot < adaptive_samples && open != 0; ++slot)
        look_at(group.sample<channels>(slot));
    return open;
}

// Returns the next state of a group.
__device__ State adapted(const State& state, const AdaptiveStep& step, Bytes foreground, Bytes nearest,
                         Bytes was_foreground, Bytes in_object, Bytes near_object) {
    static_assert(most_flicker + 10 < 256);
    State next;
    next.flicker = selected((foreground ^ was_foreground) & ~near_object,
                            __vminu4(state.flicker + repeated(10), repeated(most_flicker)),
                            __vmaxu4(state.flicker, repeated(least_flicker + 1)) - ones);
    const auto growth = step.tick ? ones : __vcmpltu4(state.age, repeated(adaptive_frame_ages)) & ones;
    next.age = selected(foreground, __vaddus4(state.age, growth), __vsubus4(state.age, repeated(2)));
    std::uint32_t distances[group_px], radii[group_px];
#pragma unroll
    for (int pixel = 0; pixel < group_px; ++pixel) {
        const auto byte = [&](Bytes of) { return static_cast<int>(of >> pixel * 8 & 255); };
        const auto half = [&](uint2 of) {
            return static_cast<int>((pixel < 2 ? of.x : of.y) >> pixel % 2 * 16 & 0xFFFF);
        };
        const int distance = next_adaptive_distance(step, half(state.distance), byte(nearest), byte(state.age),
                                                    byte(in_object) != 0, byte(near_object) != 0);
        distances[pixel] = static_cast<std::uint32_t>(distance);
        radii[pixel] =
            static_cast<std::uint32_t>(next_adaptive_radius(half(state.radius), distance, byte(next.flicker)));
    }
    const auto packed = [](const std::uint32_t(&of)[group_px]) {
        return uint2{of[0] | of[1] << 16, of[2] | of[3] << 16};
    };
    next.distance = packed(distances);
    next.radius = packed(radii);
    return next;
}

// The random bits of a group's pixels.
struct Chances {
    std::uint32_t random[group_px];

    __device__ Chances(std::uint32_t first_pixel, std::uint32_t frame) {
#pragma unroll
        for (int pixel = 0; pixel < group_px; ++pixel)
            random[pixel] = adaptive_random(first_pixel + static_cast<std::uint32_t>(pixel), frame);
    }
    // Returns the mask of the pixels for which an event takes place.
    __device__ Bytes hits(std::uint32_t event) const {
        std::uint32_t bits = 0;
#pragma unroll
        for (int pixel = 0; pixel < group_px; ++pixel)
            bits |= (adaptive_event(random[pixel], event) ? 1u : 0u) << pixel;
        return mask_of(bits);
    }
};

// Everything that a thread needs to update its group.
template <int channels>
struct Update {
    const AdaptiveTerms& terms;
    const AdaptivePicture& picture;
    const AdaptiveMasks& masks;
    const AdaptiveStep& step;
    const AdaptiveChoice& choice;
    const Group& group;
    int x, y;  // the group's first pixel

    // Classifies the pixels and updates the model; returns the mask of the foreground. All that every group needs is
    // read before anything is computed, and what only some groups read is prefetched, because a thread waits for memory
    // most of the time.
    __device__ Bytes run() const {
        const auto& layout = group.layout;
        const int inside = picture.width - x;
        if (step.frame == 0)
            for (int pixel = 0; pixel < min(inside, group_px); ++pixel)
                begin_adaptive({layout, group.block, group.index * group_px + pixel}, picture, x + pixel, y);
        const auto here = picture.at(0, y) + x;
        const auto now = features<channels>(
            picture, [&](const std::uint8_t* plane) { return *reinterpret_cast<const Bytes*>(plane + here); });
        const State state{group.words(layout.radius()), group.words(layout.distance()), group.bytes(layout.flicker()),
                          group.bytes(layout.age())};
        static_assert(adaptive_matches == 2);
        const Features samples[adaptive_matches] = {group.sample<channels>(0), group.sample<channels>(1)};
        const auto word = static_cast<std::int64_t>(y) * masks.row_words + x / 32;
        const std::uint32_t words[] = {masks.foreground[word], masks.clean[word], masks.near[word]};
        const auto number =
            static_cast<std::uint32_t>(y) * static_cast<std::uint32_t>(picture.width) + static_cast<std::uint32_t>(x);
        const Chances chances(number, step.frame + 1);
        const auto learners = chances.hits(step.learn), spreads = chances.hits(step.spread);
        if (learners != 0) group.prefetch_sample<channels>(choice.learn_slot);
        if (spreads != 0) group.prefetch_sample<channels>(choice.spread_slot);

        Bytes nearest;
        auto foreground = compare<channels>(terms, group, state.radius, now, samples, nearest);
        if (inside < group_px) foreground &= (Bytes{1} << 8 * inside) - 1;
        const auto bits = [&](int mask) { return mask_of(words[mask] >> x % 32 & 15); };
        const auto next = adapted(state, step, foreground, nearest, bits(0), bits(1), bits(2));
        group.words(layout.radius()) = next.radius;
        group.words(layout.distance()) = next.distance;
        group.bytes(layout.flicker()) = next.flicker;
        group.bytes(layout.age()) = next.age;
        learn(now, foreground, next.age, chances, learners, spreads);
        return foreground;
    }

private:
    // Replaces samples as learn_adaptive() of the reference does.
    __device__ void learn(const Features& now, Bytes foreground, Bytes age, const Chances& chances, Bytes learners,
                          Bytes spreads) const {
        const auto older_than = [&](int ticks) { return __vcmpgtu4(age, repeated(ticks)); };
        learners &= ~foreground;
        if (foreground != 0 && (step.young || terms.keep_age > 0))
            learners |= chances.hits(step.retire) & foreground & (step.young ? ~Bytes{0} : older_than(terms.keep_age));
        group.learn<channels>(choice.learn_slot, learners, now);

        if (spreads != 0) spreads &= ~mask_at(masks.foreground, choice.spread_dx, choice.spread_dy);
        if (spreads != 0)
            group.learn<channels>(choice.spread_slot, spreads, neighbours(choice.spread_dx, choice.spread_dy));

        auto ghosts = foreground;
        if (ghosts != 0) ghosts &= older_than(adaptive_ghost_age) & chances.hits(adaptive_ghost_mask);
        if (ghosts != 0)
            ghosts &= ~mask_at(masks.foreground, choice.ghost_dx, choice.ghost_dy) &
                      ~mask_at(masks.clean, choice.ghost_dx, choice.ghost_dy);
        if (ghosts == 0) return;
        const auto there = neighbours(choice.ghost_dx, choice.ghost_dy);
        auto colour = __vabsdiffu4(now.y, there.y);
        if constexpr (channels == 3)
            colour = __vaddus4(colour, __vaddus4(__vabsdiffu4(now.u, there.u), __vabsdiffu4(now.v, there.v)));
        ghosts &= __vcmpleu4(colour, repeated(most_ghost_difference));
        for (const int slot : choice.ghost_slots) group.learn<channels>(slot, ghosts, now);
    }

    // Returns the features of the pixels at (dx, dy) from those of the group.
    __device__ Features neighbours(int dx, int dy) const {
        const auto row = picture.at(0, y + dy);
        return features<channels>(picture, [&](const std::uint8_t* plane) { return load_group(plane + row, x + dx); });
    }

    // Returns the bits of a mask at (dx, dy) from the group; outside of the picture the nearest pixel counts.
    __device__ Bytes mask_at(const std::uint32_t* mask, int dx, int dy) const {
        const int from_x = x + dx, from_y = min(max(y + dy, 0), picture.height - 1);
        const auto* row = mask + static_cast<std::int64_t>(from_y) * masks.row_words;
        std::uint32_t bits = 0;
        if (from_x >= 0 && from_x + group_px <= picture.width) {
            const int shift = from_x % 32;
            bits = row[from_x / 32] >> shift;
            if (shift > 32 - group_px) bits |= row[from_x / 32 + 1] << (32 - shift);
        } else {
            for (int pixel = 0; pixel < group_px; ++pixel)
                bits |= (masks.bit(mask, min(max(from_x + pixel, 0), picture.width - 1), from_y) ? 1u : 0u) << pixel;
        }
        return mask_of(bits & 15);
    }
};

// Updates the model, one thread per group; blockIdx.y is the row. Words of the mask after the last block of a row are
// cleared.
template <int channels>
__global__ void __launch_bounds__(threads_per_block)
    update_kernel(const __grid_constant__ AdaptiveTerms terms, const __grid_constant__ AdaptiveLayout layout,
                  const __grid_constant__ AdaptivePicture picture, const __grid_constant__ AdaptiveMasks masks,
                  const std::uint32_t* frames_seen, std::uint32_t frame, std::uint8_t* model,
                  std::uint32_t* foreground) {
    const int thread = static_cast<int>(blockIdx.x * threads_per_block + threadIdx.x);
    const int word = thread / block_groups, index = thread % block_groups;
    const int x = thread * group_px, y = static_cast<int>(blockIdx.y);
    std::uint32_t bits = 0;
    if (x < picture.width) {
        const auto step = adaptive_step(terms, *frames_seen + frame);
        const auto block = std::int64_t{y} * layout.row_blocks + word;
        const auto choice = adaptive_choice(block, step.frame);
        const Group group{layout, model + block * layout.block_bytes(), index};
        const auto moves = Update<channels>{terms, picture, masks, step, choice, group, x, y}.run();
        bits = bits_of(moves) << index * group_px;
    }
    for (int distance = 1; distance < block_groups; distance *= 2) bits |= __shfl_xor_sync(~0u, bits, distance);
    if (word >= layout.row_blocks) return;
    const int own_words = word == layout.row_blocks - 1 ? masks.row_words - word : 1;
    if (index < own_words)
        foreground[static_cast<std::int64_t>(y) * masks.row_words + word + index] = index == 0 ? bits : 0;
}

__global__ void __launch_bounds__(1) count_kernel(std::uint32_t* frames_seen, std::uint32_t frames) {
    *frames_seen += frames;
}

}  // namespace

void AdaptiveBackground::run(DeviceView<const std::uint8_t> frames, DeviceBitMaskView<std::uint32_t> foreground) {
    check(frames, foreground);
    const auto image = picture();
    const auto plane = [&](int number) { return planes_.data() + number * plane_bytes() + AdaptivePicture::margin_px; };
    const bool gray = shape_.channels == 1;
    const Planes planes{plane(0),
                        gray ? nullptr : plane(1),
                        gray ? nullptr : plane(2),
                        plane(shape_.channels),
                        plane(shape_.channels + 1),
                        image.stride,
                        shape_.width,
                        shape_.height};
    const auto groups = std::int64_t{layout_.row_blocks} * block_groups;
    const dim3 rows(cuda::blocks(groups, threads_per_block), static_cast<unsigned>(shape_.height));
    const auto launch = [&] { return cuda::Launch(executor_->stream(), rows, threads_per_block); };
    const cuda::KernelImage input(frames);
    for (int frame = 0; frame < frames.shape().frames; ++frame) {
        launch()(gray ? planes_kernel<1> : planes_kernel<3>, input.row(frame, 0), input.row_stride,
                 input.aligned_to(sizeof(Bytes)), planes);
        launch()(texture_kernel, planes);
        const auto* before = frame == 0 ? foreground_.memory().as<std::uint32_t>() : foreground.row(frame - 1, 0);
        launch()(gray ? update_kernel<1> : update_kernel<3>, terms_, layout_, image, masks(before),
                 frames_seen_.as<std::uint32_t>(), static_cast<std::uint32_t>(frame), model_.data(),
                 foreground.row(frame, 0));
        clean<MemorySpace::device>(foreground.frames(frame, 1));
    }
    const auto last = frames.shape().frames - 1;
    cuda::copy(foreground.row(last, 0), foreground_.memory().as<std::uint32_t>(), bit_mask_bytes(shape_),
               executor_->stream());
    cuda::Launch(executor_->stream(), 1, 1)(count_kernel, frames_seen_.as<std::uint32_t>(),
                                            static_cast<std::uint32_t>(frames.shape().frames));
}

}  // namespace framewire
