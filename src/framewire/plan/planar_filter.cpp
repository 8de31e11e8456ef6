#include "framewire/plan/planar_filter.hpp"
#include "framewire/colour/image_to_yuv.hpp"
#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/rows.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/filters/adjust.hpp"
#include "framewire/filters/pixel_moves.hpp"
#include "framewire/filters/scale.hpp"
#include "framewire/plan/frame.hpp"
#include "framewire/plan/planar_chroma.hpp"
#include "framewire/plan/work_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

namespace framewire {
namespace {

Shape plane_shape(const YuvInfo& info, int plane) {
    return {info.frames, info.plane_rows(plane), static_cast<int>(info.plane_row_bytes(plane)), 1};
}

YuvInfo of_size(YuvInfo info, const Shape& shape) {
    info.height = shape.height;
    info.width = shape.width;
    return info;
}

// Returns true if a window can be applied to planes: a black border is a colour, which chroma has not.
bool fits_planes(const SeparableWindow& window) {
    return window.weights.size() <= PlanarFilter::widest_window_px && window.border != Border::zero;
}

// The effect of levels on luma and on chroma.
struct PlaneLevels {
    AdjustTerms luma, chroma;
};

// Returns the levels of the planes if these give the same picture.
std::optional<PlaneLevels> levels_of(const AdjustTerms& terms, const YuvCoding& coding) {
    const double slope = terms.slope / 512.0, colour_slope = slope * terms.saturation / 256;
    // Saturation is about BT.601's gray, which is no luma of another matrix.
    const bool is_about_luma = terms.saturation == 256 || coding.matrix == YuvMatrix::bt601;
    if (!is_about_luma || std::max(slope, colour_slope) > PlanarFilter::steepest_levels) return std::nullopt;
    const auto terms_of = [](double steep, double offset) {
        return AdjustTerms{static_cast<std::int16_t>(std::lround(512 * steep)),
                           static_cast<std::int16_t>(std::lround(offset))};
    };
    const double black = coding.full_range ? 0 : 16, luma_steps = coding.full_range ? 255 : 219;
    return PlaneLevels{terms_of(slope, black * (1 - slope) + terms.offset * luma_steps / 255),
                       terms_of(colour_slope, 128 * (1 - colour_slope))};
}

// Returns the same parts of the samples of a plane; nothing where some would be shared by two parts, or be black.
std::optional<std::array<JoinPart, 2>> parts_of_plane(const std::array<JoinPart, 2>& parts, const Shape& result,
                                                      const YuvInfo& info, int plane) {
    std::int64_t covered = 0;
    for (const auto& part : parts) covered += std::int64_t{part.width} * part.height;
    if (covered != std::int64_t{result.width} * result.height) return std::nullopt;
    const int each_x = SampleAxis::of(info, plane, true).each(), each_y = SampleAxis::of(info, plane, false).each();
    auto samples = parts;
    for (auto& part : samples) {
        for (auto* along : {&part.from_x, &part.x, &part.width})
            if (std::exchange(*along, *along / each_x) % each_x != 0) return std::nullopt;
        for (auto* down : {&part.y, &part.height})
            if (std::exchange(*down, *down / each_y) % each_y != 0) return std::nullopt;
    }
    return samples;
}

// Returns the mean of what cells of a picture with these sides have.
double mean_of_cells(HostView<const std::uint8_t> means, int cell_px, int height, int width) {
    double sum = 0;
    for (int y = 0; y < means.shape().height; ++y)
        for (int x = 0; x < means.shape().width; ++x)
            sum += static_cast<double>(means.row(0, y)[x]) * std::min(cell_px, height - y * cell_px) *
                   std::min(cell_px, width - x * cell_px);
    return sum / height / width;
}

// Copies a rectangle of an image to a place in another.
void copy_part(HostView<const std::uint8_t> from, HostView<std::uint8_t> to, const Executor& executor) {
    constexpr std::int64_t rows_each = 64;  // that a thread copies at a time
    executor.pool().for_chunks(from.shape().height, rows_each, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (int y = static_cast<int>(begin); y < end; ++y)
            std::copy_n(from.row(0, y), from.shape().width, to.row(0, y));
    });
}

void copy_part(DeviceView<const std::uint8_t> from, DeviceView<std::uint8_t> to, const Executor& executor) {
    cuda::copy(from, to, executor.stream());
}

// Returns a rectangle of an image of one channel.
template <class T, MemorySpace space>
View<T, space> part_of(const View<T, space>& image, int x, int y, int width, int height) {
    return {image.data() + y * image.row_stride_bytes() + x, Shape{1, height, width, 1}, image.row_stride_bytes(),
            image.frame_stride_bytes()};
}

// The work on one plane: it is filtered as a gray image, or moved, weighted by a scale, or both in this order, or
// joined with the original's plane.
class PlaneWork {
public:
    PlaneWork() = default;
    explicit PlaneWork(std::unique_ptr<Filter> filter) : filter_(std::move(filter)) {}
    explicit PlaneWork(const std::array<JoinPart, 2>& parts, const Executor& executor)
        : parts_(parts), executor_(&executor) {}
    PlaneWork(const AxisTaps& down, const AxisTaps& along, const Shape& shape, Executor& executor)
        : after_(std::make_unique<Scale>(down, along, shape, executor)) {}
    PlaneWork(const SampleMove& move, std::uint8_t outside, const Shape& shape, Executor& executor)
        : moves_(std::make_unique<PixelMoves>(move.map, gray_pixel(outside), shape,
                                              Shape{shape.frames, move.height, move.width, 1}, executor)) {}
    // The plane is turned as a whole, and its samples are then interpolated.
    PlaneWork(const PixelMap& turn, const Shape& turned, const AxisTaps& down, const AxisTaps& along,
              const Shape& shape, Executor& executor)
        : moves_(std::make_unique<PixelMoves>(turn, 0, shape, turned, executor)),
          after_(std::make_unique<Scale>(down, along, turned, executor)),
          between_(turned, executor) {}
    // Cells are averaged, and turned into samples.
    PlaneWork(const CellTaps& down, const CellTaps& along, const Shape& shape, Executor& executor)
        : cells_(std::make_unique<Scale>(down.to_cells, along.to_cells, shape, executor)),
          after_(std::make_unique<Scale>(down.from_cells, along.from_cells, cells_->output_shape(), executor)),
          between_(cells_->output_shape(), executor) {}

