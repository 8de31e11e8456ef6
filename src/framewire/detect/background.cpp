#include "framewire/detect/background.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/simd.hpp"
#include "framewire/core/text.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/detect/background.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/filters/gaussian-inl.hpp"
#include "framewire/filters/pointwise-inl.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Returns the increments of mean_after() for the even 32-bit lanes, computed in 64 bits. The lower half of each
// 64-bit lane is what is added to the mean.
template <class V>
HWY_INLINE auto even_steps(V differences, V rates) {
    const hn::RepartitionToWide<hn::DFromV<V>> d;
    const auto half = hn::Set(d, std::int64_t{1} << (mean_fraction_bits - 1));
    // The shift fills with 0 instead of the sign, but only the lower half of the result is kept.
    const auto bits = hn::BitCast(hn::RebindToUnsigned<decltype(d)>(), hn::Add(hn::MulEven(differences, rates), half));
    return hn::BitCast(hn::DFromV<V>(), hn::ShiftRight<mean_fraction_bits>(bits));
}

}  // namespace

// Writes the background of some pixels, then updates their means.
void update_means(std::uint32_t* means, const std::uint8_t* values, std::uint8_t* background, std::int64_t pixels,
                  std::uint32_t rate) {
    const hn::ScalableTag<std::int32_t> d;
    const hn::Rebind<std::uint8_t, decltype(d)> d8;
    // The value of a mean before its first frame.
    const auto none = hn::Set(d, static_cast<std::int32_t>(no_mean));
    const auto half = hn::Set(d, 1 << (mean_fraction_bits - 1));
    const auto rates = hn::Set(d, static_cast<std::int32_t>(rate));
    const auto step = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t x = 0;
    for (; x + step <= pixels; x += step) {
        auto* const at = reinterpret_cast<std::int32_t*>(means + x);
        const auto value = hn::ShiftLeft<mean_fraction_bits>(hn::PromoteTo(d, hn::LoadU(d8, values + x)));
        const auto stored = hn::LoadU(d, at);
        const auto mean = hn::IfThenElse(hn::Eq(stored, none), value, stored);
        hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<mean_fraction_bits>(hn::Add(mean, half))), d8, background + x);
        const auto difference = hn::Sub(value, mean);
        // 64-bit products need half as many lanes, so even and odd lanes are computed separately.
        const auto even = even_steps(difference, rates), odd = even_steps(hn::DupOdd(difference), rates);
        hn::StoreU(hn::Add(mean, hn::OddEven(hn::DupEven(odd), even)), d, at);
    }
    for (; x < pixels; ++x) {
        if (means[x] == no_mean) means[x] = std::uint32_t{values[x]} << mean_fraction_bits;
        background[x] = gray_of_mean(means[x]);
        means[x] = mean_after(means[x], values[x], rate);
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(update_means);

void MeanBackground::run(HostView<const std::uint8_t> frames, HostView<std::uint8_t> backgrounds) {
    const auto shape = shape_.with_frames(frames.shape().frames);
    validate(frames, shape, "the input of the mean background");
    validate(backgrounds, shape, "the backgrounds");
    const auto update = HWY_DYNAMIC_DISPATCH(update_means);
    // Processes all frames for one row before the next row, while the row's means are in the core's cache.
    constexpr std::int64_t pixels_each = 32 * 1024;
    executor_->pool().for_chunks(
        shape.height, pixels_each / shape.width + 1, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (auto y = static_cast<int>(begin); y < end; ++y)
                for (int frame = 0; frame < shape.frames; ++frame)
                    update(means_.as<std::uint32_t>() + std::int64_t{y} * shape.width, frames.row(frame, y),
                           backgrounds.row(frame, y), shape.width, rate_);
        });
}

}  // namespace framewire

#endif

#ifndef FRAMEWIRE_FOREGROUND_CPU_ONCE
#define FRAMEWIRE_FOREGROUND_CPU_ONCE

namespace framewire {

// Images of one run. If `mask` is empty, the run only blurs; if `blurred` is empty, the blurred frames are discarded.
struct ForegroundImages {
    HostView<const std::uint8_t> frames, background;
    HostBitMaskView<std::uint32_t> mask;
    HostView<std::uint8_t> blurred;
};

}  // namespace framewire

#endif

