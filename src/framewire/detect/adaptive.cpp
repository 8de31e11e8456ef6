#include "framewire/detect/adaptive.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/rows.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/detect/adaptive.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>

// The adaptive background on the CPU. Each frame takes five passes over its rows, which threads share:
//
//     frame -> luma, chroma -> texture -> classify, adapt, learn -> foreground -> median -> clean -> dilation -> near
//
// The third pass is update_adaptive() for vectors of pixels of one block.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int block_px = AdaptiveLayout::block_px;

using Bytes = hn::CappedTag<std::uint8_t, block_px>;
using Half = hn::Half<Bytes>;
using Words = hn::Repartition<std::uint16_t, Bytes>;
using Shorts = hn::RebindToSigned<Words>;
using Longs = hn::CappedTag<std::uint32_t, 8>;
using Ints = hn::Repartition<std::int32_t, Bytes>;
using Floats = hn::Repartition<float, Bytes>;
using B = hn::VFromD<Bytes>;
using W = hn::VFromD<Words>;
using Mask = hn::Mask<Bytes>;
constexpr int lanes = static_cast<int>(hn::MaxLanes(Bytes())), word_lanes = lanes / 2;

HWY_INLINE B set(int value) { return hn::Set(Bytes(), static_cast<std::uint8_t>(value)); }
HWY_INLINE W set_words(int value) { return hn::Set(Words(), static_cast<std::uint16_t>(value)); }
HWY_INLINE B difference(B a, B b) { return hn::Or(hn::SaturatedSub(a, b), hn::SaturatedSub(b, a)); }
HWY_INLINE Mask at_most(B a, B b) { return hn::Eq(hn::SaturatedSub(a, b), hn::Zero(Bytes())); }
HWY_INLINE W low_words(B bytes) { return hn::PromoteTo(Words(), hn::LowerHalf(Half(), bytes)); }
HWY_INLINE W high_words(B bytes) { return hn::PromoteTo(Words(), hn::UpperHalf(Half(), bytes)); }
// Narrows words, which must be at most 255.
HWY_INLINE B narrowed(W low, W high) {
    const auto half = [](W words) HWY_ATTR { return hn::DemoteTo(Half(), hn::BitCast(Shorts(), words)); };
    return hn::Combine(Bytes(), half(high), half(low));
}

// The lanes of a mask whose bits start at `first`, a multiple of 8, of a word.
template <class D>
HWY_INLINE hn::Mask<D> lanes_of(D d, std::uint32_t word, int first) {
    const std::uint32_t bits[2] = {word >> first, 0};
    return hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(bits));
}
template <class D>
HWY_INLINE std::uint32_t bits_of(D d, hn::Mask<D> mask) {
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, mask, bytes);
    std::uint32_t bits;
    std::memcpy(&bits, bytes, sizeof bits);
    return bits;
}

// The features of the pixels of a vector.
struct Features {
    B y, near_texture, far_texture, u, v;
};

// Returns the bits of the eight neighbours at a distance whose luma differs.
template <int distance>
HWY_INLINE B texture(const std::uint8_t* const* luma, int x, B centre, B threshold) {
    B alike = hn::Zero(Bytes());
    int bit = 1;
    const auto look = [&](int dx, int dy) HWY_ATTR {
        const auto neighbour = hn::LoadU(Bytes(), luma[2 + dy * distance] + x + dx * distance);
        alike = hn::Or(alike, hn::IfThenElseZero(at_most(difference(neighbour, centre), threshold), set(bit)));
        bit *= 2;
    };
    look(-1, -1), look(0, -1), look(1, -1), look(-1, 0), look(1, 0), look(-1, 1), look(0, 1), look(1, 1);
    return hn::Xor(alike, set(255));
}

// Loads the features of the pixels from `at` on.
template <int channels>
HWY_INLINE Features features(const AdaptivePicture& picture, std::int64_t at) {
    const auto load = [&](const std::uint8_t* plane) HWY_ATTR { return hn::LoadU(Bytes(), plane + at); };
    const auto y = load(picture.luma), near = load(picture.near_texture), far = load(picture.far_texture);
    if constexpr (channels == 1)
        return {y, near, far, set(128), set(128)};
    else
        return {y, near, far, load(picture.u), load(picture.v)};
}

