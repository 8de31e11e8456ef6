#include "framewire/plan/planar_chroma.hpp"
#include "framewire/colour/image_to_yuv.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace framewire {
namespace {

// Returns the samples that pixel `pixel` is interpolated from.
ChromaTaps taps_of_pixel(const SampleAxis& axis, int pixel) {
    if (!axis.mirrored) return chroma_taps(pixel, axis.halved, axis.centred);
    const int sample = pixel / 2;
    if (axis.centred) return pixel % 2 ? ChromaTaps{sample, sample + 1, 1, 3} : ChromaTaps{sample, sample + 1, 3, 1};
    return pixel % 2 ? ChromaTaps{sample, sample + 1, 4, 0} : ChromaTaps{sample - 1, sample, 2, 2};
}

// Returns the pixels that a sample is the mean of.
PixelTaps taps_of_sample(const SampleAxis& axis, int sample) {
    if (!axis.mirrored) return pixel_taps(sample, axis.halved, axis.centred);
    if (axis.centred) return {2 * sample - 1, {2, 2, 0}};
    return {2 * sample, {1, 2, 1}};
}

// Calls add(sample, weight) for the samples that a pixel is interpolated from.
template <class Add>
void for_samples_of_pixel(const SampleAxis& axis, int samples, int pixel, Add&& add) {
    const auto of = taps_of_pixel(axis, pixel);
    for (const auto& [at, quarters] : {std::pair{of.first, of.first_weight}, {of.second, of.second_weight}})
        if (quarters) add(held_index(at, samples), quarters / 4.0);
}

// Adds to the weight of one of consecutive samples, of which the first one is `taps.first`.
void add_weight(ExactTaps& taps, int sample, double weight) {
    const auto at = static_cast<std::size_t>(sample - taps.first);
    taps.weights.resize(std::max(taps.weights.size(), at + 1));
    taps.weights[at] += weight;
}

// Returns the taps of one sample of the result. Pixels mirrored into the image are nearer than those outside, so no
// sample is further away than `reach`.
ExactTaps window_taps_of(const SeparableWindow& window, int pixels, const SampleAxis& axis, int sample) {
    const int samples = axis.samples(pixels);
    const int reach = static_cast<int>(window.weights.size()) + 2;
    const int first = std::max(sample - reach, 0), last = std::min(sample + reach, samples - 1);
    ExactTaps taps{first, std::vector<double>(static_cast<std::size_t>(last - first + 1))};
    const auto made_of = taps_of_sample(axis, sample);
    for (int index = 0; index < 3; ++index) {
        if (made_of.weights[index] == 0) continue;
        const int pixel = held_index(made_of.first + index, pixels) - window.before;
        for (std::size_t tap = 0; tap < window.weights.size(); ++tap)
            for_samples_of_pixel(axis, samples, border_index(pixel + static_cast<int>(tap), pixels, window.border),
                                 [&](int at, double share) {
                                     add_weight(taps, at, made_of.weights[index] / 4.0 * window.weights[tap] * share);
                                 });
    }
    return taps;
}

// Returns the position in the image at which an axis of the result starts.
std::optional<int> first_of(double factor, double offset) {
    if (std::abs(factor) != 1 || offset != std::floor(offset)) return std::nullopt;
    return static_cast<int>(factor > 0 ? -offset : offset - 1);
}

// One axis of a move of pixels or samples.
struct AxisMove {
    int first, step;  // position in the image of the result's first pixel, and direction
    int from, to;     // lengths in the image and in the result
};

// A move along one axis of samples.
struct SampleAxisMove {
    AxisMove move;
    SampleAxis to;
};

// Returns the same move for samples; nothing where they would be placed between the result's.
std::optional<SampleAxisMove> of_samples(const AxisMove& pixels, const SampleAxis& axis) {
    if (!axis.halved) return SampleAxisMove{pixels, axis};
    const bool odd = pixels.first % 2 != 0;
    auto to = axis;
    AxisMove move{0, pixels.step, axis.samples(pixels.from), axis.samples(pixels.to)};
    if (pixels.step > 0) {
        if (odd) return std::nullopt;
        move.first = pixels.first / 2;
    } else if (axis.centred) {
        // Samples at the first edge of their pixels are one pixel less far, so that the parity is the other way round.
        const int first_pixel = pixels.first - (axis.mirrored ? 0 : 1);
        to.mirrored = first_pixel % 2 != 0;
        move.first = (first_pixel + (to.mirrored ? 1 : 0)) / 2;
    } else {
        // Samples on the second pixel are one pixel further.
        const int first_pixel = pixels.first - (axis.mirrored ? 1 : 0);
        to.mirrored = first_pixel % 2 != 0;
        move.first = (first_pixel - (to.mirrored ? 1 : 0)) / 2;
    }
    // The last pixel of an even number would be far from the last sample.
    if (to.centred && to.mirrored && pixels.to % 2 == 0) return std::nullopt;
    const int last = move.first + move.step * (move.to - 1);
    const bool inside = std::min(move.first, last) >= 0 && std::max(move.first, last) < move.from;
    // A sample at an edge of the image must not be shared by a pixel inside and one outside.
    if (!inside && (pixels.from % 2 != 0 || pixels.to % 2 != 0)) return std::nullopt;
    return SampleAxisMove{move, to};
}

}  // namespace

