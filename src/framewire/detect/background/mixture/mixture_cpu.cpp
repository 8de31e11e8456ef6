#include "framewire/core/simd/simd.hpp"
#include "framewire/detect/background/mixture/mixture.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/detect/background/mixture/mixture_cpu.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "framewire/detect/background/mixture/mixture_block-inl.hpp"

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

using namespace mixture_block;

constexpr std::int64_t blocks_ahead = 4;  // to prefetch: 2 to 8 do about as well

// 256 times block_px bytes of each channel from `pixels` pixels, 0 behind them.
template <int channels>
HWY_INLINE void split_channels(const std::uint8_t* row, int pixels, std::uint16_t* values) {
    HWY_ALIGN std::uint8_t padded[block_px * channels];
    if (pixels < block_px) {
        std::memset(padded, 0, sizeof(padded));
        std::memcpy(padded, row, static_cast<std::size_t>(pixels) * channels);
        row = padded;
    }
    const hn::CappedTag<std::uint8_t, block_px> d;
    const hn::Half<decltype(d)> half;
    const hn::Repartition<std::uint16_t, decltype(d)> words;
    const auto lanes = static_cast<int>(hn::Lanes(d));
    const auto put = [&](hn::VFromD<decltype(d)> bytes, std::uint16_t* to) HWY_ATTR {
        hn::Store(hn::ShiftLeft<8>(hn::PromoteTo(words, hn::LowerHalf(half, bytes))), words, to);
        hn::Store(hn::ShiftLeft<8>(hn::PromoteTo(words, hn::UpperHalf(half, bytes))), words, to + lanes / 2);
    };
    for (int x = 0; x < block_px; x += lanes) {
        if constexpr (channels == 1) {
            put(hn::LoadU(d, row + x), values + x);
        } else {
            hn::VFromD<decltype(d)> b, g, r;
            hn::LoadInterleaved3(d, row + 3 * x, b, g, r);
            put(b, values + x);
            put(g, values + block_px + x);
            put(r, values + 2 * block_px + x);
        }
    }
}

// The share of a pixel's difference that its mode learns, where that is its sole one, of weight 1; negative where a
// pixel may belong to its first mode and not be background, or where that does not leave such a weight as it is.
float share_of_sole(const MixtureTerms& terms, const MixtureStep& step) {
    const float gained = step.keep * most_stored - step.decay + step.gain;
    const bool stays = gained >= step.decay && gained > 0;
    const bool is_background = terms.background_weight > 0 && terms.near_distance <= terms.background_distance;
    return stays && is_background ? std::min(step.gain / gained, 1.0f) : -1;
}

// What is known of a block from one frame to the next: how many modes its pixels use at most, or that each has but one,
// of weight 1.
constexpr std::uint8_t sole_modes = most_mixtures + 1;

// Has what a block will need brought near: its weights, and the features of its first mode, and of the second where
// there is one. Processors do not follow that many streams.
template <int channels>
HWY_INLINE void prefetch(const MixtureLayout& layout, const std::uint16_t* model, int kind, std::int64_t block) {
    const int modes = kind == sole_modes ? 1 : kind;
    if (kind != sole_modes)
        for (int mode = 0; mode < modes; ++mode) hwy::Prefetch(model + layout.weights(mode, block));
    for (int mode = 0; mode < std::min(modes, 2); ++mode)
        for (int number = 0; number < 1 + channels; ++number)
            hwy::Prefetch(model + layout.features(mode, block) + number * block_px);
}

