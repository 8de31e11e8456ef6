#pragma once

#include "framewire/core/view.hpp"
#include "framewire/detect/labelling/components.hpp"
#include "framewire/hog/people/people_detector.hpp"
#include "framewire/session/people/score_labels.hpp"

#include <cstdint>
#include <vector>

namespace framewire::session {

/// Who was found in one frame, best first.
struct FoundPeople {
    /// Room for all that a frame can have.
    explicit FoundPeople(const PeopleParameters& parameters);

    void clear();
    /// Those that were waited for, of a detector that looks at `capacity` windows.
    void take(const DetectedPeople& people, int capacity);
    /// Their boxes and scores into the frame they are of.
    void draw(const ScoreLabels& labels, HostView<std::uint8_t> frame) const;

    std::vector<Component> boxes;
    std::vector<float> scores;   ///< of each box
    bool some_left_out = false;  ///< more windows were above the threshold than are looked at
};

}  // namespace framewire::session