// compare_adaptive() for a vector of pixels, which starts at lane `first` of the block.
template <int channels>
HWY_INLINE Mask compare(const AdaptiveTerms& terms, const AdaptiveLayout& layout, const std::uint8_t* block, int first,
                        const Features& now, B& nearest) {
    const auto* radius = reinterpret_cast<const std::uint16_t*>(block + layout.radius()) + first;
    const auto low = hn::Load(Words(), radius), high = hn::Load(Words(), radius + word_lanes);
    const auto colour_of = [&](W words) HWY_ATTR {
        return hn::Min(hn::MulHigh(words, set_words(terms.threshold << 8)), set_words(255));
    };
    const auto texture_of = [&](W words)
                                HWY_ATTR { return hn::Add(hn::ShiftRight<8>(words), set_words(terms.texture - 1)); };
    const auto colour_limit = narrowed(colour_of(low), colour_of(high));
    const auto texture_limit = narrowed(texture_of(low), texture_of(high));
    nearest = set(255);
    B matches = hn::Zero(Bytes());
    auto open = hn::Eq(matches, matches);
    for (int slot = 0; slot < adaptive_samples; ++slot) {
        const auto sample = [&](int feature)
                                HWY_ATTR { return hn::Load(Bytes(), block + layout.sample(slot, feature) + first); };
        const auto y = sample(0);
        B chroma = hn::Zero(Bytes());
        if constexpr (channels == 3)
            chroma = hn::SaturatedAdd(difference(now.u, sample(3)), difference(now.v, sample(4)));
        const auto colour = hn::SaturatedAdd(difference(now.y, y), hn::Sub(chroma, hn::ShiftRight<2>(chroma)));
        const auto texture = hn::Add(hn::PopulationCount(hn::Xor(now.near_texture, sample(1))),
                                     hn::PopulationCount(hn::Xor(now.far_texture, sample(2))));
        auto match = hn::And(at_most(colour, colour_limit), at_most(texture, texture_limit));
        if constexpr (channels == 3) match = hn::And(match, at_most(chroma, set(most_adaptive_chroma)));
        if (terms.shadows) {
            const auto darkest = hn::Add(hn::Add(hn::ShiftRight<2>(y), hn::ShiftRight<3>(y)), hn::ShiftRight<5>(y));
            const auto in_range = hn::And(at_most(darkest, now.y), hn::Not(at_most(y, now.y)));
            const auto is_lit = hn::Not(at_most(y, set(40)));
            const auto looks_alike = hn::And(at_most(chroma, set(12)), at_most(texture, set(4)));
            match = hn::Or(match, hn::And(hn::And(in_range, is_lit), looks_alike));
        }
        const auto distance = hn::SaturatedAdd(colour, hn::ShiftLeft<2>(texture));
        nearest = hn::IfThenElse(open, hn::Min(nearest, distance), nearest);
        matches = hn::Add(matches, hn::IfThenElseZero(hn::And(open, match), set(1)));
        open = at_most(matches, set(adaptive_matches - 1));
        if (hn::AllFalse(Bytes(), open)) break;
    }
    return open;
}

// Returns 256 / flicker, rounded down, for words of 1 to 200.
HWY_INLINE W fall_of(W flicker) {
    const auto quotient = [](hn::VFromD<Ints> value) HWY_ATTR {
        return hn::ConvertTo(Ints(), hn::Div(hn::Set(Floats(), 256.0f), hn::ConvertTo(Floats(), value)));
    };
    const auto pairs = hn::BitCast(Ints(), flicker);
    const auto even = quotient(hn::And(pairs, hn::Set(Ints(), 0xFFFF))), odd = quotient(hn::ShiftRight<16>(pairs));
    return hn::BitCast(Words(), hn::Or(even, hn::ShiftLeft<16>(odd)));
}

