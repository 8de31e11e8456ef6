#pragma once

#include "framewire/delta/entropy/models.hpp"
#include "framewire/delta/entropy/rans.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace framewire::delta {

/// What coding symbols in lanes looks up: of each symbol rans::Symbol's reciprocal, and its bias, frequency and shift
/// in one.
struct LaneSymbols {
    const std::uint32_t *reciprocals, *steps;
};

/// What coding residuals in lanes looks up, one table for each thing that vectors gather.
struct LaneTables {
    static constexpr int bias_bits = 13, frequency_bits = 12, place_bits = rans::probability_bits;
    static constexpr std::size_t symbols = picture_models::large_residual.end();

    /// Of each symbol of the residuals' models, as LaneSymbols has them.
    std::array<std::uint32_t, symbols> reciprocals, steps;
    /// Of each class and place: place less the symbol's first one, frequency, and the symbol.
    std::array<std::uint32_t, picture_models::classes * rans::probability_one> places;

    static constexpr bool is_small(int part_class) { return part_class < picture_models::small_classes; }
    static constexpr int first(int part_class) {
        return is_small(part_class) ? picture_models::small_residual.at(part_class)
                                    : picture_models::large_residual.at(part_class - picture_models::small_classes);
    }
    const std::uint32_t* places_of(int part_class) const {
        return places.data() + static_cast<std::size_t>(part_class) * rans::probability_one;
    }
};

const LaneTables& lane_tables();

/// Those of a set of models of steps.
struct StepLaneSymbols {
    std::array<std::uint32_t, step_models::symbols> reciprocals, steps;

    LaneSymbols symbols() const { return {reciprocals.data(), steps.data()}; }
};
const std::array<StepLaneSymbols, step_models::sets>& step_lane_symbols();

}  // namespace framewire::delta
