#include "framewire/jobs/detect.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/detect/box_overlay.hpp"
#include "framewire/detect/motion_ranges.hpp"
#include "framewire/detect/track_overlay.hpp"
#include "framewire/filters/gray.hpp"
#include "framewire/jobs/clips.hpp"
#include "framewire/jobs/input/filtered_input.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/jobs/outputs.hpp"
#include "framewire/jobs/run.hpp"
#include "framewire/media/media.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

// A FrameDetector finds the objects of each frame. Records, masks, label images and annotated frames are written in
// frame order.

namespace framewire::jobs {

namespace {

// Makes label images from bit masks. Runs on the CPU, because the masks are already on the host when frames are sent.
class LabelImager {
public:
    LabelImager(int connectivity, const Shape& frame, int threads)
        : executor_(BackendChoice::cpu, threads),
          labelling_({.connectivity = connectivity, .capacity = 1, .label_images = true}, frame, executor_),
          components_(1, 1),
          labels_(static_cast<std::size_t>(frame.with_channels(1).bytes())) {}

    std::span<std::int32_t> labels_of(HostBitMaskView<const std::uint32_t> mask) {
        labelling_.run(mask, components_.lists(), {labels_.data()});
        return labels_;
    }

private:
    Executor executor_;
    ComponentLabelling labelling_;
    HostComponents components_;
    std::vector<std::int32_t> labels_;
};

// Returns the parameters of the tracker, if there is one. Events in zones are those of tracks.
std::optional<TrackerParameters> tracker_of(const DetectOptions& options) {
    if (options.detector.tracker || options.zones.empty()) return options.detector.tracker;
    return TrackerParameters{};
}

// Returns how clips are cut, after a look at the source and the folder; empty if none are wanted.
std::optional<ClipOptions> clips_of(const DetectOptions& options, const SourceInfo& source) {
    if (options.clips.empty()) return std::nullopt;
    auto clips = parse_clips(options.clips);
    if (source.live || options.input.loop)
        fail(ErrorCode::usage,
             "--clips reads {} a second time, which is not possible {}; use 'framewire serve --detect --clips {}'",
             source.name, source.live ? "with a live source" : "with a loop", clips.folder);
    prepare_clip_folder(clips.folder);
    clips.audio = options.audio;
    return clips;
}

}  // namespace

// Members are opened in the order of declaration: the source first, outputs last.
struct DetectJob::State {
    explicit State(const DetectOptions& options);

    void run();
    void send(InputFrame& frame, const FrameTime& time, const FrameObjects& found);
    void finish(FirstFailure& failure, Ending ending);
    // Adds what happens in a frame to the time ranges of clips.
    void add_to_clips(double seconds, std::span<const Component> objects, std::span<const ZoneEvent> events);
    // Cuts the clips. A failure of one does not keep the others from being cut.
    void cut_clips(FirstFailure& failure);