    bool only_moves() const { return moves_ && !after_; }
    const Filter* filter() const { return filter_.get(); }
    bool has_cells() const { return cells_ != nullptr; }
    const BackendImage& between() const { return between_; }

    template <MemorySpace space>
    void run(View<const std::uint8_t, space> from, View<const std::uint8_t, space> original,
             View<std::uint8_t, space> to) {
        if (parts_) return join(from, original, to);
        if (filter_) return filter_->run(FilterImages<space>{from, {}, to});
        auto middle = from;
        if (moves_ || cells_) {
            const auto out = after_ ? between_.view<space>() : to;
            const FilterImages<space> images{from, {}, out};
            moves_ ? moves_->run(images) : cells_->run(images);
            middle = out;
        }
        if (after_) after_->run(FilterImages<space>{middle, {}, to});
    }

private:
    template <MemorySpace space>
    void join(View<const std::uint8_t, space> from, View<const std::uint8_t, space> original,
              View<std::uint8_t, space> to) {
        for (const auto& part : *parts_)
            if (part.width > 0 && part.height > 0)
                copy_part(part_of(part.original ? original : from, part.from_x, 0, part.width, part.height),
                          part_of(to, part.x, part.y, part.width, part.height), *executor_);
    }

    std::unique_ptr<Filter> filter_;
    std::unique_ptr<PixelMoves> moves_;
    std::unique_ptr<Scale> cells_, after_;
    BackendImage between_;
    std::optional<std::array<JoinPart, 2>> parts_;
    const Executor* executor_ = nullptr;
};

// Calls body(filter). In builds without CUDA it is not instantiated.
template <class Filter, class Body>
void on_device(Filter& filter, Body&& body) {
    if constexpr (cuda::compiled)
        body(filter);
    else
        fail(ErrorCode::internal, "planes on a GPU in a build without CUDA");
}

// A filter that treats each plane on its own.
class PlaneByPlane : public PlanarFilter {
public:
    using Planes = std::array<PlaneWork, 3>;
    PlaneByPlane(const YuvInfo& result, Planes planes) : PlanarFilter(result), planes_(std::move(planes)) {}

