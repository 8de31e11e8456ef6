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

/// A window of an image: its level in the pyramid, and its index within the level, row by row.
struct WindowPlace {
    int level = 0;
    std::int64_t window = 0;

    friend auto operator<=>(const WindowPlace&, const WindowPlace&) = default;
};

/// All windows of one image: at the image's own size and, `scale_step` apart, at all smaller sizes that the
/// window fits into, one per cell, as the people detector scores them. On the CPU.
class ImageWindows {
public:
    /// Computes the descriptors. Throws Error{usage} if the image is smaller than the window.
    ImageWindows(const WindowModel& window, double scale_step, HostView<const std::uint8_t> image, Executor& executor);

    /// Number of sizes, and of windows of one size.
    int levels() const { return static_cast<int>(levels_.size()); }
    std::int64_t windows(int level) const { return levels_[static_cast<std::size_t>(level)].grid.count(); }
    std::int64_t windows() const;  ///< in all levels

    /// Copies the descriptor of a window; `values` has as many values as the window.
    void copy(WindowPlace place, std::span<float> values) const;

    /// Returns the scores of a level's windows. `scores` must have been made for a model of the same window.
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

/// Computes the descriptor of the window in the middle of an image, or of its mirror image, into `values`. The
/// surroundings of the window contribute as in a larger image: to the gamma, and to the gradients of its
/// outermost pixels. Throws Error{usage} if the image is smaller than the window.
void centre_descriptor(const WindowModel& window, HostView<const std::uint8_t> image, bool mirrored, Executor& executor,
                       std::span<float> values);

}  // namespace framewire
