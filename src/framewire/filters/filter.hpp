#pragma once

#include "framewire/core/error.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/rows.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/filters/gray_input.hpp"
#include "framewire/filters/scale_axis.hpp"
#include "framewire/filters/window.hpp"

#include <algorithm>
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
#include <variant>
#include <vector>

namespace framewire {

/// Camera settings that a viewer's control panel changes while a job runs (streaming report, section 5). The defaults
/// change nothing.
struct Adjustment {
    int brightness = 0;     ///< added to each channel, -255..255
    double contrast = 1;    ///< factor for a channel's distance from 128, 0..4
    double saturation = 1;  ///< factor for a channel's distance from the pixel's gray, 0..4
    double gain = 1;        ///< factor for each channel, applied first, 0..8

    friend bool operator==(const Adjustment&, const Adjustment&) = default;
};

/// The four settings as the fixed-point terms of adjust's formula (see class Adjust).
struct alignas(8) AdjustTerms {     // one atomic word
    std::int16_t slope = 512;       ///< 512 * gain * contrast, 0..16384
    std::int16_t offset = 0;        ///< brightness + 128 * (1 - contrast), -639..383
    std::int16_t saturation = 256;  ///< 256 * saturation, 0..1024

    friend bool operator==(const AdjustTerms&, const AdjustTerms&) = default;
};

/// Values of a frame and of the run so far that the text filter can draw.
struct FrameValues {
    double fps = 0;                   ///< frames per second
    double process_ms = 0;            ///< mean time in the filters per frame
    double read_ms = 0;               ///< mean time to read a frame from the source
    double send_ms = 0;               ///< mean time to send a frame
    double bandwidth_bits_per_s = 0;  ///< bits sent per second
    double changed = 0;               ///< share of bytes that the difference stream found changed, 0..1
    std::int64_t frame = 0;           ///< index in the source
    double time_s = 0;                ///< time since the start of the source
    std::int64_t clock_s = 0;         ///< capture time, in seconds since 1970 (UTC)
    std::string_view source{};        ///< name of the source; must stay valid until the call that takes it returns
};

/// Affine map from positions in an image to positions in a filter's result: (x, y) goes to (xx * x + xy * y + x0, yx *
/// x + yy * y + y0). Positions are in pixels from the upper left corner of the first pixel, so pixel i extends from i
/// to i + 1.
struct PlaneMap {
    /// Coefficients of the result's x.
    double xx = 1, xy = 0, x0 = 0;
    /// Coefficients of the result's y.
    double yx = 0, yy = 1, y0 = 0;

    /// Returns the map that applies this map and then `next`.
    constexpr PlaneMap then(const PlaneMap& next) const {
        return {.xx = next.xx * xx + next.xy * yx,
                .xy = next.xx * xy + next.xy * yy,
                .x0 = next.xx * x0 + next.xy * y0 + next.x0,
                .yx = next.yx * xx + next.yy * yx,
                .yy = next.yx * xy + next.yy * yy,
                .y0 = next.yx * x0 + next.yy * y0 + next.y0};
    }

    friend constexpr bool operator==(const PlaneMap&, const PlaneMap&) = default;
};

/// A run of pixels in host memory that a pointwise filter maps from `in` to `out`. The two do not overlap.
struct PointwiseSpan {
    /// First pixel of the run.
    const std::uint8_t* in;
    const std::uint8_t* previous;  ///< the previous frame, for filters that need it; otherwise null
    int channels;                  ///< channels of `in` and `previous`
    std::int64_t pixels;           ///< length of the run
    /// First pixel of the result.
    std::uint8_t* out;
    /// Channels of `out`.
    int out_channels;
};

/// A pointwise filter's operation on one pixel, as data. A fused pass runs a list of them over the picture. The GPU
/// code of an operation is the class NameOnDevice (BinarizeOnDevice, for example) in the filter's header or in
/// pointwise.cuh, constructed from the PointwiseOp. filters/CMakeLists.txt lists the filter in `pointwise_filters`.
struct PointwiseOp {
    std::string_view filter;               ///< name of the filter
    int channels = 0;                      ///< channels of the result; 0: as many as in the image
    bool needs_previous = false;           ///< true if the operation reads the previous frame
    std::array<std::int32_t, 4> values{};  ///< the filter's settings, in its own encoding