SampleAxis SampleAxis::of(const YuvInfo& info, int plane, bool along_x) {
    const auto sampling = info.format.chroma;
    const bool halved = plane > 0 && (along_x ? sampling == ChromaSampling::s420 || sampling == ChromaSampling::s422
                                              : sampling == ChromaSampling::s420);
    if (!halved) return {};
    const auto& siting = info.siting;
    return {true, along_x ? siting.centred_x : siting.centred_y, along_x ? siting.mirrored_x : siting.mirrored_y};
}

AxisTaps window_taps(const SeparableWindow& window, int pixels, const SampleAxis& axis) {
    const int samples = axis.samples(pixels);
    return {samples, samples, [=](int sample) { return window_taps_of(window, pixels, axis, sample); }};
}

CellTaps cell_taps(int cell_px, int pixels, const SampleAxis& axis) {
    const int samples = axis.samples(pixels), cells = (pixels + cell_px - 1) / cell_px;
    const auto to_cell = [=](int cell) {
        const int first = cell * cell_px, last = std::min(first + cell_px, pixels) - 1;
        ExactTaps taps{held_index(taps_of_pixel(axis, first).first, samples), {}};
        for (int pixel = first; pixel <= last; ++pixel)
            for_samples_of_pixel(axis, samples, pixel,
                                 [&](int at, double share) { add_weight(taps, at, share / (last - first + 1)); });
        return taps;
    };
    const auto from_cell = [=](int sample) {
        const auto made_of = taps_of_sample(axis, sample);
        const auto cell_of = [=](int pixel) { return held_index(pixel, pixels) / cell_px; };
        ExactTaps taps{cell_of(made_of.first), {}};
        for (int index = 0; index < 3; ++index)
            if (made_of.weights[index]) add_weight(taps, cell_of(made_of.first + index), made_of.weights[index] / 4.0);
        return taps;
    };
    return {{samples, cells, to_cell}, {cells, samples, from_cell}};
}

std::optional<PixelMove> pixel_move_of(const FilterCall& call, const Shape& from) {
    const auto& info = *call.filter;
    if (!info.placement) return std::nullopt;
    const auto places = info.placement(call.values, from);
    const bool transposed = places.xx == 0 && places.yy == 0;
    if (!transposed && (places.xy != 0 || places.yx != 0)) return std::nullopt;
    // Which axis of the image leads along x of the result, and which along y.
    const double along = transposed ? places.xy : places.xx, down = transposed ? places.yx : places.yy;
    const auto first_along = first_of(along, places.x0), first_down = first_of(down, places.y0);
    if (!first_along || !first_down) return std::nullopt;
    PixelMap map{*first_along, *first_down, along > 0 ? 1 : -1, down > 0 ? 1 : -1, transposed};
    if (transposed) {
        std::swap(map.x, map.y);
        std::swap(map.step_x, map.step_y);
    }
    const auto to = info.output_shape(call.values, from);
    if (transposed && !is_inside(map, from, to)) return std::nullopt;
    const bool has_color = std::ranges::find(info.parameters, "color", &ParameterInfo::name) != info.parameters.end();
    return PixelMove{.map = map, .outside = has_color ? opaque_color_from(call.values, from.channels) : 0, .to = to};
}

std::optional<SampleMove> sample_move_of(const PixelMove& move, const YuvInfo& info, int plane) {
    const auto axis_x = SampleAxis::of(info, plane, true), axis_y = SampleAxis::of(info, plane, false);
    const auto& map = move.map;
    // Turned 4:2:2 would have one sample per two pixels of a column.
    if (map.transposed && axis_x.halved != axis_y.halved) return std::nullopt;
    auto to_x = move.to.width, to_y = move.to.height;
    if (map.transposed) std::swap(to_x, to_y);
    const auto x = of_samples({map.x, map.step_x, info.width, to_x}, axis_x);
    const auto y = of_samples({map.y, map.step_y, info.height, to_y}, axis_y);
    if (!x || !y) return std::nullopt;
    const PixelMap samples{x->move.first, y->move.first, x->move.step, y->move.step, map.transposed};
    if (map.transposed) return SampleMove{samples, x->move.to, y->move.to, y->to, x->to};
    return SampleMove{samples, y->move.to, x->move.to, x->to, y->to};
}

ScaleGrid turned_grid(const SampleAxis& from, const SampleAxis& to, int first, int step, int side, int to_side) {
    const int quarters = 4 / from.each();  // of a sample, per pixel
    const int shift = step > 0 ? quarters * first + from.before() - to.before()
                               : quarters * (from.each() * side - first - 1) - from.before() - to.before();
    return {side, to_side, 1, 1, 0, shift};
}

std::array<std::uint8_t, 3> yuv_of(Pixel colour, const YuvCoding& coding, const ThreadPool& threads) {
    std::array<std::uint8_t, 3> bgr, yuv;
    store_pixel(colour, 3, bgr.data());
    const YuvInfo info{yuv_444, coding, {}, 1, 1, 1};
    ImageToYuv(info, 3, threads)
        .run(HostView<const std::uint8_t>(bgr.data(), {1, 1, 1, 3}), HostYuv<std::uint8_t>(yuv.data(), info));
    return yuv;
}

}  // namespace framewire
