#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"

#include <cstdint>
#include <optional>

namespace framewire::codec {

/// Grid of cells, numbered row by row. A cell is a square of a frame that is found to be static, and refined,
/// independently of other cells. Cells at the right and the lower edge may be smaller.
class CellGrid {
public:
    static constexpr int side = 16;  ///< side of a cell in pixels
    /// Maximum number of bytes in a row of a cell.
    static constexpr int most_row_bytes = side * 3;
    /// Number of cells per row and per column of a block.
    static constexpr int in_block_row = block_side / side;

    /// Creates the grid for frames with the width and height of `frame`.
    FRAMEWIRE_HOST_DEVICE explicit CellGrid(const Shape& frame)
        : width_(frame.width),
          height_(frame.height),
          columns_((frame.width + side - 1) / side),
          rows_((frame.height + side - 1) / side) {}

    /// Returns the number of cells in a row.
    FRAMEWIRE_HOST_DEVICE int columns() const { return columns_; }
    /// Returns the number of cells.
    FRAMEWIRE_HOST_DEVICE int count() const { return columns_ * rows_; }
    /// Returns the position and size of a cell in pixels.
    FRAMEWIRE_HOST_DEVICE BlockPlace place(int cell) const {
        const int x = cell % columns_ * side, y = cell / columns_ * side;
        return {x, y, width_ - x < side ? width_ - x : side, height_ - y < side ? height_ - y : side};
    }
    /// Returns the cell that contains byte `x` of row `y` of the frame.
    FRAMEWIRE_HOST_DEVICE int cell_of(int y, int x, int channels) const {
        return y / side * columns_ + x / (side * channels);
    }

    /// Returns the number of ranks. Ranks number the cells block by block, because refining several cells of the same
    /// block costs less than refining cells of different blocks. Some ranks have no cell.
    FRAMEWIRE_HOST_DEVICE int ranks() const {
        return block_columns() * ((rows_ + in_block_row - 1) / in_block_row) * in_block_row * in_block_row;
    }
    /// Returns the rank of a cell.
    FRAMEWIRE_HOST_DEVICE int rank(int cell) const {
        const int row = cell / columns_, column = cell % columns_;
        const int block = row / in_block_row * block_columns() + column / in_block_row;
        return (block * in_block_row + row % in_block_row) * in_block_row + column % in_block_row;
    }
    /// Returns the cell with a rank, or -1 if there is none.
    FRAMEWIRE_HOST_DEVICE int cell_of_rank(int rank) const {
        const int block = rank / (in_block_row * in_block_row), within = rank % (in_block_row * in_block_row);
        const int row = block / block_columns() * in_block_row + within / in_block_row;
        const int column = block % block_columns() * in_block_row + within % in_block_row;
        return row < rows_ && column < columns_ ? row * columns_ + column : -1;
    }

private:
    FRAMEWIRE_HOST_DEVICE int block_columns() const { return (columns_ + in_block_row - 1) / in_block_row; }

    int width_, height_, columns_, rows_;
};

}  // namespace framewire::codec

// Arithmetic of refinement, shared by both backends. It uses integers only, so that both produce the same bytes.
//
// A cell that stays static passes three stages, one per `rests`. In stage s, bytes that differ from the mean by more
// than thresholds[s] are set to the mean, clamped to the bound:
//
//     since            + 1 rests        + 2 rests        + 3 rests       + 11 rests
//     |  takes samples | stage 0: T / 2 | stage 1: T / 4 | stage 2: all  | starts over
//
// If a few bytes change after stage 1, the cell becomes due for stage 1 again after another `rests`. If more bytes
// change, it starts over.