// adapt() for a vector of pixels. The words hold the masks of the block.
HWY_INLINE void adapt(const AdaptiveLayout& layout, std::uint8_t* block, int first, const AdaptiveStep& step,
                      Mask foreground, B nearest, std::uint32_t was_foreground, std::uint32_t in_object,
                      std::uint32_t near_object) {
    const Bytes d;
    auto* flickers = block + layout.flicker() + first;
    auto flicker = hn::Load(d, flickers);
    const auto changed =
        hn::AndNot(lanes_of(d, near_object, first), hn::Xor(foreground, lanes_of(d, was_foreground, first)));
    flicker = hn::IfThenElse(changed, hn::Min(hn::SaturatedAdd(flicker, set(10)), set(most_flicker)),
                             hn::Max(hn::SaturatedSub(flicker, set(1)), set(least_flicker)));
    hn::Store(flicker, d, flickers);

    auto* ages = block + layout.age() + first;
    const auto age = hn::Load(d, ages);
    const auto stopped = in_object & bits_of(d, hn::Not(at_most(age, set(adaptive_frame_ages)))) << first;
    const auto growth = step.tick ? set(1) : hn::IfThenElseZero(at_most(age, set(adaptive_frame_ages - 1)), set(1));
    hn::Store(hn::IfThenElse(foreground, hn::SaturatedAdd(age, growth), hn::SaturatedSub(age, set(2))), d, ages);

    const auto adapt_words = [&](W distance_now, W flicker_words, int at) HWY_ATTR {
        auto* distances = reinterpret_cast<std::uint16_t*>(block + layout.distance()) + at;
        const auto mean = hn::BitCast(Shorts(), hn::Load(Words(), distances));
        const auto change = hn::Sub(hn::BitCast(Shorts(), hn::ShiftLeft<7>(distance_now)), mean);
        const auto dithered = [&](int shift) HWY_ATTR {
            return hn::SaturatedAdd(change,
                                    hn::Set(Shorts(), static_cast<std::int16_t>(step.dither & ((1u << shift) - 1))));
        };
        auto moved = hn::ShiftRight<6>(dithered(6));
        if (!step.young) {
            moved = hn::IfThenElse(lanes_of(Shorts(), near_object, at), hn::ShiftRight<7>(dithered(7)), moved);
            moved = hn::IfThenElse(lanes_of(Shorts(), in_object, at), hn::ShiftRight<9>(dithered(9)), moved);
            moved = hn::IfThenElse(lanes_of(Shorts(), stopped, at), hn::Min(moved, hn::Zero(Shorts())), moved);
        }
        const auto distance = hn::BitCast(Words(), hn::Add(mean, moved));
        hn::Store(distance, Words(), distances);

        auto* radii = reinterpret_cast<std::uint16_t*>(block + layout.radius()) + at;
        const auto radius = hn::Load(Words(), radii);
        // (root * root) >> 8, as the upper half of the product of two numbers 16 times as large.
        const auto root = hn::ShiftLeft<4>(hn::Add(hn::ShiftRight<4>(distance), set_words(adaptive_radius_unit)));
        const auto wanted = hn::MulHigh(root, root);
        const auto rise = hn::Add(hn::ShiftLeft<1>(flicker_words), hn::ShiftRight<1>(flicker_words));
        const auto larger = hn::Min(hn::Add(radius, rise), set_words(most_adaptive_radius));
        const auto smaller = hn::Max(hn::SaturatedSub(radius, fall_of(flicker_words)), set_words(adaptive_radius_unit));
        const auto keeps = hn::Eq(hn::SaturatedSub(wanted, radius), hn::Zero(Words()));
        hn::Store(hn::IfThenElse(keeps, smaller, larger), Words(), radii);
    };
    adapt_words(low_words(nearest), low_words(flicker), first);
    adapt_words(high_words(nearest), high_words(flicker), first + word_lanes);
}

// The pixels of a block for which the random events of learn_adaptive() take place.
struct Events {
    std::uint32_t learn, spread, ghost, retire;
};

