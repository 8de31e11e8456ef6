#include "framewire/detect/mixture.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/rows.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/detect/mixture.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/detect/mixture-inl.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string_view>

// Mixture of Gaussians on the CPU. A thread owns a strip of rows and takes each row through all frames:
//
//     the row learns from the frame:  RowModel::learn()     reads and writes the 16-bit model
//     it does not (most frames):      RowModel::classify()  reads only levels and reaches
//
// Levels and reaches take 5 bytes per BGR pixel and mode, half of the model.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

using namespace mixture_block;

constexpr std::int64_t blocks_ahead = 4;  // blocks to prefetch ahead; 2 to 8 are about equally fast

using Bytes = hn::CappedTag<std::uint8_t, block_px>;
using B = hn::VFromD<Bytes>;
constexpr int byte_lanes = static_cast<int>(hn::MaxLanes(Bytes()));

// The pixels of a block, in planar order.
struct BlockPixels {
    const std::uint8_t* first;
    std::int64_t channel_stride;

    HWY_INLINE const std::uint8_t* of(int channel) const { return first + channel * channel_stride; }
};

// Calls body(channel) for each channel: compilers do not unroll loops over three channels.
template <int channels, class Body>
HWY_INLINE void for_channels(Body&& body) {
    body(0);
    if constexpr (channels == 3) {
        body(1);
        body(2);
    }
}

// Squares of differences below 15 levels; the last entry is for all larger differences.
HWY_ALIGN constexpr std::uint8_t squares[16] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 255};

// Returns true if all pixels of a block are nearer than `nearest` to their first modes. If not, they may still be
// background.
template <int channels>
HWY_INLINE bool all_near(const BlockPixels& pixels, const std::uint8_t* means, std::uint8_t nearest) {
    const Bytes d;
    const auto table = hn::LoadDup128(d, squares);
    // Sums saturate at 255, which is at least the largest reach kept in `nearest`.
    auto most = hn::Zero(d);
    for (int x = 0; x < block_px; x += byte_lanes) {
        auto sum = hn::Zero(d);
        for_channels<channels>([&](int c) HWY_ATTR {
            const auto own = hn::LoadU(d, pixels.of(c) + x), mean = hn::LoadU(d, means + c * block_px + x);
            const auto levels = hn::Or(hn::SaturatedSub(own, mean), hn::SaturatedSub(mean, own));
            sum = hn::SaturatedAdd(sum, hn::TableLookupBytes(table, hn::Min(levels, hn::Set(d, 15))));
        });
        most = hn::Max(most, sum);
    }
    return hn::AllTrue(d, hn::Ne(hn::SaturatedSub(hn::Set(d, nearest), most), hn::Zero(d)));
}

using Levels = hn::CappedTag<std::uint16_t, block_px>;
constexpr int level_lanes = static_cast<int>(hn::MaxLanes(Levels()));

// Returns the bits of a block's pixels that are out of reach of every mode. The strides lead from mode to mode.
template <int channels>
HWY_INLINE std::uint32_t out_of_reach(const BlockPixels& pixels, int modes, const std::uint8_t* means,
                                      std::int64_t mean_stride, const std::uint16_t* reaches,
                                      std::int64_t reach_stride) {
    const Levels d;
    const hn::Rebind<std::uint8_t, Levels> bytes;
    std::uint32_t all = 0;
    for (int x = 0; x < block_px; x += level_lanes) {
        auto reached = hn::Zero(d);  // not 0 where a mode reaches the pixel
        hn::VFromD<Levels> own[channels];
        for_channels<channels>([&](int c) HWY_ATTR { own[c] = hn::PromoteTo(d, hn::LoadU(bytes, pixels.of(c) + x)); });
        for (int mode = 0; mode < modes; ++mode) {
            auto sum = hn::Zero(d);
            for_channels<channels>([&](int c) HWY_ATTR {
                const auto* const mean = means + mode * mean_stride + c * block_px + x;
                const auto levels = hn::Sub(own[c], hn::PromoteTo(d, hn::LoadU(bytes, mean)));
                sum = hn::SaturatedAdd(sum, hn::Mul(levels, levels));
            });
            const auto reach = hn::LoadU(d, reaches + mode * reach_stride + x);
            reached = hn::Or(reached, hn::SaturatedSub(reach, sum));
        }
        std::uint8_t mask[8] = {};
        hn::StoreMaskBits(d, hn::Eq(reached, hn::Zero(d)), mask);
        for (int byte = 0; byte < level_lanes / 8; ++byte) all |= std::uint32_t{mask[byte]} << (x + 8 * byte);
    }
    return all;
}

