#pragma once

#include "framewire/detect/detector.hpp"
#include "framewire/detect/overlay/box_overlay.hpp"
#include "framewire/filters/filter.hpp"

#include <vector>

namespace framewire {

/// Draws boxes around what moves, or hides it under a mosaic: MotionDetector and BoxOverlay one after the other,
/// without a way over the host. The background is the filter's own; frames are given in the order of time. Frames that
/// come before there is a background (frames_before_background()) are hidden whole where what moves is hidden: nothing
/// can be said yet of who is in them.
class Boxes {
public:
    /// Throws as MotionDetector and BoxOverlay do.
    Boxes(const DetectorParameters& parameters, const BoxStyle& style, const Shape& shape, Executor& executor)
        : detector_(parameters, shape, executor), overlay_(style, shape, executor) {}

    Shape output_shape() const { return detector_.shape(); }

    /// Returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images);

    /// Whether runs from now on are one like the other: all frames have a background.
    bool is_settled() const { return detector_.has_background(); }

    /// How many objects each frame of the last run has: `objects`. Waits for the executor's stream.
    std::vector<FilterFigure> figures() const;

private:
    // figures() brings them to the host, where they change nothing of what runs see.
    mutable MotionDetector detector_;
    BoxOverlay overlay_;
    bool has_run_ = false;
};

/// The registry's entry.
FilterInfo boxes_info();

}  // namespace framewire