// Draws the events of a block's pixels.
HWY_INLINE Events draw_events(const AdaptiveStep& step, std::uint32_t first_pixel) {
    const Longs d;
    constexpr int count = static_cast<int>(hn::MaxLanes(Longs()));
    Events events{};
    const auto salt = hn::Set(d, (step.frame + 1) * 0x85EBCA77u);
    for (int lane = 0; lane < block_px; lane += count) {
        auto x = hn::Iota(d, first_pixel + static_cast<std::uint32_t>(lane));
        x = hn::Xor(hn::Mul(x, hn::Set(d, 0x9E3779B1u)), salt);
        x = hn::Mul(hn::Xor(x, hn::ShiftRight<15>(x)), hn::Set(d, 0x2C1B3C6Du));
        x = hn::Mul(hn::Xor(x, hn::ShiftRight<12>(x)), hn::Set(d, 0x297A2D39u));
        x = hn::Xor(x, hn::ShiftRight<15>(x));
        const auto hits = [&](std::uint32_t mask) HWY_ATTR {
            return bits_of(d, hn::Eq(hn::And(x, hn::Set(d, mask)), hn::Zero(d))) << lane;
        };
        events.learn |= hits(step.learn);
        events.spread |= hits(step.spread);
        events.ghost |= hits(adaptive_ghost_mask);
        events.retire |= hits(step.retire);
    }
    return events;
}

// Returns a word of a mask whose pixels are those to the left (dx -1), to the right (1) or in place (0). Beyond the
// ends of the row its last pixels are repeated.
HWY_INLINE std::uint32_t shifted(const std::uint32_t* row, int word, int words, int last_bit, int dx) {
    const auto here = row[word];
    if (dx < 0) return here << 1 | (word > 0 ? row[word - 1] >> 31 : here & 1);
    if (dx == 0) return here;
    if (word + 1 < words) return here >> 1 | row[word + 1] << 31;
    return (here >> 1 & ~(1u << last_bit)) | (here & 1u << last_bit);
}

// Replaces a sample of the pixels whose bits are set by the features of a picture from `at` on.
template <int channels>
HWY_INLINE void replace(const AdaptiveLayout& layout, std::uint8_t* block, int slot, std::uint32_t pixels,
                        const AdaptivePicture& picture, std::int64_t at) {
    if (pixels == 0) return;
    for (int first = 0; first < block_px; first += lanes) {
        const auto mask = lanes_of(Bytes(), pixels, first);
        const auto from = features<channels>(picture, at + first);
        const auto blend = [&](int feature, B value) HWY_ATTR {
            auto* to = block + layout.sample(slot, feature) + first;
            hn::Store(hn::IfThenElse(mask, value, hn::Load(Bytes(), to)), Bytes(), to);
        };
        blend(0, from.y);
        blend(1, from.near_texture);
        blend(2, from.far_texture);
        if constexpr (channels == 3) {
            blend(3, from.u);
            blend(4, from.v);
        }
    }
}

// Returns the pixels of a block whose colour is nearly that of the pixels from `there` on.
template <int channels>
HWY_INLINE std::uint32_t continued(const AdaptivePicture& picture, std::int64_t here, std::int64_t there) {
    std::uint32_t bits = 0;
    for (int first = 0; first < block_px; first += lanes) {
        const auto differs = [&](const std::uint8_t* plane) HWY_ATTR {
            return difference(hn::LoadU(Bytes(), plane + here + first), hn::LoadU(Bytes(), plane + there + first));
        };
        auto colour = differs(picture.luma);
        if constexpr (channels == 3)
            colour = hn::SaturatedAdd(colour, hn::SaturatedAdd(differs(picture.u), differs(picture.v)));
        bits |= bits_of(Bytes(), at_most(colour, set(most_ghost_difference))) << first;
    }
    return bits;
}

// Returns the pixels of a block whose age is above `limit`.
HWY_INLINE std::uint32_t older_than(const AdaptiveLayout& layout, const std::uint8_t* block, int limit) {
    std::uint32_t bits = 0;
    for (int first = 0; first < block_px; first += lanes)
        bits |= bits_of(Bytes(), hn::Not(at_most(hn::Load(Bytes(), block + layout.age() + first), set(limit))))
                << first;
    return bits;
}

