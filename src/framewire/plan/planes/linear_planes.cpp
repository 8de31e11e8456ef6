#include "framewire/plan/planes/linear_planes.hpp"
#include "framewire/colour/yuv.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/filters/adjust.hpp"
#include "framewire/filters/pixel_moves.hpp"
#include "framewire/filters/scale.hpp"
#include "framewire/plan/planes/chroma_cells.hpp"
#include "framewire/plan/planes/chroma_window.hpp"
#include "framewire/plan/planes/pixel_move_of.hpp"
#include "framewire/plan/planes/plane_move_of.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace framewire {
namespace {

Shape plane_shape(const YuvInfo& info, int plane) {
    return {1, info.plane_rows(plane), static_cast<int>(info.plane_row_bytes(plane)), 1};
}

// Returns true if pictures have the same form, or, if `but_for_coding`, differ in their coding only.
bool same_form(YuvInfo one, const YuvInfo& other, bool but_for_coding) {
    if (but_for_coding) one.coding = other.coding;
    if (one.format.chroma == ChromaSampling::s444) one.siting = other.siting;  // which it has not
    return one == other;
}

// Along one axis of a plane of chroma: how many pixels a sample stands for, and, in quarters of a sample, how far it
// sits before their middle.
struct ChromaAxis {
    int each, before;
};

ChromaAxis chroma_axis(const YuvInfo& info, bool along) {
    const auto sampling = info.format.chroma;
    const bool halved = along ? sampling != ChromaSampling::s444 : sampling == ChromaSampling::s420;
    const bool centred = along ? info.siting.centred_x : info.siting.centred_y;
    return {halved ? 2 : 1, halved && !centred ? 1 : 0};
}

// The samples of chroma of a result, among those of the image turned as a whole; `first` is the image's pixel that the
// result's first one is, `side` the image's samples.
ScaleGrid turned_grid(const ChromaAxis& from, const ChromaAxis& to, int first, int step, int side, int to_side) {
    const int quarters = 4 / from.each;  // that a pixel has
    const int shift = step > 0 ? quarters * first + from.before - to.before
                               : quarters * (from.each * side - first - 1) - from.before - to.before;
    return {side, to_side, 1, 1, 0, shift};
}

// A filter's window, where planes give the same picture: beyond it black is no number of the picture's own.
std::optional<SeparableWindow> window_of(const FilterCall& call) {
    if (!call.filter->window) return std::nullopt;
    auto window = call.filter->window(call.values);
    const bool fits = window.weights.size() <= LinearPlanes::widest_window_px && window.border != Border::zero;
    return fits ? std::optional(std::move(window)) : std::nullopt;
}

// The effect of levels on luma and on chroma, if planes give the same picture.
struct PlaneLevels {
    AdjustTerms luma, chroma;
};

std::optional<PlaneLevels> levels_of(const FilterCall& call, const YuvCoding& coding) {
    if (!call.filter->levels) return std::nullopt;
    const auto terms = call.filter->levels(call.values);
    const double slope = terms.slope / 512.0, colour_slope = slope * terms.saturation / 256;
    // Saturation is about BT.601's gray, which is no luma of another matrix.
    const bool is_about_luma = terms.saturation == 256 || coding.matrix == YuvMatrix::bt601;
    if (!is_about_luma || std::max(slope, colour_slope) > LinearPlanes::steepest_levels) return std::nullopt;
    const auto terms_of = [](double steep, double offset) {
        return AdjustTerms{static_cast<std::int16_t>(std::lround(512 * steep)),
                           static_cast<std::int16_t>(std::lround(offset))};
    };
    const double black = coding.full_range ? 0 : 16, luma_steps = coding.full_range ? 255 : 219;
    return PlaneLevels{terms_of(slope, black * (1 - slope) + terms.offset * luma_steps / 255),
                       terms_of(colour_slope, 128 * (1 - colour_slope))};
}

// The same parts of the samples of a plane; nothing where some would be shared by two, or be black.
std::optional<std::array<JoinPart, 2>> parts_of_plane(const std::array<JoinPart, 2>& parts, const Shape& result,
                                                      const YuvInfo& info, int plane) {
    std::int64_t covered = 0;
    for (const auto& part : parts) covered += std::int64_t{part.width} * part.height;
    if (covered != std::int64_t{result.width} * result.height) return std::nullopt;
    if (plane == 0) return parts;
    const int each_x = chroma_axis(info, true).each, each_y = chroma_axis(info, false).each;
    auto samples = parts;
    for (auto& part : samples) {
        for (auto* along : {&part.from_x, &part.x, &part.width})
            if (std::exchange(*along, *along / each_x) % each_x != 0) return std::nullopt;
        for (auto* down : {&part.y, &part.height})
            if (std::exchange(*down, *down / each_y) % each_y != 0) return std::nullopt;
    }
    return samples;
}

// The mean of what cells of a picture of these sides have.
double mean_of_cells(HostView<const std::uint8_t> means, int cell_px, int height, int width) {
    double sum = 0;
    for (int y = 0; y < means.shape().height; ++y)
        for (int x = 0; x < means.shape().width; ++x)
            sum += static_cast<double>(means.row(0, y)[x]) * std::min(cell_px, height - y * cell_px) *
                   std::min(cell_px, width - x * cell_px);
    return sum / height / width;
}

}  // namespace

