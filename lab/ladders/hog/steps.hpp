#pragma once

#include "framewire/core/view.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace framewire::bench::hog_report {

// The pipeline of HOG 2022 (sections 4 to 7) on the CPU: one thread, a plain loop for each step. Images are dense. What
// of the report was put right: gradients are kept with their sign and in 16 bits, where the report has bytes; at the
// rim the nearest pixels stand for those outside, where the report computes nothing; magnitudes and directions are
// floats instead of bytes; a vote is split by the distances from the middles of both bins, which equations 11 and 12
// miss; 0 and 180 degrees are one direction.

inline constexpr int histogram_bins = 64;
inline constexpr int levels_per_bin = 256 / histogram_bins;
/// Cells of 8x8 pixels and 9 bins of 20 degrees.
inline constexpr int cell_px = 8;
inline constexpr int direction_bins = 9;
inline constexpr float bin_degrees = 20;

/// A histogram of gray levels, and the highest level.
struct Levels {
    std::array<std::uint32_t, histogram_bins> counts;
    std::uint32_t most;
};

/// What gray levels are raised to, 1/g, after equations 4 and 5; the cumulative histogram is of all levels of an image.
double gamma_exponent(const Levels& levels);

/// How many values an image's descriptors have: those of the whole cells.
std::size_t descriptor_values(const Shape& image);

/// One image's steps, in the order that they are called in. Room for them is taken when an image is the largest so far.
class CpuPipeline {
public:
    /// `bgr`: one dense frame, which lives until the steps are done.
    void begin(HostView<const std::uint8_t> bgr);
    void grayscale();
    /// The histogram, its gamma, and each pixel raised to that.
    void apply_gamma();
    void take_gradients();
    void take_magnitudes_and_directions();
    void vote();

    const std::vector<float>& descriptors() const { return descriptors_; }

private:
    int at(int x, int y) const;

    HostView<const std::uint8_t> bgr_;
    std::vector<std::uint8_t> gray_;
    std::vector<std::int16_t> across_, down_;
    std::vector<float> magnitudes_, directions_, descriptors_;
};

}  // namespace framewire::bench::hog_report
