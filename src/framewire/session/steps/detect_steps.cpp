#include "framewire/session/steps/detect_steps.hpp"

#include "framewire/core/error.hpp"
#include "framewire/session/detector.hpp"
#include "framewire/session/job/failure.hpp"
#include "framewire/session/outputs/folders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>

namespace framewire::session {
namespace {

// Returns the path of a step's video, or the pattern of its images.
std::string path_of_step(const DetectStepsOptions& options, std::string_view name) {
    const bool pictures = options.format == "png" || options.format == "jpg";
    const std::string path =
        std::filesystem::path(options.folder) / fmt::format("{}{}.{}", name, pictures ? "%06d" : "", options.format);
    return pictures ? path : literal_sink(path);
}

}  // namespace

// The steps need a detector of their own on the CPU, whatever backend the job uses.
DetectSteps::DetectSteps(const DetectStepsOptions& options, const DetectorOptions& detector, const Shape& frame,
                         Rational rate, int threads, const SinkOptions& sinks, const std::stop_token& stop)
    : executor_(BackendChoice::cpu, threads),
      region_(make_region(detector.region, frame, executor_, stop)),
      steps_(detector.parameters, frame, executor_, region_ ? &*region_ : nullptr) {
    if (const auto picture = load_background(detector, frame, stop)) steps_.set_background(picture->view());
    make_folder(options.folder);
    for (const auto& step : steps_.steps())
        videos_.emplace_back(path_of_step(options, step.name), step.picture.shape(), rate, sinks);
}

void DetectSteps::write(HostView<const std::uint8_t> frame, const FrameTime& time) {
    steps_.run(frame);
    const auto steps = steps_.steps();
    for (std::size_t index = 0; index < steps.size(); ++index) videos_[index].write(steps[index].picture.view(), time);
}

void DetectSteps::finish(Ending ending) {
    FirstFailure failure;
    for (auto& video : videos_) failure.attempt([&] { video.finish(ending); });
    failure.rethrow();
}

std::int64_t DetectSteps::bytes() const {
    std::int64_t bytes = 0;
    for (const auto& video : videos_) bytes += video.bytes();
    return bytes;
}

void add_step_files(JobFiles& files, const DetectStepsOptions& options, const DetectorParameters& detector) {
    if (options.folder.empty()) return;
    constexpr std::string_view formats[] = {"mkv", "mp4", "avi", "png", "jpg"};
    if (std::ranges::find(formats, options.format) == std::end(formats))
        fail(ErrorCode::usage, "steps as '{}'; allowed are mkv, mp4, avi, png and jpg", options.format);
    for (const auto name : detector_step_names(detector)) files.sink("--steps", path_of_step(options, name));
}

}  // namespace framewire::session
