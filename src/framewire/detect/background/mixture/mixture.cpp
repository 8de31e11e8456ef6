#include "framewire/detect/background/mixture/mixture.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace framewire {
namespace {

// Limits of the stored units: variances are at most 255, in 1/256.
constexpr double highest_variance = 255, most_distance = 1e4;

ParameterInfo real(std::string_view name, std::string_view help, double minimum, double maximum) {
    return {.name = name, .help = help, .minimum = minimum, .maximum = maximum};
}

// Throws if a variance that must not be above another one is.
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
                        {.name = "history", .help = "frames that are remembered", .minimum = 1, .maximum = 1e6}),
        parameter_field(&P::var_threshold,
                        real("var_threshold", "squared distance, in variances, within which a pixel is background", 0,
                             most_distance)),
        parameter_field(&P::var_threshold_gen,
                        real("var_threshold_gen", "the same within which it belongs to a Gaussian", 0, most_distance)),
        parameter_field(
            &P::mixtures,
            {.name = "mixtures", .help = "Gaussians that a pixel may have", .minimum = 1, .maximum = most_mixtures}),
        parameter_field(&P::var_init, real("var_init", "variance of a new Gaussian", 1 / value_unit, highest_variance)),
        parameter_field(&P::var_min, real("var_min", "least variance", 1 / value_unit, highest_variance)),
        parameter_field(&P::var_max, real("var_max", "largest variance", 1 / value_unit, highest_variance)),
        parameter_field(&P::complexity_reduction,
                        real("complexity_reduction", "share of the history that proves a Gaussian; 0 keeps all", 0, 1)),
        parameter_field(
            &P::background_ratio,
            real("background_ratio", "the weightiest Gaussians up to this sum of weights are background", 0, 1)),
        parameter_field(&P::shadows, {.name = "shadows", .help = "tell shadows from what moves"}),
        parameter_field(&P::shadow_threshold,
                        real("shadow_threshold", "how dark a shadow may be, as a share of the background", 0, 1)),
        parameter_field(&P::learning_rate, real("learning_rate", "0 to 1; -1 is automatic, by the history", -1, 1)),
        parameter_field(&P::learn_every, {.name = "learn_every",
                                          .help = "a row learns from one of so many frames, rows by turns",
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
        fail(ErrorCode::usage, "mixture: learning_rate is {}; allowed are 0 to 1, and -1 for automatic",
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
    validate(shape, "the mixture's frame");
    return shape.with_frames(1);
}

}  // namespace

// On the CPU, what rows that do not learn compare with is stored apart from the model, in fewer bytes.
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
        strips_ = make_strips();
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