// Returns the share of a pixel's difference that its only mode, of weight 1, learns. Returns a negative number if a
// pixel can belong to its first mode without being background, or if the update would change the weight.
float share_of_sole(const MixtureTerms& terms, const MixtureStep& step) {
    // The weight after one update, before normalisation.
    const float gained = step.keep * most_stored - step.decay + step.gain;
    const bool stays = gained >= step.decay && gained > 0;
    const bool is_background = terms.background_weight > 0 && terms.near_distance <= terms.background_distance;
    return stays && is_background ? std::min(step.gain / gained, 1.0f) : -1;
}

// Value in MixtureBlocks::kinds of a block whose pixels have a single mode each, of weight 1. For all other blocks
// the value is the most modes that any of their pixels uses.
constexpr std::uint8_t sole_modes = most_mixtures + 1;

// One row of an image and of its masks.
struct MixtureRow {
    BlockPixels pixels;  // pixels of the first block; whole blocks are readable, whatever the width
    int width;
    std::uint32_t *foreground, *shadows;  // `shadows` may be null

    // Stores one word of both masks, without the bits to the right of the image.
    void put(int word, std::uint32_t moving, std::uint32_t dark) const {
        // Clears the bits to the right of the image.
        const auto inside = ~0u >> std::max((word + 1) * block_px - width, 0);
        foreground[word] = moving & inside;
        if (shadows) shadows[word] = dark & inside;
    }
};

// The models of a row of blocks, which learn from the row's pixels or only classify them.
template <int channels>
class RowModel {
public:
    RowModel(const MixtureTerms& terms, const MixtureStep& step, const MixtureLayout& layout,
             const MixtureBlocks& blocks, int y, const MixtureRow& row)
        : terms_(terms),
          step_(step),
          layout_(layout),
          blocks_(blocks),
          row_(row),
          first_(std::int64_t{y} * layout.row_blocks) {}

    // Learns from the row's pixels. If `keeps` is set, the row does not learn from the next frame, so this also
    // stores what classify() needs.
    void learn(bool keeps) {
        const auto sole_share = share_of_sole(terms_, step_);
        for (int word = 0; word < layout_.row_blocks; ++word) {
            const auto block = first_ + word;
            if (block + blocks_ahead < layout_.blocks) prefetch(block + blocks_ahead, keeps);
            auto& kind = blocks_.kinds[block];
            std::uint32_t moving = 0, dark = 0;
            if (kind != sole_modes || sole_share < 0 || !learn_sole(word, sole_share, keeps)) {
                auto here = at(word);
                here.update(moving, dark);
                tell(kind, here.is_sole() ? sole_modes : here.modes());
                if (keeps) keep(here, block);
            }
            row_.put(word, moving, dark);
        }
    }

