#pragma once

#include "framewire/core/view.hpp"
#include "framewire/detect/labelling/components.hpp"
#include "framewire/hog/people/people_detector.hpp"
#include "framewire/session/people/score_labels.hpp"

#include <cstdint>
#include <vector>

namespace framewire::session {

/// People found in one frame, best score first.
struct FoundPeople {
    /// Reserves memory for the maximum number of people per frame.
    explicit FoundPeople(const PeopleParameters& parameters);

    /// Removes all people.
    void clear();
    /// Takes the results of a detector that examines `capacity` candidate windows. The caller has waited for `people`.
    void take(const DetectedPeople& people, int capacity);
    /// Draws boxes and scores into the frame.
    void draw(const ScoreLabels& labels, HostView<std::uint8_t> frame) const;

    /// Bounding boxes.
    std::vector<Component> boxes;
    /// Score of each box.
    std::vector<float> scores;
    /// True if more windows scored above the threshold than the detector examines.
    bool some_left_out = false;
};

}  // namespace framewire::session
