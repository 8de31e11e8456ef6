#include "framewire/core/simd/simd.hpp"
#include "framewire/filters/text/text.hpp"
#include "framewire/filters/text/text_pixel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/text/text_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// Drawing of text on the CPU, row by row: the coverage of a row by glyphs is gathered first, then the row is blended in
// vectors. Rows that the text does not reach are only copied.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using DWords = hn::ScalableTag<std::uint16_t>;
using VWords = hn::VFromD<DWords>;
using DBytes = hn::Rebind<std::uint8_t, DWords>;  // half a vector of bytes: as many lanes as DWords
using VBytes = hn::VFromD<DBytes>;

// divide_by_255() for vectors.
VWords divided_by_255(VWords value) {
    const auto raised = hn::Add(value, hn::Set(DWords(), 128));
    return hn::ShiftRight<8>(hn::Add(raised, hn::ShiftRight<8>(raised)));
}

// blend() for vectors, given color * alpha and 255 - alpha.
VBytes blended(VBytes under, VWords color_times_alpha, VWords rest) {
    const auto sum = hn::Add(hn::Mul(hn::PromoteTo(DWords(), under), rest), color_times_alpha);
    return hn::DemoteTo(DBytes(), hn::BitCast(hn::RebindToSigned<DWords>(), divided_by_255(sum)));
}

}  // namespace

// Blends pixels with a color, each by its coverage times the color's alpha.
void blend_pixels(const Color& color, const std::uint8_t* coverage, int channels, std::int64_t pixels,
                  std::uint8_t* out) {
    const DBytes d8;
    const DWords d16;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d8));
    const auto alpha = hn::Set(d16, static_cast<std::uint16_t>(color.alpha));
    const auto level = [&](int channel) HWY_ATTR {
        return hn::Set(d16, static_cast<std::uint16_t>(channel_of(color.pixel, channel)));
    };
    const auto b = level(0), g = level(1), r = level(2);
    std::int64_t x = 0;
    for (; x + step <= pixels; x += step) {
        // Skip vectors that no glyph covers.
        const auto covered = hn::LoadU(d8, coverage + x);
        if (hn::AllTrue(d8, hn::Eq(covered, hn::Zero(d8)))) continue;
        const auto share = divided_by_255(hn::Mul(hn::PromoteTo(d16, covered), alpha));
        const auto rest = hn::Sub(hn::Set(d16, 255), share);
        auto* pixel = out + x * channels;
        if (channels == 1) {
            hn::StoreU(blended(hn::LoadU(d8, pixel), hn::Mul(b, share), rest), d8, pixel);
            continue;
        }
        VBytes under_b, under_g, under_r;
        hn::LoadInterleaved3(d8, pixel, under_b, under_g, under_r);
        hn::StoreInterleaved3(blended(under_b, hn::Mul(b, share), rest), blended(under_g, hn::Mul(g, share), rest),
                              blended(under_r, hn::Mul(r, share), rest), d8, pixel);
    }
    for (; x < pixels; ++x) {
        const auto share = divide_by_255(coverage[x] * static_cast<std::uint32_t>(color.alpha));
        for (int channel = 0; channel < channels; ++channel) {
            auto& byte = out[x * channels + channel];
            byte = static_cast<std::uint8_t>(
                blend(byte, static_cast<std::uint32_t>(channel_of(color.pixel, channel)), share));
        }
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "framewire/filters/spans.hpp"

#include <algorithm>
#include <cstring>

namespace framewire {

HWY_EXPORT(blend_pixels);

namespace {

// Largest coverage of each pixel of row y, from `area.x_begin` on, by any glyph. Returns false if no glyph reaches the
// row.
bool cover_row(const std::vector<PlacedGlyph>& glyphs, const std::uint8_t* atlas, const Area& area, int y,
               std::uint8_t* coverage) {
    bool any = false;
    for (const auto& glyph : glyphs) {
        if (y < glyph.y || y >= glyph.y + glyph.height) continue;
        if (!any) std::memset(coverage, 0, static_cast<std::size_t>(area.x_end - area.x_begin));
        any = true;
        const auto* row = atlas + glyph.offset + std::int64_t{y - glyph.y} * glyph.width;
        const int begin = std::max(glyph.x, area.x_begin), end = std::min(glyph.x + glyph.width, area.x_end);
        for (int x = begin; x < end; ++x)
            coverage[x - area.x_begin] = std::max(coverage[x - area.x_begin], row[x - glyph.x]);
    }
    return any;
}

}  // namespace

// Draws box and text over the row's current content.
void Text::draw_row(int y, std::uint8_t* row) const {
    const auto& place = layout_.place();
    if (y < place.covered.y_begin || y >= place.covered.y_end) return;
    std::uint8_t coverage[max_side_px];
    const auto draw = [&](const Area& area, const Color& color) {
        HWY_DYNAMIC_DISPATCH(blend_pixels)
        (color, coverage, shape_.channels, area.x_end - area.x_begin,
         row + std::int64_t{area.x_begin} * shape_.channels);
    };
    if (y >= place.box.y_begin && y < place.box.y_end && !place.box.empty()) {
        std::memset(coverage, 255, static_cast<std::size_t>(place.box.x_end - place.box.x_begin));
        draw(place.box, style_.box);
    }
    if (cover_row(layout_.glyphs(), atlas_.coverage().data(), place.covered, y, coverage))
        draw(place.covered, style_.color);
}

// Rows of all frames in parallel.
void Text::run(const FilterImages<MemorySpace::host>& images) const {
    validate(images.in, shape_, "text's image");
    validate(images.out, shape_, "text's result");
    const auto rows_each = std::max<std::int64_t>(span_bytes / shape_.row_bytes(), 1);
    executor_->pool().for_chunks(shape_.rows(), rows_each, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (auto index = begin; index < end; ++index) {
            auto* row = images.out.batch_row(index);
            std::memcpy(row, images.in.batch_row(index), static_cast<std::size_t>(shape_.row_bytes()));
            draw_row(static_cast<int>(index % shape_.height), row);
        }
    });
}

std::optional<ImageArea> Text::changed_area() const {
    const auto& covered = layout_.place().covered;
    return ImageArea{{covered.x_begin, covered.x_end}, {covered.y_begin, covered.y_end}};
}

void Text::run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const {
    validate_rows(in, shape_, "text's rows");
    validate_rows(out, shape_, "text's resulting rows");
    for (int y = out.range().begin; y < out.range().end; ++y) {
        std::memcpy(out.row(y), in.row(y), static_cast<std::size_t>(shape_.row_bytes()));
        draw_row(y, out.row(y));
    }
}

}  // namespace framewire

#endif
