// Blocks of 32 pixels and their Gaussians ("modes") on the CPU. Include it inside a SIMD source, after
// <hwy/highway.h>.
//
// All decisions are masks: each step computes both outcomes for a vector of pixels and selects per lane. Block handles
// any model; SoleBlock is the fast path for pixels with a single mode of weight 1.

#if defined(FRAMEWIRE_DETECT_MIXTURE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FRAMEWIRE_DETECT_MIXTURE_INL_HPP
#undef FRAMEWIRE_DETECT_MIXTURE_INL_HPP
#else
#define FRAMEWIRE_DETECT_MIXTURE_INL_HPP
#endif

#include "framewire/detect/mixture.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace mixture_block {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int block_px = MixtureLayout::block_px;

using Floats = hn::CappedTag<float, 16>;
using Ints = hn::RebindToSigned<Floats>;
using Unsigned = hn::RebindToUnsigned<Floats>;
using Words = hn::Repartition<std::uint16_t, Floats>;
using V = hn::VFromD<Floats>;
using M = hn::Mask<Floats>;

// A vector of floats holds every other pixel of a vector of words of the same size, so that a mask and a shift turn
// words into floats.
constexpr int lanes = static_cast<int>(hn::MaxLanes(Floats()));
constexpr int parts = block_px / lanes, pair_px = 2 * lanes;
static_assert(block_px % pair_px == 0);

// Shorthand for constants and masks.
HWY_INLINE V set(float value) { return hn::Set(Floats(), value); }
HWY_INLINE M none() { return hn::Gt(hn::Zero(Floats()), hn::Zero(Floats())); }
HWY_INLINE bool any(M mask) { return !hn::AllFalse(Floats(), mask); }

// Converts the even and the odd lanes of a vector of words to floats.
HWY_INLINE void split(hn::VFromD<Words> words, V* to) {
    const auto both = hn::BitCast(Unsigned(), words);
    to[0] = hn::ConvertTo(Floats(), hn::BitCast(Ints(), hn::And(both, hn::Set(Unsigned(), 0xFFFF))));
    to[1] = hn::ConvertTo(Floats(), hn::BitCast(Ints(), hn::ShiftRight<16>(both)));
}
HWY_INLINE void load(const std::uint16_t* from, V* to) { split(hn::Load(Words(), from), to); }

// Rounds to nearest and joins even and odd lanes; the values are 0 to 65535.
HWY_INLINE hn::VFromD<Words> joined(const V* values) {
    // From 1.5 * 2^23 on, floats are integers: the lowest bits of the sum are the number.
    const auto number = [](V value) HWY_ATTR { return hn::BitCast(Unsigned(), hn::Add(value, set(12582912))); };
    const auto odd = hn::BitCast(Words(), hn::ShiftLeft<16>(number(values[1])));
    return hn::OddEven(odd, hn::BitCast(Words(), number(values[0])));
}
HWY_INLINE void store(const V* values, std::uint16_t* to) { hn::Store(joined(values), Words(), to); }

// Stores `yes` where the mask is set, else `no`, for a pair of vectors.
HWY_INLINE void store_where(const M* mask, const V* yes, const V* no, std::uint16_t* to) {
    const V values[2] = {hn::IfThenElse(mask[0], yes[0], no[0]), hn::IfThenElse(mask[1], yes[1], no[1])};
    store(values, to);
}
HWY_INLINE bool any_of_pair(const M* mask) { return any(hn::Or(mask[0], mask[1])); }

// Returns the mask of a pair of vectors as bits in pixel order.
HWY_INLINE std::uint32_t bits(const M* mask) {
    // Masks of floats become masks of words, even and odd lanes interleaved, then bits.
    const auto ones = [](M pixels) HWY_ATTR { return hn::BitCast(Words(), hn::VecFromMask(Floats(), pixels)); };
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(Words(), hn::MaskFromVec(hn::OddEven(ones(mask[1]), ones(mask[0]))), bytes);
    std::uint32_t all = 0;
    for (int byte = 0; byte < pair_px / 8; ++byte) all |= static_cast<std::uint32_t>(bytes[byte]) << 8 * byte;
    return all;
}