    bool is_settled() const override {
        return std::ranges::all_of(planes_,
                                   [](const auto& plane) { return !plane.filter() || plane.filter()->is_settled(); });
    }
    bool only_moves() const override {
        return std::all_of(planes_.begin(), planes_.begin() + result_.planes(),
                           [](const auto& plane) { return plane.only_moves(); });
    }
    void run(const HostYuv<const std::uint8_t>& from, const HostYuv<const std::uint8_t>& original,
             const HostYuv<std::uint8_t>& to) override {
        run_in(from, original, to);
    }
    void run(const DeviceYuv<const std::uint8_t>& from, const DeviceYuv<const std::uint8_t>& original,
             const DeviceYuv<std::uint8_t>& to) override {
        on_device(*this, [&](auto& own) { own.run_in(from, original, to); });
    }

protected:
    Planes planes_;

private:
    template <MemorySpace space>
    void run_in(const YuvView<const std::uint8_t, space>& from, const YuvView<const std::uint8_t, space>& original,
                const YuvView<std::uint8_t, space>& to) {
        for (int plane = 0; plane < result_.planes(); ++plane)
            planes_[static_cast<std::size_t>(plane)].run(image_of_plane(from, plane), image_of_plane(original, plane),
                                                         image_of_plane(to, plane));
    }
};

// Cells that become their means, which it reports as the filter does: as means of B, G and R.
class PlanarCells final : public PlaneByPlane {
public:
    PlanarCells(const YuvInfo& result, Planes planes, int cell_px)
        : PlaneByPlane(result, std::move(planes)), cell_px_(cell_px) {}

    std::vector<FilterFigure> figures() const override {
        double means[3] = {0, 128, 128};
        for (int plane = 0; plane < result_.planes(); ++plane) {
            const auto mean = mean_of(planes_[static_cast<std::size_t>(plane)]);
            if (!mean) return {};
            means[plane] = *mean;
        }
        // The formulas of docs/colour.md, without rounding.
        const auto from = from_yuv_coefficients(result_.coding, 8);
        const double one = 1 << from_yuv_shift;
        const double luma = (luma_15(1, 8) * means[0] * from.y / (1 << 15) + from.y_offset - one / 2) / one;
        const auto chroma = [&](std::size_t plane, int times) { return (means[plane] - 128) / 128 * times / one; };
        return {{"mean_b", 0, luma + chroma(1, from.b_u)},
                {"mean_g", 0, luma + chroma(1, from.g_u) + chroma(2, from.g_v)},
                {"mean_r", 0, luma + chroma(2, from.r_v)}};
    }

private:
    // Returns nothing before the first run.
    std::optional<double> mean_of(const PlaneWork& plane) const {
        if (!plane.has_cells()) {
            const auto figures = plane.filter()->figures();
            return figures.empty() ? std::nullopt : std::optional(figures.at(0).value);
        }
        HostImage means(plane.between().shape());
        plane.between().get(means.view());
        return mean_of_cells(std::as_const(means).view(), cell_px_, result_.height, result_.width);
    }

    int cell_px_;
};

// Levels of luma and of chroma.
class PlanarLevels final : public PlaneByPlane {
public:
    PlanarLevels(const YuvInfo& info, const PlaneLevels& levels, Executor& executor)
        : PlaneByPlane(info, planes_of(info, levels, executor)), executor_(&executor) {}

