#pragma once

#include "framewire/detect/background_ref.hpp"
#include "framewire/detect/components_ref.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/detect/masks_ref.hpp"
#include "framewire/filters/morphology_ref.hpp"

#include <utility>
#include <variant>
#include <vector>

namespace framewire {

/// Returns the objects in masks of 0 and 255 (moving-object report, steps 6 to 8, with a median if the
/// parameters say so). The capacity is ignored.
inline std::vector<std::vector<Component>> objects_of_masks_reference(const DetectorParameters& parameters,
                                                                      HostView<const std::uint8_t> dirty) {
    HostImage clean(dirty.shape());
    HostBitMask mask(dirty.shape());
    const auto cleaning = cleaning_of(parameters);
    if (const auto* window = std::get_if<MedianWindow>(&cleaning))
        mask_median_reference(window->size_px, dirty, clean.view());
    else
        morphology_reference(std::get<MorphologyOperation>(cleaning),
                             StructuringElement(parameters.shape, parameters.diameter_px), dirty, clean.view());
    pack_mask(std::as_const(clean).view(), mask.view());
    std::vector<std::vector<Component>> objects;
    std::vector<std::int32_t> labels;
    for (int frame = 0; frame < dirty.shape().frames; ++frame) {
        auto all = components_reference(std::as_const(mask).view(), frame, parameters.connectivity, labels);
        std::erase_if(
            all, [&](const auto& one) { return one.area < parameters.min_area || one.area > parameters.max_area; });
        objects.push_back(std::move(all));
    }
    return objects;
}

/// Reference implementation: the objects in each frame before a background picture, step by step (moving-object
/// report, steps 2 to 8). Tests and benchmarks compare with it. The capacity is ignored, and so is the
/// background, except for the morphology that suits it.
inline std::vector<std::vector<Component>> detector_reference(const DetectorParameters& parameters,
                                                              HostView<const std::uint8_t> frames,
                                                              HostView<const std::uint8_t> background) {
    const auto gray_shape = frames.shape().with_channels(1);
    HostImage blurred(gray_shape), still(gray_shape.with_frames(1)), dirty(gray_shape);
    HostBitMask mask(gray_shape);
    blurred_gray_reference(parameters.blur_px, frames, blurred.view());
    blurred_gray_reference(parameters.blur_px, background, still.view());
    difference_reference(parameters.threshold, std::as_const(blurred).view(), std::as_const(still).view(), mask.view());
    unpack_mask(std::as_const(mask).view(), dirty.view());
    return objects_of_masks_reference(parameters, std::as_const(dirty).view());
}

}  // namespace framewire