    /// Runs the operation on a span of pixels on the CPU.
    void (*run)(const PointwiseOp& op, const PointwiseSpan& span) = nullptr;
    std::string_view figure{};  ///< name of values[0] in the frame's statistics; empty if it is not reported

    // The following let a pass on the CPU process one channel instead of three equal ones.
    bool gives_gray = false;  ///< true if all channels of the result are equal
    bool keeps_gray = false;  ///< true if equal channels stay equal, with the same values as for a one-channel image
    bool takes_gray = false;  ///< true if a one-channel image gives the same result as three equal channels
    /// For operations that read only a pixel's gray value: the method that computes it. A one-channel image of these
    /// gray values gives the same result.
    std::optional<GrayMethod> needs_gray{};
};

/// Images of one filter run, in one memory space. All are batches with the same number of frames. `previous` is set
/// only for filters with FilterInfo::needs_previous; for a stream's first frame it is the frame itself. `out` must not
/// overlap the others.
template <MemorySpace space>
struct FilterImages {
    /// This frame.
    View<const std::uint8_t, space> in;
    /// The previous frame.
    View<const std::uint8_t, space> previous;
    /// The result.
    View<std::uint8_t, space> out;
    View<const std::uint8_t, space> original{};  ///< the chain's first image, for filters with an OriginalJoin
};

/// Launches a filter on the GPU. The plan has fixed the kernel, its geometry and its launch attributes; only the images
/// vary. Each call queues one batch of the plan's shape on the executor's stream.
using FilterOnDevice = std::function<void(const FilterImages<MemorySpace::device>&)>;

/// A number that a filter computed for one frame of its last batch, for the statistics.
struct FilterFigure {
    std::string_view name;   ///< name of the statistic: "threshold", "mean_b", ...
    int frame = 0;           ///< index in the batch
    double value = 0;        ///< value of the statistic
    std::size_t filter = 0;  ///< index of the filter, if several run in one pass
};

/// A filter that is ready to run: its parameters, image shape and executor are fixed. CUDA runs are queued on the
/// executor's stream; CPU runs have finished when they return. Runs do not allocate, synchronize or read back. Unless
/// stated otherwise, call one filter from one thread at a time.
class Filter {
public:
    /// Virtual, because filters are owned and destroyed through this base class.
    virtual ~Filter() = default;
    /// Returns the shape of FilterImages::out.
    virtual Shape output_shape() const = 0;
    /// Filters `images`. Throws Error if their shapes are not those that the filter was made for.
    virtual void run(const FilterImages<MemorySpace::host>& images) = 0;
    /// Queues the same work for images in device memory on the executor's stream.
    virtual void run(const FilterImages<MemorySpace::device>& images) = 0;
    /// Returns statistics of the last run; nothing for most filters and before the first run. Waits for the executor's
    /// stream and reads back, so it does not belong on the frame path.
    virtual std::vector<FilterFigure> figures() const { return {}; }

    /// Sets the values of the frame and the run that later runs draw; most filters ignore them. Call it before a run,
    /// from the same thread. Does not allocate. On CUDA, the upload is queued on the executor's stream.
    virtual void set_frame_values(const FrameValues&) {}
    /// Returns true if the filter draws values from set_frame_values().
    virtual bool shows_frame_values() const { return false; }
    /// Returns true if every later run queues the same work as the last one, so that a CUDA graph can replay it. True
    /// for most filters.
    virtual bool is_settled() const { return true; }
    /// Applies new settings from the next run on; callable from any thread. Returns false if the filter has nothing to
    /// adjust. Throws Error{usage} on a setting that is not allowed and then changes nothing.
    virtual bool set_adjustment(const Adjustment&) { return false; }
    /// Returns the area in which the next frame's result may differ from its image, or nothing if it may differ
    /// anywhere.
    virtual std::optional<ImageArea> changed_area() const { return {}; }

