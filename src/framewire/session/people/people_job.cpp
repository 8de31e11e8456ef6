#include "framewire/session/people/people_job.hpp"

#include "framewire/media/formats/window_model_file.hpp"
#include "framewire/pipeline/frames/hog/frame_people.hpp"
#include "framewire/session/input/filtered_input.hpp"
#include "framewire/session/job/frame_job.hpp"
#include "framewire/session/outputs/video_output.hpp"
#include "framewire/session/people/found_people.hpp"
#include "framewire/session/people/people_records.hpp"
#include "framewire/session/people/score_labels.hpp"

namespace framewire::session {

// The detector runs on the executor's backend; boxes and scores are drawn on the host.
struct PeopleJob::State {
    explicit State(const PeopleOptions& options);

    void run();
    void send(InputFrame& frame, const FrameTime& time, const DetectedPeople& people);

    WindowModel model;
    FrameJob<FilteredInput> job;
    PeopleDetector detector;
    // in the frame being sent
    FoundPeople found;
    VideoOutput annotated;
    // set if frames are annotated
    std::optional<ScoreLabels> labels;
    PeopleResult result;
    PeopleRecords records;
};

PeopleJob::State::State(const PeopleOptions& options)
    : model(read_window_model(options.model, options.window, options.asked, options.job.stop)),
      job(options.job, options.input, files_of(options)),
      detector(model, options.people, job.input().shape(), job.input().executor()),
      found(options.people),
      annotated(options.annotate, job.input().shape(), job.input().rate(),
                job.film_options(options.input, options.audio)),
      records(options.output, job.sink_options().file_options(), result) {
    if (annotated.wanted()) labels.emplace();
}

void PeopleJob::State::run() {
    job.run<DetectedPeople>(
        {.wanted = {.on_host = annotated.wanted(), .by_stages = true},
         .make = [this] { return detector.make_people(); },
         .start = [this](InputFrame& frame, const FrameTime&,
                         DetectedPeople& people) { start(detector, frame.result(), people, job.input().executor()); },
         .send = [this](InputFrame& frame, const FrameTime& time,
                        DetectedPeople& people) { send(frame, time, people); },
         .finish =
             [this](FirstFailure& failure, Ending ending) {
                 failure.attempt([&] { annotated.finish(ending); });
                 failure.attempt([&] { records.finish(ending); });
             },
         .describe = [this](RunDescription& run) { records.describe(run); }},
        result);
}

// Writes the record before the boxes are drawn into the frame.
void PeopleJob::State::send(InputFrame& frame, const FrameTime& time, const DetectedPeople& people) {
    found.take(people, detector.parameters().capacity);
    records.write(found, job.input().shape(), time);
    if (annotated.wanted()) {
        const auto picture = frame.result().host();
        found.draw(*labels, picture);
        annotated.write(picture, time);
    }
    job.statistics().set_sent_bytes(records.bytes() + annotated.bytes());
}

PeopleJob::PeopleJob(const PeopleOptions& options) : state_(std::make_unique<State>(options)) {}
PeopleJob::~PeopleJob() = default;

const WindowModel& PeopleJob::model() const { return state_->model; }
const PeopleDetector& PeopleJob::detector() const { return state_->detector; }
const PeopleResult& PeopleJob::run() { return state_->run(), state_->result; }
const PeopleResult& PeopleJob::result() const { return state_->result; }
const Statistics& PeopleJob::statistics() const { return state_->job.statistics(); }

}  // namespace framewire::session
