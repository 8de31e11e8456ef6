#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/filters/binarize/binarize_ref.hpp"
#include "framewire/filters/binarize/document/document.hpp"
#include "framewire/filters/gray/gray_ref.hpp"
#include "framewire/filters/mean/mean_ref.hpp"
#include "framewire/filters/morphology/morphology_ref.hpp"

#include <cstdint>

namespace framewire {

/// One step after the other: what tests and benches compare with.
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
                // In an image that is black everywhere there is no paper to divide by.
                *value = *value >= light ? 255 : static_cast<std::uint8_t>((255 * *value + light / 2) / light);
            }
    HostImage white(one);
    binarize_reference(otsu_threshold, gray.view(), white.view());
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x)
                for (int channel = 0; channel < shape.channels; ++channel)
                    out.row(frame, y)[x * shape.channels + channel] = white.view().row(frame, y)[x];
}

}  // namespace framewire
