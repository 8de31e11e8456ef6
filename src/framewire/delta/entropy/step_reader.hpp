#pragma once

#include "framewire/delta/entropy/models/models.hpp"
#include "framewire/delta/entropy/rans.hpp"
#include "framewire/delta/entropy/step_states.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace framewire::delta {

/// The words of a block of steps, of bytes that nobody vouches for: behind their end there are zeros.
class StepWords {
public:
    /// What is read before behind_end() is asked again is not more than this.
    static constexpr std::size_t most_ahead = 640;

    explicit StepWords(const std::uint8_t* at) : at_(at) {}

    std::uint32_t next() {
        const auto word = here();
        at_ += 2;
        return word;
    }
    std::uint32_t next_state() {
        const auto low = next();
        return low | next() << 16;
    }
    /// A state after a symbol. Whether it lacks a word nobody can guess.
    std::uint32_t filled(std::uint32_t state) {
        const auto low = state < rans::least_state ? ~0u : 0u, word = here() & low;
        at_ += 2 & low;
        return state << (16 & low) | word;
    }
    const std::uint8_t* at() const { return at_; }

private:
    std::uint32_t here() const {
        std::uint16_t word;
        std::memcpy(&word, at_, sizeof(word));
        return word;
    }

    const std::uint8_t* at_;
};

/// Reads the symbols of a block of steps, of `many` states in turn or of one.
template <bool many>
class StepReader {
public:
    StepReader(StepWords words, const std::uint8_t* end) : words_(words), end_(end) { states_[0] = next_state(); }
    /// `count` states, of which `first` has said that there are so many.
    StepReader(const StepReader<false>& first, int count)
        : words_(first.words_), end_(first.end_), allowed_(first.allowed_), mask_(static_cast<unsigned>(count) - 1) {
        states_[0] = first.states_[0];
        for (int i = 1; i < count; ++i) states_[i] = next_state();
    }

    /// As rans::Reader does.
    std::uint32_t place() const { return states_[turn()] & (rans::probability_one - 1); }
    void take(std::uint32_t start, std::uint32_t frequency) {
        auto& state = states_[turn()];
        state = words_.filled(frequency * (state >> rans::probability_bits) + (state & (rans::probability_one - 1)) -
                              start);
        if constexpr (many) ++turn_;
    }
    /// A symbol from place 0 on that takes few bits, so that there is seldom a word to read.
    void take_likely(std::uint32_t frequency) {
        auto& state = states_[turn()];
        state = frequency * (state >> rans::probability_bits) + (state & (rans::probability_one - 1));
        if (state < rans::least_state) [[unlikely]]
            state = state << 16 | words_.next();
        if constexpr (many) ++turn_;
    }
    std::uint32_t bits(int count) {
        auto& state = states_[turn()];
        const auto taken = rans::take_bits(state, count);
        state = words_.filled(taken.state);
        if constexpr (many) ++turn_;
        return taken.value;
    }

    /// To be asked at least once for each part.
    bool behind_end() const { return words_.at() > end_; }
    /// Whether all was read and no more, and the states are those that coding began with.
    bool at_end() const {
        std::uint32_t other = 0;
        for (unsigned i = 0; i <= mask_; ++i) other |= states_[i] ^ rans::least_state;
        return words_.at() == end_ && other == 0 && allowed_;
    }

private:
    friend class StepReader<true>;

    unsigned turn() const { return many ? turn_ & mask_ : 0; }
    std::uint32_t next_state() {
        const auto state = words_.next_state();
        allowed_ &= rans::is_state(state);
        return state;
    }

    StepWords words_;
    const std::uint8_t* end_;
    bool allowed_ = true;
    unsigned mask_ = 0, turn_ = 0;
    std::uint32_t states_[many ? step_states::most : 1];
};

/// The bytes of a block of steps.
class StepBytes {
public:
    /// Returns body(reader, models), with the StepReader of the block's first symbol and the set of models it was coded
    /// with.
    template <class Body>
    auto read(std::span<const std::uint8_t> bytes, Body&& body) {
        // So that readers need not ask for each word whether it is there.
        padded_.assign(bytes.begin(), bytes.end());
        padded_.resize(bytes.size() + 2 * StepWords::most_ahead);
        const auto* const end = padded_.data() + bytes.size();
        StepWords words(padded_.data());
        StepReader<false> head(words, end);
        const auto& models = step_model_sets()[head.bits(step_states::set_bits)];
        const int choice = step_states::choice_at(head.place());
        head.take(step_states::start(choice), step_states::frequency(choice));
        return choice == 0 ? body(head, models) : body(StepReader<true>(head, step_states::count(choice)), models);
    }

private:
    std::vector<std::uint8_t> padded_;
};

}  // namespace framewire::delta