// Loads the values of a pair of vectors of pixels: 256 times their bytes.
HWY_INLINE void load_values(const std::uint8_t* pixels, V* to) {
    const auto bytes = hn::LoadU(hn::Rebind<std::uint8_t, Words>(), pixels);
    split(hn::ShiftLeft<8>(hn::PromoteTo(Words(), bytes)), to);
}

// Returns the new mean of a mode, not yet rounded; `share` is the learning rate of the mode.
HWY_INLINE V learned_mean(const MixtureStep& step, V mean, V difference, V share) {
    return hn::Add(hn::Sub(mean, hn::Mul(share, difference)), set(step.offset));
}

// Returns the new variance of a mode, not yet rounded: clamped to [var_min, var_max], plus the dithering offset.
HWY_INLINE V learned_variance(const MixtureTerms& terms, const MixtureStep& step, V variance, V distance, V share) {
    const auto spread = hn::Sub(hn::Mul(distance, set(1 / value_unit)), variance);
    const auto moved = hn::Add(variance, hn::Mul(share, spread));
    return hn::Add(hn::Min(hn::Max(moved, set(terms.var_min)), set(terms.var_max)), set(step.offset));
}

// Returns mixture_reach() of a mode with that variance, rounded up.
HWY_INLINE V reach_of(const MixtureTerms& terms, V variance) {
    // Squared distances are whole numbers, so comparing with the next whole number gives the same result.
    const auto whole =
        hn::Ceil(hn::Mul(hn::Mul(set(terms.background_distance), variance), set(1 / (value_unit * value_unit))));
    return hn::Min(whole, set(most_reach));
}

// Stores means as whole levels.
HWY_INLINE void store_levels(hn::VFromD<Words> means, std::uint8_t* to) {
    const auto level = hn::ShiftRight<8>(hn::Add(means, hn::Set(Words(), 128)));
    const hn::Rebind<std::uint8_t, Words> bytes;
    hn::StoreU(hn::DemoteTo(bytes, hn::BitCast(hn::RebindToSigned<Words>(), level)), bytes, to);
}

// Block whose pixels have a single mode each, of weight 1, as most blocks do. Each pair of vectors goes through all
// steps in registers.
template <int channels>
class SoleBlock {
public:
    // Takes the same parameters as Block.
    HWY_INLINE SoleBlock(const MixtureTerms& terms, const MixtureStep& step, const std::uint8_t* pixels,
                         std::int64_t channel_stride, std::uint16_t* features)
        : terms_(terms), step_(step), pixels_(pixels), channel_stride_(channel_stride), features_(features) {}

    // If all pixels are near their modes, learns with weight `share` and returns true. Otherwise returns false
    // and changes nothing.
    HWY_INLINE bool update(V share) const {
        hn::VFromD<Words> learned[1 + channels][pairs];
        auto all_near = hn::Not(none());
        for (int pair = 0; pair < pairs; ++pair) {
            V variance[2], mean[channels][2], difference[channels][2], distance[2], moved[2];
            load(feature(pair, 0), variance);
            for (int c = 0; c < channels; ++c) {
                V own[2];
                load_values(pixels_ + c * channel_stride_ + pair * pair_px, own);
                load(feature(pair, 1 + c), mean[c]);
                for (int i = 0; i < 2; ++i) {
                    difference[c][i] = hn::Sub(mean[c][i], own[i]);
                    const auto square = hn::Mul(difference[c][i], difference[c][i]);
                    distance[i] = c == 0 ? square : hn::Add(distance[i], square);
                    moved[i] = learned_mean(step_, mean[c][i], difference[c][i], share);
                }
                learned[1 + c][pair] = joined(moved);
            }
            for (int i = 0; i < 2; ++i) {
                all_near = hn::And(all_near, hn::Lt(distance[i], hn::Mul(set(terms_.near_distance), variance[i])));
                moved[i] = learned_variance(terms_, step_, variance[i], distance[i], share);
            }
            learned[0][pair] = joined(moved);
        }
        if (!hn::AllTrue(Floats(), all_near)) return false;
        for (int number = 0; number < 1 + channels; ++number)
            for (int pair = 0; pair < pairs; ++pair) hn::Store(learned[number][pair], Words(), feature(pair, number));
        return true;
    }

