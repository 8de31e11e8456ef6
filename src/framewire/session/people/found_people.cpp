#include "framewire/session/people/found_people.hpp"

#include "framewire/detect/overlay/box_overlay.hpp"

#include <cstddef>

namespace framewire::session {
namespace {

// Makes an object for the records from a detection, of which only the box is known: area and centroid are those of the
// box.
Component component_of(const Detection& detection, int id) {
    const auto area = std::int64_t{detection.width} * detection.height;
    return {.id = id,
            .x = detection.x,
            .y = detection.y,
            .width = detection.width,
            .height = detection.height,
            .area = static_cast<std::int32_t>(area),
            .sum_x = area * (2 * detection.x + detection.width - 1) / 2,
            .sum_y = area * (2 * detection.y + detection.height - 1) / 2};
}

}  // namespace

FoundPeople::FoundPeople(const PeopleParameters& parameters) {
    boxes.reserve(static_cast<std::size_t>(parameters.capacity));
    scores.reserve(static_cast<std::size_t>(parameters.capacity));
}

void FoundPeople::clear() {
    boxes.clear();
    scores.clear();
    some_left_out = false;
}

void FoundPeople::take(const DetectedPeople& people, int capacity) {
    clear();
    for (const auto& person : people.detections()) {
        boxes.push_back(component_of(person, static_cast<int>(boxes.size()) + 1));
        scores.push_back(person.score);
    }
    some_left_out = people.candidates() > capacity;
}

void FoundPeople::draw(const ScoreLabels& labels, HostView<std::uint8_t> frame) const {
    draw_outlines(boxes, {}, frame);
    for (std::size_t i = 0; i < boxes.size(); ++i) labels.draw(scores[i], boxes[i].x, boxes[i].y, frame);
}

}  // namespace framewire::session
