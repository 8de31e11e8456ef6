#pragma once

#include "framewire/core/host_device.hpp"

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire::delta {

/// Range asymmetric numeral systems (Duda 2013): one number, the state, holds all that was coded and gives it back in
/// the opposite order. What no longer fits is moved out in words of 16 bits. So who codes goes through the symbols from
/// the last to the first, and who decodes from the first to the last.
namespace rans {

inline constexpr int probability_bits = 12;  ///< frequencies of the symbols of one model add up to 4096
inline constexpr std::uint32_t probability_one = 1u << probability_bits;
/// A state is at least this and below 2^31. Coding begins with it, so decoding ends with it unless bytes are broken.
inline constexpr std::uint32_t least_state = 1u << 15;
FRAMEWIRE_HOST_DEVICE constexpr bool is_state(std::uint32_t state) { return state >= least_state && state < 1u << 31; }

/// A symbol as the encoder needs it: its place among the 4096 and, in place of a division by its frequency, a product
/// (Granlund and Montgomery 1994), exact for states below 2^31.
struct Symbol {
    std::uint32_t first_too_large;  ///< from this state on a word moves out first
    std::uint32_t reciprocal;
    std::uint32_t bias;
    std::uint16_t complement;  ///< 4096 less the frequency
    std::uint16_t shift;
};

/// A symbol that takes `frequency` of the 4096 places from `start` on.
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

/// A state after one more symbol. A word that moves out goes before `words`, which then begins with it. Whether one
/// does nobody can guess, so it is written in any case.
inline std::uint32_t put(std::uint32_t state, const Symbol& symbol, std::uint16_t*& words) {
    const bool full = state >= symbol.first_too_large;
    words[-1] = static_cast<std::uint16_t>(state);
    words -= full;
    state = full ? state >> 16 : state;
    const auto quotient = static_cast<std::uint32_t>((std::uint64_t{state} * symbol.reciprocal) >> (32 + symbol.shift));
    return state + symbol.bias + quotient * symbol.complement;
}

/// The same for `bits` bits, 1 to 12: a symbol of a model whose 2^bits symbols are all as likely.
inline std::uint32_t put_bits(std::uint32_t state, std::uint32_t value, int bits, std::uint16_t*& words) {
    const int rest = probability_bits - bits;
    if (state >= std::uint32_t{1} << (31 - bits)) {
        *--words = static_cast<std::uint16_t>(state);
        state >>= 16;
    }
    return state >> rest << probability_bits | value << rest | (state & ((1u << rest) - 1));
}
/// Undoes it, but for the word: the number that comes next, and the state without it.
struct TakenBits {
    std::uint32_t value, state;
};
FRAMEWIRE_HOST_DEVICE constexpr TakenBits take_bits(std::uint32_t state, int bits) {
    const int rest = probability_bits - bits;
    return {(state & (probability_one - 1)) >> rest, state >> probability_bits << rest | (state & ((1u << rest) - 1))};
}

/// Appends words to bytes, little-endian.
inline void append(const std::uint16_t* words, const std::uint16_t* end, std::vector<std::uint8_t>& out) {
    static_assert(std::endian::native == std::endian::little);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(words);
    out.insert(out.end(), bytes, bytes + (end - words) * 2);
}

/// Words of 16 bits to read, little-endian, of bytes that nobody vouches for: behind their end there are zeros.
class Words {
public:
    explicit Words(std::span<const std::uint8_t> bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    std::uint32_t next() {
        if (end_ - at_ < 2) {
            overrun_ = true;
            return 0;
        }
        const auto word = static_cast<std::uint32_t>(at_[0] | at_[1] << 8);
        at_ += 2;
        return word;
    }
    std::uint32_t next_state() {
        const auto low = next();
        return low | next() << 16;
    }
    /// Whether all was read and no more than that.
    bool at_end() const { return at_ == end_ && !overrun_; }
    bool overrun() const { return overrun_; }
    std::span<const std::uint8_t> rest() const { return {at_, end_}; }

private:
    const std::uint8_t* at_;
    const std::uint8_t* end_;
    bool overrun_ = false;
};

/// A state that gives symbols back.
class Reader {
public:
    explicit Reader(Words& words) : words_(&words), state_(words.next_state()) {}

    /// Which of the 4096 places comes next; whose it is is to be taken.
    std::uint32_t place() const { return state_ & (probability_one - 1); }
    void take(std::uint32_t start, std::uint32_t frequency) {
        state_ = frequency * (state_ >> probability_bits) + place() - start;
        if (state_ < least_state) state_ = state_ << 16 | words_->next();
    }
    std::uint32_t state() const { return state_; }
    /// Whether the state is the one that coding began with.
    bool at_end() const { return state_ == least_state; }

private:
    Words* words_;
    std::uint32_t state_;
};

}  // namespace rans
}  // namespace framewire::delta