    // Some filters can also compute some rows of their result from some rows of one frame, without a previous frame or
    // a second image. A plan then takes a picture through several filters while its rows are in a core's cache. All
    // rows together equal the result of run(). CPU backend only.

    /// Returns true if run_rows() can be called.
    virtual bool works_by_rows() const { return false; }
    /// Called before the rows of each frame.
    virtual void begin_rows() {}
    /// Returns the number of result rows that are computed at a time, such as the rows of a cell.
    virtual int rows_together() const { return 1; }
    /// Returns the image rows that are needed to compute the result rows `made`.
    virtual RowRange rows_needed(const RowRange& made) const { return made; }
    /// Returns true if the result's three channels are equal; run_rows() can then compute only one of them.
    virtual bool gives_equal_channels() const { return false; }
    /// Returns the weights if the filter reads only the gray value of each pixel; run_rows() then also accepts rows of
    /// one channel with the gray values.
    virtual std::optional<GrayWeights> gray_needed() const { return {}; }
    /// Computes the rows of `out`, each once, from those of `in`, which include the rows needed. Runs on the calling
    /// thread; several threads may call it at once for different rows. Memory must not overlap. Throws Error{internal}
    /// unless works_by_rows().
    virtual void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) {
        static_cast<void>(in), static_cast<void>(out);
        fail(ErrorCode::internal, "a filter of whole pictures got rows");
    }
};

/// A rectangle that is copied unchanged into the result, from the filter's image or from the original.
struct JoinPart {
    /// True if the rectangle comes from the original, false if it comes from the filter's image.
    bool original = false;
    int from_x = 0;                           ///< left column in the source image; its upper row is always 0
    int x = 0, y = 0, width = 0, height = 0;  ///< position and size in the result
};

/// Describes a filter that reads the chain's first image (FilterImages::original) in addition to its own. The two may
/// differ in width, height and channels.
struct OriginalJoin {
    /// Like FilterInfo::output_shape, but takes the shapes of the filter's image and of the original.
    std::function<Shape(const ParameterValues&, const Shape& frame, const Shape& original)> output_shape;
    /// Like FilterInfo::make, but takes both shapes.
    std::function<std::unique_ptr<Filter>(const ParameterValues&, const Shape& frame, const Shape& original, Executor&)>
        make;
    /// For filters that only copy one rectangle of each image onto black, without overlap: the two rectangles. Empty
    /// for other filters.
    std::function<std::array<JoinPart, 2>(const ParameterValues&, const Shape& frame, const Shape& original)> parts{};
};

/// A filter that only resizes the whole picture.
struct Resampling {
    ScaleMethod method;  ///< interpolation kernel
};

/// A filter that only replaces square cells, counted from the image's corner, by their means.
struct CellMeans {
    int cell_px;  ///< side of a cell
};

/// A filter that only draws over the part of the picture that Filter::changed_area() returns.
struct Drawing {};

/// The operation of a filter of a simple kind: none known, a weighted mean around each pixel, a new size, means of
/// cells, channel values and saturation mapped like Adjust does, or a drawing. Planners derive from it what the filter
/// means on planes.
using FilterKind = std::variant<std::monostate, SeparableWindow, Resampling, CellMeans, AdjustTerms, Drawing>;

