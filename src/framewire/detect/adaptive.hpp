#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/detect/masks.hpp"

#include <cstdint>
#include <utility>

namespace framewire {

/// Parameters of AdaptiveBackground. The defaults were chosen on labelled scenes, one of which was left out at a time
/// (docs/decisions/adaptive-background.md).
struct AdaptiveParameters {
    int threshold = 30;   ///< smallest difference in colour of a pixel in front of a calm background, 1 to 255
    int texture = 5;      ///< bits of 16 in which the texture of a calm background may differ, 0 to 16
    bool shadows = true;  ///< shadows count as background
    /// Seconds after which an object that has stopped becomes background; 0: no limit.
    double keep_seconds = 30;
    /// Rate of the frames, above 0, which converts `keep_seconds` to frames.
    double frames_per_second = 30;

    friend bool operator==(const AdaptiveParameters&, const AdaptiveParameters&) = default;
};

/// Maximum of AdaptiveParameters::keep_seconds: one week.
inline constexpr double most_keep_seconds = 604'800;

template <class Aggregate>
class ParameterFields;

/// Returns names, ranges and help of the parameters that concern single frames; `--background adaptive:threshold=25`
/// uses them.
const ParameterFields<AdaptiveParameters>& adaptive_fields();

/// Number of samples that the model of a pixel has.
inline constexpr int adaptive_samples = 8;
/// Number of samples that must match for a pixel to be background.
inline constexpr int adaptive_matches = 2;
/// Number of frames at the start from which pixels learn faster.
inline constexpr std::uint32_t adaptive_young_frames = 50;
/// Units of the radius of a pixel: this many are 1, the radius of a calm pixel.
inline constexpr int adaptive_radius_unit = 256;
/// Largest radius of a pixel.
inline constexpr int most_adaptive_radius = 8 * adaptive_radius_unit;
/// Largest difference in chroma of samples that match, whatever the radius: moving leaves change their luma and
/// texture, hardly their chroma, so that even there an object of another colour is found.
inline constexpr int most_adaptive_chroma = 24;
inline constexpr int least_flicker = 1;   ///< smallest flicker of a pixel, in tenths
inline constexpr int most_flicker = 200;  ///< largest flicker of a pixel, in tenths

/// Ages of foreground pixels are counted in frames up to this one, and then in ticks of several frames, so that they
/// fit a byte.
inline constexpr int adaptive_frame_ages = 32;
/// Age above which a foreground pixel that continues the background beside it can become background.
inline constexpr int adaptive_ghost_age = 26;

/// The parameters converted to what the update uses.
struct AdaptiveTerms {
    int threshold, texture;
    bool shadows;
    int tick_frames;  ///< frames per tick
    int keep_age;     ///< age above which a foreground pixel becomes background; 0: never
};

/// Converts the parameters. Objects are kept for at least one frame, and for at most a million frames. Throws
/// Error{usage} if the parameters are not allowed.
AdaptiveTerms adaptive_terms(const AdaptiveParameters& parameters);

/// Returns random bits for a pixel and a frame: a counter-based generator, so that results do not depend on the
/// order in which pixels are processed.
FRAMEWIRE_HOST_DEVICE inline std::uint32_t adaptive_random(std::uint32_t pixel, std::uint32_t frame) {
    std::uint32_t x = pixel * 0x9E3779B1u ^ frame * 0x85EBCA77u;
    x ^= x >> 15;
    x *= 0x2C1B3C6Du;
    x ^= x >> 12;
    x *= 0x297A2D39u;
    return x ^ x >> 15;
}

/// Numbers that the update of one frame needs besides AdaptiveTerms.
struct AdaptiveStep {
    std::uint32_t frame;   ///< number of the frame since the last reset, from 0
    bool young;            ///< the model has seen too few frames
    bool tick;             ///< all ages grow with this frame
    std::uint32_t dither;  ///< bits added before a shift, so that small changes are kept on average