    // Stores levels and reaches like Block::keep(). Returns a vector whose smallest lane is the smallest reach, at
    // most 255.
    HWY_INLINE hn::VFromD<Words> keep(std::uint8_t* means, std::uint16_t* reaches) const {
        auto least = hn::Set(Words(), 255);
        for (int pair = 0; pair < pairs; ++pair) {
            V reach[2];
            load(feature(pair, 0), reach);
            for (auto& one : reach) one = reach_of(terms_, one);
            const auto words = joined(reach);
            hn::Store(words, Words(), reaches + pair * pair_px);
            least = hn::Min(least, words);
            for (int c = 0; c < channels; ++c)
                store_levels(hn::Load(Words(), feature(pair, 1 + c)), means + c * block_px + pair * pair_px);
        }
        return least;
    }

private:
    static constexpr int pairs = parts / 2;

    // Returns a feature of a pair of vectors: number 0 is the variances, number 1 + c the means of channel c.
    HWY_INLINE std::uint16_t* feature(int pair, int number) const {
        return features_ + number * block_px + pair * pair_px;
    }

    const MixtureTerms& terms_;
    const MixtureStep& step_;
    const std::uint8_t* pixels_;
    std::int64_t channel_stride_;
    std::uint16_t* features_;
};

// A block of pixels, with its model in memory and its weights in registers. All vectors of the block go through each
// step together, so that each branch is decided once per block and mispredictions cost less.
template <int channels>
class Block {
public:
    // `pixels`: block_px bytes per channel. `weights` and `features` point to those of the first mode; the
    // strides lead to the next channel or mode. No pixel uses more than the first `modes` modes.
    HWY_INLINE Block(const MixtureTerms& terms, const MixtureStep& step, const std::uint8_t* pixels,
                     std::int64_t channel_stride, int modes, std::uint16_t* weights, std::int64_t weight_stride,
                     std::uint16_t* features, std::int64_t feature_stride)
        : terms_(terms),
          step_(step),
          weights_(weights),
          weight_stride_(weight_stride),
          features_(features),
          feature_stride_(feature_stride),
          modes_(modes) {
        for (int c = 0; c < channels; ++c)
            for (int part = 0; part < parts; part += 2)
                load_values(pixels + c * channel_stride + part * lanes, values_[c] + part);
    }

    // Updates the model. Sets the bits of `foreground` for pixels that are neither background nor shadow, and those
    // of `shadow` for shadow pixels.
    HWY_INLINE void update(std::uint32_t& foreground, std::uint32_t& shadow) {
        foreground = shadow = 0;
        if (modes_ == 0)
            for (int part = 0; part < parts; ++part) {
                matched_[part] = none();
                background_[part] = hn::Not(none());
                total_[part] = hn::Zero(Floats());
            }
        else if (match_firsts())
            return;
        match_others();
        normalize();
        M moving[parts], fresh[parts];
        auto any_moving = none(), any_fresh = none();
        for (int part = 0; part < parts; ++part) {
            moving[part] = hn::Not(background_[part]);
            any_moving = hn::Or(any_moving, moving[part]);
            fresh[part] = hn::Not(matched_[part]);
            any_fresh = hn::Or(any_fresh, fresh[part]);
        }
        if (any(any_moving))
            for (int part = 0; part < parts; part += 2) {
                M dark[2] = {none(), none()};
                for (int i = 0; i < 2; ++i) {
                    if (terms_.shadows && any(moving[part + i])) dark[i] = shadowed(part + i, moving[part + i]);
                    moving[part + i] = hn::AndNot(dark[i], moving[part + i]);
                }
                foreground |= bits(moving + part) << part * lanes;
                shadow |= bits(dark) << part * lanes;
            }
        if (step_.gain > 0 && any(any_fresh)) begin_modes(fresh);
        store_weights();
    }

    // Returns the bits of the pixels that are shadow unless they are background, for a block that does not
    // learn.
    HWY_INLINE std::uint32_t shadows() {
        for (int mode = 0; mode < modes_; ++mode) load_weights<false>(mode);
        std::uint32_t all = 0;
        for (int part = 0; part < parts; part += 2) {
            const M dark[2] = {shadowed(part, hn::Not(none())), shadowed(part + 1, hn::Not(none()))};
            all |= bits(dark) << part * lanes;
        }
        return all;
    }

