#include "view/drawn_words.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/text/credentials.hpp"
#include "framewire/core/text/printable.hpp"
#include "framewire/filters/text/glyphs/font.hpp"
#include "framewire/filters/text/glyphs/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace framewire::app {
namespace {

constexpr std::size_t most_characters = 4000, most_sizes = 8;
constexpr std::array<std::uint8_t, 3> dark{24, 24, 24}, red{32, 32, 176};
constexpr std::uint8_t background_alpha = 200;

// What words are made of: Latin letters. Others show as the font's box.
std::u32string characters() {
    std::u32string all;
    for (char32_t c = 0x20; c < 0x180; ++c)
        if (c < 0x7F || c >= 0xA0) all += c;
    return all;
}

std::vector<std::u32string> lines_of(std::string_view text) {
    std::vector<std::u32string> lines(1);
    for (std::size_t at = 0, count = 0; at < text.size() && count < most_characters; ++count) {
        const auto next = first_character(text.substr(at));
        at += next.bytes;
        if (next.character == '\n')
            lines.emplace_back();
        else
            lines.back() += next.character;
    }
    return lines;
}

// At spaces, where there are some.
std::vector<std::u32string> broken(const std::vector<std::u32string>& lines, int columns) {
    const auto most = static_cast<std::size_t>(std::max(columns, 8));
    std::vector<std::u32string> result;
    for (std::u32string line : lines) {
        while (line.size() > most) {
            const auto space = line.rfind(U' ', most);
            const bool at_space = space != line.npos && space > 0;
            result.push_back(line.substr(0, at_space ? space : most));
            line.erase(0, at_space ? space + 1 : most);
        }
        result.push_back(std::move(line));
    }
    return result;
}

}  // namespace

const GlyphAtlas* DrawnWords::atlas(int size_px) {
    if (without_font_) return nullptr;
    if (const auto known = atlases_.find(size_px); known != atlases_.end()) return &known->second;
    if (atlases_.size() == most_sizes) atlases_.clear();
    try {
        return &atlases_.try_emplace(size_px, find_font("monospace"), size_px, characters()).first->second;
    } catch (const Error& error) {
        log_warning("the window shows no words: {}", error.what());
        without_font_ = true;
        return nullptr;
    }
}

DrawnWords::Picture DrawnWords::draw(std::string_view text, int size_px, int widest_px, bool alarming) {
    const auto* glyphs = text.empty() ? nullptr : atlas(size_px);
    if (!glyphs) return {};
    const int margin = size_px / 2;
    const int columns = (widest_px - 2 * margin) / std::max(1, glyphs->glyph(U'm').advance);
    const auto lines = broken(lines_of(printable_lines(without_credentials(text))), columns);
    int widest = 0;
    for (const auto& line : lines) {
        int width = 0;
        for (const auto character : line) width += glyphs->glyph(character).advance;
        widest = std::max(widest, width);
    }
    Picture picture{widest + 2 * margin, glyphs->line_px() * static_cast<int>(lines.size()) + 2 * margin, {}};
    const auto pixels = std::size_t{4} * static_cast<std::size_t>(picture.width);
    picture.pixels = HostBuffer(pixels * static_cast<std::size_t>(picture.height));
    auto* data = picture.pixels.data();
    const auto& ground = alarming ? red : dark;
    for (std::size_t at = 0; at < picture.pixels.bytes(); at += 4) {
        std::copy(ground.begin(), ground.end(), data + at);
        data[at + 3] = background_alpha;
    }
    int top = margin + glyphs->ascent_px();
    for (const auto& line : lines) {
        int pen = margin;
        for (const auto character : line) {
            const auto& glyph = glyphs->glyph(character);
            const auto* coverage = glyphs->coverage().data() + glyph.offset;
            for (int y = 0; y < glyph.height; ++y)
                for (int x = 0; x < glyph.width; ++x) {
                    const int to_x = pen + glyph.left + x, to_y = top - glyph.top + y;
                    if (to_x < 0 || to_x >= picture.width || to_y < 0 || to_y >= picture.height) continue;
                    const int cover = coverage[y * glyph.width + x];
                    auto* pixel = data + 4 * (std::ptrdiff_t{to_y} * picture.width + to_x);
                    for (int channel = 0; channel < 4; ++channel)
                        pixel[channel] =
                            static_cast<std::uint8_t>((pixel[channel] * (255 - cover) + 255 * cover) / 255);
                }
            pen += glyph.advance;
        }
        top += glyphs->line_px();
    }
    return picture;
}

}  // namespace framewire::app
