#pragma once

#include "framewire/delta/entropy/rans.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace framewire::delta {

/// How likely each symbol of a model is, for models of one kind: `count` models of `symbols` symbols each, the first of
/// them at `first` among all symbols of all models.
struct ModelKind {
    int first;
    int count;
    int symbols;

    constexpr int end() const { return first + count * symbols; }
    constexpr int at(int model) const { return first + model * symbols; }
};

/// The kinds of models of a step; format.md says what their symbols and contexts mean.
namespace step_models {

inline constexpr ModelKind mode{0, 36, 5};
inline constexpr ModelKind changed{mode.end(), 702, 2};
inline constexpr ModelKind pattern{changed.end(), 32, 26};
inline constexpr ModelKind sign{pattern.end(), 32, 2};
inline constexpr ModelKind magnitude{sign.end(), 120, 20};
inline constexpr ModelKind vector_kind{magnitude.end(), 4, 3};
inline constexpr ModelKind vector_bits{vector_kind.end(), 4, 9};
inline constexpr ModelKind row{vector_bits.end(), 32, 8};
inline constexpr ModelKind edge{row.end(), 8, 8};
inline constexpr ModelKind part_class{edge.end(), 24, 12};
inline constexpr ModelKind trained[] = {mode,        changed,     pattern, sign, magnitude,
                                        vector_kind, vector_bits, row,     edge, part_class};
/// Numbers of so many bits are symbols too, of models whose symbols are all as likely.
inline constexpr int most_bits = 8, trained_symbols = part_class.end();
inline constexpr int symbols = trained_symbols + (2 << most_bits);
constexpr ModelKind plain_bits(int count) { return {trained_symbols + (1 << count), 1, 1 << count}; }
/// How many bits the number has that a symbol stands for; 0 of other symbols.
constexpr int bits_of(int symbol) {
    return symbol < trained_symbols ? 0 : std::bit_width(static_cast<unsigned>(symbol - trained_symbols)) - 1;
}
inline constexpr int sets = 4;  ///< a block says which one it was coded with

}  // namespace step_models

/// The models of whole blocks: residuals by class, and of a part which predictor and class, by the class before.
namespace picture_models {

inline constexpr int classes = 12;
inline constexpr int small_classes = 8;   ///< the first of them, with few symbols
inline constexpr int small_symbols = 33;  ///< 32 residuals, and one for all others
inline constexpr int predictors = 3;
inline constexpr ModelKind small_residual{0, small_classes, small_symbols};
inline constexpr ModelKind large_residual{small_residual.end(), classes - small_classes, 256};
inline constexpr ModelKind part{large_residual.end(), classes, predictors* classes};
inline constexpr int symbols = part.end();
inline constexpr ModelKind all[] = {small_residual, large_residual, part};

}  // namespace picture_models

/// Frequencies of the symbols of some models, with what encoder and decoder look up.
template <int symbol_count>
class Models {
public:
    /// `levels`: how likely each symbol is, as a character from '#' on; see format.md.
    Models(std::span<const ModelKind> kinds, std::string_view levels);

    const rans::Symbol& symbol(int index) const { return symbols_[static_cast<std::size_t>(index)]; }
    std::uint32_t start(int index) const { return ranges_[static_cast<std::size_t>(index)].start; }
    std::uint32_t frequency(int index) const {
        const auto range = ranges_[static_cast<std::size_t>(index)];
        return static_cast<std::uint32_t>(range.end - range.start);
    }

    /// The next symbol of a model of `count` symbols that begins at `first`. `Reader`: rans::Reader or what has its
    /// place() and take().
    template <class Reader>
    [[gnu::always_inline]] int read(Reader& reader, int first, int count) const {
        const auto place = reader.place();
        int symbol = 0;
        if (count >= least_guessed && count <= most_guessed) {
            const auto guess = guesses_[static_cast<std::size_t>(first) * guesses_per_symbol + (place >> guess_shift)];
            if (place - guess.start() < guess.frequency()) [[likely]] {
                reader.take(guess.start(), guess.frequency());
                return guess.symbol();
            }
            symbol = guess.symbol() + 1;
        }
        const auto* const ranges = &ranges_[static_cast<std::size_t>(first)];
        while (ranges[symbol].end <= place) ++symbol;
        reader.take(ranges[symbol].start, static_cast<std::uint32_t>(ranges[symbol].end - ranges[symbol].start));
        return symbol;
    }
    /// The same of a model of two, for a StepReader. Mostly the first one comes, of few bits: who guesses that need not
    /// wait for it.
    template <class Reader>
    [[gnu::always_inline]] bool read_flag(Reader& reader, int first) const {
        return read_flag_from(reader, ranges_[static_cast<std::size_t>(first)].end);
    }
    /// The same where the second symbol has the places from `one_from` on.
    template <class Reader>
    [[gnu::always_inline]] static bool read_flag_from(Reader& reader, std::uint32_t one_from) {
        if (reader.place() < one_from) [[likely]] {
            reader.take_likely(one_from);
            return false;
        }
        reader.take(one_from, rans::probability_one - one_from);
        return true;
    }

private:
    // So that no reader searches long: for each model of many symbols, of every 32nd place whose it is.
    static constexpr int guess_shift = 5, guess_count = rans::probability_one >> guess_shift;
    static constexpr std::size_t guesses_per_symbol = 8;
    static constexpr int least_guessed = guess_count / static_cast<int>(guesses_per_symbol), most_guessed = 128;

    struct Range {
        std::uint16_t start, end;
    };
    /// A symbol and its range in one number, so that one load brings all.
    struct Guess {
        std::uint32_t all;

        static constexpr int frequency_from = rans::probability_bits, symbol_from = 2 * rans::probability_bits;
        std::uint32_t start() const { return all & (rans::probability_one - 1); }
        std::uint32_t frequency() const { return all >> frequency_from & (rans::probability_one - 1); }
        int symbol() const { return static_cast<int>(all >> symbol_from); }
    };
    std::array<Guess, static_cast<std::size_t>(symbol_count) * guesses_per_symbol> guesses_{};
    std::array<Range, symbol_count> ranges_{};
    std::array<rans::Symbol, symbol_count> symbols_{};
};

using StepModels = Models<step_models::symbols>;
using PictureModels = Models<picture_models::symbols>;

/// The sets of models that steps are coded with.
const std::array<StepModels, step_models::sets>& step_model_sets();
/// What each symbol of a step costs with each set, in 1/8 bits: 16 bits per set, the first in the lowest. 0 for numbers
/// of bits.
std::span<const std::uint64_t> step_costs();
inline constexpr int max_symbol_cost = '~' - '#';
const PictureModels& trained_picture_models();

}  // namespace framewire::delta
