#pragma once

#include "framewire/cuda/executor.hpp"
#include "framewire/hog/people/people_detector.hpp"
#include "framewire/pipeline/frames/frame.hpp"

namespace framewire {

/// Begins to look for people in a run's next frame, of which several may be under way. Who is in it is in `people` once
/// they are waited for. Allocates nothing.
inline void start(PeopleDetector& detector, Frame& frame, DetectedPeople& people, const Executor& executor) {
    executor.in_its_space(
        [&]<MemorySpace space>() { executor.step("people", [&] { detector.run(frame.in<space>(), people); }); });
    people.download();
}

}  // namespace framewire