/// Registry entry of a filter. The optional functions below describe special cases that a chain can run faster or fuse;
/// each is empty for filters to which it does not apply.
struct FilterInfo {
    std::string_view name;                  ///< name of the filter in chains
    std::string_view summary;               ///< description in the help, one line
    std::vector<ParameterInfo> parameters;  ///< parameters; the first is the main one
    std::size_t unnamed = 1;                ///< number of leading parameters that may be given in order, without a key
    /// Example chains with the filter; the documentation shows the result of the first one. Default: only the filter's
    /// name.
    std::vector<std::string_view> examples{};
    bool needs_previous = false;  ///< true if the filter reads FilterImages::previous
    /// Checks the parameters together and against the shape of the filter's image, and returns the shape of the result.
    /// Throws Error{usage}.
    std::function<Shape(const ParameterValues&, const Shape&)> output_shape{};
    /// Makes the plan. `frame` may be a batch. Throws Error{usage}.
    std::function<std::unique_ptr<Filter>(const ParameterValues&, const Shape& frame, Executor&)> make{};
    /// For filters that only move pixels: the map from positions in the image to positions in the result.
    std::function<PlaneMap(const ParameterValues&, const Shape&)> placement{};
    /// For filters of a simple kind: the kind, which may depend on the parameters.
    std::function<FilterKind(const ParameterValues&)> kind{};
    /// For filters that change the number of frames, and therefore have no plan: the resulting frame rate. See
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
/// Filter is forwarded if the plan has it and keeps its default otherwise. In a build without CUDA, the device run
/// throws Error{internal}, so that callers need no check of their own.
template <class Plan>
class FilterOf final : public Filter {
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
    std::optional<ImageArea> changed_area() const override {
        if constexpr (requires { plan_.changed_area(); }) return plan_.changed_area();
        return {};
    }
    bool works_by_rows() const override {
        if constexpr (requires { plan_.works_by_rows(); }) return plan_.works_by_rows();
        return false;
    }
    void begin_rows() override {
        if constexpr (requires { plan_.begin_rows(); }) plan_.begin_rows();
    }
    int rows_together() const override {
        if constexpr (requires { plan_.rows_together(); }) return plan_.rows_together();
        return Filter::rows_together();
    }
    RowRange rows_needed(const RowRange& made) const override {
        if constexpr (requires { plan_.rows_needed(made); }) return plan_.rows_needed(made);
        return Filter::rows_needed(made);
    }
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) override {
        if constexpr (requires { plan_.run_rows(in, out); })
            plan_.run_rows(in, out);
        else
            Filter::run_rows(in, out);
    }

private:
    Plan plan_;
};

/// The bytes of a batch that a difference encoder found changed, in one memory space. Stream s has counts[s *
/// count_stride] changes in ascending order: their byte indices in the frame (rows without gaps) start at positions + s
/// * capacity, and their new minus old values, modulo 256, at differences + s * capacity.
template <MemorySpace space>
struct ChangedBytes {
    /// Byte indices of the changes, stream after stream.
    const std::uint32_t* positions = nullptr;
    /// New minus old value, modulo 256, of each change.
    const std::uint8_t* differences = nullptr;
    /// Number of changes of each stream.
    const std::uint32_t* counts = nullptr;
    std::int64_t count_stride = 1;  ///< distance between the counts of two streams, in 32-bit words
    std::int64_t capacity = 0;      ///< maximum number of changes per stream
};

/// Calls body(frame, y, x, first, end) in parallel for every changed pixel of a batch of `shape`. The pixel's changes
/// are those with indices first to end - 1 in its stream. Positions outside the frame are skipped. Counts above the
/// capacity are clamped to it.
template <class Body>
void for_changed_pixels(const ThreadPool& pool, const ChangedBytes<MemorySpace::host>& changes, const Shape& shape,
                        Body&& body) {
    constexpr std::int64_t changes_each = 16 * 1024;
    const auto pixels = static_cast<std::uint32_t>(std::int64_t{shape.height} * shape.width);
    for (int frame = 0; frame < shape.frames; ++frame) {
        const auto* positions = changes.positions + frame * changes.capacity;
        const auto count = std::min<std::int64_t>(changes.counts[frame * changes.count_stride], changes.capacity);
        const auto pixel_at = [&](std::int64_t index) {
            return positions[index] / static_cast<std::uint32_t>(shape.channels);
        };
        // Returns the first index, from `index` on, at which another pixel begins. Chunks are cut there, so that one
        // thread gets all changes of a pixel.
        const auto pixel_end = [&](std::int64_t index) {
            while (index > 0 && index < count && pixel_at(index) == pixel_at(index - 1)) ++index;
            return index;
        };
        pool.for_chunks(count, changes_each, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            end = pixel_end(end);
            for (auto first = pixel_end(begin); first < end;) {
                const auto next = pixel_end(first + 1);
                const auto pixel = pixel_at(first);
                if (pixel < pixels)
                    body(frame, static_cast<int>(pixel / static_cast<std::uint32_t>(shape.width)),
                         static_cast<int>(pixel % static_cast<std::uint32_t>(shape.width)), first, next);
                first = next;
            }
        });
    }
}

