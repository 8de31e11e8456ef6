#include "commands/hog/hog_people.hpp"

#include "commands/hog/hog_people_folder.hpp"
#include "commands/hog/hog_people_output.hpp"
#include "jobs/filtered_input.hpp"
#include "jobs/video_output.hpp"
#include "options/parameter_options.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/media/formats/window_model_file.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/pipeline/circle/circle.hpp"
#include "framewire/pipeline/frames/frame_people.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <vector>

namespace framewire::app {
namespace {

// One place of the circle: a frame as captured and as filtered, and who was found in it.
struct Slot {
    InputFrame frame;
    DetectedPeople people;
};

class FindPeople {
public:
    FindPeople(const HogOptions& options, const PeopleOptions& people, const std::stop_source& stop)
        : options_(options),
          stop_(stop),
          model_(read_window_model(people.model, window_of(options), stop.get_token())),
          statistics_file_(options.common),
          input_(options.input, options.common, stop.get_token()),
          detector_(model_, people.parameters, input_.shape(), input_.executor()),
          found_(people.parameters),
          annotated_(people.annotate, input_.shape(), input_.info().rate,
                     sink_options(options.common, input_.info(), stop)),
          output_(options, people.parameters, sink_options(options.common, input_.info(), stop).file_options()) {
        if (annotated_.wanted()) labels_.emplace();
        log_info("{} windows of {} sizes a frame", detector_.windows(), detector_.levels());
    }

    void operator()() {
        FirstFailure failure;
        failure.attempt([&] { pump(); });
        const auto ending = ending_of(failure, stop_, input_.info().live);
        failure.attempt([&] { annotated_.finish(ending); });
        failure.attempt([&] { output_.finish(ending); });
        const auto figures = statistics_.snapshot();
        auto run = input_.description();
        run.filters.push_back(output_.figures());
        failure.attempt([&] { statistics_file_.write(figures, run); });
        failure.rethrow();
        if (output_.frames() == 0 && !stop_.stop_requested())
            fail(ErrorCode::no_input, "{} has no frames", input_.info().name);
        output_.report(figures, run, model_, &detector_);
    }

private:
    void pump() {
        const Progress progress(options_.common.progress_mode(), statistics_,
                                expected_frames(input_.info(), options_.common.frames));
        const auto circle = circle_options(options_.common, input_.info(), input_.shape(), stop_, input_.backend());
        std::vector<Slot> slots;
        for (int slot = 0; slot < circle.slots; ++slot) slots.push_back({input_.make_frame(), detector_.make_people()});
        const auto at = [&](int slot) -> Slot& { return slots[static_cast<std::size_t>(slot)]; };
        run_circle({.capture = [&](int slot, FrameTime& time) { return input_.capture(at(slot).frame, time); },
                    .process = [&](int slot, const FrameTime& time) { find(at(slot), time); },
                    .wait = [&](int slot) { wait(at(slot)); },
                    .send = [&](int slot, const FrameTime& time) { send(at(slot), time); }},
                   circle, statistics_);
    }

    void find(Slot& slot, const FrameTime& time) {
        input_.filter(slot.frame, time, statistics_, {.on_host = annotated_.wanted(), .by_stages = true});
        start(detector_, slot.frame.result(), slot.people, input_.executor());
    }

    void wait(Slot& slot) {
        slot.people.wait();
        slot.frame.wait();
    }

    void send(Slot& slot, const FrameTime& time) {
        found_.take(slot.people, detector_.parameters().capacity);
        output_.write(found_, input_.shape(), time);
        if (annotated_.wanted()) {
            const auto picture = slot.frame.result().host();
            found_.draw(*labels_, picture);
            annotated_.write(picture, time);
        }
        statistics_.set_sent_bytes(output_.bytes() + annotated_.bytes());
    }

    const HogOptions& options_;
    std::stop_source stop_;
    // In this order, so that what is cheap to refuse is refused first and outputs are touched last.
    WindowModel model_;
    StatisticsFile statistics_file_;
    FilteredInput input_;
    PeopleDetector detector_;
    FoundPeople found_;      // in the last frame
    VideoOutput annotated_;  // beside the records
    std::optional<ScoreLabels> labels_;
    PeopleOutput output_;

    Statistics statistics_;
};

}  // namespace

void add_people_options(CLI::App& command, PeopleOptions& options) {
    auto* people = command
                       .add_option("--people", options.model,
                                   "find people instead, by this model: .npy, text or OpenCV's YAML; -o takes JSON "
                                   "lines, standard output without")
                       ->type_name("MODEL");
    command
        .add_option(
            "--annotate", options.annotate,
            "with --people: the frames with boxes and scores, as run's -o; a folder's images as .png in another")
        ->type_name("DST|DIR/")
        ->needs(people);
    for (const auto& parameter : people_fields().infos())
        add_parameter(command, parameter, options.given, {.before = "with --people: ", .needs = people});
}

void find_people(const HogOptions& options, const PeopleOptions& people, const std::stop_source& stop) {
    int outputs = options.json ? 1 : 0;
    for (const auto* path : {&options.output, &people.annotate}) outputs += *path == "-" ? 1 : 0;
    if (outputs > 1)
        fail(ErrorCode::usage, "{} of -o (- without it), --annotate and --json go to standard output; one of them can",
             outputs);
    if (is_folder(options.input.source)) return find_people_in_folder(options, people, stop);
    FindPeople(options, people, stop)();
}

}  // namespace framewire::app