template <int channels>
void update_row_of(const AdaptiveTerms& terms, const AdaptiveStep& step, const AdaptiveLayout& layout,
                   const AdaptivePicture& picture, const AdaptiveMasks& masks, int y, std::uint8_t* model,
                   std::uint32_t* out) {
    const auto row_word = static_cast<std::int64_t>(y) * masks.row_words;
    const auto first_block = std::int64_t{y} * layout.row_blocks;
    for (int word = 0; word < layout.row_blocks; ++word, model += layout.block_bytes()) {
        const int begin = word * block_px, pixels = std::min(block_px, picture.width - begin);
        const auto inside = ~std::uint32_t{0} >> (block_px - pixels);
        if (step.frame == 0)
            for (int lane = 0; lane < pixels; ++lane) begin_adaptive({layout, model, lane}, picture, begin + lane, y);
        std::uint32_t foreground = 0;
        for (int first = 0; first < block_px; first += lanes) {
            const auto now = features<channels>(picture, y * picture.stride + begin + first);
            B nearest;
            const auto moves = compare<channels>(terms, layout, model, first, now, nearest);
            adapt(layout, model, first, step, moves, nearest, masks.foreground[row_word + word],
                  masks.clean[row_word + word], masks.near[row_word + word]);
            foreground |= bits_of(Bytes(), moves) << first;
        }
        foreground &= inside;
        out[word] = foreground;

        const auto number = static_cast<std::uint32_t>(y) * static_cast<std::uint32_t>(picture.width) +
                            static_cast<std::uint32_t>(begin);
        const auto events = draw_events(step, number);
        const auto choice = adaptive_choice(first_block + word, step.frame);
        const auto here = y * picture.stride + begin;
        auto learners = events.learn & ~foreground;
        const auto retiring = foreground & events.retire;
        if (step.young)
            learners |= retiring;
        else if (retiring && terms.keep_age > 0)
            learners |= retiring & older_than(layout, model, terms.keep_age);
        replace<channels>(layout, model, choice.learn_slot, learners & inside, picture, here);

        const auto row_at = [&](int dy) { return std::clamp(y + dy, 0, picture.height - 1); };
        const auto was_set = [&](const std::uint32_t* mask, int dx, int dy) HWY_ATTR {
            return shifted(mask + static_cast<std::int64_t>(row_at(dy)) * masks.row_words, word, layout.row_blocks,
                           pixels - 1, dx);
        };
        if (events.spread & inside)
            replace<channels>(layout, model, choice.spread_slot,
                              events.spread & inside & ~was_set(masks.foreground, choice.spread_dx, choice.spread_dy),
                              picture, row_at(choice.spread_dy) * picture.stride + begin + choice.spread_dx);
        if (auto ghosts = foreground & events.ghost) {
            ghosts &= older_than(layout, model, adaptive_ghost_age) &
                      ~was_set(masks.foreground, choice.ghost_dx, choice.ghost_dy) &
                      ~was_set(masks.clean, choice.ghost_dx, choice.ghost_dy);
            if (ghosts)
                ghosts &= continued<channels>(picture, here,
                                              row_at(choice.ghost_dy) * picture.stride + begin + choice.ghost_dx);
            for (const int slot : choice.ghost_slots) replace<channels>(layout, model, slot, ghosts, picture, here);
        }
    }
}

}  // namespace

void update_adaptive_row(const AdaptiveTerms& terms, const AdaptiveStep& step, const AdaptiveLayout& layout,
                         const AdaptivePicture& picture, const AdaptiveMasks& masks, int y, std::uint8_t* model,
                         std::uint32_t* out) {
    const auto update = layout.features == 5 ? update_row_of<3> : update_row_of<1>;
    update(terms, step, layout, picture, masks, y, model, out);
}