    // After an update, stores the levels and reaches of mode `mode` for frames from which the block does not learn
    // (MixtureBlocks). `total` holds the sum of the previous modes' weights. Returns false and stores nothing if the
    // mode is not background for any pixel.
    HWY_INLINE bool keep(int mode, V* total, std::uint8_t* means, std::uint16_t* reaches) const {
        M counts[parts];
        auto any_counts = none();
        for (int part = 0; part < parts; part += 2) {
            V weight[2];
            load(weights_ + mode * weight_stride_ + part * lanes, weight);
            for (int i = 0; i < 2; ++i) {
                counts[part + i] = hn::And(hn::Gt(weight[i], hn::Zero(Floats())),
                                           hn::Lt(total[part + i], set(terms_.background_weight)));
                any_counts = hn::Or(any_counts, counts[part + i]);
                total[part + i] = hn::Add(total[part + i], weight[i]);
            }
        }
        if (!any(any_counts)) return false;
        for (int part = 0; part < parts; part += 2) {
            V reach[2];
            load(feature(mode, part, 0), reach);
            for (int i = 0; i < 2; ++i) {
                reach[i] = hn::IfThenElseZero(counts[part + i], reach_of(terms_, reach[i]));
            }
            store(reach, reaches + part * lanes);
            for (int c = 0; c < channels; ++c)
                store_levels(hn::Load(Words(), feature(mode, part, 1 + c)), means + c * block_px + part * lanes);
        }
        return true;
    }

    // After an update, returns the most modes that any pixel uses.
    HWY_INLINE int modes() const { return modes_; }
    // After an update, returns true if every pixel has a single mode of weight 1.
    HWY_INLINE bool is_sole() const {
        if (modes_ != 1) return false;
        auto sole = hn::Not(none());
        for (int part = 0; part < parts; part += 2) {
            V weight[2];
            load(weights_ + part * lanes, weight);
            for (const auto& one : weight) sole = hn::And(sole, hn::Ge(one, set(most_stored)));
        }
        return hn::AllTrue(Floats(), sole);
    }

private:
    // Returns a feature of mode `mode` for vectors `part` and `part` + 1: number 0 is the variances, number 1 + c the
    // means of channel c.
    HWY_INLINE std::uint16_t* feature(int mode, int part, int number) const {
        return features_ + mode * feature_stride_ + number * block_px + part * lanes;
    }

    // Returns a weight after its decay by the learning rate and complexity reduction.
    HWY_INLINE V decayed(V weight) const { return hn::Sub(hn::Mul(set(step_.keep), weight), set(step_.decay)); }
    // Zeroes weights that complexity reduction has used up.
    HWY_INLINE V kept(V weight) const { return hn::IfThenZeroElse(hn::Lt(weight, set(step_.decay)), weight); }
    // Returns the share of a difference that a mode learns, given its weight after the gain.
    HWY_INLINE V share_of(V gained) const { return hn::Min(hn::Div(set(step_.gain), gained), set(1)); }

    // Loads the weights of a mode and lets them decay. Returns false if no pixel uses the mode.
    template <bool decays = true>
    HWY_INLINE bool load_weights(int mode) {
        auto used = none();
        for (int part = 0; part < parts; part += 2) {
            V old[2];
            load(weights_ + mode * weight_stride_ + part * lanes, old);
            for (int i = 0; i < 2; ++i) {
                used_[part + i] = hn::Gt(old[i], hn::Zero(Floats()));
                used = hn::Or(used, used_[part + i]);
                weight_[mode][part + i] = decays ? decayed(old[i]) : old[i];
            }
        }
        return any(used);
    }
    // Removes exhausted weights and adds the others to the sum of weights.
    HWY_INLINE void add_to_total(int mode) {
        for (int part = 0; part < parts; ++part) {
            weight_[mode][part] = kept(weight_[mode][part]);
            total_[part] = hn::Add(total_[part], weight_[mode][part]);
        }
    }
    // Stores all weights with the dithering offset; joined() rounds them.
    HWY_INLINE void store_weights() const {
        for (int mode = 0; mode < modes_; ++mode)
            for (int part = 0; part < parts; part += 2) {
                const V moved[2] = {hn::Add(weight_[mode][part], set(step_.offset)),
                                    hn::Add(weight_[mode][part + 1], set(step_.offset))};
                store(moved, weights_ + mode * weight_stride_ + part * lanes);
            }
    }

