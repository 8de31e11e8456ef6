#include "framewire/codec/models.hpp"
#include "framewire/core/error.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <vector>

// Trained models. A table has one character per symbol, which encodes the symbol's level; eight levels more halve the
// probability (format.md, "Frequencies"). Frequencies are derived from the levels in integer arithmetic, because
// encoder and decoder must get the same results on all machines.

namespace framewire::codec {
namespace {

constexpr const char* trained_steps[step_models::sets] = {
#include "framewire/codec/trained_steps.inc"
};
constexpr const char* trained_pictures =
#include "framewire/codec/trained_pictures.inc"
    ;

/// Returns 65536 * 2^(-level / 8), rounded down, but at least 1. Uses integer arithmetic, so the result is the same on
/// all machines.
constexpr std::uint32_t weight_of(int level) {
    constexpr std::uint32_t eighths[8] = {65536, 60096, 55108, 50535, 46340, 42494, 38967, 35733};
    return std::max(1u, eighths[level % 8] >> (level / 8));
}

/// Computes the frequencies of one model in proportion to the weights. Each is at least 1; they add up to 4096. The
/// remainder is added to the most likely symbol.
void set_frequencies(const char* levels, int count, std::uint16_t* frequencies) {
    std::uint64_t sum = 0;
    for (int i = 0; i < count; ++i) sum += weight_of(levels[i] - '#');
    int left = rans::probability_one, likeliest = 0;
    for (int i = 0; i < count; ++i) {
        const auto share = std::uint64_t{weight_of(levels[i] - '#')} * rans::probability_one / sum;
        frequencies[i] = static_cast<std::uint16_t>(std::max<std::uint64_t>(share, 1));
        left -= frequencies[i];
        if (frequencies[i] > frequencies[likeliest]) likeliest = i;
    }
    if (frequencies[likeliest] + left < 1)
        fail(ErrorCode::internal, "a model leaves no frequency for its likeliest symbol");
    frequencies[likeliest] = static_cast<std::uint16_t>(frequencies[likeliest] + left);
}

}  // namespace

template <int symbol_count>
Models<symbol_count>::Models(std::span<const ModelKind> kinds, std::string_view levels) {
    if (levels.size() != symbol_count) fail(ErrorCode::internal, "the models have the wrong length");
    std::array<std::uint16_t, symbol_count> frequencies;
    for (const auto& kind : kinds)
        for (int first = kind.first; first < kind.end(); first += kind.symbols) {
            set_frequencies(levels.data() + first, kind.symbols, &frequencies[static_cast<std::size_t>(first)]);
            std::uint32_t start = 0;
            for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(first + kind.symbols); ++i) {
                symbols_[i] = rans::symbol_of(start, frequencies[i]);
                ranges_[i] = {static_cast<std::uint16_t>(start), static_cast<std::uint16_t>(start + frequencies[i])};
                start += frequencies[i];
            }
            if (kind.symbols < least_guessed || kind.symbols > most_guessed) continue;
            auto* const guess = &guesses_[static_cast<std::size_t>(first) * guesses_per_symbol];
            for (int at = 0, symbol = 0; at < guess_count; ++at) {
                while (ranges_[static_cast<std::size_t>(first + symbol)].end <= at << guess_shift) ++symbol;
                const auto& range = ranges_[static_cast<std::size_t>(first + symbol)];
                guess[at] = {range.start |
                             static_cast<std::uint32_t>(range.end - range.start) << Guess::frequency_from |
                             static_cast<std::uint32_t>(symbol) << Guess::symbol_from};
            }
        }
}

template class Models<step_models::symbols>;
template class Models<picture_models::symbols>;

const std::array<StepModels, step_models::sets>& step_model_sets() {
    static const auto sets = [] {
        std::vector<ModelKind> kinds(std::begin(step_models::trained), std::end(step_models::trained));
        for (int bits = 1; bits <= step_models::most_bits; ++bits) kinds.push_back(step_models::plain_bits(bits));
        const auto set = [&](int index) {
            std::string levels = trained_steps[index];
            levels.resize(step_models::symbols, '#');
            return StepModels(kinds, levels);
        };
        return std::array{set(0), set(1), set(2), set(3)};
    }();
    return sets;
}

std::span<const std::uint64_t> step_costs() {
    static const auto costs = [] {
        std::array<std::uint64_t, step_models::symbols> of{};
        for (int set = step_models::sets; set-- > 0;)
            for (std::size_t i = 0; i < step_models::trained_symbols; ++i)
                of[i] = of[i] << 16 | static_cast<std::uint64_t>(trained_steps[set][i] - '#');
        return of;
    }();
    return costs;
}

const PictureModels& trained_picture_models() {
    static const PictureModels models(picture_models::all, trained_pictures);
    return models;
}

}  // namespace framewire::codec
