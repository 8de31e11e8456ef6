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

/// Images of one filter run, in one memory space. All are batches of equally many frames. `previous` is set only for
/// filters with FilterInfo::needs_previous; for a stream's first frame it is the frame itself. `out` must not overlap
/// the others.
template <MemorySpace space>
struct FilterImages {
    /// This frame.
    View<const std::uint8_t, space> in;
    /// The frame before it.
    View<const std::uint8_t, space> previous;
    /// The result.
    View<std::uint8_t, space> out;
    View<const std::uint8_t, space> original{};  ///< the chain's first image, for filters with an OriginalJoin
};

/// The GPU part of a filter whose plan has settled everything but the images: kernel, geometry, launch attributes. A
/// call queues a batch of the plan's shape on the executor's stream.
using FilterOnDevice = std::function<void(const FilterImages<MemorySpace::device>&)>;

/// A number that a filter computed for one frame of its last batch, for the statistics.
struct FilterFigure {
    std::string_view name;  ///< "threshold", "mean_b", ...
    int frame = 0;          ///< index in the batch
    double value = 0;       ///< the number
};

/// A filter that is ready to run: its parameters, image shape and executor are fixed. CUDA runs are queued on the
/// executor's stream; CPU runs have finished when they return. Runs neither allocate, synchronize nor read back. Unless
/// stated otherwise, call one filter from one thread at a time.
class Filter {
public:
    /// Filters are owned and destroyed through this base.
    virtual ~Filter() = default;
    /// Shape of FilterImages::out.
    virtual Shape output_shape() const = 0;
    /// Filters `images`, whose `in` has the shape the filter was made for. Throws Error if a shape does not match.
    virtual void run(const FilterImages<MemorySpace::host>& images) = 0;
    /// As above in device memory; queued on the executor's stream.
    virtual void run(const FilterImages<MemorySpace::device>& images) = 0;
    /// Statistics of the last run; empty for most filters and before the first run. Waits for the executor's stream and
    /// reads back, so it does not belong on the frame path.
    virtual std::vector<FilterFigure> figures() const { return {}; }

    /// Sets the values of the frame and the run that later runs draw; most filters ignore them. Call it before a run,
    /// from the same thread. Does not allocate. On CUDA, the upload is queued on the executor's stream.
    virtual void set_frame_values(const FrameValues&) {}
    /// Returns true if the filter draws values from set_frame_values().
    virtual bool shows_frame_values() const { return false; }
    /// Returns true if every later run queues the same work as the last one, so that a CUDA graph can replay it. True
    /// for most filters.
    virtual bool is_settled() const { return true; }
    /// Applies other settings from the next run on; callable from any thread. Returns false if the filter has nothing
    /// to adjust. Throws Error{usage} on a setting that is not allowed and then changes nothing.
    virtual bool set_adjustment(const Adjustment&) { return false; }
    /// The same filter by rows, where it is one of those; else null. Lives as long as the filter. CPU backend only.
    virtual RowFilter* by_rows() { return nullptr; }
};

/// A rectangle that is copied unchanged into the result, from the filter's image or from the original.
struct JoinPart {
    /// True: from the original. False: from the filter's image.
    bool original = false;
    int from_x = 0;                           ///< left column in the source, whose rows start at 0
    int x = 0, y = 0, width = 0, height = 0;  ///< position and size in the result
};

/// How to make a filter that reads the chain's first image (FilterImages::original) as well as its own. The two may
/// differ in width, height and channels.
struct OriginalJoin {
    /// As FilterInfo::output_shape, with the shapes of the filter's image and of the original.
    std::function<Shape(const ParameterValues&, const Shape& frame, const Shape& original)> output_shape;
    /// As FilterInfo::make, with both shapes.
    std::function<std::unique_ptr<Filter>(const ParameterValues&, const Shape& frame, const Shape& original, Executor&)>
        make;
    /// The two rectangles that make up the result, if it consists of unchanged parts of both images without overlap on
    /// black. Empty for other filters.
    std::function<std::array<JoinPart, 2>(const ParameterValues&, const Shape& frame, const Shape& original)> parts{};
};

/// Registry entry of a filter. The optional functions below describe special cases that a chain can run faster or fuse;
/// each is empty for filters it does not apply to.
struct FilterInfo {
    std::string_view name;                  ///< in chains
    std::string_view summary;               ///< one line for the help
    std::vector<ParameterInfo> parameters;  ///< the first is the main one
    std::size_t unnamed = 1;                ///< number of leading parameters that may be given in order, without a key
    /// Chains that show the filter; the documentation draws the first one. Default: the filter's name alone.
    std::vector<std::string_view> examples{};
    bool needs_previous = false;  ///< reads FilterImages::previous
    bool draws = false;           ///< draws over a part of the picture: RowFilter::changed_area() says which
    /// Checks the parameters together and against the shape of the filter's image, and returns the shape of the result.
    /// Throws Error{usage}.
    std::function<Shape(const ParameterValues&, const Shape&)> output_shape{};
    /// Makes the plan. `frame` may be a batch. Throws Error{usage}.
    std::function<std::unique_ptr<Filter>(const ParameterValues&, const Shape& frame, Executor&)> make{};
    /// For filters that only move pixels: the map from positions in the image to positions in the result.
    std::function<PlaneMap(const ParameterValues&, const Shape&)> placement{};
    /// For filters that only resize the whole picture: the method.
    std::function<ScaleMethod(const ParameterValues&)> scaling{};
    /// For filters that only compute a weighted mean around each pixel: the weights.
    std::function<SeparableWindow(const ParameterValues&)> window{};
    /// For filters that only replace square cells, counted from the image's corner, by their means: the side of a cell
    /// in pixels. Returns nothing if the values ask for something else.
    std::function<std::optional<int>(const ParameterValues&)> cell_px{};
    /// For filters that only map channel values and saturation as Adjust does: the terms.
    std::function<AdjustTerms(const ParameterValues&)> levels{};
    /// For filters that change the number of frames, and so have no plan: the resulting frame rate. See
    /// split_at_rate().
    std::function<Rational(const ParameterValues&)> rate{};
    /// For filters that read the original. `output_shape` and `make` above then assume an original with the image's
    /// shape.
    std::optional<OriginalJoin> original{};
    /// For filters whose result depends only on the same pixel (and on its predecessor in time): the operation, so that
    /// neighbours in a chain run as one pass. Returns nothing if the values do not allow it.
    std::function<std::optional<PointwiseOp>(const ParameterValues&)> pointwise{};
};

/// Returns the given values with the defaults of all other parameters. For callers that make a filter without a chain's
/// text.
inline ParameterValues with_defaults(const FilterInfo& info,
                                     std::initializer_list<std::pair<std::string, std::string>> given) {
    return with_defaults(info.parameters, given);
}

/// Makes a Filter from a plan: any class with output_shape() and a run() for each memory space. Every other function of
/// Filter or RowFilter is forwarded if the plan has it and keeps its default otherwise; the plan's goes_by_rows() says
/// whether it currently runs by rows. In a build without CUDA the device run throws Error{internal}; no other place has
/// to exclude it.
template <class Plan>
class FilterOf final : public Filter, private RowFilter {
public:
    /// Passes its arguments to the plan's constructor.
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
