#include "framewire/session/people/people_folder_job.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/view.hpp"
#include "framewire/hog/people/people_detector.hpp"
#include "framewire/media/formats/window_model_file.hpp"
#include "framewire/pipeline/frames/hog/frame_people.hpp"
#include "framewire/session/input/folder_input.hpp"
#include "framewire/session/job/frame_job.hpp"
#include "framewire/session/outputs/folders.hpp"
#include "framewire/session/people/found_people.hpp"
#include "framewire/session/people/people_records.hpp"
#include "framewire/session/people/score_labels.hpp"

#include <cstddef>
#include <filesystem>

namespace framewire::session {
namespace {

// Reads and checks the model.
WindowModel model_for(const PeopleOptions& options) {
    auto model = read_window_model(options.model, options.window, options.asked, options.job.stop);
    // checked before the first image is read
    validate(model, options.people);
    return model;
}

// Returns one path per image for the annotated images; empty if there are none.
std::vector<std::string> annotated_of(const std::vector<std::string>& images, const PeopleOptions& options) {
    const auto& folder = options.annotate;
    if (folder.empty()) return {};
    if (!is_output_folder(folder))
        fail(ErrorCode::usage, "--annotate {}: the images of a folder go into a folder, {}/", folder, folder);
    if (is_same_folder(folder, options.input.source))
        fail(ErrorCode::usage, "--annotate {} is the folder of -i; another is needed, for images there would be lost",
             folder);
    return outputs_of(images, folder, ".png");
}

}  // namespace

struct PeopleFolderJob::State {
    // Results of one image; complete when start() returns.
    struct Found {
        FoundPeople people;

        void wait() const {}
    };

    explicit State(const PeopleOptions& options);

    void run();
    void prepare(const Shape& shape);
    void start(InputFrame& frame, const FrameTime& time, FoundPeople& found);
    void send(InputFrame& frame, const FrameTime& time, const FoundPeople& found);

    PeopleParameters parameters;
    WindowModel model;
    FrameJob<FolderInput> job;
    OutputFileOptions files;
    // path per image; empty if images are not annotated
    std::vector<std::string> annotated;
    PeopleResult result;
    PeopleRecords records;
    // set if images are annotated
    std::optional<ScoreLabels> labels;

    std::optional<PeopleDetector> detector;
    // results for the last image
    DetectedPeople people;
    // image shape that `detector` was made for
    Shape prepared{};
    // why `detector` is empty
    std::string too_small;
    std::int64_t annotated_bytes = 0;
};

PeopleFolderJob::State::State(const PeopleOptions& options)
    : parameters(options.people),
      model(model_for(options)),
      job(options.job, options.input, files_of(options)),
      files{.stop = job.stop(), .replace = options.job.replace},
      annotated(annotated_of(job.input().images(), options)),
      records(options.output, files, result) {
    if (annotated.empty()) return;
    make_folder(options.annotate);
    labels.emplace();
}

void PeopleFolderJob::State::run() {
    job.run<Found>(
        {.wanted = {.on_host = labels.has_value(), .by_stages = true},
         .under_way = 1,
         .make = [this] { return Found{FoundPeople(parameters)}; },
         .start = [this](InputFrame& frame, const FrameTime& time, Found& found) { start(frame, time, found.people); },
         .send = [this](InputFrame& frame, const FrameTime& time, Found& found) { send(frame, time, found.people); },
         .finish = [this](FirstFailure& failure, Ending ending) { failure.attempt([&] { records.finish(ending); }); },
         .describe = [this](RunDescription& run) { records.describe(run); }},
        result);
}

// Makes a detector for images of this shape; none if they are smaller than a window.
void PeopleFolderJob::State::prepare(const Shape& shape) {
    if (shape == prepared) return;
    people = {};
    // free its memory before the next detector allocates
    detector.reset();
    too_small = without_windows(model, parameters, shape);
    if (too_small.empty()) {
        detector.emplace(model, parameters, shape, job.input().executor());
        people = detector->make_people();
    }
    prepared = shape;
}

// The detector's memory is used for one image at a time, so this waits for the result.
void PeopleFolderJob::State::start(InputFrame& frame, const FrameTime& time, FoundPeople& found) {
    auto& picture = frame.result();
    prepare(picture.shape());
    if (detector) {
        framewire::start(*detector, picture, people, job.input().executor());
        people.wait();
        found.take(people, parameters.capacity);
    } else {
        log_warning("{}: {} (--min-height)", job.input().image(time), too_small);
        found.clear();
    }
}

void PeopleFolderJob::State::send(InputFrame& frame, const FrameTime& time, const FoundPeople& found) {
    auto& picture = frame.result();
    const auto name = std::filesystem::path(job.input().image(time)).filename();
    records.write(found, picture.shape(), time, name.native());
    if (labels) {
        found.draw(*labels, picture.host());
        annotated_bytes += write_png(annotated[static_cast<std::size_t>(time.index)], picture.host(), files);
    }
    job.statistics().set_sent_bytes(records.bytes() + annotated_bytes);
}

PeopleFolderJob::PeopleFolderJob(const PeopleOptions& options) : state_(std::make_unique<State>(options)) {}
PeopleFolderJob::~PeopleFolderJob() = default;

const WindowModel& PeopleFolderJob::model() const { return state_->model; }
const PeopleResult& PeopleFolderJob::run() { return state_->run(), state_->result; }
const PeopleResult& PeopleFolderJob::result() const { return state_->result; }
const Statistics& PeopleFolderJob::statistics() const { return state_->job.statistics(); }

}  // namespace framewire::session
