#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/prediction/foretold_formulas.hpp"
#include "framewire/delta/prediction/part_modes.hpp"
#include "framewire/delta/prediction/quantization/quantized_part.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace framewire::delta {

/// Motion-compensated prediction of a sub-block, with a border of one pixel around it. Up to 3 channels.
class ForetoldPart {
public:
    /// Side in pixels, including the border.
    static constexpr int side = part_side + 2;

    /// Predicts the sub-block whose upper left pixel is (x, y) of the frame from `vector` away in `before`.
    /// Interpolation is bilinear in quarters of a pixel; outside the frame the nearest pixel is repeated.
    void move(HostView<const std::uint8_t> before, int x, int y, MotionVector vector);

    /// Returns the prediction of a sample; x and y from -1 to part_side.
    std::uint8_t at(int x, int y, int channel) const { return first()[y * part_row + x * channels_ + channel]; }
    /// Returns the address of the first sample inside the border; rows are part_row apart.
    const std::uint8_t* first() const { return samples_.data() + part_row + channels_; }
    /// Returns the steepness at a pixel in one channel: the larger one of the differences across the pixel.
    int rise(int x, int y, int channel) const {
        const int across = at(x + 1, y, channel) - at(x - 1, y, channel);
        const int down = at(x, y + 1, channel) - at(x, y - 1, channel);
        return std::max(std::abs(across), std::abs(down));
    }

private:
    int channels_ = 3;
    // Padded, because rows are read as whole vectors from any of their pixels on.
    alignas(64) std::array<std::uint8_t, static_cast<std::size_t>((side + 2) * part_row)> samples_{};
};

/// Prediction of a pixel from its neighbours in the block: the median of left, above and left + above - corner
/// (Martucci, "Reversible compression of HDTV images using median adaptive prediction and arithmetic coding", 1990; the
/// median edge detector of JPEG-LS, ITU-T T.87). At the upper and left edge of the block it is the neighbour that
/// exists, and 128 for the first pixel.
struct ForetoldInside {
    int samples[3];  ///< per channel
    int rise;        ///< steepness in slope_channel(); 0 at the upper and left edge
};
/// Predicts the pixel (x, y) of `block` from pixels of the same block in `picture`, which must be reconstructed
/// already.
ForetoldInside foretell_inside(HostView<const std::uint8_t> picture, const BlockPlace& block, int x, int y);

}  // namespace framewire::delta
