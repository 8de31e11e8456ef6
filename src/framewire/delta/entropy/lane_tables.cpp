// Tables for coding in SIMD lanes, derived from the trained models. Each table packs everything that one lane needs
// for a symbol into one number, so that one load fetches it.

#include "framewire/delta/entropy/lane_tables.hpp"

#include <memory>

namespace framewire::delta {
namespace {

LaneSymbol lane_symbol(const rans::Symbol& symbol) {
    const auto frequency = rans::probability_one - symbol.complement;
    return LaneSymbol{symbol.reciprocal} << 32 | symbol.bias | frequency << LaneTables::bias_bits |
           std::uint32_t{symbol.shift} << (LaneTables::bias_bits + LaneTables::frequency_bits);
}

}  // namespace

const LaneTables& lane_tables() {
    static const auto tables = [] {
        auto made = std::make_unique<LaneTables>();
        const auto& models = trained_picture_models();
        for (std::size_t i = 0; i < LaneTables::symbols; ++i)
            made->lane_symbols[i] = lane_symbol(models.symbol(static_cast<int>(i)));
        auto* place = made->places.data();
        for (int part_class = 0; part_class < picture_models::classes; ++part_class) {
            const bool small = LaneTables::is_small(part_class);
            const int count = small ? picture_models::small_symbols : 256;
            for (int symbol = 0; symbol < count; ++symbol) {
                const auto frequency = models.frequency(LaneTables::first(part_class) + symbol);
                // The last symbol of a small class announces raw bits.
                const int residual = small && symbol + 1 == count ? LaneTables::other : symbol;
                for (std::uint32_t i = 0; i < frequency; ++i)
                    *place++ = i | frequency << LaneTables::place_bits |
                               static_cast<std::uint32_t>(residual)
                                   << (LaneTables::place_bits + LaneTables::frequency_bits);
            }
        }
        return made;
    }();
    return *tables;
}

const std::array<std::array<LaneSymbol, step_models::symbols>, step_models::sets>& step_lane_symbols() {
    static const auto sets = [] {
        auto made = std::make_unique<std::array<std::array<LaneSymbol, step_models::symbols>, step_models::sets>>();
        for (std::size_t set = 0; set < made->size(); ++set)
            for (std::size_t i = 0; i < step_models::symbols; ++i)
                (*made)[set][i] = lane_symbol(step_model_sets()[set].symbol(static_cast<int>(i)));
        return made;
    }();
    return *sets;
}

}  // namespace framewire::delta
