#pragma once

#include "framewire/core/component.hpp"
#include "framewire/detect/detector.hpp"
#include "ladders/moving_objects/frame_size.hpp"

#include <string>
#include <vector>

namespace framewire::bench::moving_objects {

/// The report's chain: the frames' blurred gray against that of a picture, closed; every object counts.
DetectorParameters report_parameters();

/// A still room, frames of it with one object that moves through it under fresh noise, and what is to be found in them.
struct MovingScene {
    FrameSize size;
    HostImage room, frames;
    /// framewire's: by detector_reference() with report_parameters().
    std::vector<std::vector<Component>> objects;
    /// Of the same steps where the blur sums up a matrix, as the report's and OpenCV's, in place of rows rounded to
    /// 64ths: the boxes are the same, their areas nearly.
    std::vector<std::vector<Component>> matrix_objects;

    /// Throws Error{internal} where the two have other boxes.
    MovingScene(FrameSize size, int count);

    int count() const { return frames.shape().frames; }
    const std::uint8_t* frame(int index) const { return frames.view().row(index % count(), 0); }
};

/// Throws Error{internal} naming the variant unless it found those wanted of the frame.
void require_objects(const std::vector<Component>& found, const std::vector<std::vector<Component>>& want, int frame,
                     const std::string& variant);

}  // namespace framewire::bench::moving_objects
