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

/// A part's samples and those around it by one pixel, as another place of a picture foretells them. Up to 3 channels.
class ForetoldPart {
public:
    static constexpr int side = part_side + 2;

    /// Of the part whose upper left pixel is (x, y) of the frame, from `vector` away: bilinear between pixels, and
    /// outside the frame the nearest pixel counts.
    void move(HostView<const std::uint8_t> before, int x, int y, MotionVector vector);

    /// The sample of a pixel of the part, from -1 to part_side.
    std::uint8_t at(int x, int y, int channel) const { return first()[y * part_row + x * channels_ + channel]; }
    /// The part's first sample, in rows of part_row.
    const std::uint8_t* first() const { return samples_.data() + part_row + channels_; }
    /// How steep the part is there, in its `channel`: the larger difference across the pixel.
    int rise(int x, int y, int channel) const {
        const int across = at(x + 1, y, channel) - at(x - 1, y, channel);
        const int down = at(x, y + 1, channel) - at(x, y - 1, channel);
        return std::max(std::abs(across), std::abs(down));
    }

private:
    int channels_ = 3;
    // Rows may be read as whole vectors from any of their pixels on.
    alignas(64) std::array<std::uint8_t, static_cast<std::size_t>((side + 2) * part_row)> samples_{};
};

/// What a pixel's neighbours within its block foretell: the median of left, above and left + above - corner (Martucci
/// 1990), one of them where the other is outside, 128 where both are.
struct ForetoldInside {
    int samples[3];
    int rise;
};
ForetoldInside foretell_inside(HostView<const std::uint8_t> picture, const BlockPlace& block, int x, int y);

}  // namespace framewire::delta
