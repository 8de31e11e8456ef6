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

/// Schedule and byte budget of refinement: everything that Refiner decides without looking at pictures. One
/// thread may call next() while another one calls took().
class RefinementBudget {
public:
    /// Arguments as for Refiner. Throws Error{usage} if they are invalid.
    RefinementBudget(const Shape& shape, double seconds, int threshold);

    /// Makes all cells start over with the next frame.
    void begin_again() { starts_over_ = true; }
    /// Returns the parameters for the frame at `seconds`, whose threshold is `within`. `room_bytes` may be sent besides
    /// it; `stream_bytes` is what the stream has taken so far.
    RefinementTurn next(double seconds, int within, double room_bytes, double stream_bytes);
    /// Reports that a refinement that was not empty took `bytes` bytes when packed. Thread-safe.
    void took(const RefinementDelta& step, std::int64_t bytes);

private:
    double earned(double gap, double stream_bytes);

    double bytes_per_second_, least_bytes_per_second_;
    double seconds_;
    std::array<int, rest_stages> thresholds_;
    int cells_;

    bool begun_ = false, starts_over_ = true;
    double frame_at_ = 0, frame_seconds_ = 0;
    std::int64_t now_ = 0;  // time of the frames in nanoseconds, without implausible gaps
    std::int64_t turn_ = 0;
    double stream_bytes_ = 0;  // as reported last
    double saved_bytes_ = 0;   // share of the stream's bytes that was not spent yet

    std::mutex mutex_;  // guards the members below
    std::int64_t correction_ = 0, done_ = 0;
    std::array<double, rest_stages> parts_per_change_;
};

/// Refinement of static regions. A threshold leaves specks of noise and ghosts in R. Cells that have not changed,
/// except by noise, for some seconds converge to the camera's temporal mean in three stages: first bytes further from
/// the mean than half of the threshold, then those further than a quarter, then all. Every byte stays within the
/// threshold of the current frame.
///
/// If single bytes of a cell change, as by noise, it goes back to the second stage; if more change, it starts over.
/// Cells that are done start over from time to time, because slow changes of light go unnoticed otherwise.
///
/// Runs on the executor's backend; both backends produce the same bytes. Uses no clock: times are those of the frames.
/// One thread may refine while another one calls took(). Move-only.
class Refiner {
public:
    /// Range of the time after which a cell counts as static.
    static constexpr double least_seconds = 0.1,  ///< shortest time
        most_seconds = 3600;                      ///< longest time
    /// Maximum bitrate of refinement, by the times of the frames.
    static constexpr double bits_per_pixel_and_second = 0.5;
    /// Maximum share of the stream's own bitrate, and the bitrate that is allowed even if that share is lower.
    static constexpr double share_of_stream = 0.1,  ///< maximum share
        least_bits_per_pixel_and_second = 0.01;     ///< always allowed

    /// For frames of `shape`, whose `frames` must be 1, with the given threshold. Cells count as static after
    /// `seconds`. Keeps a reference to `executor`. Throws Error{usage} if an argument is invalid, Error{config} if
    /// memory is exhausted. With a threshold of 0 there is nothing to refine.
    Refiner(const Shape& shape, double seconds, int threshold, Executor& executor);
    ~Refiner();
    Refiner(Refiner&&) noexcept;
    Refiner& operator=(Refiner&&) noexcept;

    /// Makes all cells start over, for example because R was replaced or no viewer is connected.
    void begin_again();

    /// Reports the changes of the encoder's delta frame to the next frame, either as a list or as the number of bytes
    /// per block that were off. Call it for each frame before refine(); without it nothing counts as changed. The
    /// device variant is queued on the executor's stream.
    void take_step(const ChangesView<MemorySpace::host>& changes);
    /// Variant of take_step() for changes in device memory.
    void take_step(const ChangesView<MemorySpace::device>& changes);
    /// Variant of take_step() for changes per block.
    void take_step(std::span<const Summary> blocks);
    /// Variant for the CUDA backend: `off` is in device memory and has the number of changed bytes per block.
    void take_blocks(const std::uint32_t* off);