    // Each pixel learns into its first mode that is near enough, and all weights decay. This function handles
    // the first modes. It returns true if they are near for all pixels, as in most blocks: then every pixel is
    // background and the update is complete.
    HWY_INLINE bool match_firsts() {
        V variance[parts], mean[channels][parts], difference[channels][parts], distance[parts];
        for (int part = 0; part < parts; part += 2) {
            load(feature(0, part, 0), variance + part);
            for (int c = 0; c < channels; ++c) load(feature(0, part, 1 + c), mean[c] + part);
        }
        load_weights(0);
        auto all_near = hn::Not(none());
        for (int part = 0; part < parts; ++part) {
            for (int c = 0; c < channels; ++c) difference[c][part] = hn::Sub(mean[c][part], values_[c][part]);
            distance[part] = square_of(difference, part);
            matched_[part] =
                hn::And(used_[part], hn::Lt(distance[part], hn::Mul(set(terms_.near_distance), variance[part])));
            all_near = hn::And(all_near, matched_[part]);
        }
        const bool all = hn::AllTrue(Floats(), all_near);
        V share[parts];
        for (int part = 0; part < parts; ++part) {
            auto& weight = weight_[0][part];
            const auto gained = hn::Add(weight, set(step_.gain));
            weight = hn::IfThenElse(matched_[part], gained, weight);
            share[part] = share_of(gained);
        }
        for (int part = 0; part < parts; part += 2) {
            V learned[2];
            for (int c = 0; c < channels; ++c) {
                for (int i = 0; i < 2; ++i)
                    learned[i] = learned_mean(step_, mean[c][part + i], difference[c][part + i], share[part + i]);
                store_where(matched_ + part, learned, mean[c] + part, feature(0, part, 1 + c));
            }
            for (int i = 0; i < 2; ++i)
                learned[i] = learned_variance(terms_, step_, variance[part + i], distance[part + i], share[part + i]);
            store_where(matched_ + part, learned, variance + part, feature(0, part, 0));
        }
        const bool counts = terms_.background_weight > 0;
        for (int part = 0; part < parts; ++part) {
            const auto within = hn::Lt(distance[part], hn::Mul(set(terms_.background_distance), variance[part]));
            background_[part] = counts ? hn::Or(hn::Not(used_[part]), within) : hn::Not(used_[part]);
            total_[part] = weight_[0][part] = kept(weight_[0][part]);
        }
        if (!all || !counts || terms_.near_distance > terms_.background_distance) return false;
        // Modes after the last used one are not visited again.
        const int held = modes_;
        // All weights decay, including those of the modes that did not match.
        for (modes_ = 1; modes_ < held && load_weights(modes_); ++modes_) add_to_total(modes_);
        normalize();
        store_weights();
        return true;
    }

    // Handles the other modes, for pixels that do not belong to their first mode.
    HWY_INLINE void match_others() {
        const int held = modes_;
        for (modes_ = std::min(held, 1); modes_ < held && load_weights(modes_); ++modes_) {
            M open[parts];
            auto any_open = none();
            for (int part = 0; part < parts; ++part) {
                open[part] = hn::AndNot(matched_[part], used_[part]);
                any_open = hn::Or(any_open, open[part]);
            }
            const bool learns = any(any_open);
            if (learns)
                for (int part = 0; part < parts; part += 2)
                    if (any_of_pair(open + part)) learn(modes_, part, open + part);
            add_to_total(modes_);
            if (learns)
                for (int part = 0; part < parts; part += 2) promote(modes_, part, open + part);
        }
    }

