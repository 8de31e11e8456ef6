#pragma once

#include "framewire/core/view.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace framewire::codec {

/// Range asymmetric numeral systems (Duda, "Asymmetric numeral systems", arXiv:1311.2540, 2013). The state is a number
/// that contains all coded symbols; decoding returns them in reverse order. The encoder therefore codes the last symbol
/// first, so that the decoder reads the first symbol first. If the state becomes too large, the encoder moves its lower
/// 16 bits to the output as a word; the decoder reads that word back at the same point.
///
/// Coding a symbol with `frequency` places of 4096, starting at `start`:
///
///     state' = (state / frequency) * 4096 + start + state % frequency
namespace rans {

/// The frequencies of a model's symbols add up to 2^probability_bits = 4096.
inline constexpr int probability_bits = 12;
/// Sum of the frequencies of a model, which is its number of places.
inline constexpr std::uint32_t probability_one = 1u << probability_bits;
/// Lower bound of a state; the upper one is 2^31 - 1. The encoder begins with this value. The decoder must end with it;
/// otherwise the data is damaged.
inline constexpr std::uint32_t least_state = 1u << 15;
/// Returns true if a state read from a stream is within the bounds.
FRAMEWIRE_HOST_DEVICE constexpr bool is_state(std::uint32_t state) { return state >= least_state && state < 1u << 31; }

/// A symbol in the form that the encoder needs. The division by the frequency is replaced by a multiplication (Granlund
/// and Montgomery, "Division by Invariant Integers using Multiplication", 1994), which is exact for states below 2^31.
struct Symbol {
    std::uint32_t first_too_large;  ///< if the state is at least this large, a word must be moved out first
    std::uint32_t reciprocal;  ///< state / frequency = (state * reciprocal) >> (32 + shift), unless the frequency is 1
    std::uint32_t bias;        ///< number added to the state: the start of the symbol, adjusted if the frequency is 1
    std::uint16_t complement;  ///< 4096 minus the frequency
    std::uint16_t shift;       ///< see `reciprocal`
};

/// Returns the symbol with `frequency` (at least 1) of the 4096 places, starting at `start`.
constexpr Symbol symbol_of(std::uint32_t start, std::uint32_t frequency) {
    Symbol symbol{};
    symbol.first_too_large = ((least_state >> probability_bits) << 16) * frequency;
    symbol.complement = static_cast<std::uint16_t>(probability_one - frequency);
    if (frequency < 2) {
        symbol.reciprocal = ~0u;
        symbol.shift = 0;
        symbol.bias = start + probability_one - 1;
        return symbol;
    }
    std::uint32_t shift = 0;
    while (frequency > 1u << shift) ++shift;
    symbol.reciprocal = static_cast<std::uint32_t>(((std::uint64_t{1} << (shift + 31)) + frequency - 1) / frequency);
    symbol.shift = static_cast<std::uint16_t>(shift - 1);
    symbol.bias = start;
    return symbol;
}

/// Encodes a symbol and returns the new state. If a word moves out, stores it before `words` and decrements `words`.
/// words[-1] must be writable in any case: it is unpredictable whether a word moves out, so the store is unconditional.
inline std::uint32_t put(std::uint32_t state, const Symbol& symbol, std::uint16_t*& words) {
    const bool full = state >= symbol.first_too_large;
    words[-1] = static_cast<std::uint16_t>(state);
    words -= full;
    state = full ? state >> 16 : state;
    const auto quotient = static_cast<std::uint32_t>((std::uint64_t{state} * symbol.reciprocal) >> (32 + symbol.shift));
    return state + symbol.bias + quotient * symbol.complement;
}

/// Variant of put() for a raw number of `bits` bits, 1 to 12: a symbol of a model with 2^bits equally likely symbols.
inline std::uint32_t put_bits(std::uint32_t state, std::uint32_t value, int bits, std::uint16_t*& words) {
    const int rest = probability_bits - bits;
    if (state >= std::uint32_t{1} << (31 - bits)) {
        *--words = static_cast<std::uint16_t>(state);
        state >>= 16;
    }
    return state >> rest << probability_bits | value << rest | (state & ((1u << rest) - 1));
}
/// Result of take_bits().
struct TakenBits {
    std::uint32_t value, state;  ///< the decoded number, and the state after it
};
/// Decodes a raw number of `bits` bits from a state. If the new state is below least_state, the caller must read a
/// word.
FRAMEWIRE_HOST_DEVICE constexpr TakenBits take_bits(std::uint32_t state, int bits) {
    const int rest = probability_bits - bits;
    return {(state & (probability_one - 1)) >> rest, state >> probability_bits << rest | (state & ((1u << rest) - 1))};
}

/// Appends the words from `words` to `end` to `out`, little-endian.
inline void append(const std::uint16_t* words, const std::uint16_t* end, std::vector<std::uint8_t>& out) {
    static_assert(std::endian::native == std::endian::little);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(words);
    out.insert(out.end(), bytes, bytes + (end - words) * 2);
}

/// Reader for little-endian 16-bit words from untrusted bytes. Returns 0 beyond the end.
class Words {
public:
    /// `bytes` must outlive this object.
    explicit Words(std::span<const std::uint8_t> bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    /// Returns the next word, or 0 if there is none.
    std::uint32_t next() {
        if (end_ - at_ < 2) {
            overrun_ = true;
            return 0;
        }
        const auto word = static_cast<std::uint32_t>(at_[0] | at_[1] << 8);
        at_ += 2;
        return word;
    }
    /// Returns the next two words as one number, the low word first.
    std::uint32_t next_state() {
        const auto low = next();
        return low | next() << 16;
    }
    /// Returns true if exactly all bytes were read.
    bool at_end() const { return at_ == end_ && !overrun_; }
    /// Returns true if a read went beyond the end.
    bool overrun() const { return overrun_; }
    /// Returns the bytes that have not been read.
    std::span<const std::uint8_t> rest() const { return {at_, end_}; }

private:
    const std::uint8_t* at_;
    const std::uint8_t* end_;
    bool overrun_ = false;
};

/// Decoder with a single state.
class Reader {
public:
    /// Reads the initial state from `words`, which must outlive this object.
    explicit Reader(Words& words) : words_(&words), state_(words.next_state()) {}

