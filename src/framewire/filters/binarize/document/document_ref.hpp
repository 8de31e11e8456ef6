#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/filters/binarize/binarize_ref.hpp"
#include "framewire/filters/binarize/document/document.hpp"
#include "framewire/filters/gray/gray_ref.hpp"
#include "framewire/filters/mean/mean_ref.hpp"
#include "framewire/filters/morphology/morphology_ref.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace framewire {

/// Reference for ink_threshold(): sorts all pixels above Otsu's threshold.
inline int ink_threshold_reference(const Histogram& histogram) {
    const int otsu = otsu_threshold(histogram);
    std::vector<int> paper;
    for (int bin = otsu + 1; bin < 256; ++bin) paper.insert(paper.end(), histogram[static_cast<std::size_t>(bin)], bin);
    if (paper.empty()) return otsu;
    const int q1 = paper[paper.size() / 4], median = paper[paper.size() / 2], q3 = paper[3 * paper.size() / 4];
    const int range = std::max(q3 - q1, 2 * (median - q1));
    if (otsu <= median - std::max(24, 2 * range)) return otsu;
    return std::max(0, median - std::max(24, 6 * range));
}

/// Reference for tests and benchmarks: one step after the other.
inline void document_reference(const DocumentParameters& parameters, HostView<const std::uint8_t> in,
                               HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    const auto one = shape.with_channels(1);
    HostImage gray(one), closed(one), paper(one);
    gray_reference(GrayMethod::weighted, in, gray.view());
    morphology_reference(MorphologyOperation::close, {ElementShape::rect, parameters.window}, gray.view(),
                         closed.view());
    mean_reference({.size = parameters.window}, closed.view(), paper.view());
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                auto* value = gray.view().row(frame, y) + x;
                const int light = paper.view().row(frame, y)[x];
                const double darker = std::max(light - *value, 0), scale = std::max(light, 64);
                *value = static_cast<std::uint8_t>(std::floor(255 * (1 - darker / scale) + 0.5 + 1e-9));
            }
    HostImage white(one);
    binarize_reference(ink_threshold_reference, gray.view(), white.view());
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x)
                for (int channel = 0; channel < shape.channels; ++channel)
                    out.row(frame, y)[x * shape.channels + channel] = white.view().row(frame, y)[x];
}

}  // namespace framewire