    FrameJob<FilteredInput> job;
    InputOptions input;
    std::optional<ClipOptions> clips;  // empty: none
    ClipTimes clip_times;
    std::vector<ClipRange> clip_ranges;
    std::unique_ptr<FrameDetector> detector;
    VideoOutput annotated, masks;
    HostImage mask;  // the last mask, unpacked
    std::optional<LabelImager> imager;
    LabelOutput labels;
    std::optional<DetectSteps> steps;
    std::optional<Tracker> tracker;
    TrackOverlay overlay;
    std::optional<ZoneEvents> zone_events;  // empty without zones
    ObjectRecords records;
    RecordFile output;
    DetectResult result;
};

DetectJob::State::State(const DetectOptions& options)
    : job(options.job, options.input, files_of(options)),
      input(options.input),
      clips(clips_of(options, job.input().info())),
      clip_times(clips ? clips->before_seconds : 0, clips ? clips->after_seconds : 0),
      detector(make_detector(options.detector, job.input().shape(), job.input().rate(), job.input().executor(),
                             job.stop(), !options.mask.empty() || !options.labels.empty())),
      annotated(options.annotate, job.input().shape(), job.input().rate(),
                job.film_options(options.input, options.audio)),
      masks(options.mask, job.input().shape().with_channels(1), job.input().rate(), job.sink_options()),
      labels(options.labels, job.input().shape(), job.input().info().frames == 1, job.sink_options().file_options()),
      overlay(options.trails_seconds),
      records(options.format),
      output(options.output, job.sink_options().file_options()) {
    const auto& shape = job.input().shape();
    if (masks.wanted()) mask = HostImage(shape.with_channels(1));
    if (detector->takes_planes() && !annotated.wanted() && options.steps.folder.empty())
        job.input().give_unfiltered_pictures();
    if (labels.wanted()) imager.emplace(options.detector.parameters.connectivity, shape, options.job.threads);
    if (const auto parameters = tracker_of(options)) tracker.emplace(*parameters, shape.width, shape.height);
    if (!options.zones.empty()) zone_events.emplace(options.zones, shape.width, shape.height);
    if (!options.steps.folder.empty())
        steps.emplace(options.steps, options.detector, shape, job.input().rate(), options.job.threads,
                      job.sink_options(), job.stop());
}

void DetectJob::State::run() {
    job.run<FrameObjects>(
        {.wanted = {.on_host = annotated.wanted() || steps, .by_stages = true},
         .begin = [this] { return output.begin(records.begin()), true; },
         .make = [this] { return detector->make_objects(); },
         .start = [this](InputFrame& frame, const FrameTime&,
                         FrameObjects& found) { start_on(frame, *detector, found); },
         .send = [this](InputFrame& frame, const FrameTime& time, FrameObjects& found) { send(frame, time, found); },
         .finish = [this](FirstFailure& failure, Ending ending) { finish(failure, ending); },
         .describe =
             [this](RunDescription& run) {
                 run.plan.push_back(detector->planned_step(job.input().result_format()));
                 run.filters.push_back({"detect", {{"objects", 0, static_cast<double>(result.objects)}}});
             }},
        result);
}

// Writes all outputs of one frame. Boxes are drawn last, because drawing changes the frame.
void DetectJob::State::send(InputFrame& frame, const FrameTime& time, const FrameObjects& found) {
    const auto objects = found.objects();
    const auto& shape = job.input().shape();
    std::optional<std::span<const Track>> tracks;
    if (tracker) tracks = tracker->update(objects, time.seconds);
    std::optional<std::span<const ZoneEvent>> events;
    if (zone_events) events = zone_events->update(*tracks, time.seconds);
    output.write(records.add({.frame = time.index,
                              .time_s = time.seconds,
                              .width = shape.width,
                              .height = shape.height,
                              .objects = objects,
                              .tracks = tracks,
                              .events = events}));
    if (masks.wanted()) {
        found.unpack_mask(mask.view());
        masks.write(std::as_const(mask).view(), time);
    }
    if (labels.wanted()) labels.write(imager->labels_of(found.mask()), objects);
    if (steps) steps->write(frame.result().host(), time);
    if (annotated.wanted()) {
        const auto image = frame.result().host();
        if (tracks)
            overlay.draw(*tracks, time.seconds, image);
        else
            draw_outlines(objects, {}, image);
        annotated.write(image, time);
    }
    if (clips) add_to_clips(time.seconds, objects, events.value_or(std::span<const ZoneEvent>()));
    result.objects += std::ssize(objects);
    result.left_out += found.left_out();
    if (events) result.events += std::ssize(*events);
    job.statistics().set_sent_bytes(output.bytes() + annotated.bytes() + masks.bytes() + labels.bytes() +
                                    (steps ? steps->bytes() : 0));
}

void DetectJob::State::finish(FirstFailure& failure, Ending ending) {
    failure.attempt([&] { annotated.finish(ending); });
    failure.attempt([&] { masks.finish(ending); });
    failure.attempt([&] { labels.finish(ending); });
    if (steps) failure.attempt([&] { steps->finish(ending); });
    failure.attempt([&] { output.finish(ending, records.end()); });
}

void DetectJob::State::add_to_clips(double seconds, std::span<const Component> objects,
                                    std::span<const ZoneEvent> events) {
    const bool any = !objects.empty();
    if (zone_events)
        clip_times.add(seconds,
                       {!events.empty(), std::ranges::any_of(zone_events->inside(), [](int n) { return n > 0; })});
    else
        clip_times.add(seconds, {any, any, MotionRangeRules{}.after_frames});
    const auto& range = clip_times.range();
    if (!range) return;
    if (clip_ranges.empty() || clip_ranges.back().begin_seconds != range->begin_seconds)
        clip_ranges.push_back(*range);
    else
        clip_ranges.back() = *range;
}

void DetectJob::State::cut_clips(FirstFailure& failure) {
    for (const auto& range : clip_ranges)
        for (const auto& part :
             parts_of({std::max(0.0, range.begin_seconds), range.end_seconds}, clips->most_seconds)) {
            if (job.stopped()) return;
            failure.attempt([&] {
                const auto path =
                    free_file_name(clips->folder, clip_name(input.source, 0, part.begin_seconds), usual_clip_ending());
                RunJob cut(cut_of(job.options(), input, part, path, clips->audio));
                cut.run();
                result.clips.push_back(path);
            });
        }
}

namespace {

FileFormat file_format_of(RecordFormat format) {
    switch (format) {
        case RecordFormat::coco: return {"records of --format coco", {".json"}};
        case RecordFormat::mot: return {"records of --format mot", {".txt"}};
        default: return {"records of --format jsonl", json_lines_format.endings};
    }
}

}  // namespace

JobFiles files_of(const DetectOptions& options) {
    if (options.trails_seconds > 0 && (!tracker_of(options) || options.annotate.empty()))
        fail(ErrorCode::usage, "--trails needs --annotate, and --track or --zones");
    require_one_standard_output({options.output, options.annotate, options.mask}, "-o, --annotate and --mask");
    if (!options.zones.empty() && options.format != RecordFormat::jsonl)
        fail(ErrorCode::usage, "zones need JSON lines, because other formats have no events; use --format jsonl");
    if (!options.clips.empty() && JobFiles().source(options.input.source).reads_standard_input())
        fail(ErrorCode::usage, "--clips reads the source a second time, which is not possible with standard input");
    auto files = JobFiles()
                     .source(options.input.source)
                     .output("-o", options.output, file_format_of(options.format))
                     .sink("--annotate", options.annotate)
                     .sink("--mask", options.mask)
                     .statistics(options.job.statistics_path);
    if (is_label_image(options.labels))
        files.sink("--labels", options.labels);
    else
        files.output("--labels", options.labels, {"label images", {".npy", ".png"}});
    add_step_files(files, options.steps, options.detector.parameters);
    add_input_files(files, options.detector);
    return files;
}

DetectJob::DetectJob(const DetectOptions& options) : state_(std::make_unique<State>(options)) {}
DetectJob::~DetectJob() = default;

// Events that were found before a failure are cut, too.
const DetectResult& DetectJob::run() {
    FirstFailure failure;
    failure.attempt([&] { state_->run(); });
    if (state_->clips) state_->cut_clips(failure);
    failure.rethrow();
    return state_->result;
}
const DetectResult& DetectJob::result() const { return state_->result; }
const Statistics& DetectJob::statistics() const { return state_->job.statistics(); }

namespace {

// Returns the first frame of the picture or video at `path`, which must have the frames' width and height.
HostImage load_picture(const std::string& path, const Shape& frame, const char* what, const std::stop_token& stop) {
    const auto source = open_source(path, {.stop = stop});
    const auto& shape = source->info().shape;
    if (shape.width != frame.width || shape.height != frame.height)
        fail(ErrorCode::usage, "{} {} is {}x{}, but the frames are {}x{}", what, path, shape.width, shape.height,
             frame.width, frame.height);
    HostImage picture(shape);
    FrameTime time;
    if (!source->read(picture.view(), time)) fail(ErrorCode::no_input, "{} {} contains no picture", what, path);
    return picture;
}

}  // namespace

std::optional<MaskRegion> make_region(const DetectorRegion& region, const Shape& frame, Executor& executor,
                                      const std::stop_token& stop) {
    if (const auto* zones = std::get_if<std::vector<Zone>>(&region)) return MaskRegion(*zones, frame, executor);
    const auto* path = std::get_if<std::string>(&region);
    if (!path) return {};
    const auto gray = load_region(*path, frame, stop);
    return MaskRegion(gray.view(), executor);
}

HostImage load_region(const std::string& path, const Shape& frame, const std::stop_token& stop) {
    const auto picture = load_picture(path, frame, "the region's mask", stop);
    HostImage gray(picture.shape().with_channels(1));
    Executor on_cpu(BackendChoice::cpu, 1);
    Gray({.channels = 1}, picture.shape(), on_cpu)
        .run(FilterImages<MemorySpace::host>{picture.view(), {}, gray.view()});
    return gray;
}

std::optional<HostImage> load_background(const DetectorOptions& options, const Shape& frame,
                                         const std::stop_token& stop) {
    const auto* image = std::get_if<BackgroundImage>(&options.parameters.background);
    if (!image) return {};
    return load_picture(image->path, frame, "the background", stop);
}

std::unique_ptr<FrameDetector> make_detector(const DetectorOptions& options, const Shape& frame, Rational rate,
                                             Executor& executor, const std::stop_token& stop, bool with_masks) {
    auto detector = std::make_unique<FrameDetector>(at_rate(options.parameters, rate.value()), frame, executor,
                                                    make_region(options.region, frame, executor, stop), with_masks);
    if (const auto picture = load_background(options, frame, stop)) detector->set_background(picture->view());
    return detector;
}

bool has_faster_background(const DetectorOptions& options) {
    return std::holds_alternative<AdaptiveParameters>(options.parameters.background);
}

void add_input_files(JobFiles& files, const DetectorOptions& options) {
    if (const auto* path = std::get_if<std::string>(&options.region)) files.input("--roi-mask", *path);
    if (const auto* image = std::get_if<BackgroundImage>(&options.parameters.background))
        files.input("--background", image->path);
}

namespace {

// Returns the path of a step's video, or the file name pattern of its images.
std::string path_of_step(const DetectStepsOptions& options, std::string_view name) {
    const bool pictures = options.format == "png" || options.format == "jpg";
    const std::string path =
        std::filesystem::path(options.folder) / fmt::format("{}{}.{}", name, pictures ? "%06d" : "", options.format);
    return pictures ? path : literal_sink(path);
}

}  // namespace

// The steps need a separate detector on the CPU, whichever backend the job uses.
DetectSteps::DetectSteps(const DetectStepsOptions& options, const DetectorOptions& detector, const Shape& frame,
                         Rational rate, int threads, const SinkOptions& sinks, const std::stop_token& stop)
    : executor_(BackendChoice::cpu, threads),
      region_(make_region(detector.region, frame, executor_, stop)),
      steps_(at_rate(detector.parameters, rate.value()), frame, executor_, region_ ? &*region_ : nullptr) {
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
        fail(ErrorCode::usage, "unknown format '{}' for steps; allowed: mkv, mp4, avi, png and jpg", options.format);
    for (const auto name : detector_step_names(detector)) files.sink("--steps", path_of_step(options, name));
}

}  // namespace framewire::jobs
