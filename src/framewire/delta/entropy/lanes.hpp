#pragma once

#include "framewire/delta/blocks/grid.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace framewire::delta {

/// The residuals of a part of a whole block: how many, and the class that says by which model they are coded.
struct ResidualPart {
    std::uint8_t part_class;
    std::uint8_t count;  ///< at most 64
};

/// Most residuals of a block: those of all its bytes.
inline constexpr std::size_t most_residuals = std::size_t{3} * block_side * block_side;

/// Residuals are coded with this many states, number i with state i modulo this.
inline constexpr std::size_t residual_lanes = 32;

/// Words that put_residuals() and put_steps() may write below what they return.
inline constexpr std::size_t words_below = 8;

/// Writes residuals, folded, all parts one after the other, and then the states, before `words`. Returns where they
/// begin. There is room for two words per residual, two per lane, and `words_below`.
std::uint16_t* put_residuals(std::span<const ResidualPart> parts, std::span<const std::uint8_t> residuals,
                             std::uint16_t* words);

/// Undoes it: fills `residuals`, as many as `parts` have. False when `bytes` are not the words of these parts, no more
/// and no less.
bool read_residuals(std::span<const std::uint8_t> bytes, std::span<const ResidualPart> parts,
                    std::span<std::uint8_t> residuals);

/// The symbols of a block of steps, of step_models: coded with that set of them, to go before `words`.
struct StepEntries {
    int set;
    std::span<const std::uint16_t> entries;
    std::uint16_t* words;
};
/// What is left when all but the first state are written.
struct PutSteps {
    std::uint16_t* words;  ///< where they begin
    std::uint32_t first_state;
};

/// Writes symbols, number i with state i modulo `states` (8 or 32), and then all states but the first. There is room
/// for a word each, two per state, and `words_below`.
PutSteps put_steps(const StepEntries& of, int states);
/// The same of two blocks with 8 states each, side by side: a vector of symbols waits for the one before it.
std::array<PutSteps, 2> put_two_steps(const StepEntries& one, const StepEntries& other);

}  // namespace framewire::delta
