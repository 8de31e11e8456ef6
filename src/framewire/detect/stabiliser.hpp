#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/detect/masks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace framewire {

/// Displacement of the camera, in units of 1/16 pixel: what the reference shows at (x, y) is at (x + x_16th / 16,
/// y + y_16th / 16) in the frame.
struct CameraShift {
    std::int32_t x_16th = 0, y_16th = 0;
    /// Returns the displacement in whole pixels, rounded half up.
    FRAMEWIRE_HOST_DEVICE constexpr int x_px() const { return (x_16th + 8) >> 4; }
    /// Returns the displacement in whole pixels, rounded half up.
    FRAMEWIRE_HOST_DEVICE constexpr int y_px() const { return (y_16th + 8) >> 4; }
    friend bool operator==(const CameraShift&, const CameraShift&) = default;
};

/// Displacement between two small images, in units of 1/256 of their pixels.
struct SmallShift {
    int x = 0, y = 0;
    friend bool operator==(const SmallShift&, const SmallShift&) = default;
};

/// Sizes of the images in which the shift is estimated. A small image has the mean luma of `factor` x `factor` pixels
/// in units of 1/4, a coarse one the mean of 4x4 small pixels; pixels beyond the last whole cell do not count.
struct StabiliserLayout {
    static constexpr int most_width = 512, most_height = 384;  ///< of small images
    static constexpr int least_side = 64;                      ///< of small images
    static constexpr int coarse_factor = 4;

    int factor, width, height, coarse_width, coarse_height;

    /// `frame` gives height and width.
    explicit constexpr StabiliserLayout(const Shape& frame)
        : factor(std::max((frame.width + most_width - 1) / most_width, (frame.height + most_height - 1) / most_height)),
          width(frame.width / factor),
          height(frame.height / factor),
          coarse_width(width / coarse_factor),
          coarse_height(height / coarse_factor) {}

    /// Returns true if the images are large enough to estimate a shift.
    FRAMEWIRE_HOST_DEVICE constexpr bool is_large_enough() const { return width >= least_side && height >= least_side; }
    /// Returns the pixels of a small image.
    FRAMEWIRE_HOST_DEVICE constexpr int pixels() const { return width * height; }
    /// Returns the pixels of a coarse image.
    FRAMEWIRE_HOST_DEVICE constexpr int coarse_pixels() const { return coarse_width * coarse_height; }
    /// Returns a factor that turns the luma sums of a cell, in units of 1/256, into small pixels, in units of 2^-32.
    FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t scale() const {
        return (1u << 26) / static_cast<std::uint32_t>(factor * factor);
    }
};

/// Returns a pixel of a small image from the sums of a cell's channels and StabiliserLayout::scale().
FRAMEWIRE_HOST_DEVICE constexpr std::uint16_t small_pixel(std::uint32_t b, std::uint32_t g, std::uint32_t r,
                                                          std::uint32_t scale) {
    const std::uint32_t luma = 29 * b + 150 * g + 77 * r;
    return static_cast<std::uint16_t>((std::uint64_t{luma} * scale + (1u << 31)) >> 32);
}

/// Fractional bits that the reference has in addition to those of small images.
inline constexpr int reference_fraction_bits = 6;

/// Returns a pixel of the reference in the units of small images.
FRAMEWIRE_HOST_DEVICE constexpr int still_pixel(std::uint16_t reference) {
    return (reference + (1 << (reference_fraction_bits - 1))) >> reference_fraction_bits;
}

/// Largest displacement in whole coarse pixels that the search tries.
inline constexpr int stabiliser_search_px = 4;
/// Number of displacements that the search tries, numbered row by row.
inline constexpr int stabiliser_candidates = (2 * stabiliser_search_px + 1) * (2 * stabiliser_search_px + 1);
/// Coarse pixels next to the border that the search does not compare: its range, and one for gradients.
inline constexpr int stabiliser_search_margin = stabiliser_search_px + 1;
/// Limit of the difference of two gradients in the search, so that moving objects do not decide: 16 gray levels.
inline constexpr int most_gradient_difference = 2 * 16 * 4;

/// Returns how much the gradients of two coarse images differ at a pixel, given by pointers and row length.
FRAMEWIRE_HOST_DEVICE constexpr int gradient_difference(const std::int16_t* now, const std::int16_t* still, int width) {
    const int x = (now[1] - now[-1]) - (still[1] - still[-1]);
    const int y = (now[width] - now[-width]) - (still[width] - still[-width]);
    const int along = x < 0 ? -x : x, across = y < 0 ? -y : y;
    return (along < most_gradient_difference ? along : most_gradient_difference) +
           (across < most_gradient_difference ? across : most_gradient_difference);
}

