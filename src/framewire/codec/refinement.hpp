#pragma once

#include "framewire/codec/delta.hpp"
#include "framewire/codec/refinement_formulas.hpp"
#include "framewire/codec/refinement_gpu.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace framewire::codec {

/// Schedule and byte budget of refinement: all decisions of Refiner that do not depend on pixels. One thread may call
/// next() while another one calls took().
class RefinementBudget {
public:
    /// Creates the schedule; the arguments are those of Refiner. Throws Error{usage} if they are invalid.
    RefinementBudget(const Shape& shape, double seconds, int threshold);

    /// Makes all cells start over at the next frame.
    void begin_again() { starts_over_ = true; }
    /// Returns the parameters for the frame at time `seconds` with the threshold `within`. `room_bytes` is how many
    /// bytes may be sent in addition to its delta frame; `stream_bytes` is the size of the stream so far.
    RefinementTurn next(double seconds, int within, double room_bytes, double stream_bytes);
    /// Reports the packed size of a refinement that was not empty. Thread-safe.
    void took(const RefinementDelta& step, std::int64_t bytes);

private:
    double earned(double gap, double stream_bytes);

    double bytes_per_second_, least_bytes_per_second_;
    double seconds_;
    std::array<int, rest_stages> thresholds_;
    int cells_;

    bool begun_ = false, starts_over_ = true;
    double frame_at_ = 0, frame_seconds_ = 0;
    std::int64_t now_ = 0;  // time of the last frame in nanoseconds, without implausible gaps
    std::int64_t turn_ = 0;
    double stream_bytes_ = 0;  // as reported last
    double saved_bytes_ = 0;   // part of the share of the stream's bytes that is still unspent

    std::mutex mutex_;  // guards the members below
    std::int64_t correction_ = 0, done_ = 0;
    std::array<double, rest_stages> parts_per_change_;
};

/// Refinement of static regions. A threshold leaves specks of noise and ghosts in R. Cells that have not changed for
/// some seconds, except by noise, converge to the camera's temporal mean in three stages: the first corrects bytes that
/// differ from the mean by more than half of the threshold, the second by more than a quarter, the third all others.
/// Every byte stays within the threshold of the current frame.
///
/// If only a few bytes of a cell change, as by noise, it goes back to the second stage; if more change, it starts over.
/// Fully refined cells start over from time to time, because slow changes of light would otherwise go unnoticed.
///
/// Runs on the executor's backend; both backends produce the same bytes. Uses frame times instead of a clock. One
/// thread may refine while another one calls took(). Move-only.
class Refiner {
public:
    /// Bounds of the time after which a cell counts as static.
    static constexpr double least_seconds = 0.1,  ///< shortest time
        most_seconds = 3600;                      ///< longest time
    /// Maximum bitrate of refinement, measured by frame times.
    static constexpr double bits_per_pixel_and_second = 0.5;
    /// Maximum bitrate of refinement as a share of the stream's bitrate, and the bitrate that is allowed even if the
    /// share is lower.
    static constexpr double share_of_stream = 0.1,  ///< maximum share
        least_bits_per_pixel_and_second = 0.01;     ///< bitrate that is always allowed

    /// Creates a refiner for frames of `shape`, whose `frames` must be 1, and a threshold. Cells count as static after
    /// `seconds` without a change. Keeps a reference to `executor`. Throws Error{usage} if an argument is invalid,
    /// Error{config} if memory is exhausted. With a threshold of 0 there is nothing to refine.
    Refiner(const Shape& shape, double seconds, int threshold, Executor& executor);
    ~Refiner();
    Refiner(Refiner&&) noexcept;
    Refiner& operator=(Refiner&&) noexcept;

    /// Makes all cells start over, for example because R was replaced or no viewer is connected.
    void begin_again();

    /// Reports the changes in the encoder's delta frame, as a list or as the number of changed bytes per cell or block.
    /// Call one of these functions for each frame before refine(); otherwise nothing counts as changed. The device
    /// variants are queued on the executor's stream.
    void take_step(const ChangesView<MemorySpace::device>& changes);
    /// Variant of take_step() for changes per cell on the CPU backend. `changed` has the number of changed bytes of
    /// each cell of CellGrid, and `count` is their sum. Throws Error{usage} if the number of cells is wrong.
    void take_cells(std::span<const std::uint16_t> changed, std::uint32_t count);
    /// Variant of take_step() for changes per block on the CPU backend.
    void take_step(std::span<const Summary> blocks);
    /// Variant of take_step() for changes per block on the CUDA backend. `off` is in device memory and has the number
    /// of changed bytes of each block.
    void take_blocks(const std::uint32_t* off);