    // Masks of random bits: an event takes place if all of them are 0. Bits 0, 8, 16 and 24 and up decide on different
    // events.
    std::uint32_t learn, spread, retire;
};

/// Returns the numbers of frame `frame`.
FRAMEWIRE_HOST_DEVICE inline AdaptiveStep adaptive_step(const AdaptiveTerms& terms, std::uint32_t frame) {
    const bool young = frame < adaptive_young_frames;
    return {.frame = frame,
            .young = young,
            .tick = frame % static_cast<std::uint32_t>(terms.tick_frames) == 0,
            .dither = frame * 0x9E3779B9u >> 16,
            .learn = young ? 1u : 15u,
            .spread = young ? 3u << 8 : 31u << 8,
            .retire = young ? 7u << 24 : 3u << 24};
}

/// Returns true if the bits of `mask` are 0 in `random`.
FRAMEWIRE_HOST_DEVICE inline bool adaptive_event(std::uint32_t random, std::uint32_t mask) {
    return (random & mask) == 0;
}
/// The random bits that decide whether a pixel in front of a ghost learns.
inline constexpr std::uint32_t adaptive_ghost_mask = 3u << 16;

/// The choices that all pixels of a block share in one frame, so that vectors and warps read and write whole arrays:
/// the samples that are replaced, and the neighbours that are looked at.
struct AdaptiveChoice {
    int learn_slot, spread_slot, ghost_slots[2];
    int spread_dx, spread_dy, ghost_dx, ghost_dy;
};

/// Draws the choices of a block in one frame.
FRAMEWIRE_HOST_DEVICE inline AdaptiveChoice adaptive_choice(std::int64_t block, std::uint32_t frame) {
    // The numbers of blocks count down from the largest, so that they are not those of pixels.
    const auto random = static_cast<int>(adaptive_random(~static_cast<std::uint32_t>(block), frame + 1) >> 1);
    // Directions 0 to 7 are those of a 3x3 window without its centre.
    const int direction = random >> 6 & 7, place = direction < 4 ? direction : direction + 1;
    const int side = random >> 12 & 3, sign = side % 2 * 2 - 1, ghost_slot = random >> 14 & 7;
    return {.learn_slot = random & 7,
            .spread_slot = random >> 3 & 7,
            .ghost_slots = {ghost_slot, (ghost_slot + 1) % adaptive_samples},
            .spread_dx = place % 3 - 1,
            .spread_dy = place / 3 - 1,
            .ghost_dx = side < 2 ? sign : 0,
            .ghost_dy = side < 2 ? 0 : sign};
}
/// Largest difference in colour between a ghost and the background beside it.
inline constexpr int most_ghost_difference = 10;

/// The features of a pixel: luma, chroma (BT.601, full range) and texture. A bit of the texture is set if the luma of a
/// neighbour differs by more than texture_threshold(): the 8 neighbours at a distance of 1, and 8 at a distance of 2
/// (local binary similarity patterns, Bilodeau, Jodoin and Saunier, CRV 2013).
struct AdaptiveFeatures {
    std::uint8_t y, near_texture, far_texture, u, v;
};

/// Returns how much the luma of a neighbour must differ from `luma` to set a bit of the texture.
FRAMEWIRE_HOST_DEVICE inline int texture_threshold(int luma) { return (luma >> 4) + (luma >> 5) + 4; }

/// Returns the luma of a pixel.
FRAMEWIRE_HOST_DEVICE inline std::uint8_t adaptive_luma(int b, int g, int r) {
    return static_cast<std::uint8_t>((29 * b + 150 * g + 77 * r + 128) >> 8);
}
/// Returns Cb of a pixel.
FRAMEWIRE_HOST_DEVICE inline std::uint8_t adaptive_u(int b, int g, int r) {
    const int u = 128 + ((128 * b - 85 * g - 43 * r + 128) >> 8);
    return static_cast<std::uint8_t>(u < 255 ? u : 255);
}
/// Returns Cr of a pixel.
FRAMEWIRE_HOST_DEVICE inline std::uint8_t adaptive_v(int b, int g, int r) {
    const int v = 128 + ((128 * r - 107 * g - 21 * b + 128) >> 8);
    return static_cast<std::uint8_t>(v < 255 ? v : 255);
}

/// The luma, chroma and texture of one frame, each a plane with rows `stride` bytes apart. Gray frames have no chroma.
struct AdaptivePicture {
    /// Pixels to the left of a row, and at least this many to its right, that vectors may read. On the CPU all of them
    /// repeat the row's ends, on the GPU the four beside the row do.
    static constexpr int margin_px = 32;

