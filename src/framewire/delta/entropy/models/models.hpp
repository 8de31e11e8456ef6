#pragma once

#include "framewire/delta/entropy/rans.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// Trained frequencies. The tables were trained offline; format.md specifies how levels become frequencies, and encoder
// and decoder must compute them alike.
namespace framewire::delta {

/// Models of one kind: `count` models with `symbols` symbols each. The symbols of all kinds are numbered together;
/// those of this kind begin at `first`.
struct ModelKind {
    int first;
    int count;
    int symbols;

    /// Returns the number after the last symbol of this kind.
    constexpr int end() const { return first + count * symbols; }
    /// Returns the number of the first symbol of a model.
    constexpr int at(int model) const { return first + model * symbols; }
};

/// Kinds of models for delta frames. format.md describes their symbols and contexts.
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
/// All kinds in the order of the tables.
inline constexpr ModelKind trained[] = {mode,        changed,     pattern, sign, magnitude,
                                        vector_kind, vector_bits, row,     edge, part_class};
/// Raw numbers of 1 to `most_bits` bits are symbols too, of models whose symbols are equally likely.
inline constexpr int most_bits = 8, trained_symbols = part_class.end();
/// Number of all symbols, including raw numbers.
inline constexpr int symbols = trained_symbols + (2 << most_bits);
/// Returns the model of raw numbers of `count` bits.
constexpr ModelKind plain_bits(int count) { return {trained_symbols + (1 << count), 1, 1 << count}; }
/// Returns the number of bits of the raw number that a symbol is; 0 for symbols of trained models.
constexpr int bits_of(int symbol) {
    return symbol < trained_symbols ? 0 : std::bit_width(static_cast<unsigned>(symbol - trained_symbols)) - 1;
}
inline constexpr int sets = 4;  ///< number of sets of models; a block signals its set

}  // namespace step_models

/// Kinds of models for keyframes: residuals by class, and the predictor and class of a sub-block by the class before.
namespace picture_models {

inline constexpr int classes = 12;        ///< classes of sub-blocks
inline constexpr int small_classes = 8;   ///< number of the first classes, which have few symbols
inline constexpr int small_symbols = 33;  ///< 32 residuals, and one symbol for all others
inline constexpr int predictors = 3;      ///< number of predictors
inline constexpr ModelKind small_residual{0, small_classes, small_symbols};
inline constexpr ModelKind large_residual{small_residual.end(), classes - small_classes, 256};
inline constexpr ModelKind part{large_residual.end(), classes, predictors* classes};
/// Number of all symbols.
inline constexpr int symbols = part.end();
/// All kinds in the order of the table.
inline constexpr ModelKind all[] = {small_residual, large_residual, part};

}  // namespace picture_models

/// Frequencies of models with `symbol_count` symbols in all, and lookup tables for encoder and decoder.
template <int symbol_count>
class Models {
public:
    /// `levels` has one character per symbol: its level as '#' + level (format.md, "Frequencies"). Throws
    /// Error{internal} if its length is wrong or a model is too flat.
    Models(std::span<const ModelKind> kinds, std::string_view levels);

    /// Returns a symbol for the encoder.
    const rans::Symbol& symbol(int index) const { return symbols_[static_cast<std::size_t>(index)]; }
    /// Returns the first place of a symbol.
    std::uint32_t start(int index) const { return ranges_[static_cast<std::size_t>(index)].start; }
    /// Returns the frequency of a symbol.
    std::uint32_t frequency(int index) const {
        const auto range = ranges_[static_cast<std::size_t>(index)];
        return static_cast<std::uint32_t>(range.end - range.start);
    }

    /// Reads the next symbol of the model with `count` symbols that begins at `first`, and returns its number in the
    /// model. `Reader` is rans::Reader or a type with the same place() and take().
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
    /// Variant of read() for a model of two symbols and a StepReader. The first symbol is the likely one; predicting it
    /// takes it off the dependency chain.
    template <class Reader>
    [[gnu::always_inline]] bool read_flag(Reader& reader, int first) const {
        return read_flag_from(reader, ranges_[static_cast<std::size_t>(first)].end);
    }
    /// Variant of read_flag(): the second symbol has the places from `one_from` on.
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
    // Table that shortens the search: for each model with many symbols, the symbol at every 32nd place.
    static constexpr int guess_shift = 5, guess_count = rans::probability_one >> guess_shift;
    static constexpr std::size_t guesses_per_symbol = 8;
    static constexpr int least_guessed = guess_count / static_cast<int>(guesses_per_symbol), most_guessed = 128;

    struct Range {
        std::uint16_t start, end;
    };
    /// A symbol and its range in one number, so that one load fetches all.
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

/// Models of delta frames and of keyframes.
using StepModels = Models<step_models::symbols>;
using PictureModels = Models<picture_models::symbols>;

/// Returns the sets of models for delta frames. Builds them at the first call. Thread-safe.
const std::array<StepModels, step_models::sets>& step_model_sets();
/// Returns the cost of each symbol of delta frames in 1/8 bits: 16 bits per set, the first set in the lowest. 0 for raw
/// numbers, whose cost is their number of bits.
std::span<const std::uint64_t> step_costs();
/// Maximum cost of a symbol in 1/8 bits.
inline constexpr int max_symbol_cost = '~' - '#';
/// Returns the models for keyframes. Builds them at the first call. Thread-safe.
const PictureModels& trained_picture_models();

}  // namespace framewire::delta
