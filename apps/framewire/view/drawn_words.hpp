#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/filters/text/glyphs/glyphs.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace framewire::app {

/// Words as a picture of their own, to lie over others.
class DrawnWords {
public:
    /// Lines of `text` in letters of `size_px`, broken where they are wider than `widest_px`, white on dark, or on red
    /// where they are `alarming`. No passwords. BGRA, alpha in the fourth channel; empty where this machine has no
    /// font.
    struct Picture {
        int width = 0, height = 0;
        HostBuffer pixels{};
        bool empty() const { return width == 0 || height == 0; }
    };
    Picture draw(std::string_view text, int size_px, int widest_px, bool alarming);

private:
    const GlyphAtlas* atlas(int size_px);

    std::map<int, GlyphAtlas> atlases_;  // by size
    bool without_font_ = false;
};

}  // namespace framewire::app
