#pragma once

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/values.hpp"
#include "framewire/core/time/rational.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/device/build.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/filters/adjustment.hpp"
#include "framewire/filters/frame_values.hpp"
#include "framewire/filters/geometry/plane_map.hpp"
#include "framewire/filters/pointwise/op.hpp"
#include "framewire/filters/row_filter.hpp"
#include "framewire/filters/scale/scale_axis.hpp"
#include "framewire/filters/separable_window.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire {

/// What a filter works on, in one memory space: this frame, the one before it, and where the result goes.
/// All three are batches of one size; `previous` is set only for filters that need it, and on a first frame it is the
/// frame itself. `out` does not overlap the others.
template <MemorySpace space>
struct FilterImages {
    View<const std::uint8_t, space> in;
    View<const std::uint8_t, space> previous;
    View<std::uint8_t, space> out;
    View<const std::uint8_t, space> original{};  ///< what the chain began with, for filters that join it
};

/// A filter's work on the GPU, all but the images settled when its plan is made: kernel, geometry, what kernels may
/// take. Queues a batch of the plan's shape on the executor's stream.
using FilterOnDevice = std::function<void(const FilterImages<MemorySpace::device>&)>;

/// A number that a filter found in one frame of its last batch, for the statistics.
struct FilterFigure {
    std::string_view name;  ///< "threshold", "mean_b", ...
    int frame = 0;          ///< of the batch
    double value = 0;
};

/// A filter ready to run: parameters, image shape and executor fixed. Runs queue on the executor's stream (CUDA) or
/// return when done (CPU); they neither allocate nor synchronize nor read back.
class Filter {
public:
    virtual ~Filter() = default;
    /// The shape of the result.
    virtual Shape output_shape() const = 0;
    virtual void run(const FilterImages<MemorySpace::host>& images) = 0;
    virtual void run(const FilterImages<MemorySpace::device>& images) = 0;
    /// What the last run found; empty for most filters and before the first run. Waits for the executor's stream and
    /// reads back: not for the frame path.
    virtual std::vector<FilterFigure> figures() const { return {}; }

    /// What the next runs show of the frame and the run; most filters show nothing. Before a run, from the same thread;
    /// allocates nothing. On CUDA what the run reads is queued on the executor's stream.
    virtual void set_frame_values(const FrameValues&) {}
    /// True when what the filter draws depends on set_frame_values().
    virtual bool shows_frame_values() const { return false; }
    /// Whether each run from now on queues the same work as the last one, so that a CUDA graph may hold it. Most
    /// filters always do.
    virtual bool is_settled() const { return true; }
    /// Takes other settings from the next run on, from any thread; false where there is nothing to adjust. Throws
    /// Error{usage} on a setting that is not allowed, with nothing changed.
    virtual bool set_adjustment(const Adjustment&) { return false; }
    /// The same filter by rows, where it is one of those; else null. Lives as long as the filter. CPU backend only.
    virtual RowFilter* by_rows() { return nullptr; }
};

/// A part of the filter's image, or of the original, and where in the result it goes.
struct JoinPart {
    bool original = false;
    int from_x = 0;  ///< of the image
    int x = 0, y = 0, width = 0, height = 0;
};

/// How a filter is made that looks at the chain's first image beside its own, as FilterImages::original. The two may
/// differ in width, height and channels.
struct OriginalJoin {
    /// As FilterInfo's, of the filter's image and the original.
    std::function<Shape(const ParameterValues&, const Shape& frame, const Shape& original)> output_shape;
    std::function<std::unique_ptr<Filter>(const ParameterValues&, const Shape& frame, const Shape& original, Executor&)>
        make;
    /// Where the result is parts of both as they are, without overlap, and black elsewhere: these. Absent for others.
    std::function<std::array<JoinPart, 2>(const ParameterValues&, const Shape& frame, const Shape& original)> parts{};
};