// Computes the texture of a row from the luma of five rows, of which the third is its own.
void texture_row(const std::uint8_t* const* luma, int width, std::uint8_t* near, std::uint8_t* far) {
    for (int x = 0; x < width; x += lanes) {
        const auto centre = hn::LoadU(Bytes(), luma[2] + x);
        const auto threshold =
            hn::Add(hn::Add(hn::ShiftRight<4>(centre), hn::ShiftRight<5>(centre)), set(texture_threshold(0)));
        hn::StoreU(texture<1>(luma, x, centre, threshold), Bytes(), near + x);
        hn::StoreU(texture<2>(luma, x, centre, threshold), Bytes(), far + x);
    }
}

// Converts a row of BGR pixels to luma and chroma.
void split_to_yuv(const std::uint8_t* row, int width, std::uint8_t* luma, std::uint8_t* u, std::uint8_t* v) {
    const hn::CappedTag<std::uint8_t, block_px> d;
    // The sums are below 65536, and those of chroma are from -32768 to 32767.
    const auto luma_of = [&](W b, W g, W r) HWY_ATTR {
        const auto sum = hn::Add(hn::Add(hn::Mul(b, set_words(29)), hn::Mul(g, set_words(150))),
                                 hn::Add(hn::Mul(r, set_words(77)), set_words(128)));
        return hn::ShiftRight<8>(sum);
    };
    // `strong` has the weight 128; 32768 keeps the sum above 0.
    const auto chroma_of = [&](W strong, W one, int one_weight, W other, int other_weight) HWY_ATTR {
        const auto less = hn::Add(hn::Mul(one, set_words(one_weight)), hn::Mul(other, set_words(other_weight)));
        const auto sum =
            hn::SaturatedAdd(hn::Sub(hn::Add(hn::ShiftLeft<7>(strong), set_words(32768)), less), set_words(128));
        return hn::Min(hn::ShiftRight<8>(sum), set_words(255));
    };
    int x = 0;
    for (; x + lanes <= width; x += lanes) {
        B b, g, r;
        hn::LoadInterleaved3(d, row + 3 * x, b, g, r);
        const W b0 = low_words(b), b1 = high_words(b), g0 = low_words(g), g1 = high_words(g), r0 = low_words(r),
                r1 = high_words(r);
        hn::StoreU(narrowed(luma_of(b0, g0, r0), luma_of(b1, g1, r1)), d, luma + x);
        hn::StoreU(narrowed(chroma_of(b0, g0, 85, r0, 43), chroma_of(b1, g1, 85, r1, 43)), d, u + x);
        hn::StoreU(narrowed(chroma_of(r0, g0, 107, b0, 21), chroma_of(r1, g1, 107, b1, 21)), d, v + x);
    }
    for (; x < width; ++x) {
        const int b = row[3 * x], g = row[3 * x + 1], r = row[3 * x + 2];
        luma[x] = adaptive_luma(b, g, r);
        u[x] = adaptive_u(b, g, r);
        v[x] = adaptive_v(b, g, r);
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(update_adaptive_row);
HWY_EXPORT(texture_row);
HWY_EXPORT(split_to_yuv);

namespace {

constexpr int clean_window_px = 5, near_window_px = 7;
// Ages are stored in a byte.
constexpr int most_keep_age = 250;
constexpr double most_keep_frames = 1e6;

Shape one_frame(const Shape& shape) {
    validate(shape, "the input of an adaptive background");
    if (shape.channels != 1 && shape.channels != 3)
        fail(ErrorCode::usage, "the input of an adaptive background has {} channels; allowed: 1 and 3", shape.channels);
    return shape.with_frames(1);
}

}  // namespace

const ParameterFields<AdaptiveParameters>& adaptive_fields() {
    using P = AdaptiveParameters;
    static const ParameterFields<P> fields = {
        parameter_field(&P::threshold,
                        {.name = "threshold",
                         .help = "smallest difference in colour of a pixel in front of a calm background",
                         .minimum = 1,
                         .maximum = 255}),
        parameter_field(&P::texture, {.name = "texture",
                                      .help = "bits of 16 in which the texture of a calm background may differ",
                                      .maximum = 16}),
        parameter_field(&P::shadows, {.name = "shadows", .help = "count shadows as background"}),
    };
    return fields;
}

AdaptiveTerms adaptive_terms(const AdaptiveParameters& parameters) {
    adaptive_fields().check(parameters, "adaptive");
    const double seconds = parameters.keep_seconds, rate = parameters.frames_per_second;
    if (!(seconds >= 0 && seconds <= most_keep_seconds))
        fail(ErrorCode::usage, "adaptive: objects that stop are kept for {} s; allowed: 0 to {}", seconds,
             most_keep_seconds);
    if (!(rate > 0)) fail(ErrorCode::usage, "adaptive: {} frames per second; allowed: numbers above 0", rate);
    const int keep =
        seconds == 0 ? 0 : static_cast<int>(std::lround(std::clamp(seconds * rate, 1.0, most_keep_frames)));
    // The first ages are those of single frames, whatever the length of a tick.
    constexpr int ticks = most_keep_age - adaptive_frame_ages;
    const int in_frames = std::min(keep, adaptive_frame_ages), rest = keep - in_frames;
    const int tick_frames = std::max(1, (rest + ticks - 1) / ticks);
    return {.threshold = parameters.threshold,
            .texture = parameters.texture,
            .shadows = parameters.shadows,
            .tick_frames = tick_frames,
            .keep_age = in_frames + rest / tick_frames};
}

AdaptiveBackground::AdaptiveBackground(const AdaptiveParameters& parameters, const Shape& shape, Executor& executor)
    : shape_(one_frame(shape)),
      terms_(adaptive_terms(parameters)),
      layout_(shape_),
      executor_(&executor),
      model_(static_cast<std::size_t>(layout_.bytes()), executor),
      planes_(static_cast<std::size_t>((shape_.channels + 2) * plane_bytes()), executor),
      foreground_(shape_, executor),
      clean_(shape_, executor),
      near_(shape_, executor),
      median_(clean_window_px, shape_, executor),
      dilation_(MorphologyOperation::dilate, StructuringElement(ElementShape::rect, near_window_px), shape_, executor),
      frames_seen_(sizeof(std::uint32_t), executor) {
    model_.fill(0);
    reset();
}

void AdaptiveBackground::reset() {
    for (const auto* mask : {&foreground_, &clean_, &near_}) mask->memory().fill(0);
    frames_seen_.fill(0);
}

std::int64_t AdaptiveBackground::plane_bytes() const {
    return (std::int64_t{layout_.row_blocks} * AdaptiveLayout::block_px + 2 * AdaptivePicture::margin_px) *
           shape_.height;
}

AdaptivePicture AdaptiveBackground::picture() const {
    const auto plane = [&](int channel) {
        return planes_.data() + channel * plane_bytes() + AdaptivePicture::margin_px;
    };
    const bool gray = shape_.channels == 1;
    return {.luma = plane(0),
            .u = gray ? nullptr : plane(1),
            .v = gray ? nullptr : plane(2),
            .near_texture = plane(shape_.channels),
            .far_texture = plane(shape_.channels + 1),
            .stride = plane_bytes() / shape_.height,
            .width = shape_.width,
            .height = shape_.height};
}

AdaptiveMasks AdaptiveBackground::masks(const std::uint32_t* foreground) const {
    return {foreground, clean_.memory().as<std::uint32_t>(), near_.memory().as<std::uint32_t>(),
            mask_row_words(shape_.width)};
}

void AdaptiveBackground::run(HostView<const std::uint8_t> frames, HostBitMaskView<std::uint32_t> foreground) {
    check(frames, foreground);
    const auto image = picture();
    const auto grain = rows_in_cache(shape_.width);
    const auto words = static_cast<std::size_t>(foreground.frame_words());
    auto& seen = *frames_seen_.as<std::uint32_t>();
    // The planes belong to this object; pictures only read them.
    const auto row_of = [&](const std::uint8_t* plane, int y) {
        return const_cast<std::uint8_t*>(plane) + y * image.stride;
    };
    const auto extend = [&](std::uint8_t* row) {
        std::fill_n(row - AdaptivePicture::margin_px, AdaptivePicture::margin_px, row[0]);
        std::fill(row + shape_.width, row - AdaptivePicture::margin_px + image.stride, row[shape_.width - 1]);
    };
    for (int frame = 0; frame < frames.shape().frames; ++frame, ++seen) {
        executor_->pool().for_chunks(shape_.height, grain, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (auto y = static_cast<int>(begin); y < end; ++y) {
                auto* luma = row_of(image.luma, y);
                if (shape_.channels == 3) HWY_DYNAMIC_DISPATCH(split_to_yuv)
                (frames.row(frame, y), shape_.width, luma, row_of(image.u, y), row_of(image.v, y));
                else std::copy_n(frames.row(frame, y), shape_.width, luma);
                extend(luma);
                if (shape_.channels == 3) {
                    extend(row_of(image.u, y));
                    extend(row_of(image.v, y));
                }
            }
        });
        executor_->pool().for_chunks(shape_.height, grain, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (auto y = static_cast<int>(begin); y < end; ++y) {
                const std::uint8_t* luma[5];
                for (int dy = -2; dy <= 2; ++dy) luma[2 + dy] = image.luma + image.at(0, y + dy);
                HWY_DYNAMIC_DISPATCH(texture_row)
                (luma, shape_.width, row_of(image.near_texture, y), row_of(image.far_texture, y));
                extend(row_of(image.near_texture, y));
                extend(row_of(image.far_texture, y));
            }
        });
        const auto step = adaptive_step(terms_, seen);
        const auto before = masks(frame == 0 ? foreground_.memory().as<std::uint32_t>() : foreground.row(frame - 1, 0));
        executor_->pool().for_chunks(shape_.height, grain, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (auto y = static_cast<int>(begin); y < end; ++y) {
                auto* out = foreground.row(frame, y);
                auto* model = model_.data() + std::int64_t{y} * layout_.row_blocks * layout_.block_bytes();
                HWY_DYNAMIC_DISPATCH(update_adaptive_row)(terms_, step, layout_, image, before, y, model, out);
                std::fill(out + layout_.row_blocks, out + foreground.row_words(), 0u);
            }
        });
        clean<MemorySpace::host>(foreground.frames(frame, 1));
    }
    // The caller may change the masks before the next run.
    std::copy_n(foreground.row(frames.shape().frames - 1, 0), words, foreground_.memory().as<std::uint32_t>());
}

