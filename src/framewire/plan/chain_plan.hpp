#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/pointwise.hpp"
#include "framewire/plan/chain.hpp"
#include "framewire/plan/frame.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framewire {

/// Results of one filter in its last run.
struct ChainFigures {
    std::string filter;
    std::vector<FilterFigure> figures;
};

/// A filter chain prepared for frames of one shape: the plans of the filters, the images between them, and the
/// previous frames of filters that need them. Adjacent filters that look at single pixels run as one pass, and
/// on a GPU the whole chain is one CUDA graph. The result equals that of the filters one by one. Not for
/// concurrent use, except set_adjustment().
class ChainPlan {
public:
    /// `frame` may be a batch, whose frames are then independent streams. `original` is the shape of the image
    /// that filters can join, if that is not the frame itself. Keeps a reference to `executor`; `chain` is not
    /// needed afterwards. Throws Error{usage}, with the place in the text of the chain, if a filter does not
    /// accept the result of the one before it.
    ChainPlan(const Chain& chain, const Shape& frame, Executor& executor, const std::optional<Shape>& original = {});

    /// Returns true if there is no filter. A run then copies, and callers that do not need the copy can skip
    /// it.
    bool empty() const { return steps_.empty(); }
    /// Shape of the frames that run() takes.
    const Shape& input_shape() const { return input_shape_; }
    /// Shape of the frames that run() writes.
    const Shape& output_shape() const { return output_shape_; }
    /// Returns the map of positions in the input to positions in the output.
    const PlaneMap& placement() const { return placement_; }

    /// Returns true if a filter shows values of set_frame_values().
    bool shows_frame_values() const;
    /// Passes the values of the next frame to the filters, before its run. Allocates nothing. On the device it
    /// is queued on the executor's stream.
    void set_frame_values(const FrameValues& values);
    /// Sets the first `adjust` to other settings from the next frame on, from any thread. Returns false if
    /// there is none. Throws Error{usage} if a setting is not allowed, without changing anything.
    bool set_adjustment(const Adjustment& adjustment);

    /// Returns the results of the filters in the last run, in the order of the chain, without filters that have
    /// none. Waits for the executor's stream and downloads data, so it is not for the frame path.
    std::vector<ChainFigures> figures() const;

    /// Number of image pairs that have a graph of their own on a GPU.
    static constexpr int most_graphs = 16;

    /// Processes the next frame. Any strides; no overlap. Allocates nothing, except that on a GPU the graph of
    /// a pair of images is made when the pair is used for the second time, as pairs of a frame ring are. On the
    /// host the call returns when done; on the device it is queued on the executor's stream. Throws
    /// Error{usage} if a shape differs, Error{internal} for memory of the other backend.
    void run(HostView<const std::uint8_t> in, HostView<std::uint8_t> out);
    /// On the GPU; queued on the executor's stream.
    void run(DeviceView<const std::uint8_t> in, DeviceView<std::uint8_t> out);
    /// The same from frame to frame, in the memory of the backend.
    void run(Frame& in, Frame& out) { run(in, in, out); }
    /// The same with an original that is not `in`.
    void run(Frame& in, Frame& original, Frame& out);

    /// A filter, or several as one pass, that can run by rows. Valid as long as the plan.
    struct RowStep {
        std::string name;
        RowFilter* filter = nullptr;
        Shape input{}, output{};
    };
    /// Returns the steps of the chain if all of them can run by rows, on the CPU and for one frame; else
    /// nothing. Also nothing for an empty chain.
    std::vector<RowStep> by_rows();
    /// Prepares all steps for the rows of the next frame, as run() does.
    void begin_rows();

private:
    // A filter, or several as one pass.
    struct Step {
        std::vector<std::string> names;  // names of its filters
        std::string name;                // all names joined
        std::unique_ptr<Filter> filter;
        std::unique_ptr<PointwisePass> pass;
        Shape input, output;
        bool joins_original = false;
        bool needs_previous = false;
        bool has_previous = false;
        bool has_run = false;
        BackendImage previous;             // previous image of a filter
        std::vector<BackendImage> states;  // previous images of a pass
        RowFilter* by_rows() const;
    };

    // The images that a graph was recorded with; it is valid for no others. Recorded when they come for the
    // second time.
    struct ImagesGraph {
        const std::uint8_t* in = nullptr;
        const std::uint8_t* original = nullptr;
        std::uint8_t* out = nullptr;
        std::array<std::int64_t, 6> strides_bytes{};
        std::optional<cuda::Graph> graph{};
        bool has_images_of(const ImagesGraph& other) const {
            return in == other.in && original == other.original && out == other.out &&
                   strides_bytes == other.strides_bytes;
        }
    };

    // Construction: shapes and plans, then memory.
    void plan_steps(const Chain& chain);
    void allocate();
    bool is_settled() const;
    ImagesGraph* graph_of(ImagesGraph images);
    // Runs: validation, then all steps, then one step.
    void run_checked(HostView<const std::uint8_t> in, HostView<const std::uint8_t> original,
                     HostView<std::uint8_t> out);
    void run_checked(DeviceView<const std::uint8_t> in, DeviceView<const std::uint8_t> original,
                     DeviceView<std::uint8_t> out);
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
    std::array<BackendBuffer, 2> between_;  // results for the next filter, alternating

    // Number of set_adjustment() calls, since a graph contains the settings at its recording. On the heap, so
    // that plans can move.
    std::unique_ptr<std::atomic<std::uint64_t>> settings_ = std::make_unique<std::atomic<std::uint64_t>>(0);
    std::uint64_t graphs_settings_ = 0;  // the count when graphs_ were recorded
    std::vector<ImagesGraph> graphs_;
    std::size_t oldest_graph_ = 0;
};

/// Memory and time that a chain takes, estimated without planning it or allocating anything.
struct ChainCost {
    Shape output{};          ///< shape of the result
    Shape largest{};         ///< the largest image in the chain, including input and result
    std::size_t largest_at;  ///< offset in the chain's text of the filter that makes it; 0 for the input
    /// Upper bound of the memory of the plans: images between filters, previous frames, scratch.
    std::int64_t bytes = 0;
    double frame_seconds = 0;  ///< for one frame on one core, if every filter were as slow as the slowest one
};

/// Estimates the cost of `chain` on frames of shape `frame`. Throws Error{usage}, with the place in the chain's text,
/// if a filter does not accept the image of the filter before it.
ChainCost cost_of(const Chain& chain, const Shape& frame);

}  // namespace framewire