// Foreground masks on the CPU. Tiles of a frame are processed in parallel; within a tile the passes are fused
// row by row:
//
//     frame row -> gray -> Gaussian -> difference from the background -> bits of the mask
//
// Neither the gray image nor, unless the caller wants it, the blurred image is written to memory.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Writes the bits of `count` pixels, then zeros up to `words` words.
void difference_bits(const std::uint8_t* blurred, const std::uint8_t* background, int count, int threshold,
                     std::uint32_t* bits, int words) {
    const hn::ScalableTag<std::uint8_t> d8;
    const auto step = static_cast<int>(hn::Lanes(d8));
    const auto least = hn::Set(d8, static_cast<std::uint8_t>(threshold));
    auto* bytes = reinterpret_cast<std::uint8_t*>(bits);
    // A saturated subtraction of the threshold is 0 unless the difference exceeds it.
    const auto store = [&](const std::uint8_t* one, const std::uint8_t* other, int x) HWY_ATTR {
        const auto above = hn::SaturatedSub(absolute_difference(hn::LoadU(d8, one), hn::LoadU(d8, other)), least);
        hn::StoreMaskBits(d8, hn::Ne(above, hn::Zero(d8)), bytes + x / 8);
    };
    int x = 0;
    for (; x + step <= count; x += step) store(blurred + x, background + x, x);
    if (x < count) {
        HWY_ALIGN std::uint8_t last[2][HWY_MAX_BYTES] = {};
        const auto rest = static_cast<std::size_t>(count - x);
        std::memcpy(last[0], blurred + x, rest);
        std::memcpy(last[1], background + x, rest);
        store(last[0], last[1], x);
        x += step;
    }
    std::fill(bytes + x / 8, bytes + 4 * words, std::uint8_t{0});
}

// Computes gray, blur and difference of one tile row by row, so that every row is used while it is in cache.
template <int fixed_terms>
void foreground_tile_of(const GaussianWeights& weights, int threshold, const ForegroundImages& images,
                        const WindowTile& tile) {
    const auto& shape = images.frames.shape();
    const int channels = shape.channels, count = tile.x_end - tile.x_begin;
    const bool last_of_row = tile.x_end == shape.width;
    HWY_ALIGN std::uint8_t line[gaussian_most_tile_bytes];
    std::uint8_t* blurred = line;
    gaussian_passes::blur_tile<GaussianRounding::opencv, fixed_terms>(
        weights, Border::reflect101, shape.with_channels(1), tile,
        [&](int y, const TileColumns& columns, std::uint8_t* gray) {
            const auto* image = images.frames.row(tile.frame, y) + columns.image_begin() * channels;
            // Prefetches two rows ahead, as the Gaussian does.
            const auto* next = image + (y + 2 < shape.height ? 2 * images.frames.row_stride_bytes() : 0);
            for (int x = 0; x < columns.image_count() * channels; x += 64) hwy::Prefetch(next + x);
            gray_span(GrayMethod::weighted, image, channels, columns.image_count(), 1, gray);
        },
        [&](int y) {
            // Blurred rows go to the caller's image, or to a line that the next row overwrites.
            if (images.blurred.data()) blurred = images.blurred.row(tile.frame, y) + tile.x_begin;
            return blurred;
        },
        [&](int y) {
            if (!images.mask.data()) return;
            const int frame = images.background.shape().frames == 1 ? 0 : tile.frame;
            const int first_word = tile.x_begin / 32;
            const auto* background = images.background.row(frame, y) + tile.x_begin;
            const auto* next = background + (y + 2 < shape.height ? 2 * images.background.row_stride_bytes() : 0);
            for (int x = 0; x < count; x += 64) hwy::Prefetch(next + x);
            difference_bits(blurred, background, count, threshold, images.mask.row(tile.frame, y) + first_word,
                            last_of_row ? images.mask.row_words() - first_word : count / 32);
        });
}

}  // namespace