    // Classifies the row in two passes over its blocks. During the first one, the models that the second one needs
    // arrive from memory.
    void classify() {
        constexpr std::uint32_t open = 1;
        // Distance in bytes; with a shorter one, a block would be processed before its data arrives.
        constexpr auto means_ahead = 16 * block_px * channels;
        for (int word = 0; word < layout_.row_blocks; ++word) {
            const auto block = first_ + word;
            hwy::Prefetch(means(block) + means_ahead);
            hwy::Prefetch(means(block + 1) + means_ahead - 1);
            // A single bit marks a block that needs the second pass.
            const bool near = all_near<channels>(pixels(word), means(block), blocks_.nearest[block]);
            if (!near) prefetch_levels(block);
            row_.put(word, near ? 0 : open, 0);
        }
        for (int word = 0; word < layout_.row_blocks; ++word) {
            if (row_.foreground[word] != open) continue;
            const auto block = first_ + word;
            const auto moving = out_of_reach<channels>(pixels(word), blocks_.compared[block], means(block),
                                                       mean_stride(), reaches(block), reach_stride());
            const auto dark = terms_.shadows && moving ? at(word).shadows() & moving : 0;
            row_.put(word, moving & ~dark, dark);
        }
    }

private:
    // These return addresses of a block's data: the model's weights and features, and the stored levels and reaches,
    // mode by mode.
    HWY_INLINE std::uint16_t* weights(std::int64_t block) const { return blocks_.model + layout_.weights(0, block); }
    HWY_INLINE std::uint16_t* features(std::int64_t block) const { return blocks_.model + layout_.features(0, block); }
    HWY_INLINE std::uint8_t* means(std::int64_t block) const { return blocks_.means + block * block_px * channels; }
    HWY_INLINE std::uint16_t* reaches(std::int64_t block) const { return blocks_.reaches + block * block_px; }
    HWY_INLINE std::int64_t mean_stride() const { return layout_.blocks * block_px * channels; }
    HWY_INLINE std::int64_t reach_stride() const { return layout_.blocks * block_px; }
    // Stores a number of a block. The thread of the rows above may read it at the same time to decide what to
    // prefetch, for which the old value is good enough.
    HWY_INLINE static void tell(std::uint8_t& number, int value) {
        std::atomic_ref(number).store(static_cast<std::uint8_t>(value), std::memory_order_relaxed);
    }
    HWY_INLINE static int reported(std::uint8_t& number) {
        return std::atomic_ref(number).load(std::memory_order_relaxed);
    }
    HWY_INLINE static int modes_of_kind(int kind) { return kind == sole_modes ? 1 : kind; }
    HWY_INLINE int modes_of(std::int64_t block) const { return modes_of_kind(blocks_.kinds[block]); }
    // Learns for a block whose pixels have a single mode each, of weight 1, and are background if they are near
    // it. Returns false and changes nothing if some pixel is not near.
    HWY_INLINE bool learn_sole(int word, float share, bool keeps) const {
        const auto block = first_ + word;
        const SoleBlock<channels> here(terms_, step_, pixels(word).first, row_.pixels.channel_stride, features(block));
        if (!here.update(set(share))) return false;
        if (!keeps) return true;
        tell(blocks_.compared[block], 1);
        blocks_.nearest[block] = least_level(here.keep(means(block), reaches(block)));
        return true;
    }
    // Stores what classify() compares with, mode by mode, until a mode is no pixel's background.
    HWY_INLINE void keep(const Block<channels>& block, std::int64_t number) {
        V total[parts];
        for (auto& one : total) one = hn::Zero(Floats());
        int mode = 0;
        while (mode < modes_of(number) &&
               block.keep(mode, total, means(number) + mode * mean_stride(), reaches(number) + mode * reach_stride()))
            ++mode;
        tell(blocks_.compared[number], mode);
        auto least = hn::Set(Words(), mode > 0 ? 255 : 0);
        for (int x = 0; x < block_px; x += pair_px) least = hn::Min(least, hn::Load(Words(), reaches(number) + x));
        blocks_.nearest[number] = least_level(least);
    }
    // Returns the smallest of the reaches of a vector.
    HWY_INLINE static std::uint8_t least_level(hn::VFromD<Words> reaches) {
        return static_cast<std::uint8_t>(hn::GetLane(hn::MinOfLanes(Words(), reaches)));
    }
    HWY_INLINE BlockPixels pixels(int word) const {
        return {row_.pixels.first + std::int64_t{word} * block_px, row_.pixels.channel_stride};
    }
    // Returns the block of a word with its model.
    HWY_INLINE Block<channels> at(int word) const {
        const auto block = first_ + word;
        return Block<channels>(terms_, step_, pixels(word).first, row_.pixels.channel_stride, modes_of(block),
                               weights(block), layout_.weights(1, 0) - layout_.weights(0, 0), features(block),
                               layout_.features(1, 0) - layout_.features(0, 0));
    }