namespace framewire::codec {

/// Number of stages. Their thresholds are a half of the frame's threshold, a quarter of it, and 0.
inline constexpr int rest_stages = 3;
/// If a few bytes of a cell that has reached this stage change, it goes back to the stage before, which removes specks.
inline constexpr int rest_mended_stage = 2;
/// A fully refined cell starts over after this multiple of the time for one stage, because slow changes of light stay
/// below the threshold from frame to frame.
inline constexpr int rests_between_looks = 8;
/// Maximum number of samples in the mean of a cell. The next sample halves the weight of all earlier ones.
inline constexpr int most_rest_samples = 64;
/// Minimum number of samples for refining a cell.
inline constexpr int least_rest_samples = 4;
/// Number of units of the byte budget per byte.
inline constexpr std::int64_t byte_parts = 1024;
/// Assumed overhead of a delta frame in addition to its changes, in units of the budget.
inline constexpr std::int64_t message_parts = 64 * byte_parts;

/// State of a cell. Times are in nanoseconds.
struct RestingCell {
    std::int64_t since = 0;  ///< when the cell became static or was last changed
    std::uint8_t stage = 0;  ///< next stage; rest_stages if all stages are done
    bool was_mean = false;   ///< whether the cell was fully refined, and only noise has been seen since
};

/// Decisions of the host for one frame. Times are in nanoseconds, sizes in 1/1024 byte.
struct RefinementTurn {
    bool starts_over;               ///< all cells start over
    std::int64_t now, rests;        ///< time of the frame; time that a cell must stay static per stage
    int turns, phase;               ///< one of `turns` cells takes a sample, selected by `phase`; see takes_sample()
    int within;                     ///< threshold of the frame
    int thresholds[rest_stages];    ///< per stage: differences from the mean that exceed this are refined
    std::int64_t credit, most;      ///< addition to the budget, and maximum of the budget
    std::int64_t least;             ///< minimum budget for a delta frame
    std::int64_t correction, done;  ///< sums over newly reported refinements: expected minus actual size, expected size
    std::int64_t room;              ///< amount that may be in flight
    std::int64_t per_change[rest_stages];  ///< expected size of a change, per stage
    std::uint32_t looked_at;               ///< maximum number of cells to examine
};

/// Byte budget of refinement in 1/1024 byte. It is stored where the decisions are made, on the host or on the device.
/// Initially all zero.
struct RestAccount {
    std::int64_t allowance, under_way;
    std::int32_t next_stage;

    /// Applies the credit and the corrections of a frame.
    FRAMEWIRE_HOST_DEVICE void begin(const RefinementTurn& turn) {
        allowance += turn.correction + turn.credit;
        if (allowance > turn.most) allowance = turn.most;
        under_way -= turn.done;
    }
    /// Returns how much more may be in flight.
    FRAMEWIRE_HOST_DEVICE std::int64_t room(const RefinementTurn& turn) const { return turn.room - under_way; }
    /// Returns true if a delta frame may be sent.
    FRAMEWIRE_HOST_DEVICE bool may_send(const RefinementTurn& turn) const {
        return allowance >= turn.least && room(turn) > message_parts;
    }
    /// Subtracts the expected size of a delta frame.
    FRAMEWIRE_HOST_DEVICE void send(std::int64_t parts) {
        allowance -= parts;
        under_way += parts;
    }
};

/// Limits that decide how many of the cells that are due one delta frame refines. Cells are considered in order, and
/// their sums only grow, so the chosen cells are always the first ones.
struct RefinementLimits {
    std::uint32_t looked_at;
    std::int64_t room, allowance, per_change;

    /// Computes the limits for a stage from the frame's parameters and the budget.
    FRAMEWIRE_HOST_DEVICE RefinementLimits(const RefinementTurn& turn, const RestAccount& account, int stage)
        : looked_at(turn.looked_at),
          room(account.room(turn)),
          allowance(account.allowance),
          per_change(turn.per_change[stage]) {}

