#include "hog_people.hpp"

#include "filtered_input.hpp"
#include "score_labels.hpp"
#include "video_output.hpp"

#include "framewire/core/error.hpp"
#include "framewire/detect/box_overlay.hpp"
#include "framewire/detect/object_records.hpp"
#include "framewire/media/window_model_file.hpp"
#include "framewire/pipeline/circle.hpp"
#include "framewire/pipeline/frame_people.hpp"

#include <spdlog/spdlog.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace framewire::app {
namespace {

// One place of the circle: a frame as captured and as filtered, and who was found in it.
struct Slot {
    InputFrame frame;
    std::vector<Component> boxes;
    std::vector<float> scores;
};

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
double as_double(float value) { return std::stod(fmt::format("{}", value)); }

class FindPeople {
public:
    FindPeople(const HogOptions& options, const PeopleOptions& people, const std::stop_source& stop)
        : options_(options),
          stop_(stop),
          model_(read_window_model(people.model, window_of(options))),
          statistics_file_(options.common.statistics_path),
          input_(options.input, options.common, stop.get_token()),
          people_(model_, people.parameters, input_.shape(), input_.executor()),
          annotated_(people.annotate, input_.shape(), input_.info().rate,
                     {.stop = stop.get_token(), .live = input_.info().live}),
          output_(options.output, stop.get_token()) {
        if (annotated_.wanted()) labels_.emplace();
        spdlog::info("{} windows of {} sizes a frame", people_.detector().windows(), people_.detector().levels());
    }

    void operator()() {
        FirstFailure failure;
        failure.attempt([&] { pump(); });
        failure.attempt([&] { annotated_.finish(); });
        if (frames_ > 0 && !output_failed_) failure.attempt([&] { output_.finish(); });
        const auto figures = statistics_.snapshot();
        failure.attempt([&] {
            auto description = input_.description();
            description.filters.push_back({"people", {{"found", 0, static_cast<double>(found_)}}});
            statistics_file_.write(figures, description);
        });
        failure.rethrow();
        if (frames_ == 0 && !stop_.stop_requested()) fail(ErrorCode::no_input, "{} has no frames", input_.info().name);
        if (options_.json && frames_ > 0) print_summary(figures);
        spdlog::info("{} frames in {:.2f} s, {:.1f} fps, {} dropped; {} people", figures.frames, figures.seconds,
                     figures.fps, figures.drops, found_);
        if (frames_left_out_ > 0)
            spdlog::warn("in {} frames more windows scored above the threshold than are looked at; only the best were",
                         frames_left_out_);
    }

private:
    void pump() {
        const Progress progress(options_.common.progress_mode(), statistics_,
                                expected_frames(input_.info(), options_.common.frames));
        const auto circle = circle_options(options_.common, input_.info(), input_.shape(), stop_);
        std::vector<Slot> slots(static_cast<std::size_t>(circle.slots));
        for (auto& slot : slots) {
            slot.frame = input_.make_frame();
            const auto most = static_cast<std::size_t>(people_.detector().parameters().capacity);
            slot.boxes.reserve(most);
            slot.scores.reserve(most);
        }
        const auto at = [&](int slot) -> Slot& { return slots[static_cast<std::size_t>(slot)]; };
        run_circle({.capture = [&](int slot, FrameTime& time) { return input_.capture(at(slot).frame, time); },
                    .process = [&](int slot, const FrameTime& time) { find(at(slot), time); },
                    .send = [&](int slot, const FrameTime& time) { send(at(slot), time); }},
                   circle, statistics_);
    }

    void find(Slot& slot, const FrameTime& time) {
        input_.filter(slot.frame, time, statistics_);
        people_.process(slot.frame.image().view());
        slot.boxes.clear();
        slot.scores.clear();
        for (const auto& person : people_.people()) {
            slot.boxes.push_back(component_of(person, static_cast<int>(slot.boxes.size()) + 1));
            slot.scores.push_back(person.score);
        }
        if (people_.detector().candidates() > people_.detector().parameters().capacity) ++frames_left_out_;
    }