// The work on each plane: it is moved, or weighted, or first moved and then weighted; or filtered as a gray
// image; or put beside the original's plane.
class LinearPlanes::Step {
public:
    // Nothing where planes cannot be moved so.
    static std::shared_ptr<Step> of(const PixelMove& move, const YuvInfo& from, Executor& executor) {
        auto step = std::make_shared<Step>(from, move.to);
        const auto outside = yuv_of(move.outside, from.coding, executor.pool());
        for (int plane = 0; plane < from.planes(); ++plane) {
            auto& work = step->planes_[static_cast<std::size_t>(plane)];
            if (const auto own = plane_move_of(move, from, plane))
                work.moves.emplace(own->map, gray_pixel(outside[static_cast<std::size_t>(plane)]),
                                   plane_shape(from, plane), own->to, executor);
            else if (!work.blend(move, from, step->to_, executor))
                return nullptr;
        }
        return step;
    }
    // Also nothing if planes cannot be joined this way.
    static std::shared_ptr<Step> of(const OriginalJoin& join, const ParameterValues& values, const YuvInfo& from,
                                    const YuvInfo& original, Executor& executor) {
        const Shape shape{1, from.height, from.width, 3}, original_shape{1, original.height, original.width, 3};
        const auto result = join.output_shape(values, shape, original_shape);
        const auto parts = join.parts(values, shape, original_shape);
        auto step = std::make_shared<Step>(from, result);
        for (int plane = 0; plane < from.planes(); ++plane) {
            const auto own = parts_of_plane(parts, result, from, plane);
            if (!own) return nullptr;
            step->planes_[static_cast<std::size_t>(plane)].parts = *own;
        }
        step->executor_ = &executor;
        return step;
    }
    Step(ScaleMethod method, const YuvInfo& from, const Shape& to, Executor& executor) : Step(from, to) {
        for (int plane = 0; plane < from.planes(); ++plane) {
            const auto shape = plane_shape(from, plane), to_shape = plane_shape(to_, plane);
            const int along = plane ? chroma_axis(from, true).before : 0;
            const int down = plane ? chroma_axis(from, false).before : 0;
            const ScaleGrid down_grid(shape.height, to_shape.height, from.height, to.height, -down, -down),
                along_grid(shape.width, to_shape.width, from.width, to.width, -along, -along);
            planes_[static_cast<std::size_t>(plane)].scale.emplace(scale_taps(method, down_grid),
                                                                   scale_taps(method, along_grid), shape, executor);
        }
    }
    // Luma, and chroma as fine as that, by the filter itself.
    Step(const FilterCall& call, const SeparableWindow& window, const YuvInfo& from, Executor& executor)
        : Step(from, {1, from.height, from.width, 1}) {
        const auto& info = *call.filter;
        const auto sampling = from.format.chroma;
        for (int plane = 0; plane < from.planes(); ++plane) {
            const auto shape = plane_shape(from, plane);
            auto& work = planes_[static_cast<std::size_t>(plane)];
            if (plane == 0 || sampling == ChromaSampling::s444)
                work.filter = info.make(call.values, shape, executor);
            else
                work.scale.emplace(
                    chroma_window(window, from.height, sampling == ChromaSampling::s420, from.siting.centred_y),
                    chroma_window(window, from.width, true, from.siting.centred_x), shape, executor);
        }
    }
    // The same; coarser chroma is averaged to the cells' means and converted back.
    Step(const FilterCall& call, int cell_px, const YuvInfo& from, Executor& executor)
        : Step(from, {1, from.height, from.width, 1}) {
        const auto sampling = from.format.chroma;
        const auto along = chroma_cells(cell_px, from.width, true, from.siting.centred_x),
                   down = chroma_cells(cell_px, from.height, sampling == ChromaSampling::s420, from.siting.centred_y);
        for (int plane = 0; plane < from.planes(); ++plane) {
            const auto shape = plane_shape(from, plane);
            auto& work = planes_[static_cast<std::size_t>(plane)];
            if (plane == 0 || sampling == ChromaSampling::s444) {
                work.filter = call.filter->make(call.values, shape, executor);
                continue;
            }
            work.cells.emplace(down.to_cells, along.to_cells, shape, executor);
            work.between = HostImage(work.cells->output_shape());
            work.scale.emplace(down.from_cells, along.from_cells, work.between.shape(), executor);
        }
        cell_px_ = cell_px;
    }
    Step(const PlaneLevels& levels, const YuvInfo& from, Executor& executor)
        : Step(from, {1, from.height, from.width, 1}) {
        for (int plane = 0; plane < from.planes(); ++plane)
            planes_[static_cast<std::size_t>(plane)].filter = std::make_unique<FilterOf<Adjust>>(
                plane_shape(from, plane), plane == 0 ? levels.luma : levels.chroma, executor);
    }
    Step(const YuvInfo& from, const Shape& to) : to_(from) {
        to_.height = to.height;
        to_.width = to.width;
    }

