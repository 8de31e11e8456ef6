#include "framewire/core/simd/simd.hpp"
#include "framewire/detect/background/mixture/mixture.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/detect/background/mixture/mixture_cpu.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <atomic>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int block_px = MixtureLayout::block_px;

using Floats = hn::CappedTag<float, 16>;
using Ints = hn::RebindToSigned<Floats>;
using Stored = hn::Rebind<std::uint16_t, Floats>;
using Bytes = hn::Rebind<std::uint8_t, Floats>;
using V = hn::VFromD<Floats>;
using M = hn::MFromD<Floats>;

constexpr int lanes = static_cast<int>(hn::MaxLanes(Floats()));
constexpr int parts = block_px / lanes;
static_assert(block_px % lanes == 0);
constexpr std::int64_t blocks_ahead = 4;  // to prefetch: 2 to 8 do about as well

HWY_INLINE V set(float value) { return hn::Set(Floats(), value); }
HWY_INLINE M none() { return hn::Gt(hn::Zero(Floats()), hn::Zero(Floats())); }
HWY_INLINE bool any(M mask) { return !hn::AllFalse(Floats(), mask); }

HWY_INLINE V load(const std::uint16_t* from) {
    return hn::ConvertTo(Floats(), hn::PromoteTo(Ints(), hn::Load(Stored(), from)));
}

// Rounds to nearest; the values are 0 to 65535.
HWY_INLINE void store(V values, std::uint16_t* to) {
    const hn::RebindToUnsigned<Floats> d;
    // From here on floats are integers: the lowest bits of the sum are the number.
    const auto sum = hn::BitCast(d, hn::Add(values, set(12582912)));
    hn::Store(hn::TruncateTo(Stored(), sum), Stored(), to);
}

// A block of pixels, its model in memory and its weights in registers. The vectors of a block go through each step
// together: what must be decided is decided once for all of them, where a wrong guess of the processor costs less.
template <int channels>
class Block {
public:
    // `values`: block_px bytes for each channel. `weights` and `features` are those of the first mode; the strides lead
    // to the next ones.
    HWY_INLINE Block(const MixtureTerms& terms, const MixtureStep& step, const std::uint8_t* values,
                     std::uint16_t* weights, std::int64_t weight_stride, std::uint16_t* features,
                     std::int64_t feature_stride)
        : terms_(terms),
          step_(step),
          weights_(weights),
          weight_stride_(weight_stride),
          features_(features),
          feature_stride_(feature_stride) {
        for (int part = 0; part < parts; ++part)
            for (int c = 0; c < channels; ++c) {
                const auto bytes = hn::Load(Bytes(), values + c * block_px + part * lanes);
                values_[part][c] = hn::ConvertTo(Floats(), hn::ShiftLeft<8>(hn::PromoteTo(Ints(), bytes)));
            }
    }

    // For blocks whose pixels have one mode each, of weight 1. Where each belongs to it, as most do, these learn, all
    // by one share, no weight changes, and all is background. Otherwise nothing is done.
    HWY_INLINE bool update_sole(V share) {
        V variance[parts], mean[parts][channels], difference[parts][channels], distance[parts];
        auto near = hn::Not(none());
        for (int part = 0; part < parts; ++part) {
            variance[part] = load(feature(0, part, 0));
            for (int c = 0; c < channels; ++c) {
                mean[part][c] = load(feature(0, part, 1 + c));
                difference[part][c] = hn::Sub(mean[part][c], values_[part][c]);
            }
            distance[part] = sum_of_products(difference[part], difference[part]);
            near = hn::And(near, hn::Lt(distance[part], hn::Mul(set(terms_.near_distance), variance[part])));
        }
        if (!hn::AllTrue(Floats(), near)) return false;
        modes_ = 1;
        for (int part = 0; part < parts; ++part) {
            for (int c = 0; c < channels; ++c)
                store(learned_mean(mean[part][c], difference[part][c], share), feature(0, part, 1 + c));
            store(learned_variance(variance[part], distance[part], share), feature(0, part, 0));
        }
        return true;
    }

