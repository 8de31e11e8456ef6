#pragma once

#include "framewire/core/component.hpp"
#include "framewire/detect/detector.hpp"
#include "ladders/moving_objects/frame_size.hpp"

#include <vector>

namespace framewire::bench::moving_objects {

/// The report's chain: the frames' blurred gray against that of a picture, closed; every object counts.
DetectorParameters report_parameters();

/// A still room, frames of it with one object that moves through it under fresh noise, and framewire's boxes of them.
struct MovingScene {
    FrameSize size;
    HostImage room, frames;
    std::vector<std::vector<Component>> objects;  ///< by detector_reference() with report_parameters()

    MovingScene(FrameSize size, int count);

    int count() const { return frames.shape().frames; }
    const std::uint8_t* frame(int index) const { return frames.view().row(index % count(), 0); }
    /// Throws Error{internal} naming the variant unless it found the frame's objects.
    void require_objects(const std::vector<Component>& found, int index, const std::string& variant) const;
};

}  // namespace framewire::bench::moving_objects
