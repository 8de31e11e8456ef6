#pragma once

#include "framewire/delta/entropy/models/models.hpp"
#include "framewire/delta/entropy/rans.hpp"
#include "framewire/delta/entropy/step_states.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace framewire::delta {

/// Reads the symbols of a block of steps, of `count` states in turn. Words are those of bytes that nobody vouches for:
/// behind their end there are zeros.
template <int count>
class StepReader {
    using State = std::conditional_t<count == 1, std::uint32_t, std::uint32_t*>;

public:
    /// What is read before StepBytes::behind_end() is asked again is not more than this.
    static constexpr std::size_t most_ahead = 640;
    /// Room for so many states.
    static constexpr std::size_t room = count > 1 ? count + most_ahead : 1;

    explicit StepReader(const std::uint8_t* words) requires(count == 1) : words_(words), state_(next_state()) {}
    /// `first` has said that there are so many states. They go to `states`.
    template <int one>
    requires(one == 1 && count > 1) StepReader(const StepReader<one>& first, std::uint32_t* states)
        : words_(first.words_), state_(states) {
        states[0] = first.state_;
        for (std::size_t i = 1; i < count; ++i) states[i] = next_state();
    }

    /// Where it stands. Functions that are not inlined take this and give it back: a reader itself would not stay in
    /// registers.
    struct Position {
        const std::uint8_t* words;
        State state;
    };
    explicit StepReader(const Position& position) : words_(position.words), state_(position.state) {}
    Position position() const { return {words_, state_}; }
    void go_to(const Position& position) {
        words_ = position.words;
        state_ = position.state;
        asm("" : "+r"(words_));
    }

    /// As rans::Reader does.
    std::uint32_t place() const { return state() & (rans::probability_one - 1); }
    [[gnu::always_inline]] void take(std::uint32_t start, std::uint32_t frequency) {
        take_offset(place() - start, frequency);
    }
    /// The same by how far behind the symbol's start the place is.
    [[gnu::always_inline]] void take_offset(std::uint32_t offset, std::uint32_t frequency) {
        move_on_filled(frequency * (state() >> rans::probability_bits) + offset);
    }
    /// A symbol from place 0 on that takes few bits, so that there is seldom a word to read.
    [[gnu::always_inline]] void take_likely(std::uint32_t frequency) {
        auto state = frequency * (this->state() >> rans::probability_bits) + place();
        if (state < rans::least_state) [[unlikely]] {
            state = state << 16 | word();
            words_ += 2;
        }
        move_on(state);
    }
    [[gnu::always_inline]] std::uint32_t bits(int bit_count) {
        const auto taken = rans::take_bits(state(), bit_count);
        move_on_filled(taken.state);
        return taken.value;
    }

private:
    template <int>
    friend class StepReader;
    friend class StepBytes;

    std::uint32_t state() const {
        if constexpr (count == 1)
            return state_;
        else
            return *state_;
    }
    /// The next state has its turn. Where there are several, each goes behind the others: so none is looked for.
    [[gnu::always_inline]] void move_on(std::uint32_t state) {
        if constexpr (count == 1)
            state_ = state;
        else
            *(state_++ + count) = state;
    }
    /// Whether a state lacks a word nobody can guess, so there is no branch. The empty statements keep compilers from
    /// making one, and from keeping `words_` in a vector.
    [[gnu::always_inline]] void move_on_filled(std::uint32_t state) {
        auto with_word = state << 16 | word();
        asm("" : "+r"(with_word));
        const bool lacks = state < rans::least_state;
        words_ += 2 * static_cast<std::ptrdiff_t>(lacks);
        asm("" : "+r"(words_));
        move_on(lacks ? with_word : state);
    }
    std::uint32_t word() const {
        std::uint16_t word;
        std::memcpy(&word, words_, sizeof(word));
        return word;
    }
    std::uint32_t next_state() {
        std::uint16_t words[2];
        std::memcpy(words, words_, sizeof(words));
        words_ += sizeof(words);
        return words[0] | std::uint32_t{words[1]} << 16;
    }

    const std::uint8_t* words_;
    State state_;
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
        padded_.resize(bytes.size() + 2 * StepReader<1>::most_ahead);
        end_ = padded_.data() + bytes.size();
        StepReader<1> head(padded_.data());
        allowed_ = rans::is_state(head.state_);
        const auto& models = step_model_sets()[head.bits(step_states::set_bits)];
        const int choice = step_states::choice_at(head.place());
        head.take(step_states::start(choice), step_states::frequency(choice));
        switch (choice) {
            case 0: return body(head, models);
            case 1: return body(begin<step_states::count(1)>(head), models);
            default: return body(begin<step_states::count(2)>(head), models);
        }
    }

    /// Whether more was read than there is. To be asked at least once for each part.
    template <int count>
    bool behind_end(StepReader<count>& reader) {
        if constexpr (count > 1) {
            std::uint32_t states[count];
            std::memcpy(states, reader.state_, sizeof(states));
            std::memcpy(states_, states, sizeof(states));
            reader.state_ = states_;
        }
        return reader.words_ > end_;
    }
    /// The bytes behind what was read; none where more was read than there is.
    template <int count>
    std::span<const std::uint8_t> rest(const StepReader<count>& reader) const {
        return {std::min(reader.words_, end_), end_};
    }
    /// Whether all was read and no more, and the states are those that coding began with.
    template <int count>
    bool at_end(const StepReader<count>& reader) const {
        return reader.words_ == end_ && states_end(reader);
    }
    /// The same where bytes may be left.
    template <int count>
    bool states_end(const StepReader<count>& reader) const {
        std::uint32_t other = 0;
        if constexpr (count == 1)
            other = reader.state_ ^ rans::least_state;
        else
            for (int i = 0; i < count; ++i) other |= reader.state_[i] ^ rans::least_state;
        return reader.words_ <= end_ && other == 0 && allowed_;
    }

private:
    template <int count>
    StepReader<count> begin(const StepReader<1>& head) {
        const StepReader<count> reader(head, states_);
        for (int i = 1; i < count; ++i) allowed_ &= rans::is_state(states_[i]);
        return reader;
    }

    std::vector<std::uint8_t> padded_;
    const std::uint8_t* end_ = nullptr;
    bool allowed_ = false;
    std::uint32_t states_[StepReader<step_states::most>::room];
};

}  // namespace framewire::delta