    const YuvInfo& result() const { return to_; }
    bool blends() const {
        return std::ranges::any_of(planes_, [](const PlaneWork& work) { return work.scale || work.filter; });
    }

    // The means of B, G and R that a mosaic tells of its last run.
    std::vector<FilterFigure> figures() const {
        if (!cell_px_) return {};
        double means[3];
        for (std::size_t plane = 0; plane < 3; ++plane) {
            const auto& work = planes_[plane];
            means[plane] = work.cells
                               ? mean_of_cells(std::as_const(work.between).view(), cell_px_, to_.height, to_.width)
                               : work.filter->figures().at(0).value;
        }
        // As docs/colour.md has it, without rounding.
        const auto from = from_yuv_coefficients(to_.coding, 8);
        const double one = 1 << from_yuv_shift;
        const double luma = (luma_15(1, 8) * means[0] * from.y / (1 << 15) + from.y_offset - one / 2) / one;
        const auto chroma = [&](std::size_t plane, int times) { return (means[plane] - 128) / 128 * times / one; };
        return {{"mean_b", 0, luma + chroma(1, from.b_u)},
                {"mean_g", 0, luma + chroma(1, from.g_u) + chroma(2, from.g_v)},
                {"mean_r", 0, luma + chroma(2, from.r_v)}};
    }

    // `original` is the picture before the first step.
    void run(const HostYuv<const std::uint8_t>& from, const HostYuv<const std::uint8_t>& original,
             const HostYuv<std::uint8_t>& to) {
        for (int plane = 0; plane < to_.planes(); ++plane) {
            const auto at = static_cast<std::size_t>(plane);
            const auto view_of = [&](const auto& picture, auto shape) {
                const auto& own = picture.planes[at];
                return HostView<std::remove_pointer_t<decltype(own.data)>>(own.data, shape, own.row_stride_bytes,
                                                                           own.row_stride_bytes * shape.height);
            };
            const auto in = view_of(from, plane_shape(from.info, plane)),
                       first = view_of(original, plane_shape(original.info, plane));
            const auto out = view_of(to, plane_shape(to_, plane));
            planes_[at].parts ? join(*planes_[at].parts, in, first, out) : planes_[at].run(in, out);
        }
    }

private:
    static constexpr std::int64_t joined_rows = 64;  // that a thread copies at a time
    void join(const std::array<JoinPart, 2>& parts, HostView<const std::uint8_t> image,
              HostView<const std::uint8_t> original, HostView<std::uint8_t> to) const {
        executor_->pool().for_chunks(
            to.shape().height, joined_rows, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                for (int y = static_cast<int>(begin); y < end; ++y)
                    for (const auto& part : parts) {
                        if (y < part.y || y >= part.y + part.height) continue;
                        const auto* row = (part.original ? original : image).row(0, y - part.y) + part.from_x;
                        std::copy_n(row, part.width, to.row(0, y) + part.x);
                    }
            });
    }

    struct PlaneWork {
        std::optional<PixelMoves> moves;
        std::optional<Scale> cells;  // instead of moves
        std::optional<Scale> scale;
        std::unique_ptr<Filter> filter;                // instead of all of these
        std::optional<std::array<JoinPart, 2>> parts;  // instead of all of these
        HostImage between;                             // where there is something before the scale

        // Chroma whose samples come to lie between those of the result.
        bool blend(const PixelMove& move, const YuvInfo& from, const YuvInfo& to, Executor& executor) {
            const auto& map = move.map;
            const Shape image{1, from.height, from.width, 1};
            const bool turns_422 = map.transposed && from.format.chroma == ChromaSampling::s422;
            if (turns_422 || !is_inside(map, image, move.to)) return false;
            auto turned = plane_shape(from, 1);
            const auto whole = turned;
            if (map.transposed) std::swap(turned.height, turned.width);
            auto along = turned_grid(chroma_axis(from, true), chroma_axis(to, !map.transposed), map.x, map.step_x,
                                     whole.width, map.transposed ? to.chroma_height() : to.chroma_width());
            auto down = turned_grid(chroma_axis(from, false), chroma_axis(to, map.transposed), map.y, map.step_y,
                                    whole.height, map.transposed ? to.chroma_width() : to.chroma_height());
            if (map.transposed) std::swap(along, down);
            if (map.transposed || map.step_x < 0 || map.step_y < 0) {
                auto turn = mirrored(whole, map.step_x < 0, map.step_y < 0);
                turn.transposed = map.transposed;
                moves.emplace(turn, 0, whole, turned, executor);
                between = HostImage(turned);
            }
            scale.emplace(scale_taps(ScaleMethod::bilinear, down), scale_taps(ScaleMethod::bilinear, along), turned,
                          executor);
            return true;
        }

        void run(HostView<const std::uint8_t> from, HostView<std::uint8_t> to) {
            if (filter) return filter->run(FilterImages<MemorySpace::host>{from, {}, to});
            if (cells) cells->run(FilterImages<MemorySpace::host>{from, {}, between.view()});
            if (moves) moves->run(FilterImages<MemorySpace::host>{from, {}, scale ? between.view() : to});
            const bool has_between = scale && (moves || cells);
            if (scale)
                scale->run(FilterImages<MemorySpace::host>{
                    has_between ? HostView<const std::uint8_t>(between.view()) : from, {}, to});
        }
    };

    YuvInfo to_;
    int cell_px_ = 0;               // of cells that become their means
    Executor* executor_ = nullptr;  // where there are parts
    std::array<PlaneWork, 3> planes_;
};