    // The bits of the pixels that are neither background nor shadow, and of those that are shadow.
    HWY_INLINE void update(std::uint32_t& foreground, std::uint32_t& shadow) {
        match_modes();
        normalize();
        M moving[parts], fresh[parts];
        auto any_moving = none(), any_fresh = none();
        for (int part = 0; part < parts; ++part) {
            moving[part] = hn::Not(background_[part]);
            any_moving = hn::Or(any_moving, moving[part]);
            fresh[part] = hn::Not(matched_[part]);
            any_fresh = hn::Or(any_fresh, fresh[part]);
        }
        foreground = shadow = 0;
        if (any(any_moving))
            for (int part = 0; part < parts; ++part) {
                const auto dark = terms_.shadows && any(moving[part]) ? shadowed(part, moving[part]) : none();
                foreground |= bits(hn::AndNot(dark, moving[part])) << part * lanes;
                shadow |= bits(dark) << part * lanes;
            }
        if (step_.gain > 0 && any(any_fresh)) begin_modes(fresh);
        const auto offset = set(step_.offset);
        for (int mode = 0; mode < modes_; ++mode)
            for (int part = 0; part < parts; ++part)
                store(hn::Add(weight_[mode][part], offset), weights_ + mode * weight_stride_ + part * lanes);
    }

    // Whether all its pixels have one mode of weight 1, as update() left them.
    HWY_INLINE bool is_sole() const {
        if (modes_ != 1) return false;
        auto sole = hn::Not(none());
        for (int part = 0; part < parts; ++part)
            sole = hn::And(sole, hn::Ge(load(weights_ + part * lanes), set(most_stored)));
        return hn::AllTrue(Floats(), sole);
    }

    // Has what the block `blocks` further on will need brought near: the weights of as many modes as here, and the
    // features of the first one, and of the second one where there are several here. Processors do not follow that many
    // streams.
    HWY_INLINE void prefetch(std::int64_t blocks) const {
        for (int mode = 0; mode < modes_; ++mode) hwy::Prefetch(weights_ + mode * weight_stride_ + blocks * block_px);
        for (int mode = 0; mode < std::min(modes_, 2); ++mode)
            for (int number = 0; number < 1 + channels; ++number)
                hwy::Prefetch(features_ + mode * feature_stride_ + (blocks * (1 + channels) + number) * block_px);
    }

private:
    HWY_INLINE static std::uint32_t bits(M mask) {
        std::uint8_t bytes[8] = {};
        hn::StoreMaskBits(Floats(), mask, bytes);
        return bytes[0] | static_cast<std::uint32_t>(bytes[1]) << 8;
    }

    // The variances, and behind them the means of each channel.
    HWY_INLINE std::uint16_t* feature(int mode, int part, int number) const {
        return features_ + mode * feature_stride_ + number * block_px + part * lanes;
    }

    // Each pixel finds its first mode near enough, which learns from it; all weights decay.
    HWY_INLINE void match_modes() {
        const auto zero = hn::Zero(Floats());
        const auto keep = set(step_.keep), decay = set(step_.decay);
        for (int part = 0; part < parts; ++part) {
            matched_[part] = none();
            total_[part] = zero;
        }
        for (modes_ = 0; modes_ < terms_.mixtures; ++modes_) {
            auto* const weight = weight_[modes_];
            M open[parts];
            auto any_used = none(), any_open = none();
            for (int part = 0; part < parts; ++part) {
                const auto old = load(weights_ + modes_ * weight_stride_ + part * lanes);
                const auto used = hn::Gt(old, zero);
                if (modes_ == 0) background_[part] = hn::Not(used);
                weight[part] = hn::Sub(hn::Mul(keep, old), decay);
                open[part] = hn::AndNot(matched_[part], used);
                any_used = hn::Or(any_used, used);
                any_open = hn::Or(any_open, open[part]);
            }
            if (!any(any_used)) break;
            const bool learns = any(any_open);
            if (learns)
                for (int part = 0; part < parts; ++part) open[part] = learn(modes_, part, open[part]);
            for (int part = 0; part < parts; ++part) {
                weight[part] = hn::IfThenZeroElse(hn::Lt(weight[part], decay), weight[part]);
                total_[part] = hn::Add(total_[part], weight[part]);
            }
            if (learns && modes_ > 0)
                for (int part = 0; part < parts; ++part) promote(modes_, part, open[part]);
        }
    }

