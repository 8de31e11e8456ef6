#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/pointwise.hpp"
#include "framewire/plan/chain.hpp"
#include "framewire/plan/frame.hpp"
#include "framewire/plan/recorded_runs.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framewire {

/// Results of one filter from its last run.
struct ChainFigures {
    std::string filter;
    std::vector<FilterFigure> figures;
};

/// One step of a FramePlan, as users see it.
struct PlannedStep {
    std::string operation;  ///< the filter as written in a chain, or "convert"
    std::string format;     ///< format in which it runs, or "4:2:0 to BGR" for a conversion
    std::string reason{};   ///< why a conversion is needed, or how the step runs; may be empty
};

/// A filter chain prepared for frames of one shape: the plans of the filters, the images between them, and the previous
/// frames of filters that need them. Adjacent pointwise filters run as one pass, and on a GPU the whole chain runs as
/// one CUDA graph. The result equals that of the filters applied one by one. Not thread-safe, except set_adjustment().
class ChainPlan {
public:
    /// `frame` may be the shape of a batch, whose frames are then independent streams, except for `boxes`, which takes
    /// them as consecutive frames. `original` is the shape of the image that filters such as `compare` join to their
    /// result; default: `frame`. Keeps a reference to `executor`, but not to `chain`. Throws Error{usage} with the
    /// position in the text of the chain if a filter does not accept the result of its predecessor.
    ChainPlan(const Chain& chain, const Shape& frame, Executor& executor, const std::optional<Shape>& original = {});

    /// Returns true if the chain has no filter. A run then only copies the frame, which callers may skip.
    bool empty() const { return steps_.empty(); }
    /// Returns the shape of the frames that run() takes.
    const Shape& input_shape() const { return input_shape_; }
    /// Returns the shape of the frames that run() writes.
    const Shape& output_shape() const { return output_shape_; }
    /// Returns the map from positions in the input to positions in the output.
    const PlaneMap& placement() const { return placement_; }

    /// Returns true if a filter displays values of set_frame_values().
    bool shows_frame_values() const;
    /// Passes the values of the next frame to the filters. Call it before run(). Allocates nothing. On the GPU the
    /// update is queued on the executor's stream.
    void set_frame_values(const FrameValues& values);
    /// Changes the settings of the first `adjust` from the next frame on. Returns false if there is no `adjust`. Throws
    /// Error{usage} without changing anything if a setting is not allowed. Callable from any thread.
    bool set_adjustment(const Adjustment& adjustment);

    /// Returns the results of the filters from the last run, in the order of the chain; filters without results are
    /// omitted. Waits for the executor's stream and downloads data, so it must not be called for every frame.
    std::vector<ChainFigures> figures() const;

    /// Returns true once all further runs on a GPU queue the same work, so that it can be recorded.
    bool is_settled() const;

    /// Processes the next frame. Any strides; the images must not overlap. Allocates nothing, except that on a GPU the
    /// work is recorded for images that are used again (RecordedRuns). Returns when done. Throws Error{usage} if a
    /// shape differs, Error{internal} for memory of the other backend.
    void run(HostView<const std::uint8_t> in, HostView<std::uint8_t> out) { run(in, in, out); }
    /// Processes the next frame on the GPU. The work is queued on the executor's stream.
    void run(DeviceView<const std::uint8_t> in, DeviceView<std::uint8_t> out) { run(in, in, out); }
    /// Processes the next frame with an original other than `in`.
    void run(HostView<const std::uint8_t> in, HostView<const std::uint8_t> original, HostView<std::uint8_t> out);
    /// Processes the next frame on the GPU with an original other than `in`.
    void run(DeviceView<const std::uint8_t> in, DeviceView<const std::uint8_t> original, DeviceView<std::uint8_t> out);
    /// Processes the next frame in the memory of the backend.
    void run(Frame& in, Frame& out) { run(in, in, out); }
    /// Processes the next frame with an original other than `in`.
    void run(Frame& in, Frame& original, Frame& out);

    /// Returns for each filter whether it runs in one pass with the filter before it.
    std::vector<bool> joined_filters() const;

    /// One filter, or several joined into one pass, that can process rows. Valid as long as the plan.
    struct RowStep {
        std::string name;
        Filter* filter = nullptr;
        Shape input{}, output{};
    };
    /// Returns the steps of the chain if all of them can process rows, which requires the CPU backend and single
    /// frames. Otherwise, and for an empty chain, returns nothing.
    std::vector<RowStep> by_rows();
    /// Prepares all steps for the rows of the next frame, as run() does for a whole frame.
    void begin_rows();

private:
    // One filter, or several joined into one pass.
    struct Step {
        std::vector<std::string> names;  // names of the filters
        std::string name;                // all names joined
        std::unique_ptr<Filter> filter;
        Shape input, output;
        bool joins_original = false;
        bool needs_previous = false;
        bool has_previous = false;
        bool has_run = false;
        BackendImage previous;  // previous image, if the filter needs one; a pass keeps its own
    };

    // Construction: shapes and plans first, then memory.
    void plan_steps(const Chain& chain);
    void allocate();
    // Running: all steps, then a single step.
    template <MemorySpace space>
    void run_in(View<const std::uint8_t, space> in, View<const std::uint8_t, space> original,
                View<std::uint8_t, space> out);
    template <MemorySpace space>
    void run_step(Step& step, View<const std::uint8_t, space> from, View<const std::uint8_t, space> original,
                  View<std::uint8_t, space> to);
    void copy_image(HostView<const std::uint8_t> from, HostView<std::uint8_t> to) const;
    void copy_image(DeviceView<const std::uint8_t> from, DeviceView<std::uint8_t> to) const;

    Executor* executor_;
    Shape input_shape_, original_shape_, output_shape_;
    PlaneMap placement_;
    std::vector<Step> steps_;
    std::array<BackendBuffer, 2> between_;  // results passed from filter to filter, alternating

    // Number of set_adjustment() calls. What was recorded contains the settings at that time, so it is invalid after
    // the next call. On the heap, so that plans can be moved.
    std::unique_ptr<std::atomic<std::uint64_t>> settings_ = std::make_unique<std::atomic<std::uint64_t>>(0);
    std::uint64_t recorded_settings_ = 0;  // value of *settings_ when recorded_ was recorded
    RecordedRuns recorded_;
};

/// Memory and time that a chain needs, estimated without planning it or allocating anything.
struct ChainCost {
    Shape output{};          ///< shape of the result
    Shape largest{};         ///< largest image in the chain, including input and result
    std::size_t largest_at;  ///< offset in the chain's text of the filter that makes the largest image; 0 for the input
    /// Upper bound for the memory of the plans: images between filters, previous frames and scratch memory, in bytes.
    std::int64_t bytes = 0;
    double frame_seconds = 0;  ///< time per frame on one core if every filter were as slow as the slowest one
};

/// Estimates the cost of `chain` for frames of shape `frame`. Throws Error{usage} with the position in the chain's text
/// if a filter does not accept the image of its predecessor.
ChainCost cost_of(const Chain& chain, const Shape& frame);

}  // namespace framewire
