#pragma once

#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/entropy/models/models.hpp"
#include "framewire/delta/prediction/motion/motion_formulas.hpp"

#include <array>
#include <cstdint>

namespace framewire::delta {

/// Mode of a sub-block; the values are those of the format.
enum class PartMode : std::uint8_t {
    stays = 0,          ///< equal to the previous picture
    changes = 1,        ///< predicted from the previous picture, with steps
    moved = 2,          ///< predicted from another position of the previous picture
    moved_changes = 3,  ///< the same, with steps
    inside = 4,         ///< predicted from neighbours in the block, with steps
    none = 5            ///< no such sub-block
};

/// Modes and vectors of the sub-blocks of a block that are coded so far, as context for the next ones. The same object
/// serves block after block: sub-blocks are set in raster order before they are read.
class CodedParts {
public:
    /// Stores the mode of a sub-block, and its vector if it has one.
    void set(int column, int row, PartMode mode, MotionVector vector = {}) { parts_[at(column, row)] = {mode, vector}; }
    /// Returns the first symbol of the model for the mode of a sub-block, which depends on those to its left and above
    /// it.
    int mode_model(int column, int row) const {
        return step_models::mode.at(static_cast<int>(left(column, row).mode) * 6 +
                                    static_cast<int>(above(column, row).mode));
    }

    /// Context for the vector of a sub-block.
    struct Motion {
        bool has_left, has_above;  ///< these neighbours have a vector
        MotionVector left, above;

        /// Returns the first symbol of the model for the vector kind.
        int kind_model() const { return step_models::vector_kind.at(has_left + 2 * has_above); }
        /// Returns the prediction of a new vector.
        MotionVector near() const { return has_left ? left : above; }
        /// Returns the first symbol of the model for the number of bits; axis 0 is x, 1 is y.
        int bits_model(int axis) const { return step_models::vector_bits.at(axis + 2 * (has_left || has_above)); }
    };
    /// Returns the context for the vector of a sub-block.
    Motion motion(int column, int row) const {
        const auto a = left(column, row), b = above(column, row);
        return {moves(a), moves(b), moves(a) ? a.vector : MotionVector{}, moves(b) ? b.vector : MotionVector{}};
    }

private:
    struct Part {
        PartMode mode = PartMode::none;
        MotionVector vector{};
    };
    static std::size_t at(int column, int row) { return static_cast<std::size_t>(row * parts_per_row + column); }
    static bool moves(const Part& part) { return part.mode == PartMode::moved || part.mode == PartMode::moved_changes; }
    Part left(int column, int row) const { return column ? parts_[at(column - 1, row)] : Part{}; }
    Part above(int column, int row) const { return row ? parts_[at(column, row - 1)] : Part{}; }

    std::array<Part, static_cast<std::size_t>(parts_per_row* parts_per_row)> parts_;
};

/// Coding of a vector: equal to the left one, equal to the one above, or a difference from its prediction.
enum VectorKind { as_left = 0, as_above = 1, new_vector = 2 };

}  // namespace framewire::delta