/// Returns a key that orders candidates of the search: by cost, then by distance from no displacement, then by number.
FRAMEWIRE_HOST_DEVICE constexpr std::uint64_t search_key(std::uint32_t cost, int candidate) {
    constexpr int side = 2 * stabiliser_search_px + 1;
    const int x = candidate % side - stabiliser_search_px, y = candidate / side - stabiliser_search_px;
    return std::uint64_t{cost} << 16 | static_cast<std::uint32_t>((x * x + y * y) << 8 | candidate);
}

/// Returns the displacement of a key's candidate.
FRAMEWIRE_HOST_DEVICE constexpr SmallShift searched_shift(std::uint64_t key) {
    constexpr int side = 2 * stabiliser_search_px + 1, unit = 256 * StabiliserLayout::coarse_factor;
    const int candidate = static_cast<int>(key & 0xFF);
    return {(candidate % side - stabiliser_search_px) * unit, (candidate / side - stabiliser_search_px) * unit};
}

/// Returns true if the search found a match: the cost of the best candidate is at most 7/8 of the mean of all. In five
/// scenes that shake the share was .18 to .90, between unrelated scenes .88 to .97.
FRAMEWIRE_HOST_DEVICE constexpr bool is_match(std::uint64_t best_key, std::uint64_t total_cost) {
    return 8 * stabiliser_candidates * (best_key >> 16) <= 7 * total_cost;
}

/// A displacement as whole pixels and 1/256 pixels, and the margin of pixels that are not compared because they, or
/// their neighbours, may be outside of the displaced image.
struct Displacement {
    int x, y, fraction_x, fraction_y, margin;
    /// Splits a displacement into whole pixels and fractions.
    FRAMEWIRE_HOST_DEVICE explicit constexpr Displacement(SmallShift shift)
        : x(shift.x >> 8), y(shift.y >> 8), fraction_x(shift.x & 255), fraction_y(shift.y & 255), margin(0) {
        const int along = shift.x < 0 ? -shift.x : shift.x, across = shift.y < 0 ? -shift.y : shift.y;
        margin = ((along > across ? along : across) >> 8) + 2;
    }
};

/// Interpolates between four pixels of a small image.
FRAMEWIRE_HOST_DEVICE constexpr int interpolated(const std::uint16_t* row, const std::uint16_t* next_row, int x,
                                                 int fraction_x, int fraction_y) {
    const int top = row[x] * (256 - fraction_x) + row[x + 1] * fraction_x;
    const int bottom = next_row[x] * (256 - fraction_x) + next_row[x + 1] * fraction_x;
    return (top * (256 - fraction_y) + bottom * fraction_y + (1 << 15)) >> 16;
}

/// Rounds of the least-squares fit.
inline constexpr int stabiliser_rounds = 4;
/// Rows of which one is in the histogram of differences.
inline constexpr int stabiliser_histogram_rows = 4;
/// Differences in the histogram are limited to this, in units of 1/4 gray level.
inline constexpr int most_histogram_difference = 256;
/// Counters of the histogram.
inline constexpr int stabiliser_histogram_size = 2 * most_histogram_difference + 1;

/// Returns a difference's counter in the histogram.
FRAMEWIRE_HOST_DEVICE constexpr int histogram_place(int difference) {
    constexpr int most = most_histogram_difference;
    return (difference < -most ? -most : difference > most ? most : difference) + most;
}

/// The differences that a still scene explains: `median`, a change of light, plus or minus `tolerance`.
struct StillDifferences {
    int median = 0, tolerance = 0;
};

/// Returns the median of a histogram of differences, and three times the median deviation from it, at least a gray
/// level and at most 16.
FRAMEWIRE_HOST_DEVICE inline StillDifferences still_differences(const std::uint32_t* histogram) {
    std::uint32_t total = 0, below = 0;
    for (int place = 0; place < stabiliser_histogram_size; ++place) total += histogram[place];
    int median = 0;
    while (2 * (below + histogram[median]) < total) below += histogram[median++];
    auto near = histogram[median];
    int deviation = 0;
    while (2 * near < total) {
        ++deviation;
        if (median >= deviation) near += histogram[median - deviation];
        if (median + deviation < stabiliser_histogram_size) near += histogram[median + deviation];
    }
    const int tolerance = 3 * deviation;
    return {median - most_histogram_difference, tolerance < 4 ? 4 : tolerance > 64 ? 64 : tolerance};
}