template <int channels>
void update_row_of(const MixtureTerms& terms, const MixtureStep& step, const MixtureLayout& layout,
                   std::uint16_t* model, std::uint8_t* kinds, std::int64_t y, const std::uint8_t* row, int width,
                   std::uint32_t* foreground, std::uint32_t* shadows) {
    const auto sole_share = share_of_sole(terms, step);
    HWY_ALIGN std::uint16_t values[block_px * channels];
    const auto weight_stride = layout.weights(1, 0) - layout.weights(0, 0);
    const auto feature_stride = layout.features(1, 0) - layout.features(0, 0);
    for (int word = 0; word < layout.row_blocks; ++word) {
        const int pixels = std::min(width - word * block_px, block_px);
        split_channels<channels>(row + std::int64_t{word} * block_px * channels, pixels, values);
        const auto block = y * layout.row_blocks + word;
        auto& kind = kinds[block];
        const bool sole = kind == sole_modes;
        Block<channels> here(terms, step, values, sole ? 1 : kind, model + layout.weights(0, block), weight_stride,
                             model + layout.features(0, block), feature_stride);
        std::uint32_t moving = 0, dark = 0;
        const bool reweighed = sole && sole_share >= 0 ? here.template update<true>(set(sole_share), moving, dark)
                                                       : here.template update<false>(set(0), moving, dark);
        if (reweighed) kind = here.is_sole() ? sole_modes : static_cast<std::uint8_t>(here.modes());
        if (block + blocks_ahead < layout.blocks)
            prefetch<channels>(layout, model, kinds[block + blocks_ahead], block + blocks_ahead);
        const auto inside = ~0u >> (block_px - pixels);
        foreground[word] = moving & inside;
        if (shadows) shadows[word] = dark & inside;
    }
}

}  // namespace

void update_row(const MixtureTerms& terms, const MixtureStep& step, const MixtureLayout& layout, std::uint16_t* model,
                std::uint8_t* kinds, std::int64_t y, const std::uint8_t* row, int width, std::uint32_t* foreground,
                std::uint32_t* shadows) {
    const auto update = layout.channels == 3 ? update_row_of<3> : update_row_of<1>;
    update(terms, step, layout, model, kinds, y, row, width, foreground, shadows);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(update_row);

void MixtureBackground::update_row(std::uint64_t seen, int y, const std::uint8_t* row, std::uint32_t* foreground,
                                   std::uint32_t* shadows, int row_words) {
    HWY_DYNAMIC_DISPATCH(update_row)
    (terms_, mixture_step(terms_, seen), layout_, model_.as<std::uint16_t>(), kinds_.data(), y, row, shape_.width,
     foreground, shadows);
    const auto unused_words = static_cast<std::size_t>(row_words - layout_.row_blocks);
    std::fill_n(foreground + layout_.row_blocks, unused_words, 0u);
    if (shadows) std::fill_n(shadows + layout_.row_blocks, unused_words, 0u);
}

void MixtureBackground::run(HostView<const std::uint8_t> frames, HostBitMaskView<std::uint32_t> foreground,
                            HostBitMaskView<std::uint32_t> shadows) {
    check(frames, foreground, shadows);
    const auto count = frames.shape().frames;
    auto& seen = clock_.as<MixtureClock>()->frames_seen;
    // A row goes through all frames while its model is in a core's cache.
    executor_->pool().for_chunks(
        shape_.height, rows_in_cache(shape_.width), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (auto y = static_cast<int>(begin); y < end; ++y)
                for (int frame = 0; frame < count; ++frame)
                    update_row(seen + static_cast<std::uint64_t>(frame), y, frames.row(frame, y),
                               foreground.row(frame, y), shadows.data() ? shadows.row(frame, y) : nullptr,
                               foreground.row_words());
        });
    seen += static_cast<std::uint64_t>(count);
}

void MixtureBackground::run(const MakeRows& make, HostBitMaskView<std::uint32_t> foreground) {
    validate(foreground, shape_.with_channels(1), "the mixture's mask of what moves");
    auto& seen = clock_.as<MixtureClock>()->frames_seen;
    strips_.for_rows(make, [&](const ImageRows<std::uint8_t>& rows) {
        for (int y = rows.range().begin; y < rows.range().end; ++y)
            update_row(seen, y, rows.row(y), foreground.row(0, y), nullptr, foreground.row_words());
    });
    ++seen;
}

}  // namespace framewire

#endif
