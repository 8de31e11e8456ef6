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

/// Throws Error{usage} on a model or parameters that are not allowed.
void validate(const WindowModel& model, const PeopleParameters& parameters);

/// Why no window fits into such a frame, in words: the frame is smaller than the smallest. Empty where some fit. Throws
/// as validate() does, and on a frame that is not allowed.
std::string without_windows(const WindowModel& model, const PeopleParameters& parameters, const Shape& frame);

/// Finds what a linear model of a window was trained to find, at all places and sizes (Dalal and Triggs 2005): a
/// pyramid of the frame (GrayPyramid), descriptors of each of its levels (Hog), scores of all windows, one a cell
/// (WindowScores), and of those above the threshold the ones that no better one overlaps (suppress_overlapping) or the
/// means of those that lie together (NeighbourGroups).
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
