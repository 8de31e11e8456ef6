#pragma once

#include "framewire/core/host_device.hpp"

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire::delta {

/// Range asymmetric numeral systems (Duda, "Asymmetric numeral systems", arXiv:1311.2540, 2013). The state, one number,
/// holds everything that was coded, and decoding recovers it in reverse order. So the encoder goes from the last symbol
/// to the first, and the decoder from the first to the last. If a state grows too large, the encoder moves out its
/// lower 16 bits as a word; the decoder reads that word back at the same point.
///
/// Coding a symbol with `frequency` places of 4096 from `start` on:
///
///     state' = (state / frequency) * 4096 + start + state % frequency
namespace rans {

/// Frequencies of the symbols of a model add up to 2^probability_bits = 4096.
inline constexpr int probability_bits = 12;
/// That sum, the number of places.
inline constexpr std::uint32_t probability_one = 1u << probability_bits;
/// Lower bound of a state; the upper one is 2^31 - 1. The encoder begins with this value, so the decoder must end with
/// it, which detects damage.
inline constexpr std::uint32_t least_state = 1u << 15;
/// Returns true if a state read from a stream is within the bounds.
FRAMEWIRE_HOST_DEVICE constexpr bool is_state(std::uint32_t state) { return state >= least_state && state < 1u << 31; }

/// A symbol in the form that the encoder needs. The division by the frequency is replaced by a multiplication (Granlund
/// and Montgomery, "Division by Invariant Integers using Multiplication", 1994), which is exact for states below 2^31.
struct Symbol {
    std::uint32_t first_too_large;  ///< states from this one on must first move out a word
    std::uint32_t reciprocal;  ///< state / frequency = (state * reciprocal) >> (32 + shift), unless the frequency is 1
    std::uint32_t bias;        ///< added to the state: the start of the symbol, adjusted if the frequency is 1
    std::uint16_t complement;  ///< 4096 minus the frequency
    std::uint16_t shift;       ///< see `reciprocal`
};

/// Returns the symbol that has `frequency` (at least 1) of the 4096 places from `start` on.
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

/// Returns the state after one more symbol. A word that moves out is stored before `words`, which is then decremented.
/// The word is stored unconditionally, because whether it moves out is unpredictable; words[-1] must be writable.
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
    std::uint32_t value, state;  ///< the number, and the state without it
};
/// Takes a raw number from a state. The caller must then read a word if the state is below least_state.
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

/// Reader for little-endian 16-bit words of untrusted bytes. Beyond their end it returns zeros.
class Words {
public:
    /// `bytes` must outlive this object.
    explicit Words(std::span<const std::uint8_t> bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    /// Returns the next word; 0 at the end.
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
    /// Returns true if more was read than there is.
    bool overrun() const { return overrun_; }
    /// Returns the bytes that are left.
    std::span<const std::uint8_t> rest() const { return {at_, end_}; }

private:
    const std::uint8_t* at_;
    const std::uint8_t* end_;
    bool overrun_ = false;
};

/// Decoder with a single state.
class Reader {
public:
    /// Reads the state from `words`, which must outlive this object.
    explicit Reader(Words& words) : words_(&words), state_(words.next_state()) {}

    /// Returns the place of the next symbol, 0 to 4095. The caller finds the symbol that has it and calls take().
    std::uint32_t place() const { return state_ & (probability_one - 1); }
    /// Removes the symbol with the given range from the state, and reads a word if necessary.
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
}  // namespace framewire::delta
