#pragma once

#include "framewire/delta/entropy/models.hpp"
#include "framewire/delta/entropy/rans.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace framewire::delta {

/// The symbols of a block in the order in which they will be read, until it is known with which set of models they
/// take the fewest bytes.
class Symbols {
public:
    void clear() { entries_.clear(); }
    /// Symbol `index` among all of step_models.
    void add(int index) { entries_.push_back(static_cast<std::uint32_t>(index)); }
    /// `count` bits of which nothing is known, 0 to 12.
    void add_bits(int value, int count) {
        if (count == 0) return;
        entries_.push_back(plain | static_cast<std::uint32_t>(count) << 16 | static_cast<std::uint32_t>(value));
    }
    std::size_t size() const { return entries_.size(); }

    /// Appends them as bytes, coded with the set of models that is best for them; a reader begins with read_set().
    void write(std::vector<std::uint8_t>& out);

private:
    static constexpr std::uint32_t plain = 1u << 31;

    int best_set() const;

    std::vector<std::uint32_t> entries_;
    std::vector<std::uint16_t> words_;
};

/// The set of models that the symbols of a block were coded with.
const StepModels& read_set(rans::Reader& reader);

}  // namespace framewire::delta
