#pragma once

#include "framewire/detect/detector.hpp"
#include "framewire/detect/overlay/box_overlay.hpp"
#include "framewire/filters/filter.hpp"

#include <vector>

namespace framewire {

/// The filter `boxes`: draws boxes around moving objects, or hides them under a mosaic. It runs a
/// MotionDetector and a BoxOverlay without copying the objects to the host in between. The filter owns its
/// background, so frames must be in the order of time. A mosaic hides the first frames
/// (frames_before_background()) as a whole, because without a background nobody can say what moves in them.
class Boxes {
public:
    /// Throws what MotionDetector and BoxOverlay throw.
    Boxes(const DetectorParameters& parameters, const BoxStyle& style, const Shape& shape, Executor& executor)
        : detector_(parameters, shape, executor), overlay_(style, shape, executor) {}

    /// Returns the shape of the result, which is that of the frames.
    Shape output_shape() const { return detector_.shape(); }

    /// Processes a batch and returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// The same, queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images);

    /// Returns true if all later frames have a background, so that all later runs are alike.
    bool is_settled() const { return detector_.has_background(); }

    /// Returns the number of objects in each frame of the last run, as `objects`. Waits for the executor's
    /// stream.
    std::vector<FilterFigure> figures() const;

private:
    // figures() copies the objects to the host, which does not affect later runs.
    mutable MotionDetector detector_;
    BoxOverlay overlay_;
    bool has_run_ = false;
};

/// The entry in the registry of filters.
FilterInfo boxes_info();

}  // namespace framewire
