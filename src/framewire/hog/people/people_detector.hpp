#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/hog/people/detected_people.hpp"
#include "framewire/hog/people/people_parameters.hpp"
#include "framewire/hog/window_model.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace framewire {

/// Throws Error{usage} if the model or the parameters are not allowed.
void validate(const WindowModel& model, const PeopleParameters& parameters);

/// Returns a message that says why no window fits into such a frame, or an empty text if one fits. Throws what
/// validate() throws, and Error{usage} if the frame is not allowed.
std::string without_windows(const WindowModel& model, const PeopleParameters& parameters, const Shape& frame);

/// Finds what a linear model of a window was trained to find, at all positions and sizes (Dalal and Triggs
/// 2005):
///
///     frame -> GrayPyramid -> Hog per level -> WindowScores, one window per cell -> windows above the threshold
///           -> suppress_overlapping() or NeighbourGroups
///
/// Windows are within the frame: people who are cut off by its border are found only as far as the model's
/// windows have a margin around what they show. CPU and CUDA differ only by the rounding of descriptors and
/// scores; each finds the same in the same frame every time. For one run at a time.
class PeopleDetector {
public:
    /// `frame` is the shape of one frame with 1 or 3 channels. Throws Error{usage} if the model or the
    /// parameters are not allowed or if the frame is smaller than the smallest window, Error{config} if there
    /// is not enough memory.
    PeopleDetector(const WindowModel& model, const PeopleParameters& parameters, const Shape& frame,
                   Executor& executor);
    ~PeopleDetector();
    PeopleDetector(PeopleDetector&&) noexcept;
    PeopleDetector& operator=(PeopleDetector&&) noexcept;

    /// Returns the parameters that the detector was made with.
    const PeopleParameters& parameters() const;
    /// Return how many sizes and how many windows of a frame are scored.
    int levels() const;
    std::int64_t windows() const;

    /// Returns memory for the detections of one frame.
    DetectedPeople make_people() const;

    /// Processes the next frame, with any strides. The detections are in `people` after its download() and
    /// wait(). Allocates nothing. On the host the call returns when done; on the device it is queued on the
    /// executor's stream.
    void run(HostView<const std::uint8_t> frame, DetectedPeople& people);
    void run(DeviceView<const std::uint8_t> frame, DetectedPeople& people);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire
