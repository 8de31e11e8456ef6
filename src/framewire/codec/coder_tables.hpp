#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/models.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace framewire::codec {

/// A symbol in the form that kernels encode: a rans::Symbol packed into 16 bytes, so that a single load fetches it.
struct alignas(16) ChainSymbol {
    std::uint32_t first_too_large, reciprocal, bias;
    std::uint32_t factor_and_shift;  ///< rans::Symbol's shift in the lowest 5 bits, its complement above

    static constexpr int shift_bits = 5;
};

/// Tables that kernels use to encode symbols. The pointers are to device memory.
struct CoderTables {
    const ChainSymbol* steps;           ///< symbols of delta frames, for one set of models after the other
    const ChainSymbol* states;          ///< symbols for the number of states of a block of a delta frame
    const std::uint64_t* step_costs;    ///< costs of symbols, as step_costs() returns them
    const ChainSymbol* pictures;        ///< symbols of keyframes
    const std::uint8_t* pattern_ranks;  ///< symbol number of each of the 27 patterns
};

/// Owner of the tables on one device. Move-only.
class DeviceCoderTables {
public:
    /// Uploads the tables and waits for the upload. Throws Error{config} if memory is exhausted.
    explicit DeviceCoderTables(const cuda::Stream& stream);

    /// Returns the tables. They are valid for the lifetime of this object.
    const CoderTables& tables() const { return tables_; }

private:
    cuda::DeviceBuffer memory_;
    CoderTables tables_{};
};

/// Returns the class of a sub-block with `samples` residuals whose absolute values add up to `sum`.
FRAMEWIRE_HOST_DEVICE constexpr int residual_class(std::uint32_t sum, int samples) {
    // Upper limits of the mean absolute value for each class, in units of 1/256. Each is 1.7 times the previous one.
    constexpr int limits[picture_models::classes - 1] = {20, 35, 59, 101, 171, 291, 494, 840, 1429, 2429, 4129};
    const int mean = static_cast<int>(sum) * 256 / samples;
    int part_class = 0;
    for (const int limit : limits) part_class += mean > limit;
    return part_class;
}

/// A symbol in the form that SIMD lanes encode: a rans::Symbol packed into one number, so that a single load fetches
/// it. The upper half is the reciprocal; the lower half has bias, frequency and shift.
using LaneSymbol = std::uint64_t;

/// Tables for coding residuals in SIMD lanes.
struct LaneTables {
    /// Layout of the lower half of a LaneSymbol and of `places`.
    static constexpr int bias_bits = 13, frequency_bits = 12, place_bits = rans::probability_bits;
    /// Number of symbols of the models for residuals.
    static constexpr std::size_t symbols = picture_models::large_residual.end();

    /// Symbols of the models for residuals.
    std::array<LaneSymbol, symbols> lane_symbols;
    /// Table by class and place: the place minus the first place of its symbol, the frequency of the symbol, and the
    /// residual. For the last symbol of a small class, the residual is `other`.
    std::array<std::uint32_t, picture_models::classes * rans::probability_one> places;

    /// Residual in `places` that means that the value follows as raw bits.
    static constexpr int other = 255;
    /// Returns true if the class has few symbols, so that large residuals are coded as raw bits.
    static constexpr bool is_small(int part_class) { return part_class < picture_models::small_classes; }
    /// Returns the first symbol of a class.
    static constexpr int first(int part_class) {
        return is_small(part_class) ? picture_models::small_residual.at(part_class)
                                    : picture_models::large_residual.at(part_class - picture_models::small_classes);
    }
};

/// Returns the tables for residuals. Builds them at the first call. Thread-safe.
const LaneTables& lane_tables();

/// Returns the symbols of all sets of models of delta frames, in the form for SIMD lanes. Builds them at the first
/// call. Thread-safe.
const std::array<std::array<LaneSymbol, step_models::symbols>, step_models::sets>& step_lane_symbols();

/// Number and class of the residuals of a sub-block in one plane, or of the magnitudes of one channel.
struct ResidualPart {
    std::uint8_t part_class;  ///< class, which selects the model
    std::uint8_t count;       ///< number of residuals, at most 64
};

/// Maximum number of residuals of a block, one per byte.
inline constexpr std::size_t most_residuals = std::size_t{3} * block_side * block_side;

/// Number of rANS states for residuals. Residual i uses state i modulo this number.
inline constexpr std::size_t residual_lanes = 32;

/// Number of words before their result that put_residuals() and put_steps() may overwrite.
inline constexpr std::size_t words_below = 8;

/// Codes folded residuals, sub-block after sub-block, and the states. The coded words end at `words`; returns their
/// beginning. The memory before `words` must have room for two words per residual, two per state, and `words_below`
/// more.
std::uint16_t* put_residuals(std::span<const ResidualPart> parts, std::span<const std::uint8_t> residuals,
                             std::uint16_t* words);

/// Inverse of put_residuals(): fills `residuals`, whose size must be the sum of the counts in `parts`. Returns false
/// unless `bytes` are exactly the words of such residuals.
bool read_residuals(std::span<const std::uint8_t> bytes, std::span<const ResidualPart> parts,
                    std::span<std::uint8_t> residuals);

/// Symbols of a block of a delta frame, as input of put_steps().
struct StepEntries {
    int set;                                 ///< set of models
    std::span<const std::uint16_t> entries;  ///< indices of symbols of step_models
    std::uint16_t* words;                    ///< end of the memory for the coded words
};
/// Result of put_steps(): the words written so far, and the first state, which the caller must write.
struct PutSteps {
    std::uint16_t* words;  ///< beginning of the coded words
    std::uint32_t first_state;
};

/// Codes the symbols with `states` interleaved states (8 or 32) and writes all states except the first. Symbol i uses
/// state i modulo `states`. The memory before of.words must have room for one word per symbol, two per state, and
/// `words_below` more.
PutSteps put_steps(const StepEntries& of, int states);
/// Variant of put_steps() for two blocks with 8 states each. Interleaving the blocks hides the latency of their
/// dependency chains.
std::array<PutSteps, 2> put_two_steps(const StepEntries& one, const StepEntries& other);

}  // namespace framewire::codec