    // Prefetches what a block will need: its weights, the features of its first mode and of its second if there is one,
    // and its stored levels. Hardware prefetchers do not follow that many streams.
    HWY_INLINE void prefetch(std::int64_t block, bool keeps) const {
        const int kind = reported(blocks_.kinds[block]), modes = modes_of_kind(kind);
        if (kind != sole_modes)
            for (int mode = 0; mode < modes; ++mode) hwy::Prefetch(blocks_.model + layout_.weights(mode, block));
        for (int mode = 0; mode < std::min(modes, 2); ++mode)
            for (int number = 0; number < 1 + channels; ++number)
                hwy::Prefetch(blocks_.model + layout_.features(mode, block) + number * block_px);
        if (!keeps) return;
        const int compared = reported(blocks_.compared[block]);
        for (int mode = 0; mode < compared; ++mode) prefetch_levels(block, mode);
    }

    // Prefetches the levels of a block that does not learn and whose pixels are not all near their first modes.
    HWY_INLINE void prefetch_levels(std::int64_t block) const {
        if (blocks_.compared[block] > 0) hwy::Prefetch(reaches(block));
        for (int mode = 1; mode < blocks_.compared[block]; ++mode) prefetch_levels(block, mode);
    }
    HWY_INLINE void prefetch_levels(std::int64_t block, int mode) const {
        hwy::Prefetch(means(block) + mode * mean_stride());
        hwy::Prefetch(means(block + 1) + mode * mean_stride() - 1);
        hwy::Prefetch(reaches(block) + mode * reach_stride());
    }

    const MixtureTerms& terms_;
    const MixtureStep& step_;
    const MixtureLayout& layout_;
    const MixtureBlocks& blocks_;
    const MixtureRow& row_;
    const std::int64_t first_;  // first block of the row
};

// Updates or classifies one row, depending on whether it learns from this frame.
template <int channels>
void update_row_of(const MixtureTerms& terms, std::uint64_t seen, const MixtureLayout& layout,
                   const MixtureBlocks& blocks, int y, const MixtureRow& row) {
    const auto step = mixture_step(terms, seen);
    RowModel<channels> model(terms, step, layout, blocks, y, row);
    if (mixture_learns(terms, step, y))
        model.learn(!mixture_learns(terms, mixture_step(terms, seen + 1), y));
    else
        model.classify();
}

}  // namespace

void update_row(const MixtureTerms& terms, std::uint64_t seen, const MixtureLayout& layout, const MixtureBlocks& blocks,
                int y, const std::uint8_t* row, std::int64_t channel_stride, int width, std::uint32_t* foreground,
                std::uint32_t* shadows) {
    const auto update = layout.channels == 3 ? update_row_of<3> : update_row_of<1>;
    update(terms, seen, layout, blocks, y, {{row, channel_stride}, width, foreground, shadows});
}

// Separates the channels of a row of BGR pixels.
void split_three(const std::uint8_t* row, int width, std::uint8_t* to, std::int64_t channel_stride) {
    const Bytes d;
    int x = 0;
    for (; x + byte_lanes <= width; x += byte_lanes) {
        B b, g, r;
        hn::LoadInterleaved3(d, row + 3 * x, b, g, r);
        hn::StoreU(b, d, to + x);
        hn::StoreU(g, d, to + channel_stride + x);
        hn::StoreU(r, d, to + 2 * channel_stride + x);
    }
    for (; x < width; ++x)
        for (int c = 0; c < 3; ++c) to[c * channel_stride + x] = row[3 * x + c];
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(update_row);
HWY_EXPORT(split_three);

// The model is updated with planar pixels, of which whole blocks can be read: those to the right of the image are 0.
void MixtureBackground::update_row(std::uint64_t seen, const std::uint8_t* row, int y, std::uint32_t* foreground,
                                   std::uint32_t* shadows, int row_words) {
    const auto stride = std::int64_t{layout_.row_blocks} * MixtureLayout::block_px;
    alignas(64) std::uint8_t planar[3 * (max_side_px + MixtureLayout::block_px)];
    if (shape_.channels == 3)
        HWY_DYNAMIC_DISPATCH(split_three)(row, shape_.width, planar, stride);
    else
        std::copy_n(row, shape_.width, planar);
    for (int channel = 0; channel < shape_.channels; ++channel)
        std::fill(planar + channel * stride + shape_.width, planar + (channel + 1) * stride, std::uint8_t{0});
    HWY_DYNAMIC_DISPATCH(update_row)
    (terms_, seen, layout_,
     {model_.as<std::uint16_t>(), kinds_.data(), compared_.data(), means_.data(), reaches_.as<std::uint16_t>(),
      nearest_.data()},
     y, planar, stride, shape_.width, foreground, shadows);
    // Rows of masks are multiples of four words.
    const auto unused_words = static_cast<std::size_t>(row_words - layout_.row_blocks);
    std::fill_n(foreground + layout_.row_blocks, unused_words, 0u);
    if (shadows) std::fill_n(shadows + layout_.row_blocks, unused_words, 0u);
}

void MixtureBackground::run(HostView<const std::uint8_t> frames, HostBitMaskView<std::uint32_t> foreground,
                            HostBitMaskView<std::uint32_t> shadows) {
    check(frames, foreground, shadows);
    const auto count = frames.shape().frames;
    auto& seen = clock_.as<MixtureClock>()->frames_seen;
    // Processes all frames for one row before the next row, while the row's model is in the core's cache.
    executor_->pool().for_chunks(
        shape_.height, rows_in_cache(shape_.width), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (auto y = static_cast<int>(begin); y < end; ++y)
                for (int frame = 0; frame < count; ++frame)
                    update_row(seen + static_cast<std::uint64_t>(frame), frames.row(frame, y), y,
                               foreground.row(frame, y), shadows.data() ? shadows.row(frame, y) : nullptr,
                               foreground.row_words());
        });
    seen += static_cast<std::uint64_t>(count);
}

}  // namespace framewire