    // Reduces the pair of masks `open` to the pixels that belong to the mode, and updates its mean, variance
    // and weight for them.
    HWY_INLINE void learn(int mode, int part, M* open) {
        V variance[2], mean[channels][2], difference[channels][2], distance[2];
        load(feature(mode, part, 0), variance);
        for (int c = 0; c < channels; ++c) load(feature(mode, part, 1 + c), mean[c]);
        for (int i = 0; i < 2; ++i) {
            for (int c = 0; c < channels; ++c) difference[c][i] = hn::Sub(mean[c][i], values_[c][part + i]);
            distance[i] = square_of(difference, i);
            const auto counts = hn::And(open[i], hn::Lt(total_[part + i], set(terms_.background_weight)));
            const auto within = hn::Lt(distance[i], hn::Mul(set(terms_.background_distance), variance[i]));
            background_[part + i] = hn::Or(background_[part + i], hn::And(counts, within));
            open[i] = hn::And(open[i], hn::Lt(distance[i], hn::Mul(set(terms_.near_distance), variance[i])));
        }
        if (!any_of_pair(open)) return;
        V share[2];
        for (int i = 0; i < 2; ++i) {
            matched_[part + i] = hn::Or(matched_[part + i], open[i]);
            auto& weight = weight_[mode][part + i];
            const auto gained = hn::Add(weight, set(step_.gain));
            weight = hn::IfThenElse(open[i], gained, weight);
            share[i] = share_of(gained);
        }
        V learned[2];
        for (int c = 0; c < channels; ++c) {
            for (int i = 0; i < 2; ++i) learned[i] = learned_mean(step_, mean[c][i], difference[c][i], share[i]);
            store_where(open, learned, mean[c], feature(mode, part, 1 + c));
        }
        for (int i = 0; i < 2; ++i) learned[i] = learned_variance(terms_, step_, variance[i], distance[i], share[i]);
        store_where(open, learned, variance, feature(mode, part, 0));
    }

    // Moves a mode that has gained weight before all modes that are not heavier, for the pixels in the pair of masks
    // `near`.
    HWY_INLINE void promote(int mode, int part, M* near) {
        for (; mode > 0; --mode) {
            auto *here = weight_[mode] + part, *before = weight_[mode - 1] + part;
            for (int i = 0; i < 2; ++i) near[i] = hn::And(near[i], hn::Ge(here[i], before[i]));
            if (!any_of_pair(near)) return;
            for (int i = 0; i < 2; ++i) {
                const auto gained = here[i];
                here[i] = hn::IfThenElse(near[i], before[i], here[i]);
                before[i] = hn::IfThenElse(near[i], gained, before[i]);
            }
            for (int number = 0; number < 1 + channels; ++number) {
                V a[2], b[2];
                load(feature(mode, part, number), a);
                load(feature(mode - 1, part, number), b);
                store_where(near, b, a, feature(mode, part, number));
                store_where(near, a, b, feature(mode - 1, part, number));
            }
        }
    }

    // Scales the weights of each pixel so that they add up to 1, in stored units.
    HWY_INLINE void normalize() {
        for (int part = 0; part < parts; ++part) {
            // Pixels without a mode have weights of 0, whatever the divisor.
            const auto total = hn::IfThenElse(hn::Gt(total_[part], hn::Zero(Floats())), total_[part], set(1));
            const auto factor = hn::Div(set(weight_unit), total);
            for (int mode = 0; mode < modes_; ++mode)
                weight_[mode][part] = hn::Min(hn::Mul(weight_[mode][part], factor), set(most_stored));
        }
    }

    // Returns the pixels of `open` that are a darker version of one of their background modes.
    HWY_INLINE M shadowed(int part, M open) const {
        const auto zero = hn::Zero(Floats());
        auto total = zero;
        auto found = none();
        for (int mode = 0; mode < modes_; ++mode) {
            open = hn::And(open, hn::Gt(weight_[mode][part], zero));
            if (!any(open)) break;
            V mean[channels], own[channels], rest[channels], variance;
            for (int c = 0; c < channels; ++c) {
                mean[c] = one_of(mode, part, 1 + c);
                own[c] = values_[c][part];
            }
            const auto product = sum_of_products(own, mean);
            const auto square = sum_of_products(mean, mean);
            open = hn::And(open, hn::Gt(square, zero));
            // The projection on the background colour must be darker than it, but not by too much.
            const auto darker =
                hn::And(hn::Le(product, square), hn::Ge(product, hn::Mul(set(terms_.shadow_threshold), square)));
            const auto ratio = hn::Div(product, square);
            for (int c = 0; c < channels; ++c) rest[c] = hn::Sub(hn::Mul(ratio, mean[c]), own[c]);
            variance = one_of(mode, part, 0);
            // The distance from the scaled colour, compared with the scaled variance.
            const auto bound = hn::Mul(hn::Mul(hn::Mul(set(terms_.background_distance), variance), ratio), ratio);
            const auto here = hn::And(hn::And(open, darker), hn::Lt(sum_of_products(rest, rest), bound));
            found = hn::Or(found, here);
            total = hn::Add(total, weight_[mode][part]);
            open = hn::AndNot(hn::Or(here, hn::Gt(total, set(terms_.background_weight))), open);
        }
        return found;
    }

