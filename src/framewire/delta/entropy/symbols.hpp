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

/// Folded magnitudes of a block in runs, and their classes.
class RunResiduals {
public:
    /// Removes all.
    void clear() {
        parts_.clear();
        bytes_.clear();
    }
    /// Adds the magnitudes of one channel of a sub-block.
    void add(std::span<const std::uint8_t> folded, int part_class) {
        bytes_.insert(bytes_.end(), folded.begin(), folded.end());
        parts_.push_back({static_cast<std::uint8_t>(part_class), static_cast<std::uint8_t>(folded.size())});
    }

    /// Returns true if nothing was added.
    bool empty() const { return parts_.empty(); }
    /// Returns number and class of the magnitudes of each add().
    std::span<const ResidualPart> parts() const { return parts_; }
    /// Returns all magnitudes in order.
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
    /// Adds a symbol, given by its index among all of step_models.
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

    /// Returns memory for `most` more entries, which the caller fills with symbols and bits_entry() numbers. Valid
    /// until the next call of a member.
    std::uint16_t* room(std::size_t most) {
        if (entries_.size() < count_ + most) entries_.resize(2 * (count_ + most));
        return entries_.data() + count_;
    }
    /// Adds the entries that were written to room() up to `end`.
    void take(const std::uint16_t* end) { count_ = static_cast<std::size_t>(end - entries_.data()); }
    /// Returns the entry for a raw number of `count` bits; 0 if `count` is 0.
    static constexpr std::uint16_t bits_entry(int value, int count) {
        return static_cast<std::uint16_t>(count ? step_models::plain_bits(count).first + value : 0);
    }

    /// Returns the magnitudes that follow the symbols. The block is one in runs if there are any.
    RunResiduals& residuals() { return residuals_; }

    /// Returns the cost of the symbols with their best set of models, in 1/8 bits, including raw bits.
    std::uint64_t cost() const;

    /// Appends the coded block to `out`, with the best set of models, in the form that StepBytes reads.
    void write(std::vector<std::uint8_t>& out);
    /// Appends several coded blocks, one after the other, and stores their sizes. Coding several at once is faster than
    /// calling write() for each; the bytes are the same.
    static void write(std::span<Symbols> blocks, std::vector<std::uint8_t>& out, std::span<std::size_t> sizes);

private:
    struct Coding;

    /// Returns the cost of the entries for each set, without raw bits, in 1/8 bits.
    std::array<std::uint64_t, step_models::sets> costs_by_set() const;
    /// Set of models and choice of the number of states (step_states).
    struct Best {
        int set, states;
    };
    Best best() const;
    /// Provides memory for the words and begins coding at its end, after the words of the magnitudes.
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

}  // namespace framewire::delta
