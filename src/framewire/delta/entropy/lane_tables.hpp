#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/delta/entropy/models/models.hpp"
#include "framewire/delta/entropy/rans.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace framewire::delta {

/// Returns the class of a sub-block with `samples` residuals whose absolute values add up to `sum`.
FRAMEWIRE_HOST_DEVICE constexpr int residual_class(std::uint32_t sum, int samples) {
    // Limits for the mean in units of 1/256. Each is 1.7 times the previous one.
    constexpr int limits[picture_models::classes - 1] = {20, 35, 59, 101, 171, 291, 494, 840, 1429, 2429, 4129};
    const int mean = static_cast<int>(sum) * 256 / samples;
    int part_class = 0;
    for (const int limit : limits) part_class += mean > limit;
    return part_class;
}

/// A symbol as SIMD lanes encode it, in one number so that one load fetches it: rans::Symbol's reciprocal in the upper
/// half, and in the lower half bias, frequency and shift.
using LaneSymbol = std::uint64_t;

/// Tables for coding residuals in SIMD lanes.
struct LaneTables {
    /// Layout of the lower half of a LaneSymbol and of `places`.
    static constexpr int bias_bits = 13, frequency_bits = 12, place_bits = rans::probability_bits;
    /// Number of symbols of the residuals' models.
    static constexpr std::size_t symbols = picture_models::large_residual.end();

    /// The symbols of the residuals' models.
    std::array<LaneSymbol, symbols> lane_symbols;
    /// For each class and place: the place minus the first place of its symbol, the symbol's frequency, and the
    /// residual. For the last symbol of a small class, whose residual follows as raw bits, the residual is `other`.
    std::array<std::uint32_t, picture_models::classes * rans::probability_one> places;

    /// Marks a residual that follows as raw bits.
    static constexpr int other = 255;
    /// Returns true if the class has few symbols, so that large residuals need raw bits.
    static constexpr bool is_small(int part_class) { return part_class < picture_models::small_classes; }
    /// Returns the first symbol of a class.
    static constexpr int first(int part_class) {
        return is_small(part_class) ? picture_models::small_residual.at(part_class)
                                    : picture_models::large_residual.at(part_class - picture_models::small_classes);
    }
};

/// Returns the tables. Builds them at the first call. Thread-safe.
const LaneTables& lane_tables();

/// Returns the symbols of all sets of models of delta frames. Builds them at the first call. Thread-safe.
const std::array<std::array<LaneSymbol, step_models::symbols>, step_models::sets>& step_lane_symbols();

}  // namespace framewire::delta