    /// Returns the expected size of a delta frame with `changes` changes.
    FRAMEWIRE_HOST_DEVICE std::int64_t parts(std::uint32_t changes) const {
        return changes ? message_parts + changes * per_change : 0;
    }
    /// Returns true if the cell at position `number` in the order is refined. `before` is the number of changes in the
    /// cells before it, `up_to_it` the number including this cell. The first cell with changes may exceed the budget,
    /// but not the room.
    FRAMEWIRE_HOST_DEVICE bool takes(std::uint32_t number, std::uint32_t before, std::uint32_t up_to_it) const {
        const auto all = parts(up_to_it);
        return number < looked_at && all <= room && (before == 0 || all <= allowance);
    }
    /// Returns true if the first `count` cells, with `changes` changes, are certainly refined. If false, no cell after
    /// them is refined.
    FRAMEWIRE_HOST_DEVICE bool takes_all(std::uint32_t count, std::uint32_t changes) const {
        const auto all = parts(changes);
        return count <= looked_at && all <= room && all <= allowance;
    }
};

/// Returns true if a delta frame changes so much of a frame that all cells start over without being examined
/// individually.
FRAMEWIRE_HOST_DEVICE constexpr bool is_new_picture(std::uint32_t changes, std::int64_t frame_bytes) {
    constexpr std::int64_t new_picture_share = 8;
    return changes > frame_bytes / new_picture_share;
}

/// Returns true if `bytes` changed or wrong bytes in a cell are more than noise, which affects only a few bytes.
FRAMEWIRE_HOST_DEVICE constexpr bool more_than_noise(std::uint32_t bytes, int channels) {
    constexpr std::uint32_t noisy_share = 16;
    return bytes * noisy_share > static_cast<std::uint32_t>(CellGrid::side * CellGrid::side * channels);
}

/// Estimates the number of changed bytes of a cell from the number for its block: none, one, or all.
FRAMEWIRE_HOST_DEVICE inline std::uint16_t changed_with_block(std::uint32_t bytes, const BlockPlace& block,
                                                              int channels) {
    constexpr std::int64_t noisy_share_of_block = 64;
    const bool much = bytes * noisy_share_of_block > std::int64_t{block.pixels()} * channels;
    return static_cast<std::uint16_t>(much ? CellGrid::side * CellGrid::side * channels : bytes > 0 ? 1 : 0);
}

/// Division of a byte's sum of samples by their number, rounded to nearest, by multiplication with a reciprocal.
class RestMean {
public:
    /// Prepares division by `samples`, 1 to most_rest_samples.
    FRAMEWIRE_HOST_DEVICE explicit RestMean(int samples)
        : factor_(((1u << reciprocal_bits) + static_cast<std::uint32_t>(samples) - 1) /
                  static_cast<std::uint32_t>(samples)),
          half_(static_cast<std::uint32_t>(samples) / 2) {}
    /// Returns the mean of samples with the given sum.
    FRAMEWIRE_HOST_DEVICE std::uint8_t of(std::uint16_t sum) const {
        return static_cast<std::uint8_t>((sum + half_) * factor_ >> reciprocal_bits);
    }

private:
    // (sum + n / 2) / n for n up to 64 equals a multiplication by a reciprocal of 20 bits: 64 * (64 * 255 + 32) < 2^20,
    // so the rounding error never changes the integer result.
    static constexpr int reciprocal_bits = 20;
    std::uint32_t factor_, half_;
};

/// Returns the sum with half the weight of all samples, rounded up.
FRAMEWIRE_HOST_DEVICE constexpr std::uint16_t halved_sum(std::uint16_t sum) {
    return static_cast<std::uint16_t>((sum + 1) / 2);
}
/// Returns the number of samples after another one is added, which may halve the earlier ones.
FRAMEWIRE_HOST_DEVICE constexpr int samples_with_next(int samples) {
    return (samples == most_rest_samples ? most_rest_samples / 2 : samples) + 1;
}

/// Returns the mean, clamped to within `within` of the camera's byte, so that refinement keeps the bound.
FRAMEWIRE_HOST_DEVICE constexpr int rest_target(int mean, int camera, int within) {
    return mean < camera - within ? camera - within : mean > camera + within ? camera + within : mean;
}

/// Returns the state of a cell after a few bytes changed: it becomes due for the stage that removes specks after
/// another `rests`.
FRAMEWIRE_HOST_DEVICE constexpr RestingCell mended(const RestingCell& cell, const RefinementTurn& turn) {
    return {turn.now - turn.rests, rest_mended_stage - 1, cell.stage == rest_stages};
}
/// Returns true if the cell takes a sample of this frame.
FRAMEWIRE_HOST_DEVICE constexpr bool takes_sample(int cell, const RefinementTurn& turn) {
    return (cell + turn.phase) % turn.turns == 0;
}
/// Returns true if the cell is due for its next stage.
FRAMEWIRE_HOST_DEVICE constexpr bool is_due(const RestingCell& cell, int samples, const RefinementTurn& turn) {
    return cell.stage < rest_stages && samples >= least_rest_samples &&
           turn.now - cell.since >= (cell.stage + 1) * turn.rests;
}
/// Returns true if a fully refined cell must start over.
FRAMEWIRE_HOST_DEVICE constexpr bool is_looked_at_again(const RestingCell& cell, const RefinementTurn& turn) {
    return cell.stage == rest_stages && turn.now - cell.since >= (rest_stages + rests_between_looks) * turn.rests;
}
/// Returns the state of a fully refined cell that starts over. R equals the old mean there except for later changes, so
/// noise alone does not trigger the last stage again.
FRAMEWIRE_HOST_DEVICE constexpr RestingCell looked_at_again(const RefinementTurn& turn) { return {turn.now, 0, true}; }
/// Advances a cell by one stage; `off` bytes were wrong in it.
FRAMEWIRE_HOST_DEVICE constexpr void settle(RestingCell& cell, std::uint32_t off, int channels) {
    if (cell.stage == 0 && more_than_noise(off, channels)) cell.was_mean = false;
    ++cell.stage;
    if (cell.was_mean && cell.stage + 1 == rest_stages) ++cell.stage;
}

/// Number of age classes. Cells that have been due longest are refined first. Cells that became static within the same
/// quarter of a second have the same age and are refined block by block, which costs less.
inline constexpr int rest_ages = 1024;
/// Returns the age class of a cell that is due.
FRAMEWIRE_HOST_DEVICE constexpr int rest_age(const RestingCell& cell, const RefinementTurn& turn) {
    constexpr std::int64_t together = 250'000'000;
    const auto age = (turn.now - (cell.stage + 1) * turn.rests) / together - cell.since / together;
    return static_cast<int>(age < rest_ages - 1 ? age : rest_ages - 1);
}

/// Result of a refinement without its list of changes. Plain data, so that the CUDA backend can fill it in device
/// memory and download it.
struct SignalledStep {
    std::int32_t stage = 0, threshold = 0;  ///< stage of the refinement, and its threshold, which each change exceeds
    std::uint32_t count = 0;                ///< number of bytes that change
    std::uint32_t max_error = 0;            ///< largest |camera - R| of the changed bytes afterwards
    std::uint64_t squared_error = 0;        ///< change of the sum of (camera - R)^2 over all bytes, modulo 2^64
    std::int64_t expected_parts = 0;        ///< expected packed size in 1/1024 byte
};

/// Changes that refine R, written by Refiner, to be coded by a Packer. On the CUDA backend, they are downloaded on a
/// separate stream. Move-only; not thread-safe.
class RefinementDelta {
public:
    /// Creates an empty refinement for frames of `shape`, whose `frames` must be 1. Keeps a reference to `executor`.
    /// Throws Error{config} if memory is exhausted.
    RefinementDelta(const Shape& shape, const Executor& executor);