    void send(Slot& slot, const FrameTime& time) {
        const auto picture = slot.frame.image().view();
        write(to_json_line(
            {time.index, time.seconds, picture.shape().width, picture.shape().height, slot.boxes, slot.scores}));
        if (annotated_.wanted()) {
            draw_outlines(slot.boxes, {}, picture);
            for (std::size_t i = 0; i < slot.boxes.size(); ++i)
                labels_->draw(slot.scores[i], slot.boxes[i].x, slot.boxes[i].y, picture);
            annotated_.write(picture, time);
        }
        found_ += std::ssize(slot.boxes);
        for (const float score : slot.scores) best_ = std::max(best_.value_or(score), score);
        ++frames_;
        statistics_.set_sent_bytes(record_bytes_ + annotated_.bytes());
    }

    void write(const std::string& text) {
        output_failed_ = true;  // until it has not
        output_.write(text.data(), text.size());
        record_bytes_ += std::ssize(text);
        output_failed_ = false;
    }

    void print_summary(const StatisticsSnapshot& figures) const {
        const auto& parameters = people_.detector().parameters();
        nlohmann::ordered_json summary{{"source", input_.info().name},
                                       {"output", options_.output},
                                       {"frames", frames_},
                                       {"people", found_},
                                       {"window", {model_.width_px, model_.height_px}},
                                       {"sizes", people_.detector().levels()},
                                       {"windows", people_.detector().windows()},
                                       {"threshold", as_double(parameters.threshold)},
                                       {"scale_step", parameters.scale_step},
                                       {"overlap", parameters.overlap}};
        if (best_) summary["best_score"] = as_double(*best_);
        summary["backend"] = input_.description().backend;
        summary["seconds"] = figures.seconds;
        summary["fps"] = figures.fps;
        fmt::print("{}\n", summary.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    }

    const HogOptions& options_;
    std::stop_source stop_;
    // In this order, so that what is cheap to refuse is refused first and outputs are touched last.
    WindowModel model_;
    StatisticsFile statistics_file_;
    FilteredInput input_;
    FramePeople people_;
    VideoOutput annotated_;  // beside the records
    std::optional<ScoreLabels> labels_;
    OutputFile output_;

    Statistics statistics_;
    std::int64_t frames_ = 0, found_ = 0, frames_left_out_ = 0, record_bytes_ = 0;
    std::optional<float> best_;
    bool output_failed_ = false;
};

}  // namespace

void add_people_options(CLI::App& command, PeopleOptions& options) {
    auto* people = command
                       .add_option("--people", options.model,
                                   "find people instead, by this model: .npy, text or OpenCV's YAML; -o takes JSON "
                                   "lines, standard output without")
                       ->type_name("MODEL");
    command.add_option("--annotate", options.annotate, "with --people: the frames with boxes and scores, as run's -o")
        ->type_name("DST")
        ->needs(people);
    auto& parameters = options.parameters;
    command.add_option("--threshold", parameters.threshold, "with --people: windows that score more")
        ->capture_default_str()
        ->needs(people);
    command.add_option("--scale-step", parameters.scale_step, "with --people: from one size to the next, 1.05 to 2")
        ->capture_default_str()
        ->needs(people);
    command
        .add_option("--overlap", parameters.overlap,
                    "with --people: intersection over union above which the worse of two goes, 0 to 1")
        ->type_name("IOU")
        ->capture_default_str()
        ->needs(people);
    command
        .add_option("--min-height", parameters.least_height_px,
                    "with --people: of windows, from half of the model's; 0 is the model's")
        ->type_name("PX")
        ->capture_default_str()
        ->needs(people);
    command.add_option("--max-height", parameters.most_height_px, "with --people: of windows; 0 is the frame's")
        ->type_name("PX")
        ->capture_default_str()
        ->needs(people);
}

void find_people(const HogOptions& options, const PeopleOptions& people, const std::stop_source& stop) {
    int outputs = options.json ? 1 : 0;
    for (const auto* path : {&options.output, &people.annotate}) outputs += *path == "-" ? 1 : 0;
    if (outputs > 1)
        fail(ErrorCode::usage, "{} of -o (- without it), --annotate and --json go to standard output; one of them can",
             outputs);
    FindPeople(options, people, stop)();
}

}  // namespace framewire::app