// Inverts the conversion of adaptive_luma() and its kin.
void AdaptiveBackground::draw_background(HostView<std::uint8_t> picture) const {
    executor_->require_space<MemorySpace::host>("a picture of an adaptive background");
    validate(picture, shape_, "the picture of an adaptive background");
    const auto byte = [](int value) { return static_cast<std::uint8_t>(std::clamp((value + 128) >> 8, 0, 255)); };
    const bool is_empty = *frames_seen_.as<std::uint32_t>() == 0;
    for (int y = 0; y < shape_.height; ++y)
        for (int x = 0; x < shape_.width; ++x) {
            const auto block = std::int64_t{y} * layout_.row_blocks + x / AdaptiveLayout::block_px;
            const AdaptivePixel pixel{layout_, model_.data() + block * layout_.block_bytes(),
                                      x % AdaptiveLayout::block_px};
            const auto mean = [&](int feature) {
                int sum = adaptive_samples / 2;
                for (int slot = 0; slot < adaptive_samples; ++slot) sum += pixel.sample(slot, feature);
                return is_empty ? 0 : sum / adaptive_samples;
            };
            auto* to = picture.row(0, y) + x * shape_.channels;
            const int luma = mean(0) * 256;
            to[0] = byte(luma);
            if (shape_.channels == 1) continue;
            const int u = is_empty ? 0 : mean(3) - 128, v = is_empty ? 0 : mean(4) - 128;
            to[0] = byte(luma + 454 * u);
            to[1] = byte(luma - 88 * u - 183 * v);
            to[2] = byte(luma + 359 * v);
        }
}

}  // namespace framewire

#endif
