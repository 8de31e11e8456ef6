#pragma once

#include "framewire/core/view.hpp"
#include "framewire/filters/text/glyphs/glyphs.hpp"

#include <cstdint>
#include <optional>

namespace framewire::session {

/// Numbers drawn into pictures, for looking at. Without any font on this machine nothing is drawn, which is logged.
class ScoreLabels {
public:
    ScoreLabels();

    /// `score` with two decimals in white on red, its upper left corner at (x, y), which lies within the picture; what
    /// does not fit is cut off. 1 or 3 channels.
    void draw(float score, int x, int y, HostView<std::uint8_t> picture) const;

private:
    std::optional<GlyphAtlas> atlas_;
};

}  // namespace framewire::session
