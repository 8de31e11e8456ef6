#pragma once

#include "framewire/codec/delta.hpp"
#include "framewire/codec/refinement_formulas.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/stream.hpp"

#include <cstdint>

namespace framewire::codec {

/// State of all cells of a stream, in device memory. Initially all zero.
struct RefinementMemory {
    RestAccount* account;        ///< the byte budget
    std::uint32_t* new_picture;  ///< nonzero if the last delta frame satisfies is_new_picture()
    // Arrays with one entry per cell:
    RestingCell* cells;      ///< state of the cell
    std::uint32_t* changed;  ///< number of bytes that the last delta frame changed
    std::uint32_t* off;      ///< per stage: number of bytes that it would change; 0 if the cell is not due
    std::uint16_t* sums;     ///< sum of the samples of each byte; partial cells occupy as much memory as whole ones
    std::uint8_t* samples;   ///< number of samples
    std::uint8_t* chosen;    ///< nonzero if the cell is refined
};

/// Chooses the cells of a frame of `shape` to refine; call it after look_at_cells(). Writes the number of changes and
/// their expected size to `signalled`, which is in device memory. Queued on `stream`: one launch.
void choose_cells(const Shape& shape, const RefinementTurn& turn, const RefinementMemory& memory,
                  SignalledStep* signalled, const cuda::Stream& stream);

}  // namespace framewire::codec

// Device counterpart of RefinementOnHost, one warp per cell. All pointers are to device memory, and all work is queued
// on `stream`.

namespace framewire::codec {

/// Counts the bytes that a delta frame changed in each cell, for frames of `shape`.
void count_changes(const ChangesView<MemorySpace::device>& changes, const Shape& shape, const RefinementMemory& memory,
                   const cuda::Stream& stream);
/// Variant of count_changes() for changes per block: `off` has the number of changed bytes of each block.
void spread_blocks(const std::uint32_t* off, const Shape& shape, const RefinementMemory& memory,
                   const cuda::Stream& stream);

/// Updates the state and the mean of each cell from a frame. For each cell that is due, counts the bytes of R that each
/// stage would change.
void look_at_cells(DeviceView<const std::uint8_t> camera, DeviceView<const std::uint8_t> reference,
                   const RefinementTurn& turn, const RefinementMemory& memory, const cuda::Stream& stream);

/// Writes the refined bytes of the chosen cells to `target`, a copy of R, and updates the errors in `signalled`.
void aim_cells(DeviceView<const std::uint8_t> camera, DeviceView<std::uint8_t> target, const RefinementTurn& turn,
               const RefinementMemory& memory, SignalledStep* signalled, const cuda::Stream& stream);

/// Refinement on the GPU, with the same result as RefinementOnHost. All work is queued on the executor's stream; no
/// call waits.
class RefinementOnGpu {
public:
    /// Allocates device memory for frames of `shape`. Keeps a reference to `executor`. Throws Error{config} if memory
    /// is exhausted.
    RefinementOnGpu(const Shape& shape, Executor& executor);

    /// See Refiner::take_step().
    void take_step(const ChangesView<MemorySpace::device>& changes);
    /// See Refiner::take_blocks().
    void take_blocks(const std::uint32_t* off);
    /// Refines R and starts downloading the changes to `step`. Throws Error{usage} if `step` was created for the CPU
    /// backend.
    void refine(DeviceView<const std::uint8_t> camera, DeviceView<std::uint8_t> reference, const RefinementTurn& turn,
                RefinementDelta& step);

private:
    RefinementMemory memory() const;

    Shape shape_;
    Executor* executor_;
    Encoder encoder_;  // finds the changes from R to the target
    cuda::DeviceImage target_;
    cuda::DeviceBuffer account_, new_picture_, cells_, changed_, off_, sums_, samples_, chosen_;
};

}  // namespace framewire::codec