    /// Returns the place of the next symbol, 0 to 4095. The caller finds the symbol with this place and passes its
    /// range to take().
    std::uint32_t place() const { return state_ & (probability_one - 1); }
    /// Removes the symbol with the given range from the state, and reads a word if the state becomes too small.
    void take(std::uint32_t start, std::uint32_t frequency) {
        state_ = frequency * (state_ >> probability_bits) + place() - start;
        if (state_ < least_state) state_ = state_ << 16 | words_->next();
    }
    /// Returns the state.
    std::uint32_t state() const { return state_; }
    /// Returns true if the state has the value with which the encoder began.
    bool at_end() const { return state_ == least_state; }

private:
    Words* words_;
    std::uint32_t state_;
};

}  // namespace rans
}  // namespace framewire::codec

// Trained frequencies. The tables were trained offline. format.md specifies how to compute frequencies from levels;
// encoder and decoder must get the same results.
namespace framewire::codec {

/// Models of one kind: `count` models with `symbols` symbols each. The symbols of all kinds are numbered consecutively;
/// `first` is the first symbol of this kind.
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

/// Mode of a sub-block.
inline constexpr ModelKind mode{0, 36, 5};
/// Flag that says whether a pixel changes.
inline constexpr ModelKind changed{mode.end(), 702, 2};
/// Directions in which a pixel's three channels change.
inline constexpr ModelKind pattern{changed.end(), 32, 26};
/// Direction in which a gray pixel changes.
inline constexpr ModelKind sign{pattern.end(), 32, 2};
/// Magnitude of the change of a channel.
inline constexpr ModelKind magnitude{sign.end(), 120, 20};
/// Kind of a sub-block's motion vector.
inline constexpr ModelKind vector_kind{magnitude.end(), 4, 3};
/// Number of bits of a vector component.
inline constexpr ModelKind vector_bits{vector_kind.end(), 4, 9};
/// Kind of a row, in blocks coded by rows.
inline constexpr ModelKind row{vector_bits.end(), 32, 8};
/// Column at which the changed pixels of a row begin or end.
inline constexpr ModelKind edge{row.end(), 8, 8};
/// Class of the magnitudes of a sub-block.
inline constexpr ModelKind part_class{edge.end(), 24, 12};
/// All kinds in the order of the tables.
inline constexpr ModelKind trained[] = {mode,        changed,     pattern, sign, magnitude,
                                        vector_kind, vector_bits, row,     edge, part_class};
/// Raw numbers of 1 to `most_bits` bits are symbols, too; their models have equally likely symbols.
inline constexpr int most_bits = 8,      ///< longest raw number
    trained_symbols = part_class.end();  ///< number of symbols of trained models, which are numbered first
/// Number of all symbols, including raw numbers.
inline constexpr int symbols = trained_symbols + (2 << most_bits);
/// Returns the model of raw numbers of `count` bits.
constexpr ModelKind plain_bits(int count) { return {trained_symbols + (1 << count), 1, 1 << count}; }
/// Returns the number of bits if the symbol is a raw number, or 0 if it belongs to a trained model.
constexpr int bits_of(int symbol) {
    return symbol < trained_symbols ? 0 : std::bit_width(static_cast<unsigned>(symbol - trained_symbols)) - 1;
}
inline constexpr int sets = 4;  ///< number of sets of models; a block signals its set

}  // namespace step_models

/// Kinds of models for keyframes. Residuals have a model per class; the predictor and class of a sub-block have a model
/// per class of the previous sub-block.
namespace picture_models {

inline constexpr int classes = 12;        ///< classes of sub-blocks
inline constexpr int small_classes = 8;   ///< number of classes with few symbols, which come first
inline constexpr int small_symbols = 33;  ///< 32 residuals, and one symbol for all larger residuals
inline constexpr int predictors = 3;      ///< number of predictors
/// Residuals of the classes with few symbols.
inline constexpr ModelKind small_residual{0, small_classes, small_symbols};
/// Residuals of all other classes.
inline constexpr ModelKind large_residual{small_residual.end(), classes - small_classes, 256};
/// Predictor and class of a sub-block, as one symbol.
inline constexpr ModelKind part{large_residual.end(), classes, predictors* classes};
/// Number of all symbols.
inline constexpr int symbols = part.end();
/// All kinds in the order of the table.
inline constexpr ModelKind all[] = {small_residual, large_residual, part};

}  // namespace picture_models

