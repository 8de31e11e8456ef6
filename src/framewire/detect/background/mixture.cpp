#include "framewire/detect/background/mixture.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

namespace framewire {
namespace {

void require(std::string_view name, double value, double lowest, double highest) {
    if (!(value >= lowest && value <= highest))
        fail(ErrorCode::usage, "mixture: {} is {}; {} to {} is allowed", name, value, lowest, highest);
}

}  // namespace

MixtureTerms mixture_terms(const MixtureParameters& parameters) {
    constexpr double highest_variance = 255;
    require("history", parameters.history, 1, 1e6);
    require("var_threshold", parameters.var_threshold, 0, 1e4);
    require("var_threshold_gen", parameters.var_threshold_gen, 0, 1e4);
    require("mixtures", parameters.mixtures, 1, most_mixtures);
    require("var_max", parameters.var_max, 1 / value_unit, highest_variance);
    require("var_min", parameters.var_min, 1 / value_unit, parameters.var_max);
    require("var_init", parameters.var_init, parameters.var_min, parameters.var_max);
    require("complexity_reduction", parameters.complexity_reduction, 0, 1);
    require("background_ratio", parameters.background_ratio, 0, 1);
    require("shadow_threshold", parameters.shadow_threshold, 0, 1);
    if (parameters.learning_rate != -1) require("learning_rate (-1: automatic)", parameters.learning_rate, 0, 1);
    return {
        .mixtures = parameters.mixtures,
        .shadows = parameters.shadows,
        .history = static_cast<float>(parameters.history),
        .learning_rate = parameters.learning_rate,
        .complexity_reduction = parameters.complexity_reduction,
        // Distances are squared, so in units of 1/256 squared.
        .background_distance = parameters.var_threshold * value_unit,
        .near_distance = parameters.var_threshold_gen * value_unit,
        .background_weight = parameters.background_ratio * weight_unit,
        .var_init = std::floor(parameters.var_init * value_unit),
        .var_min = parameters.var_min * value_unit,
        .var_max = parameters.var_max * value_unit,
        .shadow_threshold = parameters.shadow_threshold,
    };
}

namespace {

Shape one_frame(const Shape& shape) {
    validate(shape, "the mixture's frame");
    return shape.with_frames(1);
}

}  // namespace

MixtureBackground::MixtureBackground(const MixtureParameters& parameters, const Shape& shape, Executor& executor)
    : shape_(one_frame(shape)),
      terms_(mixture_terms(parameters)),
      layout_(shape_, parameters.mixtures),
      executor_(&executor) {
    const auto bytes = static_cast<std::size_t>(layout_.bytes());
    if (executor.backend() == Backend::cpu) {
        host_model_ = HostBuffer(bytes);
    } else {
        device_model_ = cuda::DeviceBuffer(bytes);
        device_clock_ = cuda::DeviceBuffer(sizeof(MixtureClock));
    }
    reset();
}

void MixtureBackground::reset() {
    const auto weights = static_cast<std::size_t>(layout_.weight_bytes());
    if (executor_->backend() == Backend::cpu) {
        std::memset(host_model_.data(), 0, weights);
        frames_seen_ = 0;
    } else {
        cuda::fill(device_model_.data(), 0, weights, executor_->stream());
        cuda::fill(device_clock_.data(), 0, sizeof(MixtureClock), executor_->stream());
    }
}

void MixtureBackground::draw_background(HostView<std::uint8_t> picture) const {
    validate(picture, shape_, "the mixture's background");
    const auto* model = host_model_.as<std::uint16_t>();
    for (int y = 0; y < shape_.height; ++y)
        for (int x = 0; x < shape_.width; ++x) {
            const auto block = std::int64_t{y} * layout_.row_blocks + x / MixtureLayout::block_px;
            const auto* weight = model + layout_.weights(0, block) + x % MixtureLayout::block_px;
            const auto* variance = model + layout_.features(0, block) + x % MixtureLayout::block_px;
            for (int channel = 0; channel < shape_.channels; ++channel) {
                const auto mean = *weight ? variance[(channel + 1) * MixtureLayout::block_px] : 0;
                picture.row(0, y)[x * shape_.channels + channel] = static_cast<std::uint8_t>((mean + 128) >> 8);
            }
        }
}

}  // namespace framewire
