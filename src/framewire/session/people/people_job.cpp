#include "framewire/session/people/people_job.hpp"

#include "framewire/media/formats/window_model_file.hpp"
#include "framewire/pipeline/frames/frame_people.hpp"

namespace framewire::session {

PeopleJob::PeopleJob(const PeopleOptions& options)
    : model_(read_window_model(options.model, options.window, options.job.stop)),
      job_(options.job, options.input, files_of(options)),
      detector_(model_, options.people, job_.input().shape(), job_.input().executor()),
      found_(options.people),
      annotated_(options.annotate, job_.input().shape(), job_.input().rate(), job_.sink_options()),
      records_(options.output, job_.sink_options().file_options(), result_) {
    if (annotated_.wanted()) labels_.emplace();
}

const PeopleResult& PeopleJob::run() {
    job_.run<DetectedPeople>(
        {.wanted = {.on_host = annotated_.wanted(), .by_stages = true},
         .make = [this] { return detector_.make_people(); },
         .start = [this](InputFrame& frame, const FrameTime&,
                         DetectedPeople& people) { start(detector_, frame.result(), people, job_.input().executor()); },
         .send = [this](InputFrame& frame, const FrameTime& time,
                        DetectedPeople& people) { send(frame, time, people); },
         .finish =
             [this](FirstFailure& failure, Ending ending) {
                 failure.attempt([&] { annotated_.finish(ending); });
                 failure.attempt([&] { records_.finish(ending); });
             },
         .describe = [this](RunDescription& run) { records_.describe(run); }},
        result_);
    return result_;
}

void PeopleJob::send(InputFrame& frame, const FrameTime& time, const DetectedPeople& people) {
    found_.take(people, detector_.parameters().capacity);
    records_.write(found_, job_.input().shape(), time);
    if (annotated_.wanted()) {
        const auto picture = frame.result().host();
        found_.draw(*labels_, picture);
        annotated_.write(picture, time);
    }
    job_.statistics().set_sent_bytes(records_.bytes() + annotated_.bytes());
}

}  // namespace framewire::session