std::optional<LinearPlanes> LinearPlanes::of(const Chain& chain, const YuvInfo& from, const YuvInfo& to,
                                             Executor& executor) {
    if (chain.empty() || from.frames != 1 || from.format.bits != 8 || from.format.interleaved) return std::nullopt;
    LinearPlanes geometry(chain, from);
    auto info = from;
    Shape shape{1, from.height, from.width, 3};
    for (const auto& call : chain.calls) {
        const auto& filter = *call.filter;
        std::shared_ptr<Step> step;
        if (filter.original && filter.original->parts)
            step = Step::of(*filter.original, call.values, info, from, executor);
        else if (const auto move = pixel_move_of(call, shape))
            step = Step::of(*move, info, executor);
        else if (const auto window = window_of(call))
            step = std::make_shared<Step>(call, *window, info, executor);
        else if (const auto levels = levels_of(call, info.coding))
            step = std::make_shared<Step>(*levels, info, executor);
        else if (const auto cell_px = filter.cell_px ? filter.cell_px(call.values) : std::nullopt)
            step = std::make_shared<Step>(call, *cell_px, info, executor);
        else if (filter.scaling)
            step = std::make_shared<Step>(filter.scaling(call.values), info, filter.output_shape(call.values, shape),
                                          executor);
        if (!step) return std::nullopt;
        info = step->result();
        geometry.blends_ |= step->blends();
        shape.height = info.height;
        shape.width = info.width;
        geometry.name_ += (geometry.name_.empty() ? "" : "+") + std::string(filter.name);
        geometry.steps_.push_back(std::move(step));
        geometry.pools_.emplace_back();
    }
    if (!same_form(info, to, true)) return std::nullopt;
    if (info.coding != to.coding) {
        geometry.no_filter_ = std::make_unique<ChainPlan>(Chain(), shape, executor);
        geometry.recoding_ = PlanesPass::of(*geometry.no_filter_, to, executor.pool());
        if (!geometry.recoding_) return std::nullopt;
    }
    return geometry;
}

std::vector<ChainFigures> LinearPlanes::figures() const {
    std::vector<ChainFigures> all;
    for (std::size_t at = 0; has_run_ && at < steps_.size(); ++at)
        if (auto figures = steps_[at]->figures(); !figures.empty())
            all.push_back({std::string(chain_.calls[at].filter->name), std::move(figures)});
    return all;
}

bool LinearPlanes::takes(const YuvInfo& from) const { return same_form(from, from_, false); }

std::shared_ptr<const YuvPicture> LinearPlanes::run(const HostYuv<const std::uint8_t>& from) {
    if (!takes(from.info))
        fail(ErrorCode::usage, "the picture is {}; {} is needed", to_string(from.info), to_string(from_));
    std::shared_ptr<YuvPicture> last;
    for (std::size_t at = 0; at < steps_.size(); ++at) {
        const auto next = pools_[at].take(steps_[at]->result());
        steps_[at]->run(last ? std::as_const(*last).view() : from, from, next->view());
        last = next;
    }
    has_run_ = true;
    if (recoding_) return recoding_->run(std::as_const(*last).view());
    return last;
}

}  // namespace framewire
