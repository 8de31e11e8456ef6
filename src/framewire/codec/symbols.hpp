#pragma once

#include "framewire/codec/coder_tables.hpp"
#include "framewire/codec/models.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace framewire::codec {

/// Folded magnitudes of the runs in a block, in groups (one channel of a sub-block each), and the class of each group.
class RunResiduals {
public:
    /// Removes all magnitudes.
    void clear() {
        parts_.clear();
        bytes_.clear();
    }
    /// Adds the folded magnitudes of one channel of a sub-block.
    void add(std::span<const std::uint8_t> folded, int part_class) {
        bytes_.insert(bytes_.end(), folded.begin(), folded.end());
        parts_.push_back({static_cast<std::uint8_t>(part_class), static_cast<std::uint8_t>(folded.size())});
    }

    /// Returns true if there are no magnitudes.
    bool empty() const { return parts_.empty(); }
    /// Returns the number and the class of the magnitudes of each call of add().
    std::span<const ResidualPart> parts() const { return parts_; }
    /// Returns all magnitudes in the order in which they were added.
    std::span<const std::uint8_t> bytes() const { return bytes_; }

private:
    std::vector<ResidualPart> parts_;
    std::vector<std::uint8_t> bytes_;
};

/// Symbols of a block in the order in which the decoder reads them. They are collected first, because the best set of
/// models is known only at the end, and because rANS codes the last symbol first. Not thread-safe.
class Symbols {
public:
    /// Removes all symbols and magnitudes.
    void clear() {
        count_ = 0;
        residuals_.clear();
    }
    /// Adds a symbol, given by its index among all symbols of step_models.
    void add(int index) {
        auto* const to = room(1);
        *to = static_cast<std::uint16_t>(index);
        take(to + 1);
    }
    /// Adds a raw number of `count` bits, 0 to 8.
    void add_bits(int value, int count) {
        if (count == 0) return;
        auto* const to = room(1);
        *to = bits_entry(value, count);
        take(to + 1);
    }

    /// Returns memory for `most` more entries. The caller fills it with symbols and results of bits_entry(), then calls
    /// take(). Valid until another member is called.
    std::uint16_t* room(std::size_t most) {
        if (entries_.size() < count_ + most) entries_.resize(2 * (count_ + most));
        return entries_.data() + count_;
    }
    /// Adds the entries that the caller has written to the memory from room(), up to `end`.
    void take(const std::uint16_t* end) { count_ = static_cast<std::size_t>(end - entries_.data()); }
    /// Returns the entry for a raw number of `count` bits; 0 if `count` is 0.
    static constexpr std::uint16_t bits_entry(int value, int count) {
        return static_cast<std::uint16_t>(count ? step_models::plain_bits(count).first + value : 0);
    }

    /// Returns the magnitudes that follow the symbols. If there are any, the block is written as a block in runs.
    RunResiduals& residuals() { return residuals_; }

    /// Returns the cost of the symbols with their best set of models, in 1/8 bits, including raw bits.
    std::uint64_t cost() const;

    /// Appends the coded block to `out`, with the best set of models, in the form that StepBytes reads.
    void write(std::vector<std::uint8_t>& out);
    /// Appends several coded blocks, one after the other, and stores their sizes. Writes the same bytes as calling
    /// write() for each block, but is faster.
    static void write(std::span<Symbols> blocks, std::vector<std::uint8_t>& out, std::span<std::size_t> sizes);

private:
    struct Coding;

    /// Returns the cost of the entries for each set, without raw bits, in 1/8 bits.
    std::array<std::uint64_t, step_models::sets> costs_by_set() const;
    /// Best set of models and choice of the number of states (step_states).
    struct Best {
        int set, states;
    };
    Best best() const;
    /// Allocates memory for the words, writes the words of the magnitudes at its end, and begins coding before them.
    Coding begin(int set);
    /// Codes all entries with several states.
    Coding code_in_lanes(const Best& best);
    /// Codes all entries of two blocks with 8 states each.
    static std::array<Coding, 2> code_two_in_lanes(Symbols& one, int set, Symbols& other, int other_set);
    /// Writes the head of the block and appends all words to `out`.
    void finish(const Coding& coding, const Best& best, std::vector<std::uint8_t>& out);
    template <std::size_t count>
    static void code(Coding* const* codings, std::size_t entries);
    template <std::size_t count>
    static std::size_t code_some(std::span<Coding*> active);

    std::vector<std::uint16_t> entries_;
    std::size_t count_ = 0;
    std::vector<std::uint16_t> words_;
    RunResiduals residuals_;
};

/// Decoder for the symbols of a block of a delta frame, with `count` states in rotation. The bytes are untrusted. Words
/// beyond the end read as 0, because StepBytes pads the input. A single read therefore needs no bound check, but the
/// caller must call StepBytes::behind_end() regularly.
///
/// With several states, the array is a queue: after use, each state is written `count` places further on. This avoids
/// an index computation per symbol, but needs memory for one state per symbol between two checks.
template <int count>
class StepReader {
    // A single state is kept by value, so that it stays in a register.
    using State = std::conditional_t<count == 1, std::uint32_t, std::uint32_t*>;

public:
    /// Maximum number of symbols between two calls of StepBytes::behind_end().
    static constexpr std::size_t most_ahead = 640;
    /// Number of states that the queue needs memory for.
    static constexpr std::size_t room = count > 1 ? count + most_ahead : 1;

    /// Creates a reader with a single state, which it reads from `words`.
    explicit StepReader(const std::uint8_t* words) requires(count == 1) : words_(words), state_(next_state()) {}
    /// Creates a reader that continues with `count` states after `first` has read their number. `states` must have
    /// `room` entries.
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
    /// Creates a reader at a position.
    explicit StepReader(const Position& position) : words_(position.words), state_(position.state) {}
    /// Returns the position.
    Position position() const { return {words_, state_}; }
    /// Continues at a position that such a function returned.
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
    /// Variant of take() for a likely symbol that starts at place 0; the branch assumes that no word is needed.
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
    // Stores the state and makes the next one current. With several states, the stored one goes to the end of the
    // queue.
    [[gnu::always_inline]] void move_on(std::uint32_t state) {
        if constexpr (count == 1)
            state_ = state;
        else
            *(state_++ + count) = state;
    }
    // Stores a state, after adding a word if it needs one. Branchless, because the need is unpredictable. The empty asm
    // statements prevent the compiler from introducing a branch and from keeping `words_` in a vector register.
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
    /// Reads the head of a block and returns the result of body(reader, models). `reader` is a StepReader at the first
    /// symbol, which refers to this object; `models` is the set of models that the block uses.
    template <class Body>
    auto read(std::span<const std::uint8_t> bytes, Body&& body) {
        // With the padding, reading a single word needs no bound check.
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

    /// Returns true if the reader has read beyond the end of the block. Must be called at least once per sub-block,
    /// because it also moves the queue of states back to the beginning of its memory.
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
    /// Returns the bytes that the reader has not read; empty if it has read beyond the end.
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

}  // namespace framewire::codec