    bool has_adjustment() const override { return true; }
    bool set_adjustment(const Adjustment& adjustment) override {
        const auto levels = levels_of(adjust_terms(adjustment), result_.coding);
        if (levels) planes_ = planes_of(result_, *levels, *executor_);
        return levels.has_value();
    }

private:
    static Planes planes_of(const YuvInfo& info, const PlaneLevels& levels, Executor& executor) {
        Planes planes;
        for (int plane = 0; plane < info.planes(); ++plane)
            planes[static_cast<std::size_t>(plane)] = PlaneWork(std::make_unique<FilterOf<Adjust>>(
                plane_shape(info, plane), plane == 0 ? levels.luma : levels.chroma, executor));
        return planes;
    }

    Executor* executor_;
};

// A filter that draws. What it draws on is converted to colours and back, and every other sample stays as it is: all
// luma outside of Filter::changed_area(), and all chroma whose pixels are outside.
class PlanarDrawing final : public PlanarFilter {
public:
    PlanarDrawing(const FilterCall& call, const YuvInfo& info, Executor& executor)
        : PlanarFilter(info),
          executor_(&executor),
          image_shape_{1, info.height, info.width, 3},
          filter_(call.filter->make(call.values, image_shape_, executor)),
          to_image_(info, 3, executor),
          to_planes_(info, 3, executor),
          drawn_(FrameFormat(info), executor) {
        if (executor.backend() == Backend::cuda) {
            image_ = BackendImage(image_shape_, executor);
            drawn_image_ = BackendImage(image_shape_, executor);
        }
    }

    void run(const HostYuv<const std::uint8_t>& from, const HostYuv<const std::uint8_t>&,
             const HostYuv<std::uint8_t>& to) override {
        copy_samples(from, whole(), to);
        const auto area = *filter_->changed_area();
        if (area.empty()) return;
        const auto drawn = drawn_.planes<MemorySpace::host>();
        filter_->begin_rows();
        // Even rows, because two rows of 4:2:0 are converted together.
        const int begin = area.rows.begin / 2 * 2, end = std::min((area.rows.end + 1) / 2 * 2, image_shape_.height);
        const auto row_bytes = image_shape_.row_bytes();
        const auto rows_each = std::max<std::int64_t>(strip_bytes / row_bytes / 2 * 2, 2);
        executor_->pool().for_chunks(
            (end - begin + rows_each - 1) / rows_each, 1, [&](std::int64_t, std::int64_t first, std::int64_t last) {
                for (auto strip = first; strip < last; ++strip) {
                    const RowRange made{begin + static_cast<int>(strip * rows_each),
                                        std::min(begin + static_cast<int>((strip + 1) * rows_each), end)};
                    const auto needed = to_planes_.rows_needed(made);
                    HostImage rows({1, needed.count(), image_shape_.width, 3}), drawn_rows(rows.shape());
                    to_image_.run_rows(from, ImageRows<std::uint8_t>(rows.view(), needed.begin));
                    filter_->run_rows(ImageRows<std::uint8_t>(rows.view(), needed.begin),
                                      ImageRows<std::uint8_t>(drawn_rows.view(), needed.begin));
                    to_planes_.run_rows(ImageRows<std::uint8_t>(drawn_rows.view(), needed.begin), made, drawn);
                }
            });
        copy_samples(drawn, area, to);
    }

    void run(const DeviceYuv<const std::uint8_t>& from, const DeviceYuv<const std::uint8_t>&,
             const DeviceYuv<std::uint8_t>& to) override {
        on_device(*this, [&](auto& own) {
            own.copy_samples(from, own.whole(), to);
            const auto area = *filter_->changed_area();
            if (area.empty()) return;
            const auto image = image_.view<MemorySpace::device>(),
                       drawn_image = drawn_image_.view<MemorySpace::device>();
            const auto drawn = drawn_.planes<MemorySpace::device>();
            to_image_.run(from, image);
            filter_->run(FilterImages<MemorySpace::device>{image, {}, drawn_image});
            to_planes_.run(drawn_image, drawn);
            copy_samples(drawn, area, to);
        });
    }