    /// Waits until the changes are on the host. The other members are meaningful only afterwards. Throws if the
    /// download failed.
    void wait();
    /// Discards the changes.
    void clear();

    /// Returns true if nothing changes.
    bool empty() const { return signalled_.count == 0; }
    /// Returns the number of bytes that change.
    std::uint32_t count() const { return signalled_.count; }
    /// Returns the threshold that each change exceeds.
    int threshold() const { return signalled_.threshold; }
    /// Returns the changes, valid until the next write.
    ChangesView<MemorySpace::host> changes() const { return changes_.view(); }
    /// Applies the changes to `reference`, another copy of R.
    void apply_to(HostView<std::uint8_t> reference) const;
    /// Updates `errors`, the errors of R before the refinement, with the changes. `max_error` never decreases: if it
    /// was larger before the refinement, it remains.
    void add_errors_to(Summary& errors) const;

private:
    friend class RefinementBudget;
    friend class RefinementOnHost;
    friend class RefinementOnGpu;

    struct OnGpu {
        OnGpu(const Shape& shape, const Executor& executor);

        DeviceChanges changes;
        cuda::DeviceBuffer signalled;
        HostBuffer landed;
        bool under_way = false;
        cuda::Transfer transfer;  // last member: its destructor waits before the buffers above are freed
    };

    SignalledStep signalled_;
    HostChanges changes_;  // has a capacity for every byte of a frame; pages are committed when written
    std::optional<OnGpu> on_gpu_;
};

}  // namespace framewire::codec