    /// The current frame and its limits.
    struct Moment {
        double seconds = 0;     ///< time of the frame
        int within = 0;         ///< threshold of the frame; R stays within it
        double room_bytes = 0;  ///< bytes that may be sent in addition to the encoder's delta frame
        /// Size of the stream so far in bytes, including keyframes but not refinement. Default: infinite, so that
        /// refinement is not limited to a share of it.
        double stream_bytes = std::numeric_limits<double>::infinity();
    };
    /// Examines the frame and R, which must include the encoder's delta frame. If cells are due and the budget allows
    /// it, refines R and stores the changes in `step`; otherwise makes `step` empty. Allocates nothing. Throws
    /// Error{usage} if a view has the wrong shape.
    ///
    /// Host: returns when done. Device: queued on the executor's stream; call step.wait() before reading `step`, which
    /// must have been made for the same executor.
    void refine(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, const Moment& moment,
                RefinementDelta& step);
    /// Variant of refine() for device memory.
    void refine(DeviceView<const std::uint8_t> camera, DeviceView<std::uint8_t> reference, const Moment& moment,
                RefinementDelta& step);

    /// Reports the packed size of a step that was not empty. May be called while another thread calls refine().
    void took(const RefinementDelta& step, std::int64_t bytes);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Running mean of each cell of a picture, with a separate number of samples per cell. Move-only; threads may use
/// different cells at the same time.
class CellSamples {
public:
    /// Allocates the samples for frames of `shape`, whose `frames` must be 1.
    explicit CellSamples(const Shape& shape);

    /// Removes the samples of a cell.
    void clear(int cell) { counts_[static_cast<std::size_t>(cell)] = 0; }
    /// Replaces the samples of a cell with a single one, their mean.
    void condense(int cell);
    /// Adds a sample: the cell's pixels in `frame`.
    void add(int cell, HostView<const std::uint8_t> frame);
    /// Returns the number of samples of a cell.
    int count(int cell) const { return counts_[static_cast<std::size_t>(cell)]; }
    /// Writes the mean of each byte in row `row` of the cell, rounded to nearest, to `out`: one byte per pixel and
    /// channel. The cell must have at least one sample.
    void mean(int cell, int row, std::uint8_t* out) const;

private:
    std::uint16_t* sums(int cell, int row) const;

    CellGrid grid_;
    int channels_;
    HostBuffer sums_;  // cell by cell, in rows of equal size
    std::vector<std::uint8_t> counts_;
};

/// Refinement on the host; see Refiner.
class RefinementOnHost {
public:
    /// Prepares refinement of frames of `shape`. `pool` must outlive this object.
    RefinementOnHost(const Shape& shape, const ThreadPool& pool);

    /// See Refiner::take_cells().
    void take_cells(std::span<const std::uint16_t> changed, std::uint32_t count);
    /// See Refiner::take_step().
    void take_step(std::span<const Summary> blocks);
    /// Refines R. Writes to `step` only if something changes.
    void refine(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, const RefinementTurn& turn,
                RefinementDelta& step);

private:
    RestingCell& cell(int number) { return cells_[static_cast<std::size_t>(number)]; }
    void look(HostView<const std::uint8_t> camera, const RefinementTurn& turn);
    void look(int cell, HostView<const std::uint8_t> camera, const RefinementTurn& turn, bool starts_over);
    bool moves(int cell, HostView<const std::uint8_t> camera, int within) const;
    template <class Held, class Body>
    void for_each_off(int cell, int row, HostView<const std::uint8_t> camera, HostView<Held> reference, int within,
                      int threshold, Body&& body) const;
    std::uint32_t count_off(int cell, HostView<const std::uint8_t> camera, HostView<const std::uint8_t> reference,
                            const RefinementTurn& turn, int stage) const;
    struct Chosen {
        std::uint32_t changes;
        bool all;
    };
    Chosen choose(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> reference,
                  const RefinementTurn& turn, int stage);
    void write(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int within,
               RefinementDelta& step);

    Shape shape_;
    const ThreadPool* pool_;
    CellGrid grid_;
    CellSamples samples_;
    std::vector<RestingCell> cells_;
    std::vector<std::uint16_t> changed_;  // per cell: number of bytes that the last delta frame changed
    bool new_picture_ = false;            // the last delta frame satisfies is_new_picture()
    struct Due {
        int younger, rank, cell;  // `younger` is the negated age class
        auto operator<=>(const Due&) const = default;
    };
    std::vector<Due> due_;
    std::vector<int> chosen_;
    RestAccount account_{};
};

// State of Refiner, shared by the source files of both backends.
struct Refiner::State {
    Shape shape;
    RefinementBudget budget;
    std::optional<RefinementOnHost> on_host;  // exactly one of on_host and on_gpu has a value
    std::optional<RefinementOnGpu> on_gpu;

    // Creates the schedule; the constructor of Refiner adds the backend.
    State(const Shape& of, double seconds, int threshold) : shape(of), budget(of, seconds, threshold) {}

    // Validates the arguments and returns the parameters for the frame.
    template <class Frame, class Reference>
    RefinementTurn begin(const Frame& camera, const Reference& reference, const Moment& moment, RefinementDelta& step) {
        validate(camera, shape, "the refiner's frame");
        validate(reference, shape, "the refiner's reference");
        // The previous refinement must not be packed again, even if this one fails.
        step.clear();
        return budget.next(moment.seconds, moment.within, moment.room_bytes, moment.stream_bytes);
    }
};

}  // namespace framewire::codec
