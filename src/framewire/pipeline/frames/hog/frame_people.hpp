#pragma once

#include "framewire/cuda/executor.hpp"
#include "framewire/hog/people/people_detector.hpp"
#include "framewire/pipeline/frames/frame.hpp"

namespace framewire {

/// Starts people detection in the next frame of a run, of which several may be in flight. The detections are in
/// `people` after their wait(). Allocates nothing.
inline void start(PeopleDetector& detector, Frame& frame, DetectedPeople& people, const Executor& executor) {
    executor.in_its_space(
        [&]<MemorySpace space>() { executor.step("people", [&] { detector.run(frame.in<space>(), people); }); });
    people.download();
}

}  // namespace framewire
