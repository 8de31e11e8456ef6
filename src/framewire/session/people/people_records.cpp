#include "framewire/session/people/people_records.hpp"

#include "framewire/detect/object_records.hpp"

#include <algorithm>
#include <iterator>

namespace framewire::session {

// Updates the totals together with the file, so that both agree after a failure.
void PeopleRecords::write(const FoundPeople& people, const Shape& frame, const FrameTime& time,
                          std::string_view source) {
    file_.write(
        to_json_line({time.index, time.seconds, frame.width, frame.height, people.boxes, people.scores, source}));
    result_->people += std::ssize(people.boxes);
    for (const float score : people.scores) result_->best_score = std::max(result_->best_score.value_or(score), score);
    if (people.some_left_out) ++result_->frames_left_out;
}

void PeopleRecords::describe(RunDescription& run) const {
    run.filters.push_back({"people", {{"found", 0, static_cast<double>(result_->people)}}});
}

}  // namespace framewire::session
