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

/// Decoder for the symbols of a block of a delta frame, with `count` states in rotation. The bytes are untrusted. Words
/// beyond their end read as 0, because StepBytes pads them; so a single read needs no bound check, but the caller must
/// ask StepBytes::behind_end() regularly.
///
/// With several states, the array is a queue: each state is written `count` places further when it has been used. That
/// avoids an index computation per symbol, but needs memory for as many states as symbols between two checks.
template <int count>
class StepReader {
    // A single state is kept by value, so that it stays in a register.
    using State = std::conditional_t<count == 1, std::uint32_t, std::uint32_t*>;

public:
    /// Maximum number of symbols between two calls of StepBytes::behind_end().
    static constexpr std::size_t most_ahead = 640;
    /// Number of states for which memory is needed.
    static constexpr std::size_t room = count > 1 ? count + most_ahead : 1;

    /// Begins to read at `words` with a single state.
    explicit StepReader(const std::uint8_t* words) requires(count == 1) : words_(words), state_(next_state()) {}
    /// Continues with `count` states after `first` has read their number. `states` must have `room` entries.
    template <int one>
    requires(one == 1 && count > 1) StepReader(const StepReader<one>& first, std::uint32_t* states)
        : words_(first.words_), state_(states) {
        states[0] = first.state_;
        for (std::size_t i = 1; i < count; ++i) states[i] = next_state();
    }

    /// Position of a reader. Functions that are not inlined take and return this instead of a reference to the reader,
    /// because a reader whose address is taken does not stay in registers.
    struct Position {
        const std::uint8_t* words;
        State state;
    };
    /// Makes a reader at a position.
    explicit StepReader(const Position& position) : words_(position.words), state_(position.state) {}
    /// Returns the position.
    Position position() const { return {words_, state_}; }
    /// Moves to a position that a function returned.
    void go_to(const Position& position) {
        words_ = position.words;
        state_ = position.state;
        asm("" : "+r"(words_));
    }

    /// Returns the place of the next symbol, like rans::Reader.
    std::uint32_t place() const { return state() & (rans::probability_one - 1); }
    /// Removes the symbol with the given range, like rans::Reader.
    [[gnu::always_inline]] void take(std::uint32_t start, std::uint32_t frequency) {
        take_offset(place() - start, frequency);
    }
    /// Variant of take(): `offset` is the place minus the start of the symbol.
    [[gnu::always_inline]] void take_offset(std::uint32_t offset, std::uint32_t frequency) {
        move_on_filled(frequency * (state() >> rans::probability_bits) + offset);
    }
    /// Variant of take() for a symbol that starts at place 0 and is likely, so that a word is rarely read.
    [[gnu::always_inline]] void take_likely(std::uint32_t frequency) {
        auto state = frequency * (this->state() >> rans::probability_bits) + place();
        if (state < rans::least_state) [[unlikely]] {
            state = state << 16 | word();
            words_ += 2;
        }
        move_on(state);
    }
    /// Reads a raw number of `bit_count` bits.
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
    // Stores the state and makes the next one current. With several states it goes to the end of the queue.
    [[gnu::always_inline]] void move_on(std::uint32_t state) {
        if constexpr (count == 1)
            state_ = state;
        else
            *(state_++ + count) = state;
    }
    // Stores a state after reading a word if it needs one. Without a branch, because that is unpredictable. The empty
    // asm statements keep the compiler from making a branch, and from keeping `words_` in a vector register.
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

/// Input of StepReader: a padded copy of a block's bytes, and the memory for its states. Not thread-safe; keeps its
/// memory between blocks.
class StepBytes {
public:
    /// Reads the head of a block and returns body(reader, models): a StepReader at the first symbol, and the set of
    /// models that the block uses. The reader refers to this object.
    template <class Body>
    auto read(std::span<const std::uint8_t> bytes, Body&& body) {
        // The padding makes bound checks for single words unnecessary.
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

    /// Returns true if more was read than there is. Must be called at least once per sub-block; also moves the queue of
    /// states back to the beginning of its memory.
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
    /// Returns the bytes after those that were read; empty if more was read than there is.
    template <int count>
    std::span<const std::uint8_t> rest(const StepReader<count>& reader) const {
        return {std::min(reader.words_, end_), end_};
    }
    /// Returns true if exactly all bytes were read and all states have the value with which the encoder began.
    template <int count>
    bool at_end(const StepReader<count>& reader) const {
        return reader.words_ == end_ && states_end(reader);
    }
    /// Variant of at_end() that allows bytes to be left.
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