    const std::uint8_t *luma, *u, *v;                ///< first pixels of the first rows
    const std::uint8_t *near_texture, *far_texture;  ///< see luma
    std::int64_t stride;
    int width, height;

    /// Returns the position of the pixel nearest to (x, y) inside the picture.
    FRAMEWIRE_HOST_DEVICE std::int64_t at(int x, int y) const {
        x = x < 0 ? 0 : x < width ? x : width - 1;
        y = y < 0 ? 0 : y < height ? y : height - 1;
        return y * stride + x;
    }
    /// Returns the features of the pixel nearest to (x, y); without chroma it is 128.
    FRAMEWIRE_HOST_DEVICE AdaptiveFeatures features(int x, int y) const {
        const auto here = at(x, y);
        return {luma[here], near_texture[here], far_texture[here], u ? u[here] : std::uint8_t{128},
                v ? v[here] : std::uint8_t{128}};
    }
};

/// Masks of the previous frame that the update reads, one bit per pixel: what was foreground, the same without specks,
/// and the neighbourhood of the latter.
struct AdaptiveMasks {
    const std::uint32_t *foreground, *clean, *near;
    int row_words;

    /// Returns the bit of a pixel.
    FRAMEWIRE_HOST_DEVICE bool bit(const std::uint32_t* mask, int x, int y) const {
        return mask[static_cast<std::int64_t>(y) * row_words + x / 32] >> x % 32 & 1;
    }
};

/// Memory layout of the model. Pixels form blocks of 32 of one row; each array has one entry per pixel:
///
///     sample 0: y, near texture, far texture (BGR: u, v) | sample 1 | ... | sample 7      32 bytes per array
///     radius, distance: 16 bits each | flicker, age: 8 bits each
struct AdaptiveLayout {
    static constexpr int block_px = 32;

    int features;  ///< bytes per sample: 5, or 3 for gray frames
    int row_blocks;
    std::int64_t blocks;

    /// Describes the model for frames of `shape`.
    explicit AdaptiveLayout(const Shape& shape)
        : features(shape.channels == 3 ? 5 : 3),
          row_blocks((shape.width + block_px - 1) / block_px),
          blocks(std::int64_t{row_blocks} * shape.height) {}

    /// Returns the offset of an array of a sample in a block.
    FRAMEWIRE_HOST_DEVICE int sample(int slot, int feature) const { return (slot * features + feature) * block_px; }
    /// Returns the offsets of the arrays after the samples.
    FRAMEWIRE_HOST_DEVICE int radius() const { return sample(adaptive_samples, 0); }
    FRAMEWIRE_HOST_DEVICE int distance() const { return radius() + 2 * block_px; }  ///< see radius()
    FRAMEWIRE_HOST_DEVICE int flicker() const { return radius() + 4 * block_px; }   ///< see radius()
    FRAMEWIRE_HOST_DEVICE int age() const { return radius() + 5 * block_px; }       ///< see radius()
    /// Bytes per block.
    FRAMEWIRE_HOST_DEVICE int block_bytes() const { return radius() + 6 * block_px; }
    /// Bytes of the whole model.
    std::int64_t bytes() const { return blocks * block_bytes(); }
};

/// The model of one pixel, which is lane `lane` of a block.
struct AdaptivePixel {
    const AdaptiveLayout& layout;
    std::uint8_t* block;
    int lane;

