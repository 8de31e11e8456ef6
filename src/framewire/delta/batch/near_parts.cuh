#pragma once

// Modes and vectors of the coded sub-blocks of a block on the device. For .cu files only; the CPU has CodedParts.

#include "framewire/delta/entropy/chain.cuh"
#include "framewire/delta/prediction/part_modes.hpp"

#include <cstdint>

namespace framewire::delta {

/// How a sub-block was coded.
struct CodedPart {
    std::uint8_t mode;    ///< a PartMode
    MotionVector vector;  ///< meaningful only for the two modes with motion
};

/// Context that the sub-blocks to the left and above give for coding a sub-block's mode and vector (format.md,
/// "Prediction").
struct NearParts {
    CodedPart left, above;

    /// Looks up the neighbours of sub-block `index` in `parts`, the sub-blocks of the block that are coded so far.
    __device__ NearParts(const CodedPart* parts, int index)
        : left(index % parts_per_row ? parts[index - 1] : none()),
          above(index / parts_per_row ? parts[index - parts_per_row] : none()) {}
    /// Returns true if the sub-block has a vector.
    static __device__ bool moves(const CodedPart& part) {
        return part.mode == static_cast<int>(PartMode::moved) || part.mode == static_cast<int>(PartMode::moved_changes);
    }
    /// Returns true if the left neighbour has a vector.
    __device__ bool has_left() const { return moves(left); }
    /// Returns true if the upper neighbour has a vector.
    __device__ bool has_above() const { return moves(above); }
    /// Returns the first symbol of the model for the mode.
    __device__ int mode_model() const { return first_symbol<step_models::mode>(left.mode * 6 + above.mode); }
    /// Returns the predicted vector: the left one, else the one above, else 0.
    __device__ MotionVector vector() const {
        return moves(left) ? left.vector : moves(above) ? above.vector : MotionVector{};
    }
    /// Returns the first symbol of the model for the vector kind.
    __device__ int kind_model() const { return first_symbol<step_models::vector_kind>(has_left() + 2 * has_above()); }
    /// Returns the first symbol of the model for the number of bits of a vector difference; axis 0 is x, 1 is y.
    __device__ int bits_model(int axis) const {
        return first_symbol<step_models::vector_bits>(axis + 2 * (has_left() || has_above()));
    }

private:
    static __device__ CodedPart none() { return {static_cast<std::uint8_t>(PartMode::none), {}}; }
};

}  // namespace framewire::delta
