#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/pointwise/pointwise.hpp"
#include "framewire/pipeline/chain/chain.hpp"
#include "framewire/pipeline/frames/frame.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framewire {

/// What one filter of a chain found in its last run.
struct ChainFigures {
    std::string filter;
    std::vector<FilterFigure> figures;
};

/// A filter chain ready to run on frames of one shape: the filters' plans, what lies between them, and the previous
/// frames of those filters that need one. Neighbours that look at single pixels run as one pass, and on a GPU the whole
/// chain is one graph; the result is the filters' one by one. Not for two threads at once, but for set_adjustment().
class ChainPlan {
public:
    /// `frame` may be a batch, which is then as many streams side by side. `original` is the shape of what filters may
    /// join, where that is not the frame itself. Keeps a reference to `executor` and nothing of `chain`. Throws
    /// Error{usage}, with the place in the chain's text, where a filter does not take what the one before it gives.
    ChainPlan(const Chain& chain, const Shape& frame, Executor& executor, const std::optional<Shape>& original = {});

    /// True when there is no filter: runs copy, and whoever can do without the copy may skip them.
    bool empty() const { return steps_.empty(); }
    const Shape& input_shape() const { return input_shape_; }
    const Shape& output_shape() const { return output_shape_; }
    /// Where what is in the input is in the output.
    const PlaneMap& placement() const { return placement_; }

    /// True when some filter shows what set_frame_values() tells.
    bool shows_frame_values() const;
    /// Tells the filters about the next frame, before its run. Allocates nothing. Device: queued on the executor's
    /// stream.
    void set_frame_values(const FrameValues& values);
    /// Takes other settings for the first `adjust` from the next frame on, from any thread; false where there is none.
    /// Throws Error{usage} on a setting that is not allowed, with nothing changed.
    bool set_adjustment(const Adjustment& adjustment);

    /// What filters found in the last run, in the chain's order; those that found nothing are left out. Waits for the
    /// executor's stream and reads back: not for the frame path.
    std::vector<ChainFigures> figures() const;

    /// How many pairs of images have a graph of their own on a GPU.
    static constexpr int most_graphs = 16;

    /// The next frame through all filters. Any strides; no overlap. Allocates nothing, but on a GPU where images come a
    /// second time, as those of a circle do: then their graph is made. Host: returns when done. Device: queued on the
    /// executor's stream. Throws Error{usage} on other shapes, Error{internal} on the other backend's memory.
    void run(HostView<const std::uint8_t> in, HostView<std::uint8_t> out);
    void run(DeviceView<const std::uint8_t> in, DeviceView<std::uint8_t> out);
    /// The same from frame to frame, where the backend works.
    void run(Frame& in, Frame& out) { run(in, in, out); }
    /// The same with another original than `in`.
    void run(Frame& in, Frame& original, Frame& out);

    /// A filter, or several as one pass, by rows. Lives as long as the plan.
    struct RowStep {
        std::string name;
        RowFilter* filter = nullptr;
        Shape input{}, output{};
    };
    /// The chain as such, where each of its filters is one: on the CPU, of one frame. Else, and without any, none.
    std::vector<RowStep> by_rows();
    /// Before the rows of each frame: tells all of them, as run() does.
    void begin_rows();

private:
    // A filter, or several as one pass.
    struct Step {
        std::vector<std::string> names;  // of its filters
        std::string name;                // of all of them
        std::unique_ptr<Filter> filter;
        std::unique_ptr<PointwisePass> pass;
        Shape input, output;
        bool joins_original = false;
        bool needs_previous = false;
        bool has_previous = false;
        bool has_run = false;
        BackendImage previous;             // of a filter
        std::vector<BackendImage> states;  // of a pass
        RowFilter* by_rows() const;
    };

    // The images that a graph was made for; it holds for no others. Made when they come a second time.
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

    void plan_steps(const Chain& chain);
    void allocate();
    bool is_settled() const;
    ImagesGraph* graph_of(ImagesGraph images);
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
    std::array<BackendBuffer, 2> between_;  // results on their way to the next filter, in turns

    // How often set_adjustment() was called: a graph holds the settings as they were. Out of line, so that plans move.
    std::unique_ptr<std::atomic<std::uint64_t>> settings_ = std::make_unique<std::atomic<std::uint64_t>>(0);
    std::uint64_t graphs_settings_ = 0;  // that graphs_ were made with
    std::vector<ImagesGraph> graphs_;
    std::size_t oldest_graph_ = 0;
};

}  // namespace framewire
