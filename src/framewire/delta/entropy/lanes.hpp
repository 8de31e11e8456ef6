#pragma once

#include "framewire/delta/blocks/grid.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace framewire::delta {

/// Number and class of the residuals of a sub-block in one plane, or of the magnitudes of one channel.
struct ResidualPart {
    std::uint8_t part_class;  ///< selects the model
    std::uint8_t count;       ///< at most 64
};

/// Maximum number of residuals of a block: one per byte.
inline constexpr std::size_t most_residuals = std::size_t{3} * block_side * block_side;

/// Number of rANS states for residuals. Residual i uses state i modulo this number.
inline constexpr std::size_t residual_lanes = 32;

/// Number of words below their result that put_residuals() and put_steps() may overwrite.
inline constexpr std::size_t words_below = 8;

/// Writes folded residuals, sub-block after sub-block, and then the states. The words end at `words`; returns where
/// they begin. Below `words` there must be memory for two words per residual, two per state, and `words_below` more.
std::uint16_t* put_residuals(std::span<const ResidualPart> parts, std::span<const std::uint8_t> residuals,
                             std::uint16_t* words);

/// Inverse of put_residuals(): fills `residuals`, whose size must be the sum of the counts in `parts`. Returns false if
/// `bytes` are not exactly the words of such residuals.
bool read_residuals(std::span<const std::uint8_t> bytes, std::span<const ResidualPart> parts,
                    std::span<std::uint8_t> residuals);

/// Symbols of a block of a delta frame that are to be coded.
struct StepEntries {
    int set;                                 ///< set of models
    std::span<const std::uint16_t> entries;  ///< symbols of step_models
    std::uint16_t* words;                    ///< end of the words
};
/// Result of coding all symbols of a block: the words written so far, and the first state, which the caller writes.
struct PutSteps {
    std::uint16_t* words;  ///< beginning of the words
    std::uint32_t first_state;
};

/// Codes the symbols with `states` interleaved states (8 or 32) and writes all states but the first. Symbol i uses
/// state i modulo `states`. Below the end there must be memory for one word per symbol, two per state, and
/// `words_below` more.
PutSteps put_steps(const StepEntries& of, int states);
/// Variant of put_steps() for two blocks with 8 states each. Interleaving them hides the latency of their chains.
std::array<PutSteps, 2> put_two_steps(const StepEntries& one, const StepEntries& other);

}  // namespace framewire::delta
