#pragma once

// Only for .cu files: what CodedParts is on the CPU.

#include "framewire/delta/entropy/chain.cuh"
#include "framewire/delta/prediction/part_modes.hpp"

#include <cstdint>

namespace framewire::delta {

/// How a part of a block came to be.
struct CodedPart {
    std::uint8_t mode;
    MotionVector vector;
};

/// What the parts to the left and above tell.
struct NearParts {
    CodedPart left, above;

    /// Of part number `index` of `parts`, which are those of a block coded so far.
    __device__ NearParts(const CodedPart* parts, int index)
        : left(index % parts_per_row ? parts[index - 1] : none()),
          above(index / parts_per_row ? parts[index - parts_per_row] : none()) {}
    static __device__ bool moves(const CodedPart& part) {
        return part.mode == static_cast<int>(PartMode::moved) || part.mode == static_cast<int>(PartMode::moved_changes);
    }
    __device__ bool has_left() const { return moves(left); }
    __device__ bool has_above() const { return moves(above); }
    __device__ int mode_model() const { return first_symbol<step_models::mode>(left.mode * 6 + above.mode); }
    __device__ MotionVector vector() const {
        return moves(left) ? left.vector : moves(above) ? above.vector : MotionVector{};
    }
    /// The models of what is told of a vector.
    __device__ int kind_model() const { return first_symbol<step_models::vector_kind>(has_left() + 2 * has_above()); }
    __device__ int bits_model(int axis) const {
        return first_symbol<step_models::vector_bits>(axis + 2 * (has_left() || has_above()));
    }

private:
    static __device__ CodedPart none() { return {static_cast<std::uint8_t>(PartMode::none), {}}; }
};

}  // namespace framewire::delta
