#pragma once

#include "framewire/core/view.hpp"
#include "framewire/detect/detector.hpp"
#include "ladders/moving_objects/frame_size.hpp"

#include <string>
#include <vector>

namespace framewire::bench::moving_objects {

/// Returns the parameters of the report's chain, which compares the blurred gray of the frames with that of a
/// picture, then applies closing. Every object counts.
DetectorParameters report_parameters();

/// A static room, frames of it in which one object moves under fresh noise, and the objects to be found in them.
struct MovingScene {
    FrameSize size;
    HostImage room, frames;
    /// Objects by framewire's steps: detector_reference() with report_parameters().
    std::vector<std::vector<Component>> objects;
    /// Objects by the same steps if the blur sums a matrix, as the report and OpenCV do, instead of rows rounded to
    /// 64ths: the boxes are equal, the areas nearly so.
    std::vector<std::vector<Component>> matrix_objects;

    /// Throws Error{internal} if the boxes of the two differ.
    MovingScene(FrameSize size, int count);

    int count() const { return frames.shape().frames; }
    const std::uint8_t* frame(int index) const { return frames.view().row(index % count(), 0); }
};

/// Throws Error{internal} naming the variant unless it found the expected objects of the frame.
void require_objects(const std::vector<Component>& found, const std::vector<std::vector<Component>>& want, int frame,
                     const std::string& variant);

}  // namespace framewire::bench::moving_objects
