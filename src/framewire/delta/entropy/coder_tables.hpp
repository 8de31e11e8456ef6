#pragma once

#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/delta/entropy/models/models.hpp"
#include "framewire/delta/entropy/rans.hpp"

#include <cstdint>

namespace framewire::delta {

/// A symbol as kernels code it: rans::Symbol, which one load brings.
struct alignas(16) ChainSymbol {
    std::uint32_t first_too_large, reciprocal, bias;
    std::uint32_t factor_and_shift;  ///< the shift in the lowest 5 bits, and rans::Symbol's complement

    static constexpr int shift_bits = 5;
};

/// What kernels look up to code and decode symbols. Pointers into device memory.
struct CoderTables {
    const ChainSymbol* steps;             ///< of all sets of models of steps, one after the other
    const ChainSymbol* states;            ///< how many states a block of steps has
    const std::uint64_t* step_costs;      ///< as step_costs()
    const std::uint32_t* step_ranges;     ///< of each symbol of each set: where it starts, and its frequency << 16
    const ChainSymbol* pictures;          ///< of the models of pictures
    const std::uint32_t* picture_places;  ///< as LaneTables::places
    const std::uint32_t* picture_ranges;  ///< as step_ranges
    const std::uint8_t* pattern_ranks;    ///< of the 27 patterns
    const std::uint8_t* patterns;         ///< by their rank
};

/// Owns them. Move-only.
class DeviceCoderTables {
public:
    /// Uploads them; returns when they are there. Throws Error{config} without memory.
    explicit DeviceCoderTables(const cuda::Stream& stream);

    const CoderTables& tables() const { return tables_; }

private:
    cuda::DeviceBuffer memory_;
    CoderTables tables_{};
};

}  // namespace framewire::delta