/// Maps every pixel of a result to a pixel of an image. With (u, v) = (x, y), or (y, x) if transposed, the source is (x
/// + step_x * u, y + step_y * v). Steps are 1 or -1.
struct PixelMap {
    int x = 0, y = 0;  ///< position of the image's pixel that becomes the result's first one
    /// Direction along each axis, 1 or -1.
    int step_x = 1, step_y = 1;
    /// True if the two axes are exchanged.
    bool transposed = false;

    /// Returns the column of the image's pixel that becomes pixel (to_x, to_y) of the result. It may lie outside the
    /// image.
    FRAMEWIRE_HOST_DEVICE constexpr int source_x(int to_x, int to_y) const {
        return x + step_x * (transposed ? to_y : to_x);
    }
    /// Returns the row of the image's pixel that becomes pixel (to_x, to_y) of the result. It may lie outside the
    /// image.
    FRAMEWIRE_HOST_DEVICE constexpr int source_y(int to_x, int to_y) const {
        return y + step_y * (transposed ? to_x : to_y);
    }
};

/// Returns true if every pixel of a result of shape `to` comes from inside an image of shape `from`.
constexpr bool is_inside(const PixelMap& map, const Shape& from, const Shape& to) {
    const auto at = [&](int x, int y) {
        const int from_x = map.source_x(x, y), from_y = map.source_y(x, y);
        return from_x >= 0 && from_x < from.width && from_y >= 0 && from_y < from.height;
    };
    return at(0, 0) && at(to.width - 1, to.height - 1);
}

/// Returns the map that mirrors a whole image of `shape` left to right, top to bottom, or both.
constexpr PixelMap mirrored(const Shape& shape, bool left_right, bool top_bottom) {
    return {.x = left_right ? shape.width - 1 : 0,
            .y = top_bottom ? shape.height - 1 : 0,
            .step_x = left_right ? -1 : 1,
            .step_y = top_bottom ? -1 : 1};
}

/// Pixel format of the per-pixel functions of pointwise filters, on both backends: B in the lowest byte, then G, then
/// R; the highest byte is 0. A gray pixel has its value in all three channels.
using Pixel = std::uint32_t;

/// Packs three channel values, each 0..255, into a pixel.
FRAMEWIRE_HOST_DEVICE constexpr Pixel pixel_of(std::uint32_t b, std::uint32_t g, std::uint32_t r) {
    return b | g << 8 | r << 16;
}

/// Returns a pixel with three equal channels.
FRAMEWIRE_HOST_DEVICE constexpr Pixel gray_pixel(std::uint32_t value) { return value * 0x010101u; }

/// Returns channel 0 (B), 1 (G) or 2 (R) of a pixel.
FRAMEWIRE_HOST_DEVICE constexpr int channel_of(Pixel pixel, int channel) {
    return static_cast<int>(pixel >> (8 * channel) & 255u);
}

/// Clamps a value to 0..255.
FRAMEWIRE_HOST_DEVICE constexpr int hold_to_byte(int value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

/// Reads a pixel with one or three channels.
inline Pixel load_pixel(const std::uint8_t* from, int channels) {
    return channels == 1 ? gray_pixel(from[0]) : pixel_of(from[0], from[1], from[2]);
}

/// Writes the first `channels` channels of a pixel.
inline void store_pixel(Pixel pixel, int channels, std::uint8_t* to) {
    for (int channel = 0; channel < channels; ++channel)
        to[channel] = static_cast<std::uint8_t>(pixel >> (8 * channel));
}

}  // namespace framewire
