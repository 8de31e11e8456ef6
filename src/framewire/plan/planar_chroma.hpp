#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/filters/geometry.hpp"
#include "framewire/filters/scale_axis.hpp"
#include "framewire/filters/window.hpp"
#include "framewire/plan/chain.hpp"

#include <array>
#include <cstdint>
#include <optional>

// Meaning of operations on pixels for the samples of planes, in particular for chroma, which has fewer of them.

namespace framewire {

/// The samples of one plane along one axis.
struct SampleAxis {
    /// True if there is one sample per two pixels. The position of the samples then follows.
    bool halved = false;
    bool centred = false;  ///< true: between the two pixels
    /// True for samples mirrored by an odd number of pixels: on the second pixel instead of the first one, or, if
    /// centred, between the first pixel and its predecessor.
    bool mirrored = false;

    /// Returns the axis along x, or else along y, of plane `plane`.
    static SampleAxis of(const YuvInfo& info, int plane, bool along_x);

    /// Returns the number of samples of `pixels` pixels.
    constexpr int samples(int pixels) const { return halved ? (pixels + 1) / 2 : pixels; }
    /// Returns the number of pixels per sample.
    constexpr int each() const { return halved ? 2 : 1; }
    /// Returns how far a sample is before the middle of its pixels, in quarters of a sample.
    constexpr int before() const { return !halved ? 0 : centred ? (mirrored ? 2 : 0) : mirrored ? -1 : 1; }
};

/// Returns the weights of the samples for a window over pixels that is applied to samples only, along one axis: the
/// combined weights of interpolating between the samples, the window, and reducing to samples, including borders
/// (docs/colour.md). There are `pixels` pixels. The window's border must not be black.
AxisTaps window_taps(const SeparableWindow& window, int pixels, const SampleAxis& axis);

/// Replaces square cells of pixels by their means, on samples only, along one axis: the combined weights of
/// interpolating between the samples, averaging, and reducing the cells to samples (docs/colour.md). A sample between
/// two cells, or in a border cell, gets the value that it would get through BGR.
struct CellTaps {
    AxisTaps to_cells, from_cells;
};

/// Returns the taps for cells of `cell_px` in `pixels` pixels; the last cell may be cut.
CellTaps cell_taps(int cell_px, int pixels, const SampleAxis& axis);

/// Returns the movement of a filter that moves whole pixels of an image of shape `from` and changes none of them:
/// crops, edges, mirrors and turns by right angles. Nothing for other filters.
std::optional<PixelMove> pixel_move_of(const FilterCall& call, const Shape& from);

/// The movement of the samples of one plane, and their positions in the result.
struct SampleMove {
    PixelMap map{};
    int height = 0, width = 0;  ///< of the result's plane
    SampleAxis x{}, y{};        ///< axes of the result's plane
};

/// Returns the movement of the samples of plane `plane` for a movement of a picture's pixels, without the colour
/// outside. Mirroring changes the positions of samples, see SampleAxis. Returns nothing if samples
/// would be placed between those of a result.
std::optional<SampleMove> sample_move_of(const PixelMove& move, const YuvInfo& info, int plane);

/// Returns the grid that interpolates the samples of a result among those of an image that is turned as a whole.
/// `first` is the image's pixel that becomes the result's first one, and `step` is 1, or -1 if the image is mirrored.
ScaleGrid turned_grid(const SampleAxis& from, const SampleAxis& to, int first, int step, int side, int to_side);

/// Returns a colour in a picture's own numbers, one for each plane.
std::array<std::uint8_t, 3> yuv_of(Pixel colour, const YuvCoding& coding, const ThreadPool& threads);

}  // namespace framewire
