#pragma once

#include "framewire/core/view.hpp"
#include "framewire/filters/text/glyphs/glyphs.hpp"

#include <cstdint>
#include <optional>

namespace framewire::session {

/// Draws scores into pictures. If this machine has no font, a warning is logged and nothing is drawn.
class ScoreLabels {
public:
    /// Loads the glyphs.
    ScoreLabels();

    /// Draws `score` with two decimals in white on red. (x, y) is the upper left corner, which must be inside the
    /// picture; the label is clipped at its borders. The picture has 1 or 3 channels.
    void draw(float score, int x, int y, HostView<std::uint8_t> picture) const;

private:
    std::optional<GlyphAtlas> atlas_;
};

}  // namespace framewire::session