/// Frequencies of a set of models with `symbol_count` symbols in total, and lookup tables for encoder and decoder.
template <int symbol_count>
class Models {
public:
    /// Computes the frequencies. `levels` has the character '#' + level for each symbol (format.md, "Frequencies").
    /// Throws Error{internal} if its length is wrong or a model is too flat.
    Models(std::span<const ModelKind> kinds, std::string_view levels);

    /// Returns a symbol in the form that the encoder needs.
    const rans::Symbol& symbol(int index) const { return symbols_[static_cast<std::size_t>(index)]; }
    /// Returns the first place of a symbol.
    std::uint32_t start(int index) const { return ranges_[static_cast<std::size_t>(index)].start; }
    /// Returns the frequency of a symbol.
    std::uint32_t frequency(int index) const {
        const auto range = ranges_[static_cast<std::size_t>(index)];
        return static_cast<std::uint32_t>(range.end - range.start);
    }

    /// Reads the next symbol of the model with `count` symbols from `first` on, and returns its number within the
    /// model. `Reader` is rans::Reader or a type with the same members place() and take().
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
    /// Variant of read() for a model with two symbols and a StepReader. Assumes that the first symbol is the likely
    /// one; a correctly predicted branch is not part of the dependency chain.
    template <class Reader>
    [[gnu::always_inline]] bool read_flag(Reader& reader, int first) const {
        return read_flag_from(reader, ranges_[static_cast<std::size_t>(first)].end);
    }
    /// Variant of read_flag() for a model whose second symbol starts at the place `one_from`.
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
    // Table that shortens the search in models with many symbols: the symbol at every 32nd place.
    static constexpr int guess_shift = 5, guess_count = rans::probability_one >> guess_shift;
    static constexpr std::size_t guesses_per_symbol = 8;
    static constexpr int least_guessed = guess_count / static_cast<int>(guesses_per_symbol), most_guessed = 128;

    struct Range {
        std::uint16_t start, end;
    };
    /// A symbol and its range, packed into one number so that a single load fetches them.
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
/// Returns the cost of each symbol of delta frames in 1/8 bits, as 16 bits per set of models; the first set is in the
/// lowest bits. Raw numbers have the cost 0 here; their cost is their number of bits.
std::span<const std::uint64_t> step_costs();
/// Maximum cost of a symbol in 1/8 bits.
inline constexpr int max_symbol_cost = '~' - '#';
/// Returns the models for keyframes. Builds them at the first call. Thread-safe.
const PictureModels& trained_picture_models();

/// Number of rANS states of a block of a delta frame. The block signals it with a symbol of a separate model. Large
/// blocks have many states, so that SIMD vectors and warps can code symbols in parallel; each state adds about 3 bytes.
namespace step_states {

/// Number of choices, and the maximum number of states.
inline constexpr int choices = 3,  ///< number of choices
    most = 32;                     ///< maximum number of states

/// Returns the number of states of a choice.
FRAMEWIRE_HOST_DEVICE constexpr int count(int choice) { return choice == 0 ? 1 : choice == 1 ? 8 : most; }
/// Returns the choice that an encoder makes for a block. `cost` is the cost of the block's symbols without raw bits, in
/// 1/8 bits. With these limits, the states take less than about 2 % of the block.
FRAMEWIRE_HOST_DEVICE constexpr int choice_for(std::uint64_t cost) {
    constexpr std::uint64_t kilobyte = 1024 * 64;
    return cost < kilobyte ? 0 : cost < 5 * kilobyte ? 1 : 2;
}

/// Returns the first place of a choice in the model.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t start(int choice) { return choice == 0 ? 0 : choice == 1 ? 3840 : 4032; }
/// Returns the frequency of a choice in the model.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t frequency(int choice) {
    return (choice == 2 ? rans::probability_one : start(choice + 1)) - start(choice);
}
/// Returns the choice to which a place belongs.
FRAMEWIRE_HOST_DEVICE constexpr int choice_at(std::uint32_t place) { return (place >= start(1)) + (place >= start(2)); }

/// Number of bits that select the set of models.
inline constexpr int set_bits = 2;

/// Number in the first four bytes of a block of changes in runs, before the states. A state is never that small, so it
/// identifies the form.
inline constexpr std::uint32_t runs_form = 3;
/// Size of `runs_form` in a block, in bytes.
inline constexpr std::size_t form_bytes = 4;
/// Returns true if the block begins with `runs_form`.
FRAMEWIRE_HOST_DEVICE constexpr bool is_in_runs(const std::uint8_t* block, std::size_t size) {
    return size >= form_bytes && block[0] == runs_form && (block[1] | block[2] | block[3]) == 0;
}

}  // namespace step_states
}  // namespace framewire::codec