    /// Returns a feature of a sample.
    FRAMEWIRE_HOST_DEVICE std::uint8_t& sample(int slot, int feature) const {
        return block[layout.sample(slot, feature) + lane];
    }
    /// Distance within which samples match, in units of adaptive_radius_unit.
    FRAMEWIRE_HOST_DEVICE std::uint16_t& radius() const { return word(layout.radius()); }
    /// Running mean of the distance from the nearest sample, in 1/128.
    FRAMEWIRE_HOST_DEVICE std::uint16_t& distance() const { return word(layout.distance()); }
    /// How often the pixel changes between foreground and background.
    FRAMEWIRE_HOST_DEVICE std::uint8_t& flicker() const { return block[layout.flicker() + lane]; }
    /// How long the pixel has been foreground, see adaptive_frame_ages.
    FRAMEWIRE_HOST_DEVICE std::uint8_t& age() const { return block[layout.age() + lane]; }

    /// Replaces a sample.
    FRAMEWIRE_HOST_DEVICE void learn(int slot, const AdaptiveFeatures& value) const {
        sample(slot, 0) = value.y;
        sample(slot, 1) = value.near_texture;
        sample(slot, 2) = value.far_texture;
        if (layout.features == 3) return;
        sample(slot, 3) = value.u;
        sample(slot, 4) = value.v;
    }

private:
    FRAMEWIRE_HOST_DEVICE std::uint16_t& word(int offset) const {
        return reinterpret_cast<std::uint16_t*>(block + offset)[lane];
    }
};

/// Mean distance with which a pixel begins, in 1/128. Without it, pixels of a noisy camera would be foreground until
/// the mean is known.
inline constexpr int first_adaptive_distance = 4 * 128;

/// Returns the radius that a mean distance calls for.
FRAMEWIRE_HOST_DEVICE constexpr int wanted_adaptive_radius(int distance) {
    const int root = adaptive_radius_unit + (distance >> 4);
    return root * root >> 8;
}

/// Fills the samples of a pixel from its surroundings in the first frame, and resets its state.
FRAMEWIRE_HOST_DEVICE inline void begin_adaptive(const AdaptivePixel& pixel, const AdaptivePicture& picture, int x,
                                                 int y) {
    const auto number =
        static_cast<std::uint32_t>(y) * static_cast<std::uint32_t>(picture.width) + static_cast<std::uint32_t>(x);
    for (int slot = 0; slot < adaptive_samples; ++slot) {
        const auto random = adaptive_random(number * adaptive_samples + static_cast<std::uint32_t>(slot), 0);
        const int dx = slot == 0 ? 0 : static_cast<int>(random % 3) - 1;
        const int dy = slot == 0 ? 0 : static_cast<int>(random / 3 % 3) - 1;
        pixel.learn(slot, picture.features(x + dx, y + dy));
    }
    pixel.radius() = static_cast<std::uint16_t>(wanted_adaptive_radius(first_adaptive_distance));
    pixel.distance() = first_adaptive_distance;
    pixel.flicker() = 10;
    pixel.age() = 0;
}

/// Returns the mean distance from the nearest sample after a frame, in 1/128 (after St-Charles, Bilodeau and Bergevin,
/// SuBSENSE, IEEE TIP 24, 2015), given the pixel's age before it. Near objects it hardly changes, since there it
/// measures the objects; an object that has stopped must not raise it until it matches.
FRAMEWIRE_HOST_DEVICE inline int next_adaptive_distance(const AdaptiveStep& step, int mean, int nearest, int age,
                                                        bool in_object, bool near_object) {
    const int shift = step.young ? 6 : in_object ? 9 : near_object ? 7 : 6;
    const int change = (nearest << 7) - mean + static_cast<int>(step.dither & ((1u << shift) - 1));
    const int moved = (change < 32767 ? change : 32767) >> shift;
    const bool stopped = !step.young && in_object && age > adaptive_frame_ages;
    return stopped && moved > 0 ? mean : mean + moved;
}

/// Returns the radius of a pixel after a frame, given the new mean distance and flicker: a pixel that differs from its
/// samples or that flickers gets a larger one (see next_adaptive_distance()).
FRAMEWIRE_HOST_DEVICE inline int next_adaptive_radius(int radius, int distance, int flicker) {
    if (radius < wanted_adaptive_radius(distance)) {
        radius += 5 * flicker >> 1;
        return radius < most_adaptive_radius ? radius : most_adaptive_radius;
    }
#ifdef __CUDA_ARCH__
    // The half keeps the quotient, which is approximate, on the right side of the next whole number.
    radius -= static_cast<int>(__fdividef(256.5f, static_cast<float>(flicker)));
#else
    radius -= 256 / flicker;
#endif
    return radius > adaptive_radius_unit ? radius : adaptive_radius_unit;
}

/// Background subtraction that adapts to each pixel. A pixel has 8 samples of its colour and texture, and is background
/// if two of them match. How far a sample may differ, the pixel's radius, follows the pixel's own behaviour: it grows
/// where the background moves or flickers, such as leaves and water, and shrinks where it is calm. Samples are
/// replaced at random, so that old and new views of the background coexist. The method is that of ViBe and SuBSENSE
/// with integer arithmetic; the reference, update_adaptive(), says what differs.
///
/// The plan owns the model, 46 bytes per pixel (gray: 30), in device memory on CUDA. Random numbers depend on the pixel
/// and the frame's number only, so masks and models are equal on every backend and instruction set, whether frames
/// come one by one or in batches. Nothing moves in the first frame.
class AdaptiveBackground {
public:
    /// `shape` gives height, width and channels (BGR or gray) of the frames; its number of frames is ignored.
    /// Throws Error{usage} if the shape or the parameters are not allowed, Error{config} if there is not enough
    /// memory.
    AdaptiveBackground(const AdaptiveParameters& parameters, const Shape& shape, Executor& executor);