    // Loads a feature for a single vector.
    HWY_INLINE V one_of(int mode, int part, int number) const {
        V both[2];
        load(feature(mode, part / 2 * 2, number), both);
        return both[part % 2];
    }

    // Starts a mode for pixels that belong to none, replacing the lightest mode if all are in use.
    HWY_INLINE void begin_modes(const M* fresh) {
        const int last = terms_.mixtures - 1;
        if (modes_ <= last) {
            for (int part = 0; part < parts; ++part) weight_[modes_][part] = hn::Zero(Floats());
            ++modes_;
        } else {
            for (int part = 0; part < parts; ++part)
                weight_[last][part] = hn::IfThenZeroElse(fresh[part], weight_[last][part]);
        }
        for (int part = 0; part < parts; part += 2)
            if (any_of_pair(fresh + part)) begin_mode(part, fresh + part);
    }

    // Starts a mode for the pixels `fresh` of a pair of vectors.
    HWY_INLINE void begin_mode(int part, const M* fresh) {
        V new_weight[2];
        for (int i = 0; i < 2; ++i) {
            for (int mode = 0; mode < modes_; ++mode) {
                auto& weight = weight_[mode][part + i];
                weight = hn::IfThenElse(fresh[i], hn::Mul(weight, set(step_.keep)), weight);
            }
            // The only mode of a pixel has the full weight.
            const auto others = hn::Gt(weight_[0][part + i], hn::Zero(Floats()));
            new_weight[i] = hn::IfThenElse(others, set(step_.gain), set(most_stored));
        }
        // Works from the last place up: the new mode goes before all modes that are not heavier, which move back.
        for (int mode = modes_ - 1; mode >= 0; --mode) {
            auto* const weight = weight_[mode] + part;
            M here[2], moved[2];
            for (int i = 0; i < 2; ++i) {
                const auto below =
                    mode == 0 ? fresh[i] : hn::And(fresh[i], hn::Gt(weight_[mode - 1][part + i], new_weight[i]));
                here[i] = hn::AndNot(hn::Gt(weight[i], new_weight[i]), below);
                moved[i] = hn::AndNot(below, fresh[i]);
            }
            V was[2], will[2];
            if (mode > 0 && any_of_pair(moved)) {
                for (int i = 0; i < 2; ++i)
                    weight[i] = hn::IfThenElse(moved[i], weight_[mode - 1][part + i], weight[i]);
                for (int number = 0; number < 1 + channels; ++number) {
                    load(feature(mode, part, number), was);
                    load(feature(mode - 1, part, number), will);
                    store_where(moved, will, was, feature(mode, part, number));
                }
            }
            if (!any_of_pair(here)) continue;
            for (int i = 0; i < 2; ++i) weight[i] = hn::IfThenElse(here[i], new_weight[i], weight[i]);
            for (int number = 0; number < 1 + channels; ++number) {
                load(feature(mode, part, number), was);
                for (int i = 0; i < 2; ++i)
                    will[i] = number == 0 ? set(terms_.var_init) : values_[number - 1][part + i];
                store_where(here, will, was, feature(mode, part, number));
            }
        }
    }

    // Returns the dot product over the channels, in a fixed order.
    HWY_INLINE static V sum_of_products(const V* a, const V* b) {
        auto sum = hn::Mul(a[0], b[0]);
        for (int c = 1; c < channels; ++c) sum = hn::Add(sum, hn::Mul(a[c], b[c]));
        return sum;
    }
    template <int size>
    HWY_INLINE static V square_of(const V (&values)[channels][size], int part) {
        auto sum = hn::Mul(values[0][part], values[0][part]);
        for (int c = 1; c < channels; ++c) sum = hn::Add(sum, hn::Mul(values[c][part], values[c][part]));
        return sum;
    }

    const MixtureTerms& terms_;
    const MixtureStep& step_;
    std::uint16_t* const weights_;
    const std::int64_t weight_stride_;
    std::uint16_t* const features_;
    const std::int64_t feature_stride_;

    V values_[channels][parts];
    V weight_[most_mixtures][parts];
    V total_[parts];
    M used_[parts], matched_[parts], background_[parts];
    int modes_;  // number of modes that any of the pixels may use
};

}  // namespace mixture_block
}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FRAMEWIRE_DETECT_MIXTURE_INL_HPP
