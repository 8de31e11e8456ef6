#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/delta/entropy/models/models.hpp"
#include "framewire/delta/entropy/rans.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace framewire::delta {

/// The class of a part whose residuals add up to `sum`, without their signs.
FRAMEWIRE_HOST_DEVICE constexpr int residual_class(std::uint32_t sum, int samples) {
    // Their mean in 1/256, each 1.7 times the one before.
    constexpr int limits[picture_models::classes - 1] = {20, 35, 59, 101, 171, 291, 494, 840, 1429, 2429, 4129};
    const int mean = static_cast<int>(sum) * 256 / samples;
    int part_class = 0;
    for (const int limit : limits) part_class += mean > limit;
    return part_class;
}

/// What coding a symbol in a lane looks up, in one number so that one load brings it: rans::Symbol's reciprocal in the
/// upper half, and in the lower one its bias, frequency and shift.
using LaneSymbol = std::uint64_t;

/// What coding residuals in lanes looks up.
struct LaneTables {
    static constexpr int bias_bits = 13, frequency_bits = 12, place_bits = rans::probability_bits;
    static constexpr std::size_t symbols = picture_models::large_residual.end();

    /// Of each symbol of the residuals' models.
    std::array<LaneSymbol, symbols> lane_symbols;
    /// Of each class and place: place less the symbol's first one, frequency, and the residual, or `other` where bits
    /// tell that and the class is small.
    std::array<std::uint32_t, picture_models::classes * rans::probability_one> places;

    static constexpr int other = 255;
    static constexpr bool is_small(int part_class) { return part_class < picture_models::small_classes; }
    static constexpr int first(int part_class) {
        return is_small(part_class) ? picture_models::small_residual.at(part_class)
                                    : picture_models::large_residual.at(part_class - picture_models::small_classes);
    }
};

const LaneTables& lane_tables();

/// Of each symbol of each set of models of steps.
const std::array<std::array<LaneSymbol, step_models::symbols>, step_models::sets>& step_lane_symbols();

}  // namespace framewire::delta