    // The area that is drawn, and so converted, follows the values.
    bool is_settled() const override { return !shows_frame_values() && filter_->is_settled(); }
    std::vector<FilterFigure> figures() const override { return filter_->figures(); }
    void set_frame_values(const FrameValues& values) override { filter_->set_frame_values(values); }
    bool shows_frame_values() const override { return filter_->shows_frame_values(); }

private:
    // Rows of an image that stay in a core's cache.
    static constexpr std::int64_t strip_bytes = 64 * 1024;

    ImageArea whole() const { return {{0, result_.width}, {0, result_.height}}; }

    // Copies the samples of an area's pixels, including chroma samples that only partly belong to it.
    template <MemorySpace space, class T>
    void copy_samples(const YuvView<T, space>& from, const ImageArea& area,
                      const YuvView<std::uint8_t, space>& to) const {
        for (int plane = 0; plane < result_.planes(); ++plane) {
            const auto samples_of = [](const RowRange& pixels, int each) {
                return RowRange{pixels.begin / each, (pixels.end + each - 1) / each};
            };
            const auto columns = samples_of(area.columns, SampleAxis::of(result_, plane, true).each());
            const auto rows = samples_of(area.rows, SampleAxis::of(result_, plane, false).each());
            const YuvView<const std::uint8_t, space> source = from;
            copy_part(part_of(image_of_plane(source, plane), columns.begin, rows.begin, columns.count(), rows.count()),
                      part_of(image_of_plane(to, plane), columns.begin, rows.begin, columns.count(), rows.count()),
                      *executor_);
        }
    }