/// A filter's registry entry.
struct FilterInfo {
    std::string_view name;
    std::string_view summary;               ///< one line
    std::vector<ParameterInfo> parameters;  ///< the first is the main one
    std::size_t unnamed = 1;                ///< how many of the first ones may be given in their order, without a key
    /// Chains that show what it does, the first in the docs' picture too; none: its name alone does.
    std::vector<std::string_view> examples{};
    bool needs_previous = false;
    bool draws = false;  ///< over a part of the picture alone: RowFilter::changed_area() says which
    /// Checks what single parameters cannot, against the shape of the image the filter will get, and gives the shape
    /// of its result. Throws Error{usage}.
    std::function<Shape(const ParameterValues&, const Shape&)> output_shape{};
    /// Makes the plan. `frame` may be a batch.
    std::function<std::unique_ptr<Filter>(const ParameterValues&, const Shape& frame, Executor&)> make{};
    /// Of a filter that moves pixels: where they go. Absent for others.
    std::function<PlaneMap(const ParameterValues&, const Shape&)> placement{};
    /// Of a filter that makes the whole picture larger or smaller, and no more: how. Absent for others.
    std::function<ScaleMethod(const ParameterValues&)> scaling{};
    /// Of a filter that takes a mean of the pixels around each one, and no more: its weights. Absent for others.
    std::function<SeparableWindow(const ParameterValues&)> window{};
    /// Of a filter that gives square cells from the image's corner on their means, and no more: a cell's side in
    /// pixels. Nothing where the values ask for something else; absent for others.
    std::function<std::optional<int>(const ParameterValues&)> cell_px{};
    /// Of a filter that takes each channel value to another, and saturation with it, as Adjust does: its terms. Absent
    /// for others.
    std::function<AdjustTerms(const ParameterValues&)> levels{};
    /// Where the filter changes how many frames there are, and so has no plan: the rate that it gives. See
    /// split_at_rate().
    std::function<Rational(const ParameterValues&)> rate{};
    /// Where the filter needs the original: used in place of the two above, which are for an original of the image's
    /// own shape.
    std::optional<OriginalJoin> original{};
    /// Where each pixel of the result depends on that pixel alone (and the one before it in time): what becomes of it,
    /// so that neighbours in a chain run as one pass. Nothing where the values do not allow it; absent for other
    /// filters.
    std::function<std::optional<PointwiseOp>(const ParameterValues&)> pointwise{};
};

/// The values given and the defaults of all other parameters; for whoever makes a filter without a chain's text.
inline ParameterValues with_defaults(const FilterInfo& info,
                                     std::initializer_list<std::pair<std::string, std::string>> given) {
    return with_defaults(info.parameters, given);
}

/// Makes a Filter of a plan: any class with output_shape() and a run() for each memory space, and those of Filter's
/// other functions, or of RowFilter's, that it has an answer to; goes_by_rows() says that it has them now. The device
/// run is left out of a build without CUDA here, and nowhere else.
template <class Plan>
class FilterOf final : public Filter, private RowFilter {
public:
    template <class... Args>
    explicit FilterOf(Args&&... args) : plan_(std::forward<Args>(args)...) {}

    Shape output_shape() const override { return plan_.output_shape(); }
    void run(const FilterImages<MemorySpace::host>& images) override { plan_.run(images); }
    void run(const FilterImages<MemorySpace::device>& images) override {
        if constexpr (cuda::compiled)
            plan_.run(images);
        else
            fail(ErrorCode::internal, "a device image in a build without CUDA");
    }
    std::vector<FilterFigure> figures() const override {
        if constexpr (requires { plan_.figures(); })
            return plan_.figures();
        else
            return {};
    }
    void set_frame_values(const FrameValues& values) override {
        if constexpr (requires { plan_.set_frame_values(values); }) plan_.set_frame_values(values);
    }
    bool shows_frame_values() const override {
        if constexpr (requires { plan_.shows_frame_values(); }) return plan_.shows_frame_values();
        return false;
    }
    bool is_settled() const override {
        if constexpr (requires { plan_.is_settled(); }) return plan_.is_settled();
        return true;
    }
    bool set_adjustment(const Adjustment& adjustment) override {
        if constexpr (requires { plan_.set_adjustment(adjustment); }) return plan_.set_adjustment(adjustment);
        return false;
    }
    RowFilter* by_rows() override {
        if constexpr (requires { plan_.goes_by_rows(); })
            if (plan_.goes_by_rows()) return this;
        return nullptr;
    }

private:
    void begin_rows() override {
        if constexpr (requires { plan_.begin_rows(); }) plan_.begin_rows();
    }
    int rows_together() const override {
        if constexpr (requires { plan_.rows_together(); }) return plan_.rows_together();
        return RowFilter::rows_together();
    }
    RowRange rows_needed(const RowRange& made) const override {
        if constexpr (requires { plan_.rows_needed(made); }) return plan_.rows_needed(made);
        return RowFilter::rows_needed(made);
    }
    std::optional<ImageArea> changed_area() const override {
        if constexpr (requires { plan_.changed_area(); }) return plan_.changed_area();
        return RowFilter::changed_area();
    }
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) override {
        if constexpr (requires { plan_.run_rows(in, out); }) plan_.run_rows(in, out);
    }

    Plan plan_;
};

}  // namespace framewire
