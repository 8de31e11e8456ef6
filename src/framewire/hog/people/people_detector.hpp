#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/hog/people/detected_people.hpp"
#include "framewire/hog/window_model.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace framewire {

struct PeopleParameters {
    float threshold = 0;      ///< windows that score more are looked at further; finite
    double scale_step = 1.1;  ///< from one size of windows to the next, 1.05 to 2
    double overlap = 0.3;     ///< of two detections, above which the worse one goes: intersection over union, 0 to 1
    int least_height_px = 0;  ///< of the windows, in pixels of the frame; at least half of the model's; 0: the model's
    int most_height_px = 0;   ///< likewise, not below the least; 0: as high as fit into the frame
    int capacity = 4096;      ///< windows above the threshold that are looked at further, the best; 1 to 65536
};

template <class Aggregate>
class ParameterFields;

/// Their names, ranges and help, but for the capacity.
const ParameterFields<PeopleParameters>& people_fields();

/// Throws Error{usage} on a model or parameters that are not allowed.
void validate(const WindowModel& model, const PeopleParameters& parameters);

/// Why no window fits into such a frame, in words: the frame is smaller than the smallest. Empty where some fit. Throws
/// as validate() does, and on a frame that is not allowed.
std::string without_windows(const WindowModel& model, const PeopleParameters& parameters, const Shape& frame);

/// Finds what a linear model of a window was trained to find, at all places and sizes (Dalal and Triggs 2005): a
/// pyramid of the frame (GrayPyramid), descriptors of each of its levels (Hog), scores of all windows, one a cell
/// (WindowScores), and of those above the threshold the ones that no better one overlaps (suppress_overlapping).
/// Windows lie within the frame: what is cut off by its border is found only as far as the model's windows have room
/// around what they show. CPU and CUDA differ by the rounding of descriptors and scores only; each finds the same in
/// the same frame every time. For one run at a time.
class PeopleDetector {
public:
    /// `frame`: one, 1 or 3 channels. Throws Error{usage} on a model or parameters that are not allowed, and when the
    /// frame is smaller than the smallest window; Error{config} without memory.
    PeopleDetector(const WindowModel& model, const PeopleParameters& parameters, const Shape& frame,
                   Executor& executor);
    ~PeopleDetector();
    PeopleDetector(PeopleDetector&&) noexcept;
    PeopleDetector& operator=(PeopleDetector&&) noexcept;

    const PeopleParameters& parameters() const;
    /// Sizes and windows of a frame that are looked at.
    int levels() const;
    std::int64_t windows() const;

    /// For who is in one frame.
    DetectedPeople make_people() const;

    /// The next frame, any strides; who is in it is in `people` once they are downloaded and waited for. Allocates
    /// nothing. Host: returns when done. Device: queued on the executor's stream.
    void run(HostView<const std::uint8_t> frame, DetectedPeople& people);
    void run(DeviceView<const std::uint8_t> frame, DetectedPeople& people);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire
