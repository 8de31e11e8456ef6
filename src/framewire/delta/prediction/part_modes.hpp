#pragma once

#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/entropy/models/models.hpp"
#include "framewire/delta/prediction/motion/motion_formulas.hpp"

#include <array>
#include <cstdint>

namespace framewire::delta {

/// How a part of a block comes to be; see format.md.
enum class PartMode : std::uint8_t {
    stays = 0,          ///< as it was
    changes = 1,        ///< as it was, and steps
    moved = 2,          ///< from elsewhere in the picture before
    moved_changes = 3,  ///< the same, and steps
    inside = 4,         ///< from the part's own neighbours, and steps
    none = 5            ///< there is no such part
};

/// The parts of a block coded so far.
class CodedParts {
public:
    void set(int column, int row, PartMode mode, MotionVector vector = {}) { parts_[at(column, row)] = {mode, vector}; }
    /// The model of a part's mode, by those to its left and above it.
    int mode_model(int column, int row) const {
        return step_models::mode.at(static_cast<int>(left(column, row).mode) * 6 +
                                    static_cast<int>(above(column, row).mode));
    }

    /// What the neighbours tell of a part's vector.
    struct Motion {
        bool has_left, has_above;
        MotionVector left, above;

        int kind_model() const { return step_models::vector_kind.at(has_left + 2 * has_above); }
        /// The vector that a new one is told by its distance from.
        MotionVector near() const { return has_left ? left : above; }
        int bits_model(int axis) const { return step_models::vector_bits.at(axis + 2 * (has_left || has_above)); }
    };
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

/// How a vector is told: as the neighbour's to the left, as the one's above, or by its distance from one of them.
enum VectorKind { as_left = 0, as_above = 1, new_vector = 2 };

}  // namespace framewire::delta
