#pragma once

#include "framewire/delta/entropy/lanes.hpp"
#include "framewire/delta/entropy/models/models.hpp"
#include "framewire/delta/entropy/rans.hpp"
#include "framewire/delta/entropy/step_states.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire::delta {

/// The folded magnitudes of a block in runs, with the classes they are coded by.
class RunResiduals {
public:
    void clear() {
        parts_.clear();
        bytes_.clear();
    }
    /// Adds those of a channel of a part.
    void add(std::span<const std::uint8_t> folded, int part_class) {
        bytes_.insert(bytes_.end(), folded.begin(), folded.end());
        parts_.push_back({static_cast<std::uint8_t>(part_class), static_cast<std::uint8_t>(folded.size())});
    }

    bool empty() const { return parts_.empty(); }
    std::span<const ResidualPart> parts() const { return parts_; }
    std::span<const std::uint8_t> bytes() const { return bytes_; }

private:
    std::vector<ResidualPart> parts_;
    std::vector<std::uint8_t> bytes_;
};

/// The symbols of a block in the order in which they will be read, until it is known with which set of models they
/// take the fewest bytes.
class Symbols {
public:
    void clear() {
        count_ = 0;
        residuals_.clear();
    }
    /// Symbol `index` among all of step_models.
    void add(int index) {
        auto* const to = room(1);
        *to = static_cast<std::uint16_t>(index);
        take(to + 1);
    }
    /// A number of `count` bits, 0 to 8, of which nothing is known.
    void add_bits(int value, int count) {
        if (count == 0) return;
        auto* const to = room(1);
        *to = bits_entry(value, count);
        take(to + 1);
    }

    /// Room for `most` more, to be written there: indices, of numbers of bits bits_entry().
    std::uint16_t* room(std::size_t most) {
        if (entries_.size() < count_ + most) entries_.resize(2 * (count_ + most));
        return entries_.data() + count_;
    }
    /// Those before `end` have been.
    void take(const std::uint16_t* end) { count_ = static_cast<std::size_t>(end - entries_.data()); }
    /// 0 where there are none.
    static constexpr std::uint16_t bits_entry(int value, int count) {
        return static_cast<std::uint16_t>(count ? step_models::plain_bits(count).first + value : 0);
    }

    /// What follows the symbols if the block is one in runs, else nothing.
    RunResiduals& residuals() { return residuals_; }

    /// What they take with the set of models that is best for them, in 1/8 bits.
    std::uint64_t cost() const;

    /// Appends them as bytes, coded with the set of models that is best for them, for StepBytes to read.
    void write(std::vector<std::uint8_t>& out);
    /// The same of several blocks, one after the other, several of them at once. `sizes`: how many bytes each takes.
    static void write(std::span<Symbols> blocks, std::vector<std::uint8_t>& out, std::span<std::size_t> sizes);

private:
    struct Coding;

    /// Of each set, what those entries take that are no numbers of bits, in 1/8 bits.
    std::array<std::uint64_t, step_models::sets> costs_by_set() const;
    /// With which set, and with how many states, as step_states has it.
    struct Best {
        int set, states;
    };
    Best best() const;
    /// Makes room for words, so that coding begins behind them.
    Coding begin(int set);
    /// The same with all entries coded, which have several states.
    Coding code_in_lanes(const Best& best);
    /// The same of two blocks, of the first choice with several states.
    static std::array<Coding, 2> code_two_in_lanes(Symbols& one, int set, Symbols& other, int other_set);
    /// Writes what stands before the first symbol, and appends all.
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

}  // namespace framewire::delta