/// Sums of a round over the pixels that fit: products of the reference's gradients (twice the slope per pixel) with
/// each other and with the differences.
struct FitSums {
    std::int64_t xx = 0, xy = 0, yy = 0, xr = 0, yr = 0, fitting = 0;

    /// Adds other sums.
    FRAMEWIRE_HOST_DEVICE constexpr FitSums& operator+=(const FitSums& other) {
        xx += other.xx;
        xy += other.xy;
        yy += other.yy;
        xr += other.xr;
        yr += other.yr;
        fitting += other.fitting;
        return *this;
    }
};

/// Returns true if a pixel fits a still scene: its difference is within the tolerance, after a displacement of up to
/// one pixel in the first round, a half in the next two and a quarter in the last. Without this slack, edges would not
/// count until the displacement is known.
FRAMEWIRE_HOST_DEVICE constexpr bool fits(int difference, int gradient_x, int gradient_y, int tolerance, int round) {
    const int along = gradient_x < 0 ? -gradient_x : gradient_x, across = gradient_y < 0 ? -gradient_y : gradient_y;
    const int slack = (along + across) >> (round == 0 ? 1 : round == stabiliser_rounds - 1 ? 3 : 2);
    return (difference < 0 ? -difference : difference) <= tolerance + slack;
}

/// Improves a displacement by a step of least squares, at most 1.5 pixels. Returns false if the sums do not determine
/// both directions. Floating point without fused multiply-add gives the same result everywhere.
FRAMEWIRE_HOST_DEVICE inline bool improve(SmallShift& shift, const FitSums& sums) {
    const auto xx = static_cast<double>(sums.xx), xy = static_cast<double>(sums.xy), yy = static_cast<double>(sums.yy);
    const auto xr = static_cast<double>(sums.xr), yr = static_cast<double>(sums.yr);
    const double determinant = xx * yy - xy * xy;
    if (!(determinant > 1e-3 * (xx * yy))) return false;
    const auto step = [&](double numerator) {
        const double length = 512 * numerator / determinant;  // gradients are twice the slope
        return static_cast<int>(std::floor((length < -384 ? -384 : length > 384 ? 384 : length) + 0.5));
    };
    shift.x -= step(yy * xr - xy * yr);
    shift.y -= step(xx * yr - xy * xr);
    return true;
}

/// Returns true if a fit can be trusted: half of the `compared` pixels fit, and it has not left the neighbourhood of
/// the displacement with which it began.
FRAMEWIRE_HOST_DEVICE constexpr bool is_trusted(SmallShift begin, SmallShift end, std::int64_t fitting,
                                                std::int64_t compared) {
    constexpr int most = 256 * StabiliserLayout::coarse_factor;
    const int x = end.x - begin.x, y = end.y - begin.y;
    return 2 * fitting >= compared && x <= most && x >= -most && y <= most && y >= -most;
}

/// State that a stabiliser carries from frame to frame besides the reference. All zeros at the start.
struct StabiliserState {
    CameraShift shift;      ///< shift of the last frame
    std::int32_t seen = 0;  ///< frames in the reference, at most most_reference_frames; 0: there is none
    std::int32_t lost = 0;  ///< frames since the last trusted fit
};

/// The reference is the mean of its first 64 frames, and then a running mean with this weight.
inline constexpr int most_reference_frames = 64;
/// After this many frames without a trusted fit the scene is another one, and the reference starts again.
inline constexpr int most_lost_frames = 30;
/// Weight of a frame that replaces the reference.
inline constexpr int whole_weight = 4096;

/// Updates the state after a fit and returns the frame's weight in the reference: 0, up to half, or whole_weight.
FRAMEWIRE_HOST_DEVICE constexpr int conclude(StabiliserState& state, SmallShift shift, bool trusted, int factor) {
    if (state.seen > 0 && trusted) {
        state.shift = {(shift.x * factor + 8) >> 4, (shift.y * factor + 8) >> 4};
        state.seen = state.seen < most_reference_frames ? state.seen + 1 : state.seen;
        state.lost = 0;
        return whole_weight / state.seen;
    }
    if (state.seen > 0 && ++state.lost < most_lost_frames) return 0;
    state = {.shift = {}, .seen = 1, .lost = 0};
    return whole_weight;
}

/// Returns a pixel of the reference after a pixel of a small image has entered with a weight.
FRAMEWIRE_HOST_DEVICE constexpr std::uint16_t renewed(std::uint16_t reference, int pixel, int weight) {
    const int difference = (pixel << reference_fraction_bits) - reference;
    return static_cast<std::uint16_t>(reference + ((difference * weight + whole_weight / 2) >> 12));
}

