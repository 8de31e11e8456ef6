#pragma once

#include "framewire/core/view.hpp"
#include "framewire/filters/morphology.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace framewire::bench {

/// One operation on one frame by another library; empty if the build does not have it.
using HostStep = std::function<void(HostView<std::uint8_t> in, HostView<std::uint8_t> out)>;

// OpenCV's operations, with the number of threads set by use_opencv_threads(). If framewire's operation corresponds
// to several OpenCV calls, a step makes all of them.
void use_opencv_threads(int threads);
HostStep opencv_gray();
HostStep opencv_mean(int size);
HostStep opencv_gaussian(int size);
HostStep opencv_median(int size);
HostStep opencv_morphology(MorphologyOperation operation, ElementShape shape, int size);
HostStep opencv_otsu();
HostStep opencv_mosaic(int cell_px);
HostStep opencv_area();      ///< scales to the size of the result
HostStep opencv_bilinear();  ///< scales to the size of the result
HostStep opencv_text(const std::string& text, int x, int y, int size_px);
HostStep opencv_convolve(const std::vector<int>& matrix, int size);
/// Convert BGR to planes of Y, U and V one below the other, and back: BT.601, limited range, 4:2:0.
HostStep opencv_to_yuv();
HostStep opencv_from_yuv();

}  // namespace framewire::bench
