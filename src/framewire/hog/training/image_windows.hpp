#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/people/pyramid/pyramid.hpp"
#include "framewire/hog/people/window_scores/window_scores.hpp"
#include "framewire/hog/window_model.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace framewire {

/// A window of an image: its level in the pyramid, and its number in the level, row by row.
struct WindowPlace {
    int level = 0;
    std::int64_t window = 0;

    friend auto operator<=>(const WindowPlace&, const WindowPlace&) = default;
};

/// All windows of one image: at the image's own size and as often as the window fits at smaller ones, `scale_step`
/// apart, one a cell, as the people detector looks at them. On the CPU.
class ImageWindows {
public:
    /// Finds the descriptors. Throws Error{usage} on images smaller than the window.
    ImageWindows(const WindowModel& window, double scale_step, HostView<const std::uint8_t> image, Executor& executor);

    int levels() const { return static_cast<int>(levels_.size()); }
    std::int64_t windows(int level) const { return levels_[static_cast<std::size_t>(level)].grid.count(); }
    std::int64_t windows() const;  ///< of all levels

    /// Copies a window's descriptor, of as many values as the window has.
    void copy(WindowPlace place, std::span<float> values) const;

    /// The scores of a level's windows. `scores` was made for a model of the same window.
    std::vector<float> score(int level, const WindowScores& scores) const;

private:
    struct Level {
        HogShape shape;
        WindowGrid grid;
        HostBuffer descriptors;
    };

    HogShape window_;
    std::vector<Level> levels_;
};

/// The descriptor of the window in an image's middle, into as many values as the window has; of the mirrored image if
/// wanted. What lies around the window takes part as in a larger image: in the gamma, and in the gradients of its
/// outermost pixels. Throws Error{usage} on images smaller than the window.
void centre_descriptor(const WindowModel& window, HostView<const std::uint8_t> image, bool mirrored, Executor& executor,
                       std::span<float> values);

}  // namespace framewire