    /// Forgets all frames. On CUDA the call is queued on the executor's stream.
    void reset();

    /// Processes a batch of any number of frames in order; each frame updates the model for the next one.
    /// `foreground` receives one mask per frame. Frames may have any strides and alignment. Runs on the executor's
    /// threads and returns when done.
    void run(HostView<const std::uint8_t> frames, HostBitMaskView<std::uint32_t> foreground);
    /// Queues the same operation on the executor's stream, in launches that a CUDA graph may record and replay.
    void run(DeviceView<const std::uint8_t> frames, DeviceBitMaskView<std::uint32_t> foreground);

    /// Draws the mean of each pixel's samples with the frames' height, width and channels; 0 before the first frame.
    /// CPU backend only. `picture` may have any strides.
    void draw_background(HostView<std::uint8_t> picture) const;

private:
    // Throws Error{usage} if an image of a run does not match.
    template <MemorySpace space>
    void check(const View<const std::uint8_t, space>& frames, const BitMaskView<std::uint32_t, space>& mask) const {
        const auto shape = shape_.with_frames(frames.shape().frames);
        validate(frames, shape, "the frames of an adaptive background");
        validate(mask, shape.with_channels(1), "the mask of an adaptive background");
    }
    // Makes the masks of the next frame from the foreground of the last one.
    template <MemorySpace space>
    void clean(BitMaskView<const std::uint32_t, space> foreground) {
        median_.run(foreground, clean_.view<space>());
        dilation_.run(std::as_const(clean_).view<space>(), near_.view<space>());
    }
    AdaptivePicture picture() const;
    AdaptiveMasks masks(const std::uint32_t* foreground) const;
    std::int64_t plane_bytes() const;

    Shape shape_;  // shape of one frame
    AdaptiveTerms terms_;
    AdaptiveLayout layout_;
    Executor* executor_;
    BackendBuffer model_;
    BackendBuffer planes_;  // luma, chroma and texture of the frame in progress
    BackendMask foreground_, clean_, near_;
    MaskMedian median_;
    MaskMorphology dilation_;
    BackendBuffer frames_seen_;  // a std::uint32_t; on CUDA a replayed graph continues its count
};

}  // namespace framewire
