// Construction of the lookup tables of changes_reading.hpp from the frequencies of the models.

#include "framewire/delta/blocks/reading/changes_reading.hpp"

#include "framewire/delta/entropy/rans.hpp"

namespace framewire::delta {
namespace {

// Fills the tables from the frequencies of a set of models.
ReadingTables tables_of(const StepModels& models) {
    ReadingTables tables{};
    for (int told = 0; told < static_cast<int>(tables.changes_from.size()); ++told) {
        const int model = changed_model_of(told);
        if (model < step_models::changed.count)
            tables.changes_from[static_cast<std::size_t>(told)] =
                static_cast<std::uint16_t>(models.frequency(step_models::changed.at(model)));
    }
    for (const unsigned rank : {0u, 1u}) {
        const auto traits = rank_traits[rank];
        const int pattern = step_models::pattern.at(told_patterns.left[traits] | told_patterns.above[traits]);
        tables.alike_pattern[rank] = {models.start(pattern + static_cast<int>(rank)),
                                      models.frequency(pattern + static_cast<int>(rank))};
    }
    auto* guess = tables.alike.data();
    for (int model = 0; model < ReadingTables::alike_models; ++model) {
        const int first = ReadingTables::first(model) + 2 * step_models::magnitude.symbols;
        int symbol = 0;
        for (std::uint32_t place = 0; place < rans::probability_one; place += 1u << ReadingTables::guess_shift) {
            while (models.start(first + symbol) + models.frequency(first + symbol) <= place) ++symbol;
            if (static_cast<std::size_t>(symbol) < near_magnitudes.size())
                *guess = models.start(first + symbol) | models.frequency(first + symbol) << rans::probability_bits |
                         static_cast<std::uint32_t>(near_magnitudes[static_cast<std::size_t>(symbol)])
                             << (2 * rans::probability_bits);
            ++guess;
        }
    }
    return tables;
}

}  // namespace

const ReadingTables& reading_tables(const StepModels& models) {
    static const auto all = [] {
        std::array<ReadingTables, step_models::sets> of{};
        for (std::size_t set = 0; set < of.size(); ++set) of[set] = tables_of(step_model_sets()[set]);
        return of;
    }();
    return all[static_cast<std::size_t>(&models - step_model_sets().data())];
}

}  // namespace framewire::delta