    Executor* executor_;
    Shape image_shape_;
    std::unique_ptr<Filter> filter_;
    YuvToImage to_image_;
    ImageToYuv to_planes_;
    WorkPicture drawn_;
    BackendImage image_, drawn_image_;  // on a GPU, where whole pictures are converted
};

// Luma, and chroma with as many samples, is filtered as a gray image; other chroma by `coarse`.
template <class Coarse>
PlaneByPlane::Planes luma_and_chroma(const FilterCall& call, const YuvInfo& info, Executor& executor, Coarse&& coarse) {
    PlaneByPlane::Planes planes;
    for (int plane = 0; plane < info.planes(); ++plane) {
        const auto shape = plane_shape(info, plane);
        const bool fine = plane == 0 || info.format.chroma == ChromaSampling::s444;
        planes[static_cast<std::size_t>(plane)] =
            fine ? PlaneWork(call.filter->make(call.values, shape, executor)) : coarse(plane, shape);
    }
    return planes;
}

std::unique_ptr<PlanarFilter> windowed(const FilterCall& call, const SeparableWindow& window, const YuvInfo& info,
                                       Executor& executor) {
    return std::make_unique<PlaneByPlane>(
        info, luma_and_chroma(call, info, executor, [&](int plane, const Shape& shape) {
            return PlaneWork(window_taps(window, info.height, SampleAxis::of(info, plane, false)),
                             window_taps(window, info.width, SampleAxis::of(info, plane, true)), shape, executor);
        }));
}

std::unique_ptr<PlanarFilter> in_cells(const FilterCall& call, int cell_px, const YuvInfo& info, Executor& executor) {
    return std::make_unique<PlanarCells>(
        info,
        luma_and_chroma(call, info, executor,
                        [&](int plane, const Shape& shape) {
                            return PlaneWork(cell_taps(cell_px, info.height, SampleAxis::of(info, plane, false)),
                                             cell_taps(cell_px, info.width, SampleAxis::of(info, plane, true)), shape,
                                             executor);
                        }),
        cell_px);
}

std::unique_ptr<PlanarFilter> scaled(ScaleMethod method, const YuvInfo& from, const YuvInfo& to, Executor& executor) {
    PlaneByPlane::Planes planes;
    for (int plane = 0; plane < from.planes(); ++plane) {
        const auto shape = plane_shape(from, plane), to_shape = plane_shape(to, plane);
        const int down = SampleAxis::of(from, plane, false).before(),
                  along = SampleAxis::of(from, plane, true).before();
        planes[static_cast<std::size_t>(plane)] = PlaneWork(
            scale_taps(method, {shape.height, to_shape.height, from.height, to.height, -down, -down}),
            scale_taps(method, {shape.width, to_shape.width, from.width, to.width, -along, -along}), shape, executor);
    }
    return std::make_unique<PlaneByPlane>(to, std::move(planes));
}

// Chroma whose samples are placed between those of the result is interpolated, as in a result whose sites are not
// mirrored. Null if samples of two pictures would be mixed.
std::unique_ptr<PlanarFilter> moved(const PixelMove& move, const YuvInfo& from, Executor& executor) {
    const auto outside = yuv_of(move.outside, from.coding, executor.pool());
    PlaneByPlane::Planes planes;
    auto to = of_size(from, move.to);
    std::array<std::optional<SampleMove>, 3> exact;
    bool all_exact = true;
    for (int plane = 0; plane < from.planes(); ++plane) {
        exact[static_cast<std::size_t>(plane)] = sample_move_of(move, from, plane);
        all_exact &= exact[static_cast<std::size_t>(plane)].has_value();
    }
    to.siting.mirrored_x = to.siting.mirrored_y = false;
    if (all_exact && from.planes() > 1) {
        // Axes of one sample per pixel have no siting and keep the picture's.
        if (exact[1]->x.halved) {
            to.siting.centred_x = exact[1]->x.centred;
            to.siting.mirrored_x = exact[1]->x.mirrored;
        }
        if (exact[1]->y.halved) {
            to.siting.centred_y = exact[1]->y.centred;
            to.siting.mirrored_y = exact[1]->y.mirrored;
        }
    }
    for (int plane = 0; plane < from.planes(); ++plane) {
        const auto at = static_cast<std::size_t>(plane);
        const auto shape = plane_shape(from, plane);
        if (plane == 0 || all_exact) {
            planes[at] = PlaneWork(*exact[at], outside[at], shape, executor);
            continue;
        }
        const auto& map = move.map;
        const bool turns_422 = map.transposed && from.format.chroma == ChromaSampling::s422;
        if (turns_422 || !is_inside(map, {1, from.height, from.width, 1}, move.to)) return nullptr;
        auto turned = shape;
        if (map.transposed) std::swap(turned.height, turned.width);
        const auto axis = [&](const YuvInfo& info, bool along_x) { return SampleAxis::of(info, plane, along_x); };
        const auto to_shape = plane_shape(to, plane);
        auto along = turned_grid(axis(from, true), axis(to, !map.transposed), map.x, map.step_x, shape.width,
                                 map.transposed ? to_shape.height : to_shape.width);
        auto down = turned_grid(axis(from, false), axis(to, map.transposed), map.y, map.step_y, shape.height,
                                map.transposed ? to_shape.width : to_shape.height);
        if (map.transposed) std::swap(along, down);
        const auto taps_down = scale_taps(ScaleMethod::bilinear, down),
                   taps_along = scale_taps(ScaleMethod::bilinear, along);
        if (!map.transposed && map.step_x > 0 && map.step_y > 0) {
            planes[at] = PlaneWork(taps_down, taps_along, shape, executor);
            continue;
        }
        auto turn = mirrored(shape, map.step_x < 0, map.step_y < 0);
        turn.transposed = map.transposed;
        planes[at] = PlaneWork(turn, turned, taps_down, taps_along, shape, executor);
    }
    return std::make_unique<PlaneByPlane>(to, std::move(planes));
}

// Null also if planes cannot be joined this way.
std::unique_ptr<PlanarFilter> joined(const OriginalJoin& join, const ParameterValues& values, const YuvInfo& from,
                                     const YuvInfo& original, Executor& executor) {
    if (from.siting != original.siting) return nullptr;
    const Shape shape{1, from.height, from.width, 3}, original_shape{1, original.height, original.width, 3};
    const auto result = join.output_shape(values, shape, original_shape);
    const auto parts = join.parts(values, shape, original_shape);
    PlaneByPlane::Planes planes;
    for (int plane = 0; plane < from.planes(); ++plane) {
        const auto own = parts_of_plane(parts, result, from, plane);
        if (!own) return nullptr;
        planes[static_cast<std::size_t>(plane)] = PlaneWork(*own, executor);
    }
    return std::make_unique<PlaneByPlane>(of_size(from, result), std::move(planes));
}

}  // namespace

