#include "framewire/jobs/people.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/view.hpp"
#include "framewire/detect/box_overlay.hpp"
#include "framewire/detect/objects.hpp"
#include "framewire/filters/text.hpp"
#include "framewire/hog/people_detector.hpp"
#include "framewire/jobs/input/filtered_input.hpp"
#include "framewire/jobs/input/folder_input.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/jobs/outputs.hpp"
#include "framewire/media/image_sequence.hpp"
#include "framewire/media/window_model_file.hpp"
#include "framewire/plan/frame_hog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <iterator>

namespace framewire::jobs {
namespace {

// Makes an object for the records from a detection. A detection has only a box, so area and centroid are those of the
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

namespace {

// Reads and checks the model.
WindowModel model_for(const PeopleOptions& options) {
    auto model = read_window_model(options.model, options.window, options.asked, options.job.stop);
    // checked before the first image is read
    validate(model, options.people);
    return model;
}

// Returns the output path of each annotated image; empty if images are not annotated.
std::vector<std::string> annotated_of(const std::vector<std::string>& images, const PeopleOptions& options) {
    const auto& folder = options.annotate;
    if (folder.empty()) return {};
    if (!is_output_folder(folder))
        fail(ErrorCode::usage, "--annotate {} is not a folder name; for a folder of images, use {}/", folder, folder);
    if (is_same_folder(folder, options.input.source))
        fail(ErrorCode::usage,
             "--annotate {} is the input folder; use another one, because its images would be overwritten", folder);
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
    // output path per image; empty if images are not annotated
    std::vector<std::string> annotated;
    PeopleResult result;
    PeopleRecords records;
    // present if images are annotated
    std::optional<ScoreLabels> labels;

    std::optional<PeopleDetector> detector;
    // detections in the last image
    DetectedPeople people;
    // image shape for which `detector` was made
    Shape prepared{};
    // reason why there is no detector
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

// Makes a detector for images of this shape, or none if the images are smaller than a window.
void PeopleFolderJob::State::prepare(const Shape& shape) {
    if (shape == prepared) return;
    people = {};
    // frees the memory before the next detector allocates its own
    detector.reset();
    too_small = without_windows(model, parameters, shape);
    if (too_small.empty()) {
        detector.emplace(model, parameters, shape, job.input().executor());
        people = detector->make_people();
    }
    prepared = shape;
}

// Waits for the result, because the detector's memory holds one image at a time.
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

// State of the job. The detector runs on the executor's backend; boxes and scores are drawn on the host.
struct PeopleJob::State {
    explicit State(const PeopleOptions& options);

    void run();
    void send(InputFrame& frame, const FrameTime& time, const DetectedPeople& people);

    WindowModel model;
    FrameJob<FilteredInput> job;
    PeopleDetector detector;
    // people in the frame that is being sent
    FoundPeople found;
    VideoOutput annotated;
    // present if frames are annotated
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

// For a folder of images, annotated images go to a folder; for any other source, annotated frames go to one sink.
JobFiles files_of(const PeopleOptions& options) {
    require_one_standard_output({options.output, options.annotate}, "-o and --annotate");
    auto files = JobFiles()
                     .source(options.input.source)
                     .input("--people", options.model)
                     .output("-o", options.output, json_lines_format);
    if (!is_folder(options.input.source))
        files.sink("--annotate", options.annotate);
    else if (!options.annotate.empty() && is_output_folder(options.annotate) &&
             !is_same_folder(options.annotate, options.input.source))
        files.outputs("--annotate", options.annotate, options.input.source, ".png");
    return files.statistics(options.job.statistics_path);
}

// Updates the totals together with the file, so that both still agree after a failure.
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

namespace {

// Height of the digits in pixels.
constexpr int font_px = 12;

}  // namespace

ScoreLabels::ScoreLabels() {
    try {
        atlas_.emplace(find_font(""), font_px, U"-.0123456789");
    } catch (const Error& error) {
        if (error.code() != ErrorCode::config) throw;
        log_warning("cannot draw scores: {}", error.what());
    }
}

void ScoreLabels::draw(float score, int x, int y, HostView<std::uint8_t> picture) const {
    if (!atlas_) return;
    // the longest float has 39 digits, a sign, a decimal point and two decimals
    std::array<char, 48> text;
    const auto end = fmt::format_to_n(text.data(), text.size(), "{:.2f}", score).out;
    int width = 0;
    for (const auto* character = text.data(); character != end; ++character)
        width += atlas_->glyph(static_cast<char32_t>(*character)).advance;
    const auto& shape = picture.shape();
    const Component box{.id = 1,
                        .x = x,
                        .y = y,
                        .width = std::min(width + 2, shape.width - x),
                        .height = std::min(atlas_->line_px(), shape.height - y),
                        .area = 0,
                        .sum_x = 0,
                        .sum_y = 0};
    const int side = std::max(box.width, box.height);
    // a line as wide as the box fills the box
    draw_outlines({&box, 1}, {.line_px = side}, picture);
    int pen = x + 1;
    for (const auto* character = text.data(); character != end; ++character) {
        const auto& glyph = atlas_->glyph(static_cast<char32_t>(*character));
        for (int row = 0; row < glyph.height; ++row)
            for (int column = 0; column < glyph.width; ++column) {
                const int to_x = pen + glyph.left + column, to_y = y + atlas_->ascent_px() - glyph.top + row;
                if (to_x < 0 || to_x >= shape.width || to_y < 0 || to_y >= shape.height) continue;
                const auto covered = atlas_->coverage()[glyph.offset + static_cast<std::size_t>(row) * glyph.width +
                                                        static_cast<std::size_t>(column)];
                auto* pixel = picture.row(0, to_y) + to_x * shape.channels;
                for (int channel = 0; channel < shape.channels; ++channel)
                    pixel[channel] = static_cast<std::uint8_t>(blend(pixel[channel], 255, covered));
            }
        pen += glyph.advance;
    }
}

}  // namespace framewire::jobs