// Processes one tile. A specialised instance for the default size unrolls the loop over its terms.
void foreground_tile(const GaussianWeights& weights, int threshold, const ForegroundImages& images,
                     const WindowTile& tile) {
    if (weights.terms() == 8)  // size 15, the detector's default
        foreground_tile_of<8>(weights, threshold, images, tile);
    else
        foreground_tile_of<0>(weights, threshold, images, tile);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {
namespace {

HWY_EXPORT(foreground_tile);

bool is_gray(HostView<const std::uint8_t> frames) { return frames.shape().channels == 1; }

// Tiles share no output words: they start at multiples of 32 pixels.
void run_tiles(const GaussianWeights& weights, int threshold, const ForegroundImages& images, const ThreadPool& pool) {
    for_window_tiles(pool, images.frames.shape(), gaussian_tile_bytes(weights.taps), 8 * weights.taps,
                     [&](const WindowTile& tile) {
                         HWY_DYNAMIC_DISPATCH(foreground_tile)(weights, threshold, images, tile);
                     });
}

}  // namespace

void Foreground::blur(HostView<const std::uint8_t> frames, HostView<std::uint8_t> blurred) const {
    validate(frames, is_gray(frames) ? gray_shape() : shape_, "the input of the blur");
    validate(blurred, gray_shape(), "the output of the blur");
    run_tiles(weights_, threshold_, {frames, {}, {}, blurred}, executor_->pool());
}

void Foreground::run(HostView<const std::uint8_t> frames, HostView<const std::uint8_t> background,
                     HostBitMaskView<std::uint32_t> mask, HostView<std::uint8_t> blurred) const {
    validate(frames, is_gray(frames) ? gray_shape() : shape_, "the frames");
    validate(background, gray_shape().with_frames(background.shape().frames == 1 ? 1 : shape_.frames),
             "the background");
    validate(mask, gray_shape(), "the foreground mask");
    if (blurred.data()) validate(blurred, gray_shape(), "the output of the blur");
    run_tiles(weights_, threshold_, {frames, background, mask, blurred}, executor_->pool());
}

}  // namespace framewire

#endif

#if HWY_ONCE

namespace framewire {
namespace {

// Kind of background: its name, its parameters, and the function that makes a model from their values.
struct BackgroundKind {
    std::string_view name;
    std::vector<ParameterInfo> parameters;
    bool has_main = false;  // the first value may be given without its key: mean:0.02
    BackgroundModel (*model)(const ParameterValues&);
};

// Returns all kinds in the order of BackgroundModel's alternatives, for parsing, messages and names.
const std::vector<BackgroundKind>& background_kinds() {
    static const std::vector<BackgroundKind> kinds = {
        {"first", {}, false, [](const ParameterValues&) -> BackgroundModel { return FirstFrame{}; }},
        {"mean",
         {{.name = "rate",
           .help = "weight of the newest frame in the mean",
           .type = ParameterInfo::Type::real,
           .maximum = 1,
           .above_minimum = true}},
         true,
         [](const ParameterValues& values) -> BackgroundModel { return RunningMean{values.real("rate")}; }},
        {"mixture", mixture_fields().infos(), false,
         [](const ParameterValues& values) -> BackgroundModel {
             const auto parameters = mixture_fields().from(values);
             if (values.is_given("shadow_threshold") && !parameters.shadows)
                 fail(ErrorCode::usage, "mixture: shadow_threshold has no effect without shadows=1");
             mixture_terms(parameters);  // rejects combinations that are not allowed
             return parameters;
         }},
        {"adaptive", adaptive_fields().infos(), false,
         [](const ParameterValues& values) -> BackgroundModel { return adaptive_fields().from(values); }},
    };
    return kinds;
}

// Returns the number of frames in whose background the first frame has more than half of the weight, if each later
// frame enters with weight `rate` (above 0). In the background of frame t the first frame has the weight (1 -
// rate)^(t - 1).
std::int64_t frames_before_majority(double rate) {
    return rate >= 0.5 ? 2 : 1 + static_cast<std::int64_t>(std::ceil(std::log(0.5) / std::log1p(-rate)));
}

}  // namespace

// Treats a text with '.' or '/' as the path of an image unless it names a kind.
BackgroundModel parse_background(std::string_view text) {
    const auto name = text.substr(0, text.find(':'));
    for (const auto& kind : background_kinds()) {
        if (kind.name != name || (kind.parameters.empty() && text != name)) continue;
        const ParameterSyntax syntax{.who = std::string(name),
                                     .parameters = kind.parameters,
                                     .main_behind = kind.has_main ? fmt::format("{}:", name) : ""};
        return kind.model(parse_parameters(text.substr(std::min(name.size() + 1, text.size())), syntax));
    }
    if (text.find_first_of("./") != text.npos) return BackgroundImage{std::string(text)};
    std::vector<std::string_view> names;
    for (const auto& kind : background_kinds()) names.push_back(kind.name);
    fail(ErrorCode::usage,
         "unknown background {}; allowed: first, mean:RATE, mixture and adaptive with :key=value options, or the path "
         "of an image{}",
         in_quotes(text), did_you_mean(name, names));
}

std::string_view name_of_background(const BackgroundModel& model) {
    if (std::holds_alternative<BackgroundImage>(model)) return "picture";
    return background_kinds()[model.index()].name;
}

namespace {

// Returns ":name=value" for every member that differs from its default.
template <class Parameters>
std::string options_text(const ParameterFields<Parameters>& fields, const Parameters& parameters) {
    std::string text;
    fields.for_differences(parameters, Parameters{}, [&](const auto& info, const auto& value, const auto&) {
        text += fmt::format(":{}={}", info.name, value);
    });
    return text;
}

}  // namespace

std::string to_string(const BackgroundModel& model) {
    if (const auto* image = std::get_if<BackgroundImage>(&model)) return image->path;
    std::string text(name_of_background(model));
    if (const auto* mean = std::get_if<RunningMean>(&model)) text += fmt::format(":{}", mean->rate);
    if (const auto* mixture = std::get_if<MixtureParameters>(&model)) text += options_text(mixture_fields(), *mixture);
    if (const auto* samples = std::get_if<AdaptiveParameters>(&model))
        text += options_text(adaptive_fields(), *samples);
    return text;
}

bool classifies_frames(const BackgroundModel& model) {
    return std::holds_alternative<MixtureParameters>(model) || std::holds_alternative<AdaptiveParameters>(model);
}

// At the start a background pixel replaces one of an adaptive background's samples in every other frame, and its
// neighbours another in every fourth, so that half of them are new after as many frames as there are samples. For a
// mixture, follows the weight of the first frame, which every learning step multiplies by its `keep`.
std::int64_t frames_before_background(const BackgroundModel& model) {
    if (std::holds_alternative<BackgroundImage>(model)) return 0;
    if (std::holds_alternative<FirstFrame>(model)) return 1;
    if (const auto* mean = std::get_if<RunningMean>(&model)) return frames_before_majority(mean->rate);
    if (std::holds_alternative<AdaptiveParameters>(model)) return adaptive_samples;
    const auto& mixture = std::get<MixtureParameters>(model);
    if (mixture.learning_rate == 0) return 1;
    const auto terms = mixture_terms(mixture);
    double share = 1;
    std::uint64_t frame = 1;
    // The share of the first frame falls with each frame that the model learns from.
    for (; share > 0.5; ++frame) {
        // If rows take turns in learning, row 0 is the last row of each turn.
        if (const auto step = mixture_step(terms, frame); mixture_learns(terms, step, 0)) share *= step.keep;
    }
    return static_cast<std::int64_t>(frame);
}

namespace {

// Validates the rate and converts it to units of 1/65536.
std::uint32_t checked_rate(double rate) {
    if (!(rate > 0 && rate <= 1))
        fail(ErrorCode::usage, "the rate of the mean background is {}; allowed: above 0 and up to 1", rate);
    return static_cast<std::uint32_t>(std::max(std::lround(rate * (1 << mean_fraction_bits)), 1L));
}

// Rejects images with three channels.
Shape one_gray_frame(const Shape& shape) {
    validate(shape, "the input of the mean background");
    if (shape.channels != 1) fail(ErrorCode::usage, "the mean background needs gray frames, not {}", to_string(shape));
    return shape.with_frames(1);
}

}  // namespace

MeanBackground::MeanBackground(double rate, const Shape& shape, Executor& executor)
    : shape_(one_gray_frame(shape)),
      rate_(checked_rate(rate)),
      executor_(&executor),
      means_(static_cast<std::size_t>(shape_.bytes()) * sizeof(std::uint32_t), executor) {
    reset();
}

// Fills byte by byte, which works because every byte of `no_mean` is 0xFF.
void MeanBackground::reset() { means_.fill(no_mean & 0xFF); }

Foreground::Foreground(ForegroundParameters parameters, const Shape& frames, Executor& executor)
    : threshold_(parameters.threshold),
      shape_(frames),
      weights_(gaussian_weights(parameters.blur, 0, GaussianRounding::opencv)),
      executor_(&executor),
      gray_({.channels = 1}, frames, executor),
      gaussian_({.size = parameters.blur, .rounding = GaussianRounding::opencv}, frames.with_channels(1), executor) {
    if (threshold_ < 0 || threshold_ > 255)
        fail(ErrorCode::usage, "the foreground threshold is {}; allowed: 0 to 255", threshold_);
    if (executor.backend() == Backend::cpu) return;
    if (shape_.channels != 1) device_gray_ = cuda::DeviceImage(gray_shape());
    device_blurred_ = cuda::DeviceImage(gray_shape());
}

}  // namespace framewire

#endif  // HWY_ONCE
