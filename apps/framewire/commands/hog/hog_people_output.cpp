#include "commands/hog/hog_people_output.hpp"

#include "framewire/core/log.hpp"
#include "framewire/core/parameters/numbers.hpp"
#include "framewire/detect/object_records.hpp"
#include "framewire/detect/overlay/box_overlay.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace framewire::app {
namespace {

// A detection as an object of records: the box is all that is known of it.
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

// The shortest number that is this float, for JSON, whose numbers are doubles.
double as_double(float value) { return number_in<double>(fmt::format("{}", value)).value(); }

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

void PeopleOutput::write(const FoundPeople& people, const Shape& frame, const FrameTime& time,
                         std::string_view source) {
    const auto text =
        to_json_line({time.index, time.seconds, frame.width, frame.height, people.boxes, people.scores, source});
    failed_ = true;  // until it has not
    file_.write(text.data(), text.size());
    failed_ = false;
    file_.mark_whole();
    ++frames_;
    found_ += std::ssize(people.boxes);
    for (const float score : people.scores) best_ = std::max(best_.value_or(score), score);
    if (people.some_left_out) ++frames_left_out_;
}

void PeopleOutput::finish(Ending ending) {
    if (frames_ > 0 && !failed_) file_.finish(ending);
}

ChainFigures PeopleOutput::figures() const { return {"people", {{"found", 0, static_cast<double>(found_)}}}; }

void PeopleOutput::report(const StatisticsSnapshot& figures, const RunDescription& run, const WindowModel& model,
                          const PeopleDetector* detector) const {
    if (options_.json && frames_ > 0) print_summary(figures, run, model, detector);
    log_info("{} frames in {:.2f} s, {:.1f} fps, {} dropped; {} people", figures.frames, figures.seconds, figures.fps,
             figures.drops, found_);
    if (frames_left_out_ > 0)
        log_warning("in {} frames more windows scored above the threshold than are looked at; only the best were",
                    frames_left_out_);
}

void PeopleOutput::print_summary(const StatisticsSnapshot& figures, const RunDescription& run, const WindowModel& model,
                                 const PeopleDetector* detector) const {
    nlohmann::ordered_json summary{{"source", run.source},
                                   {"output", options_.output},
                                   {"frames", frames_},
                                   {"people", found_},
                                   {"window", {model.width_px, model.height_px}}};
    if (detector) {
        summary["sizes"] = detector->levels();
        summary["windows"] = detector->windows();
    }
    summary["threshold"] = as_double(parameters_.threshold);
    summary["scale_step"] = parameters_.scale_step;
    summary["overlap"] = parameters_.overlap;
    if (best_) summary["best_score"] = as_double(*best_);
    summary["backend"] = run.backend;
    summary["seconds"] = figures.seconds;
    summary["fps"] = figures.fps;
    fmt::print("{}\n", summary.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace framewire::app
