#include "framewire/delta/entropy/lane_tables.hpp"

#include <memory>

namespace framewire::delta {

const LaneTables& lane_tables() {
    static const auto tables = [] {
        auto made = std::make_unique<LaneTables>();
        const auto& models = trained_picture_models();
        for (std::size_t i = 0; i < LaneTables::symbols; ++i) {
            const auto& symbol = models.symbol(static_cast<int>(i));
            const auto frequency = rans::probability_one - symbol.complement;
            made->reciprocals[i] = symbol.reciprocal;
            made->steps[i] = symbol.bias | frequency << LaneTables::bias_bits |
                             std::uint32_t{symbol.shift} << (LaneTables::bias_bits + LaneTables::frequency_bits);
        }
        auto* place = made->places.data();
        for (int part_class = 0; part_class < picture_models::classes; ++part_class) {
            const int count = LaneTables::is_small(part_class) ? picture_models::small_symbols : 256;
            for (int symbol = 0; symbol < count; ++symbol) {
                const auto frequency = models.frequency(LaneTables::first(part_class) + symbol);
                for (std::uint32_t i = 0; i < frequency; ++i)
                    *place++ = i | frequency << LaneTables::place_bits |
                               static_cast<std::uint32_t>(symbol)
                                   << (LaneTables::place_bits + LaneTables::frequency_bits);
            }
        }
        return made;
    }();
    return *tables;
}

}  // namespace framewire::delta