    // The lanes of `open` that belong to the mode; updates its mean, variance and weight there.
    HWY_INLINE M learn(int mode, int part, M open) {
        const auto old_variance = load(feature(mode, part, 0));
        V old_mean[channels], difference[channels];
        for (int c = 0; c < channels; ++c) {
            old_mean[c] = load(feature(mode, part, 1 + c));
            difference[c] = hn::Sub(old_mean[c], values_[part][c]);
        }
        const auto distance = sum_of_products(difference, difference);
        const auto counts = hn::And(open, hn::Lt(total_[part], set(terms_.background_weight)));
        const auto within = hn::Lt(distance, hn::Mul(set(terms_.background_distance), old_variance));
        background_[part] = hn::Or(background_[part], hn::And(counts, within));
        const auto near = hn::And(open, hn::Lt(distance, hn::Mul(set(terms_.near_distance), old_variance)));
        if (mode > 0 && !any(near)) return near;
        matched_[part] = hn::Or(matched_[part], near);
        auto& weight = weight_[mode][part];
        const auto gained = hn::Add(weight, set(step_.gain));
        weight = hn::IfThenElse(near, gained, weight);
        const auto share = hn::Min(hn::Div(set(step_.gain), gained), set(1));
        for (int c = 0; c < channels; ++c) {
            const auto mean = learned_mean(old_mean[c], difference[c], share);
            store(hn::IfThenElse(near, mean, old_mean[c]), feature(mode, part, 1 + c));
        }
        const auto variance = learned_variance(old_variance, distance, share);
        store(hn::IfThenElse(near, variance, old_variance), feature(mode, part, 0));
        return near;
    }

    HWY_INLINE V learned_mean(V mean, V difference, V share) const {
        return hn::Add(hn::Sub(mean, hn::Mul(share, difference)), set(step_.offset));
    }
    HWY_INLINE V learned_variance(V variance, V distance, V share) const {
        const auto spread = hn::Sub(hn::Mul(distance, set(1 / value_unit)), variance);
        const auto moved = hn::Add(variance, hn::Mul(share, spread));
        return hn::Add(hn::Min(hn::Max(moved, set(terms_.var_min)), set(terms_.var_max)), set(step_.offset));
    }

    // Brings a mode that has gained weight before those it is no lighter than.
    HWY_INLINE void promote(int mode, int part, M near) {
        for (; mode > 0; --mode) {
            auto &here = weight_[mode][part], &before = weight_[mode - 1][part];
            near = hn::And(near, hn::Ge(here, before));
            if (!any(near)) return;
            const auto gained = here;
            here = hn::IfThenElse(near, before, here);
            before = hn::IfThenElse(near, gained, before);
            for (int number = 0; number < 1 + channels; ++number) {
                const auto a = load(feature(mode, part, number)), b = load(feature(mode - 1, part, number));
                store(hn::IfThenElse(near, b, a), feature(mode, part, number));
                store(hn::IfThenElse(near, a, b), feature(mode - 1, part, number));
            }
        }
    }

    HWY_INLINE void normalize() {
        for (int part = 0; part < parts; ++part) {
            // Pixels without any mode have weights of 0, whatever they are divided by.
            const auto total = hn::IfThenElse(hn::Gt(total_[part], hn::Zero(Floats())), total_[part], set(1));
            const auto factor = hn::Div(set(weight_unit), total);
            for (int mode = 0; mode < modes_; ++mode)
                weight_[mode][part] = hn::Min(hn::Mul(weight_[mode][part], factor), set(most_stored));
        }
    }

    // The lanes of `open` that are a darker version of one of their background modes.
    HWY_INLINE M shadowed(int part, M open) const {
        const auto zero = hn::Zero(Floats());
        auto total = zero;
        auto found = none();
        for (int mode = 0; mode < modes_; ++mode) {
            open = hn::And(open, hn::Gt(weight_[mode][part], zero));
            if (!any(open)) break;
            V mean[channels];
            for (int c = 0; c < channels; ++c) mean[c] = load(feature(mode, part, 1 + c));
            const auto product = sum_of_products(values_[part], mean);
            const auto square = sum_of_products(mean, mean);
            open = hn::And(open, hn::Gt(square, zero));
            const auto darker =
                hn::And(hn::Le(product, square), hn::Ge(product, hn::Mul(set(terms_.shadow_threshold), square)));
            const auto ratio = hn::Div(product, square);
            V rest[channels];
            for (int c = 0; c < channels; ++c) rest[c] = hn::Sub(hn::Mul(ratio, mean[c]), values_[part][c]);
            const auto variance = load(feature(mode, part, 0));
            const auto bound = hn::Mul(hn::Mul(hn::Mul(set(terms_.background_distance), variance), ratio), ratio);
            const auto here = hn::And(hn::And(open, darker), hn::Lt(sum_of_products(rest, rest), bound));
            found = hn::Or(found, here);
            total = hn::Add(total, weight_[mode][part]);
            open = hn::AndNot(hn::Or(here, hn::Gt(total, set(terms_.background_weight))), open);
        }
        return found;
    }