#endif

#if HWY_ONCE

namespace framewire {
namespace {

// Limits of the stored units: variances are at most 255, in 1/256.
constexpr double highest_variance = 255, most_distance = 1e4;

ParameterInfo real(std::string_view name, std::string_view help, double minimum, double maximum) {
    return {.name = name, .help = help, .minimum = minimum, .maximum = maximum};
}

// Throws Error{usage} if `smaller` is above `larger`.
void require_order(std::string_view less, double smaller, std::string_view more, double larger) {
    if (smaller > larger)
        fail(ErrorCode::usage, "mixture: {} {} is above {}, which is {}", less, smaller, more, larger);
}

}  // namespace

// Names are OpenCV's; ranges keep all values within 16 bits.
const ParameterFields<MixtureParameters>& mixture_fields() {
    using P = MixtureParameters;
    static const ParameterFields<P> fields = {
        parameter_field(&P::history,
                        {.name = "history", .help = "number of frames in the history", .minimum = 1, .maximum = 1e6}),
        parameter_field(
            &P::var_threshold,
            real("var_threshold", "squared distance, in multiples of the variance, within which a pixel is background",
                 0, most_distance)),
        parameter_field(
            &P::var_threshold_gen,
            real("var_threshold_gen",
                 "squared distance, in multiples of the variance, within which a pixel belongs to a Gaussian", 0,
                 most_distance)),
        parameter_field(&P::mixtures, {.name = "mixtures",
                                       .help = "maximum number of Gaussians per pixel",
                                       .minimum = 1,
                                       .maximum = most_mixtures}),
        parameter_field(&P::var_init, real("var_init", "variance of a new Gaussian", 1 / value_unit, highest_variance)),
        parameter_field(&P::var_min, real("var_min", "least variance", 1 / value_unit, highest_variance)),
        parameter_field(&P::var_max, real("var_max", "largest variance", 1 / value_unit, highest_variance)),
        parameter_field(
            &P::complexity_reduction,
            real("complexity_reduction", "minimum share of the history for a Gaussian to be kept; 0: keep all", 0, 1)),
        parameter_field(
            &P::background_ratio,
            real("background_ratio", "the heaviest Gaussians up to this total weight are background", 0, 1)),
        parameter_field(&P::shadows, {.name = "shadows", .help = "distinguish shadows from moving objects"}),
        parameter_field(
            &P::shadow_threshold,
            real("shadow_threshold", "minimum brightness of a shadow, as a share of the background's", 0, 1)),
        parameter_field(&P::learning_rate,
                        real("learning_rate", "weight of a new frame, 0 to 1; -1: derived from the history", -1, 1)),
        parameter_field(&P::learn_every,
                        {.name = "learn_every",
                         .help = "each row learns from only one in this many frames; the rows take turns",
                         .minimum = 1,
                         .maximum = most_learn_every}),
    };
    return fields;
}

// Validates the parameters and converts them to stored units.
MixtureTerms mixture_terms(const MixtureParameters& parameters) {
    mixture_fields().check(parameters, "mixture");
    // New Gaussians must start within the limits.
    require_order("var_min", parameters.var_min, "var_max", parameters.var_max);
    require_order("var_min", parameters.var_min, "var_init", parameters.var_init);
    require_order("var_init", parameters.var_init, "var_max", parameters.var_max);
    if (parameters.learning_rate < 0 && parameters.learning_rate != -1)
        fail(ErrorCode::usage, "mixture: learning_rate is {}; allowed: 0 to 1, and -1 for automatic",
             parameters.learning_rate);
    return {
        .mixtures = parameters.mixtures,
        .shadows = parameters.shadows,
        .history = static_cast<float>(parameters.history),
        .learning_rate = parameters.learning_rate,
        .complexity_reduction = parameters.complexity_reduction,
        // Distances are squared, hence in units of 1/256 squared.
        .background_distance = parameters.var_threshold * value_unit,
        .near_distance = parameters.var_threshold_gen * value_unit,
        .background_weight = parameters.background_ratio * weight_unit,
        .var_init = std::floor(parameters.var_init * value_unit),
        .var_min = parameters.var_min * value_unit,
        .var_max = parameters.var_max * value_unit,
        .shadow_threshold = parameters.shadow_threshold,
        .learn_every = parameters.learn_every,
    };
}

namespace {

Shape one_frame(const Shape& shape) {
    validate(shape, "the mixture's input");
    return shape.with_frames(1);
}

}  // namespace

// On the CPU, the levels and reaches for rows that do not learn are stored separately from the model, in fewer bytes.
MixtureBackground::MixtureBackground(const MixtureParameters& parameters, const Shape& shape, Executor& executor)
    : shape_(one_frame(shape)),
      terms_(mixture_terms(parameters)),
      layout_(shape_, parameters.mixtures),
      executor_(&executor),
      model_(static_cast<std::size_t>(layout_.bytes()), executor),
      clock_(sizeof(MixtureClock), executor) {
    if (executor.backend() == Backend::cpu) {
        const auto blocks = static_cast<std::size_t>(layout_.blocks);
        kinds_.resize(blocks);
        if (terms_.learn_every > 1) {
            const auto numbers = blocks * MixtureLayout::block_px * static_cast<std::size_t>(layout_.mixtures);
            means_ = HostBuffer(numbers * static_cast<std::size_t>(layout_.channels));
            reaches_ = HostBuffer(numbers * sizeof(std::uint16_t));
            compared_.resize(blocks);
            nearest_.resize(blocks);
        }
    }
    reset();
}

void MixtureBackground::reset() {
    // On the CPU the number of Gaussians of a block says which weights are valid.
    const auto weights = executor_->backend() == Backend::cpu ? layout_.weights(1, 0) : layout_.features(0, 0);
    model_.fill(0, static_cast<std::size_t>(weights) * sizeof(std::uint16_t));
    clock_.fill(0);
    std::ranges::fill(kinds_, std::uint8_t{0});
}

// Gaussians are sorted by weight, so the first one of a pixel is its background.
void MixtureBackground::draw_background(HostView<std::uint8_t> picture) const {
    validate(picture, shape_, "the mixture's background");
    const auto* model = model_.as<std::uint16_t>();
    for (int y = 0; y < shape_.height; ++y)
        for (int x = 0; x < shape_.width; ++x) {
            const auto block = std::int64_t{y} * layout_.row_blocks + x / MixtureLayout::block_px;
            const auto* weight = model + layout_.weights(0, block) + x % MixtureLayout::block_px;
            const auto* variance = model + layout_.features(0, block) + x % MixtureLayout::block_px;
            for (int channel = 0; channel < shape_.channels; ++channel) {
                // Half a level is added before the conversion to whole levels.
                const auto mean = *weight ? variance[(channel + 1) * MixtureLayout::block_px] : 0;
                picture.row(0, y)[x * shape_.channels + channel] = static_cast<std::uint8_t>((mean + 128) >> 8);
            }
        }
}

}  // namespace framewire

#endif  // HWY_ONCE