    /// The current frame and its limits.
    struct Moment {
        double seconds = 0;     ///< time of the frame
        int within = 0;         ///< threshold of the frame, within which R stays
        double room_bytes = 0;  ///< bytes that may be sent besides the encoder's delta frame
        /// Bytes that the stream has taken so far, including keyframes but not refinement. Default: infinite, so that
        /// no share of it limits refinement.
        double stream_bytes = std::numeric_limits<double>::infinity();
    };
    /// Examines the frame and R (after the encoder's delta frame). If cells are due and the budget allows it, refines R
    /// and stores the changes in `step`; otherwise `step` becomes empty. Allocates nothing. Throws Error{usage} if a
    /// view has the wrong shape.
    ///
    /// Host: returns when done. Device: queued on the executor's stream; call step.wait() before reading `step`, which
    /// must have been made for the same executor.
    void refine(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, const Moment& moment,
                RefinementDelta& step);
    /// Variant of refine() for device memory.
    void refine(DeviceView<const std::uint8_t> camera, DeviceView<std::uint8_t> reference, const Moment& moment,
                RefinementDelta& step);

    /// Reports how many bytes a step that was not empty took when packed. Thread-safe with respect to refine().
    void took(const RefinementDelta& step, std::int64_t bytes);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Running mean of each cell of a picture. Each cell has its own number of samples. Move-only; different cells may be
/// used by different threads.
class CellSamples {
public:
    /// For frames of `shape`, whose `frames` must be 1.
    explicit CellSamples(const Shape& shape);

    /// Removes the samples of a cell.
    void clear(int cell) { counts_[static_cast<std::size_t>(cell)] = 0; }
    /// Replaces the samples of a cell by a single one, their mean.
    void condense(int cell);
    /// Adds a sample: the cell's pixels in `frame`.
    void add(int cell, HostView<const std::uint8_t> frame);
    /// Returns the number of samples of a cell.
    int count(int cell) const { return counts_[static_cast<std::size_t>(cell)]; }
    /// Writes the mean of row `row` of the cell, rounded to nearest: its width times the channels bytes. The cell must
    /// have a sample.
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
    /// `pool` must outlive this object.
    RefinementOnHost(const Shape& shape, const ThreadPool& pool);

    /// See Refiner::take_step().
    void take_step(const ChangesView<MemorySpace::host>& changes);
    /// Variant of take_step() for changes per block.
    void take_step(std::span<const Summary> blocks);
    /// Refines R. Writes `step` only if something changes.
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
    std::vector<std::uint16_t> changed_;  // per cell: bytes changed by the delta frame to the current frame
    bool new_picture_ = false;            // that delta frame satisfies is_new_picture()
    struct Due {
        int younger, rank, cell;  // `younger` is the negated age class
        auto operator<=>(const Due&) const = default;
    };
    std::vector<Due> due_;
    std::vector<int> chosen_;
    RestAccount account_{};
};

// State of Refiner, shared by the sources of both backends.
struct Refiner::State {
    Shape shape;
    RefinementBudget budget;
    std::optional<RefinementOnHost> on_host;  // exactly one of the two has a value
    std::optional<RefinementOnGpu> on_gpu;

    // Makes the schedule; the constructor of Refiner adds the backend.
    State(const Shape& of, double seconds, int threshold) : shape(of), budget(of, seconds, threshold) {}

    // Validates the arguments and returns the parameters for the frame.
    template <class Frame, class Reference>
    RefinementTurn begin(const Frame& camera, const Reference& reference, const Moment& moment, RefinementDelta& step) {
        validate(camera, shape, "the frame to refine R with");
        validate(reference, shape, "the picture to refine");
        // Whatever happens next, an old refinement must not be packed again.
        step.clear();
        return budget.next(moment.seconds, moment.within, moment.room_bytes, moment.stream_bytes);
    }
};

}  // namespace framewire::codec