    // Pixels that belong to no mode begin one, in place of the lightest where there are as many as may be.
    HWY_INLINE void begin_modes(const M* fresh) {
        const int last = terms_.mixtures - 1;
        if (modes_ <= last) {
            for (int part = 0; part < parts; ++part) weight_[modes_][part] = hn::Zero(Floats());
            ++modes_;
        } else {
            for (int part = 0; part < parts; ++part)
                weight_[last][part] = hn::IfThenZeroElse(fresh[part], weight_[last][part]);
        }
        for (int part = 0; part < parts; ++part)
            if (any(fresh[part])) begin_mode(part, fresh[part]);
    }

    HWY_INLINE void begin_mode(int part, M fresh) {
        for (int mode = 0; mode < modes_; ++mode) {
            auto& weight = weight_[mode][part];
            weight = hn::IfThenElse(fresh, hn::Mul(weight, set(step_.keep)), weight);
        }
        const auto new_weight =
            hn::IfThenElse(hn::Gt(weight_[0][part], hn::Zero(Floats())), set(step_.gain), set(most_stored));
        // From the last place up: it goes before those that are no heavier, which make room.
        for (int mode = modes_ - 1; mode >= 0; --mode) {
            auto& weight = weight_[mode][part];
            const auto below = mode == 0 ? fresh : hn::And(fresh, hn::Gt(weight_[mode - 1][part], new_weight));
            const auto here = hn::AndNot(hn::Gt(weight, new_weight), below);
            const auto moved = hn::AndNot(below, fresh);
            if (mode > 0 && any(moved)) {
                weight = hn::IfThenElse(moved, weight_[mode - 1][part], weight);
                for (int number = 0; number < 1 + channels; ++number) {
                    auto* const to = feature(mode, part, number);
                    store(hn::IfThenElse(moved, load(feature(mode - 1, part, number)), load(to)), to);
                }
            }
            if (!any(here)) continue;
            weight = hn::IfThenElse(here, new_weight, weight);
            for (int number = 0; number < 1 + channels; ++number) {
                auto* const to = feature(mode, part, number);
                const auto fresh_value = number == 0 ? set(terms_.var_init) : values_[part][number - 1];
                store(hn::IfThenElse(here, fresh_value, load(to)), to);
            }
        }
    }

    HWY_INLINE static V sum_of_products(const V* a, const V* b) {
        auto sum = hn::Mul(a[0], b[0]);
        for (int c = 1; c < channels; ++c) sum = hn::Add(sum, hn::Mul(a[c], b[c]));
        return sum;
    }

    const MixtureTerms& terms_;
    const MixtureStep& step_;
    std::uint16_t* const weights_;
    const std::int64_t weight_stride_;
    std::uint16_t* const features_;
    const std::int64_t feature_stride_;

    V values_[parts][channels];
    V weight_[most_mixtures][parts];
    V total_[parts];
    M matched_[parts], background_[parts];
    int modes_;  // that any of the pixels uses
};

// block_px bytes of each channel from `pixels` pixels, 0 behind them.
template <int channels>
HWY_INLINE void split_channels(const std::uint8_t* row, int pixels, std::uint8_t* values) {
    HWY_ALIGN std::uint8_t padded[block_px * channels];
    if (pixels < block_px) {
        std::memset(padded, 0, sizeof(padded));
        std::memcpy(padded, row, static_cast<std::size_t>(pixels) * channels);
        row = padded;
    }
    const hn::FixedTag<std::uint8_t, 16> d;
    for (int x = 0; x < block_px; x += 16) {
        if constexpr (channels == 1) {
            hn::Store(hn::LoadU(d, row + x), d, values + x);
        } else {
            hn::VFromD<decltype(d)> b, g, r;
            hn::LoadInterleaved3(d, row + 3 * x, b, g, r);
            hn::Store(b, d, values + x);
            hn::Store(g, d, values + block_px + x);
            hn::Store(r, d, values + 2 * block_px + x);
        }
    }
}