std::unique_ptr<PlanarFilter> PlanarFilter::of(const FilterCall& call, const YuvInfo& from, const YuvInfo& original,
                                               Executor& executor) {
    if (from.frames != 1 || from.format.bits != 8 || from.format.interleaved) return nullptr;
    const auto& filter = *call.filter;
    const Shape shape{1, from.height, from.width, 3};
    if (filter.original)
        return filter.original->parts ? joined(*filter.original, call.values, from, original, executor) : nullptr;
    if (const auto move = pixel_move_of(call, shape)) return moved(*move, from, executor);
    const auto kind = filter.kind ? filter.kind(call.values) : FilterKind();
    if (const auto* window = std::get_if<SeparableWindow>(&kind)) {
        if (window->weights.size() == 1) return moved({.to = shape}, from, executor);
        return fits_planes(*window) ? windowed(call, *window, from, executor) : nullptr;
    }
    if (const auto* terms = std::get_if<AdjustTerms>(&kind)) {
        const auto levels = levels_of(*terms, from.coding);
        return levels ? std::make_unique<PlanarLevels>(from, *levels, executor) : nullptr;
    }
    if (const auto* cells = std::get_if<CellMeans>(&kind)) return in_cells(call, cells->cell_px, from, executor);
    if (const auto* resampling = std::get_if<Resampling>(&kind))
        return scaled(resampling->method, from, of_size(from, filter.output_shape(call.values, shape)), executor);
    if (std::holds_alternative<Drawing>(kind) && !from.siting.mirrored())
        return std::make_unique<PlanarDrawing>(call, from, executor);
    return nullptr;
}

std::unique_ptr<PlanarFilter> PlanarFilter::to_siting(const ChromaSiting& siting, const YuvInfo& from,
                                                      Executor& executor) {
    auto to = from;
    to.siting = siting;
    PlaneByPlane::Planes planes;
    for (int plane = 0; plane < from.planes(); ++plane) {
        const auto shape = plane_shape(from, plane);
        if (plane == 0) {
            const SampleMove stay{.map = {}, .height = shape.height, .width = shape.width};
            planes[0] = PlaneWork(stay, 0, shape, executor);
            continue;
        }
        const auto grid = [&](bool along_x, int side) {
            return turned_grid(SampleAxis::of(from, plane, along_x), SampleAxis::of(to, plane, along_x), 0, 1, side,
                               side);
        };
        planes[static_cast<std::size_t>(plane)] =
            PlaneWork(scale_taps(ScaleMethod::bilinear, grid(false, shape.height)),
                      scale_taps(ScaleMethod::bilinear, grid(true, shape.width)), shape, executor);
    }
    return std::make_unique<PlaneByPlane>(to, std::move(planes));
}

std::unique_ptr<PlanarFilter> PlanarFilter::unmirrored(const YuvInfo& from, Executor& executor) {
    const Shape shape{1, from.height, from.width, 3};
    const PixelMove move{.map = mirrored(shape, from.siting.mirrored_x, from.siting.mirrored_y), .to = shape};
    return moved(move, from, executor);
}

}  // namespace framewire