/// Interpolates between four bytes, whose distances are in units of 1/16.
FRAMEWIRE_HOST_DEVICE constexpr std::uint8_t shifted_byte(int top_left, int top_right, int bottom_left,
                                                          int bottom_right, int fraction_x, int fraction_y) {
    const int left = top_left * (16 - fraction_y) + bottom_left * fraction_y;
    const int right = top_right * (16 - fraction_y) + bottom_right * fraction_y;
    return static_cast<std::uint8_t>((left * (16 - fraction_x) + right * fraction_x + 128) >> 8);
}

/// Returns a word of a mask's row that is moved to the right by `x_px` pixels. `words` is the length of the row;
/// pixels from outside are 0.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t moved_word(const std::uint32_t* row, int words, int width_px, int word,
                                                         int x_px) {
    const int first = 32 * word - x_px, bits = first & 31, from = (first - bits) / 32;
    const auto at = [&](int index) { return index >= 0 && index < words ? row[index] : 0u; };
    const auto moved = bits == 0 ? at(from) : at(from) >> bits | at(from + 1) << (32 - bits);
    const int inside = width_px - 32 * word;
    return inside >= 32 ? moved : inside <= 0 ? 0u : moved & ((1u << inside) - 1);
}

/// Takes the small movements of a camera out of its frames, so that background models see a still scene. Each frame is
/// compared with a slowly renewed reference at a low resolution: a search over whole coarse pixels finds a displacement
/// from which a robust least-squares fit (Lucas and Kanade 1981) starts. Pixels whose difference the displacement does
/// not explain, such as moving objects, do not count, and the median difference, a change of light, is subtracted. The
/// frame is then shifted by bilinear interpolation in steps of 1/16 pixel.
///
/// The search covers 16 small pixels in each direction: 16 pixels of a frame of up to 512x384, 64 of 1920x1080. If it
/// finds no match or the fit cannot be trusted, the last shift stays; after 30 such frames the reference starts again.
/// Frames whose small image is narrower or lower than 64 pixels are not shifted. All backends and instruction sets give
/// the same bytes, whether frames come one by one or in batches.
class Stabiliser {
public:
    /// `frames` is the shape of the largest batch, with 1 or 3 channels. Throws Error{usage} if the shape is not
    /// allowed, Error{config} if there is not enough memory.
    Stabiliser(const Shape& frames, Executor& executor);

    /// Forgets the reference, so that the next frame is not shifted. On CUDA the call is queued on the executor's
    /// stream.
    void reset();

    /// Writes the shifted frames of a batch, at most as many as the constructor's shape has. Pixels from outside of a
    /// frame repeat its border. The images may have any strides and alignment, and must not overlap. Runs on the
    /// executor's threads and returns when done.
    void run(HostView<const std::uint8_t> frames, HostView<std::uint8_t> still);
    /// Queues the same operation on the executor's stream, in launches that a CUDA graph may record and replay.
    void run(DeviceView<const std::uint8_t> frames, DeviceView<std::uint8_t> still);

    /// Moves masks of the last run's shifted frames to where the pixels are in the frames, rounded to whole pixels.
    /// Pixels that were outside are 0. The masks must not overlap.
    void move_back(HostBitMaskView<const std::uint32_t> still, HostBitMaskView<std::uint32_t> moved) const;
    /// Queues the same operation on the executor's stream.
    void move_back(DeviceBitMaskView<const std::uint32_t> still, DeviceBitMaskView<std::uint32_t> moved) const;

    /// Returns the shifts of the first `frames` frames of the last run. Waits for the executor's stream.
    std::vector<CameraShift> shifts(int frames) const;

private:
    template <MemorySpace space>
    void check(const View<const std::uint8_t, space>& frames, const View<std::uint8_t, space>& still) const;
    template <MemorySpace space>
    void check(const BitMaskView<const std::uint32_t, space>& still,
               const BitMaskView<std::uint32_t, space>& moved) const;
    CameraShift* shift_of_frames() const { return shifts_.as<CameraShift>(); }
    // Returns the coarse image of the frame, and behind it that of the reference.
    std::int16_t* coarse() const { return coarse_.as<std::int16_t>(); }

    Shape shape_;
    StabiliserLayout layout_;
    Executor* executor_;
    BackendBuffer small_;      // small images of a batch
    BackendBuffer reference_;  // a small image with reference_fraction_bits more bits
    BackendBuffer coarse_;     // coarse images of frame and reference
    BackendBuffer state_;      // a StabiliserState
    BackendBuffer shifts_;     // a CameraShift per frame
};

}  // namespace framewire