// The share of a pixel's difference that its mode learns, where that is its sole one, of weight 1; negative where that
// does not make the pixel background, or does not leave the weight as it is.
float share_of_sole(const MixtureTerms& terms, const MixtureStep& step) {
    const float gained = step.keep * most_stored - step.decay + step.gain;
    const bool stays = gained >= step.decay && gained > 0;
    const bool is_background = terms.background_weight > 0 && terms.near_distance <= terms.background_distance;
    return stays && is_background ? std::min(step.gain / gained, 1.0f) : -1;
}

template <int channels>
void update_row_of(const MixtureTerms& terms, const MixtureStep& step, const MixtureLayout& layout,
                   std::uint16_t* model, std::uint8_t* soles, std::int64_t y, const std::uint8_t* row, int width,
                   std::uint32_t* foreground, std::uint32_t* shadows) {
    const auto sole_share = share_of_sole(terms, step);
    HWY_ALIGN std::uint8_t values[block_px * channels];
    const auto weight_stride = layout.weights(1, 0) - layout.weights(0, 0);
    const auto feature_stride = layout.features(1, 0) - layout.features(0, 0);
    for (int word = 0; word < layout.row_blocks; ++word) {
        const int pixels = std::min(width - word * block_px, block_px);
        split_channels<channels>(row + std::int64_t{word} * block_px * channels, pixels, values);
        const auto block = y * layout.row_blocks + word;
        Block<channels> here(terms, step, values, model + layout.weights(0, block), weight_stride,
                             model + layout.features(0, block), feature_stride);
        std::uint32_t moving = 0, dark = 0;
        if (!(soles[block] && sole_share >= 0 && here.update_sole(set(sole_share)))) {
            here.update(moving, dark);
            soles[block] = here.is_sole();
        }
        if (block + blocks_ahead < layout.blocks) here.prefetch(blocks_ahead);
        const auto inside = ~0u >> (block_px - pixels);
        foreground[word] = moving & inside;
        if (shadows) shadows[word] = dark & inside;
    }
}

}  // namespace

void update_row(const MixtureTerms& terms, const MixtureStep& step, const MixtureLayout& layout, std::uint16_t* model,
                std::uint8_t* soles, std::int64_t y, const std::uint8_t* row, int width, std::uint32_t* foreground,
                std::uint32_t* shadows) {
    const auto update = layout.channels == 3 ? update_row_of<3> : update_row_of<1>;
    update(terms, step, layout, model, soles, y, row, width, foreground, shadows);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(update_row);

void MixtureBackground::update_row(std::uint64_t seen, int y, const std::uint8_t* row, std::uint32_t* foreground,
                                   std::uint32_t* shadows, int row_words) {
    HWY_DYNAMIC_DISPATCH(update_row)
    (terms_, mixture_step(terms_, seen), layout_, model_.as<std::uint16_t>(), soles_.data(), y, row, shape_.width,
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
        shape_.height, mixture_rows_each(shape_.width), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
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
    const int rows_each = mixture_rows_each(shape_.width);
    std::atomic<int> next{0};
    executor_->pool().for_chunks(
        static_cast<std::int64_t>(strips_.size()), 1, [&](std::int64_t thread, std::int64_t, std::int64_t) {
            auto* const strip = strips_[static_cast<std::size_t>(thread)].data();
            for (int begin = next.fetch_add(rows_each); begin < shape_.height; begin = next.fetch_add(rows_each)) {
                const int count = std::min(rows_each, shape_.height - begin);
                const ImageRows<std::uint8_t> rows({strip, {1, count, shape_.width, shape_.channels}}, begin);
                make(rows);
                for (int y = begin; y < begin + count; ++y)
                    update_row(seen, y, rows.row(y), foreground.row(0, y), nullptr, foreground.row_words());
            }
        });
    ++seen;
}

}  // namespace framewire

#endif
