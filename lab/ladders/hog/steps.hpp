#pragma once

#include "framewire/core/view.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace framewire::bench::hog_report {

// The pipeline of HOG 2022 (sections 4 to 7) on the CPU: one thread, a plain loop for each step. Images are dense.
// Corrections to the report: gradients keep their sign and use 16 bits instead of bytes; at the border the image is
// replicated, where the report computes nothing; magnitudes and directions are floats instead of bytes; a vote is
// divided by the distances from the middles of both bins, which equations 11 and 12 do not do; 0 and 180 degrees are
// the same direction.

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

/// Returns the exponent for gray levels, 1/g of equations 4 and 5; the cumulative histogram covers all levels of an
/// image.
double gamma_exponent(const Levels& levels);

/// Returns the number of values in an image's descriptors, which cover its whole cells.
std::size_t descriptor_values(const Shape& image);

/// The steps for one image, called in this order. Buffers grow when an image is the largest so far.
class CpuPipeline {
public:
    /// `bgr` is one dense frame, which must outlive the steps.
    void begin(HostView<const std::uint8_t> bgr);
    void grayscale();
    /// Computes the histogram and its gamma, and applies the gamma to each pixel.
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
