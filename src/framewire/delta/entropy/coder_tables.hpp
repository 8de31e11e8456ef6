#pragma once

#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/delta/entropy/models/models.hpp"
#include "framewire/delta/entropy/rans.hpp"

#include <cstdint>

namespace framewire::delta {

/// A symbol as kernels encode it: rans::Symbol in 16 bytes, so that one load fetches it.
struct alignas(16) ChainSymbol {
    std::uint32_t first_too_large, reciprocal, bias;
    std::uint32_t factor_and_shift;  ///< rans::Symbol's shift in the lowest 5 bits, its complement above

    static constexpr int shift_bits = 5;
};

/// Tables with which kernels encode and decode symbols. The pointers are to device memory.
struct CoderTables {
    const ChainSymbol* steps;             ///< models of delta frames, all sets one after the other
    const ChainSymbol* states;            ///< number of states of a block of a delta frame
    const std::uint64_t* step_costs;      ///< as step_costs() returns them
    const std::uint32_t* step_ranges;     ///< per symbol of each set: start, and frequency << 16
    const ChainSymbol* pictures;          ///< models of keyframes
    const std::uint32_t* picture_places;  ///< as LaneTables::places
    const std::uint32_t* picture_ranges;  ///< like step_ranges, for the models of keyframes
    const std::uint8_t* pattern_ranks;    ///< symbol of each of the 27 patterns
    const std::uint8_t* patterns;         ///< pattern of each symbol
};

/// Owner of the tables on one device. Move-only.
class DeviceCoderTables {
public:
    /// Uploads the tables and waits for the upload. Throws Error{config} if memory is exhausted.
    explicit DeviceCoderTables(const cuda::Stream& stream);

    /// Returns the tables, valid as long as this object.
    const CoderTables& tables() const { return tables_; }

private:
    cuda::DeviceBuffer memory_;
    CoderTables tables_{};
};

}  // namespace framewire::delta
