#include "framewire/jobs/hog.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/text.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/hog/stages.hpp"
#include "framewire/jobs/input/filtered_input.hpp"
#include "framewire/jobs/input/folder_input.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/jobs/outputs.hpp"
#include "framewire/media/image_sequence.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/npy.hpp"
#include "framewire/media/output_file.hpp"
#include "framewire/media/window_model_file.hpp"
#include "framewire/plan/frame_hog.hpp"
#include "framewire/plan/frame_ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace framewire::jobs {

namespace {

// decoders do not deliver more frames in parallel, and each instance needs memory
constexpr int most_side_by_side = 16;

// Computes the descriptors of several frames in parallel on the CPU, each frame on a single thread. Threads that share
// a frame would have to wait for each other after every step of the algorithm.
class HogsSideBySide {
public:
    // `frames` is the number of frames to be processed in parallel.
    HogsSideBySide(const HogParameters& parameters, const Shape& frame, int frames) {
        for (int i = 0; i < frames; ++i) {
            all_.push_back(std::make_unique<FrameHog>(parameters, frame, one_thread_));
            free_.push_back(all_.back().get());
        }
    }

    int frames() const { return static_cast<int>(all_.size()); }

    // Computes the descriptors of one frame. At most frames() threads may call it at the same time.
    void run(InputFrame& frame, FrameDescriptors& found) {
        const Lent lent(*this);
        start_on(frame, *lent.hog, found);
    }

private:
    // Borrows a free instance for the lifetime of this object.
    struct Lent {
        explicit Lent(HogsSideBySide& of) : owner(&of) {
            const std::lock_guard lock(owner->mutex_);
            hog = owner->free_.back();
            owner->free_.pop_back();
        }
        ~Lent() {
            const std::lock_guard lock(owner->mutex_);
            owner->free_.push_back(hog);
        }
        Lent(const Lent&) = delete;
        Lent& operator=(const Lent&) = delete;

        HogsSideBySide* owner;
        FrameHog* hog;
    };

    Executor one_thread_{BackendChoice::cpu, 1};
    std::vector<std::unique_ptr<FrameHog>> all_;
    std::mutex mutex_;
    std::vector<FrameHog*> free_;  // guarded by mutex_
};

// Results of one frame.
struct Described {
    FrameDescriptors descriptors;
    void wait() { descriptors.wait(); }
};

}  // namespace

// State of the job. The output is opened last, after everything else has succeeded.
struct DescribeJob::State {
    explicit State(const DescribeOptions& asked);

    void run();
    // Writes the descriptors of one frame and, for selected frames, the step pictures.
    void send(InputFrame& frame, const Described& found);

    DescribeOptions options;
    FrameJob<FilteredInput> job;
    int under_way;
    FrameHog hog;
    // used instead of `hog` if present
    std::optional<HogsSideBySide> side_by_side;
    NpyFile output;
    Written written;
    DescribeResult result;
};

DescribeJob::State::State(const DescribeOptions& asked)
    : options(asked),
      job(options.job, options.input, files_of(options)),
      under_way(options.frames_under_way_on(job.input().backend())),
      hog(options.hog, job.input().shape(), job.input().executor()),
      output(options.output, array_shape(hog.output_shape()),
             job.input().info().frames != 1 || is_folder(options.input.source), job.sink_options().file_options()) {
    result.shape = hog.output_shape();
    auto& input = job.input();
    if (hog.takes_planes() && options.steps_folder.empty()) input.give_unfiltered_pictures();
    // Frames of a live source arrive one at a time, so several threads finish a frame sooner if they share it.
    if (input.backend() == Backend::cpu && !input.info().live && input.info().frames != 1)
        side_by_side.emplace(options.hog, input.shape(),
                             std::min(input.executor().pool().threads(), most_side_by_side));
}

void DescribeJob::State::run() {
    FrameStages<Described> stages{
        .wanted = {.on_host = !options.steps_folder.empty(), .by_stages = true},
        .under_way = under_way,
        .make = [this] { return Described{FrameDescriptors(hog.output_shape(), job.input().executor())}; },
        .send = [this](InputFrame& frame, const FrameTime&, Described& found) { send(frame, found); },
        .finish =
            [this](FirstFailure& failure, Ending ending) {
                if (written.whole()) failure.attempt([&] { output.finish(ending); });
            },
        .describe = [this](RunDescription& run) { run.plan.push_back(hog.planned_step(job.input().result_format())); }};
    if (side_by_side) {
        stages.workers = side_by_side->frames();
        stages.work = [this](InputFrame& frame, Described& found) {
            job.input().executor().step("hog", [&] { side_by_side->run(frame, found.descriptors); });
        };
    } else {
        stages.start = [this](InputFrame& frame, const FrameTime&, Described& found) {
            start_on(frame, hog, found.descriptors);
        };
    }
    job.run(stages, result);
}

void DescribeJob::State::send(InputFrame& frame, const Described& found) {
    if (const auto folder = steps_folder_of(options, result.descriptors.frames()); !folder.empty())
        write_step_pictures(folder, options.hog, frame.result().host(), job.input().executor(), options.job.replace);
    const auto values = found.descriptors.values();
    written.attempt([&] { output.write(values.data(), values.size()); });
    job.statistics().set_sent_bytes(output.bytes());
    result.descriptors.add(values);
}

DescribeJob::DescribeJob(const DescribeOptions& options) : state_(std::make_unique<State>(options)) {}
DescribeJob::~DescribeJob() = default;

const DescribeResult& DescribeJob::run() { return state_->run(), state_->result; }
const DescribeResult& DescribeJob::result() const { return state_->result; }
const Statistics& DescribeJob::statistics() const { return state_->job.statistics(); }

namespace {

// Returns the files of the job. Rejects a source that is not a folder.
JobFiles checked_files_of(const DescribeOptions& options) {
    if (!is_folder(options.input.source))
        fail(ErrorCode::usage, "-o {} is a folder, but the input {} is not; write to a .npy file instead",
             options.output, options.input.source);
    return files_of(options);
}

}  // namespace

struct DescribeFolderJob::State {
    // Results of one image. All images of the same shape share the plan, which is destroyed when the last of them has
    // been written. The plan waits for its work, so it must be destroyed before the descriptors.
    struct Found {
        FrameDescriptors descriptors;
        std::shared_ptr<FrameHog> hog;

        void wait() { descriptors.wait(); }
    };

    explicit State(const DescribeOptions& asked);

    void run();
    void start(InputFrame& frame, Found& found);
    void send(InputFrame& frame, const FrameTime& time, Found& found);

    DescribeOptions options;
    FrameJob<FolderInput> job;
    std::vector<std::string> outputs;
    int under_way;
    std::shared_ptr<FrameHog> hog;
    // image shape for which `hog` was made
    Shape described{};
    std::int64_t sent_bytes = 0;
    DescribeResult result;
};

DescribeFolderJob::State::State(const DescribeOptions& asked)
    : options(asked),
      job(options.job, options.input, checked_files_of(options)),
      outputs(outputs_of(job.input().images(), options.output, ".npy")),
      under_way(options.frames_under_way_on(job.input().executor().backend())) {
    make_folder(options.output);
}

void DescribeFolderJob::State::run() {
    job.run<Found>(
        {.wanted = {.on_host = !options.steps_folder.empty(), .by_stages = true},
         .under_way = under_way,
         .make = [] { return Found(); },
         .start = [this](InputFrame& frame, const FrameTime&, Found& found) { start(frame, found); },
         .send = [this](InputFrame& frame, const FrameTime& time, Found& found) { send(frame, time, found); },
         // each file is completed as soon as it is written
         .finish = [](FirstFailure&, Ending) {}},
        result);
}

// Makes a new plan if the image's shape differs from the previous one.
void DescribeFolderJob::State::start(InputFrame& frame, Found& found) {
    auto& picture = frame.result();
    auto& executor = job.input().executor();
    if (!hog || described != picture.shape()) {
        hog = std::make_shared<FrameHog>(options.hog, picture.shape(), executor);
        described = picture.shape();
    }
    found.hog = hog;
    if (found.descriptors.shape() != hog->output_shape())
        found.descriptors = FrameDescriptors(hog->output_shape(), executor);
    hog->start(picture, found.descriptors);
}

// Writes the image's file and, for selected images, the step pictures.
void DescribeFolderJob::State::send(InputFrame& frame, const FrameTime& time, Found& found) {
    const OutputFileOptions files{.stop = job.stop(), .replace = options.job.replace};
    const auto& image = job.input().images()[static_cast<std::size_t>(time.index)];
    if (const auto folder = steps_folder_of(options, time.index, image); !folder.empty())
        write_step_pictures(folder, options.hog, frame.result().host(), job.input().executor(), options.job.replace);
    const auto values = found.descriptors.values();
    NpyFile file(outputs[static_cast<std::size_t>(time.index)], array_shape(found.descriptors.shape()), false, files);
    file.write(values.data(), values.size());
    file.finish();
    job.statistics().set_sent_bytes(sent_bytes += file.bytes());
    result.descriptors.add(values);
    found.hog.reset();
}

DescribeFolderJob::DescribeFolderJob(const DescribeOptions& options) : state_(std::make_unique<State>(options)) {}
DescribeFolderJob::~DescribeFolderJob() = default;

const DescribeResult& DescribeFolderJob::run() { return state_->run(), state_->result; }
const DescribeResult& DescribeFolderJob::result() const { return state_->result; }
const Statistics& DescribeFolderJob::statistics() const { return state_->job.statistics(); }

const ParameterFields<DescribeOptions>& describe_fields() {
    static const ParameterFields<DescribeOptions> fields = {parameter_field(
        &DescribeOptions::under_way,
        {.name = "streams",
         .help =
             "number of frames in flight on a GPU; 3 is a good value: one is uploaded, one computed and one downloaded",
         .minimum = 1,
         .maximum = 8,
         .unit = "N"})};
    return fields;
}

std::string steps_folder_of(const DescribeOptions& options, std::int64_t frame, const std::string& image) {
    if (options.steps_folder.empty()) return {};
    if (options.steps_of.empty()) return frame == 0 ? options.steps_folder : "";
    if (!options.steps_of.contains(frame)) return {};
    const auto name = image.empty() ? fmt::format("{:06}", frame) : std::filesystem::path(image).stem().string();
    return std::filesystem::path(options.steps_folder) / name;
}

// The CPU has no streams: its threads either share a frame or process one frame each.
int DescribeOptions::frames_under_way_on(Backend backend) const {
    if (!under_way) return frames_under_way(backend);
    describe_fields().check(*this, "hog");
    if (backend == Backend::cpu && *under_way > 1)
        fail(ErrorCode::usage,
             "hog cannot use {} streams on the cpu backend, which has only one stream and uses threads instead",
             *under_way);
    return *under_way;
}

JobFiles files_of(const DescribeOptions& options) {
    JobFiles files;
    files.source(options.input.source);
    if (is_output_folder(options.output))
        files.outputs("-o", options.output, options.input.source, ".npy");
    else
        files.bytes("-o", options.output, npy_format);
    const bool of_images = is_output_folder(options.output);
    const auto images =
        of_images && !options.steps_of.empty() ? image_paths(options.input.source) : std::vector<std::string>();
    if (options.steps_of.empty()) add_step_pictures(files, options.steps_folder);
    options.steps_of.for_each([&](std::int64_t frame) {
        if (!of_images)
            add_step_pictures(files, steps_folder_of(options, frame));
        else if (frame < std::ssize(images))
            add_step_pictures(files, steps_folder_of(options, frame, images[static_cast<std::size_t>(frame)]));
    });
    return files.statistics(options.job.statistics_path);
}

std::vector<std::int64_t> array_shape(const HogShape& shape) { return {shape.rows, shape.columns, shape.values}; }

void DescriptorSummary::add(std::span<const float> values) {
    // Sixteen independent lanes let the compiler vectorise the loop. Each lane sums only 32 values as floats before the
    // sum is added to a double, so the rounding error stays negligible.
    constexpr std::size_t lanes = 16, turn = 32 * lanes;
    float largest[lanes] = {};
    for (std::size_t begin = 0; begin < values.size(); begin += turn) {
        const auto end = std::min(begin + turn, values.size());
        float sums[lanes] = {};
        auto at = begin;
        for (; at + lanes <= end; at += lanes)
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                // Copied to a local value, because the compiler does not vectorise the loop over references.
                const float value = values[at + lane];
                largest[lane] = std::max(largest[lane], value);
                sums[lane] += value;
            }
        for (; at < end; ++at) {
            largest[0] = std::max(largest[0], values[at]);
            sums[0] += values[at];
        }
        for (const float sum : sums) sum_ += sum;
    }
    for (const float one : largest) largest_ = std::max(largest_, one);
    values_ += std::ssize(values);
    ++frames_;
}

StepFrames::StepFrames(std::string_view text) {
    const auto refuse = [&](std::string_view why) {
        fail(ErrorCode::usage,
             "frames {} {}; allowed: numbers from 0 and ranges, at most {} frames, such as 0,10,20-29", in_quotes(text),
             why, most);
    };
    // Frames are counted before the ranges are stored, so that a huge range is rejected at once.
    std::int64_t count = 0;
    for (auto rest = text;;) {
        const auto one = rest.substr(0, rest.find(','));
        const auto dash = one.find('-');
        const auto first = number_in<std::int64_t>(one.substr(0, dash));
        const auto last = dash == one.npos ? first : number_in<std::int64_t>(one.substr(dash + 1));
        if (!first || !last || *first < 0 || *last < *first) refuse("are not a valid list");
        if (*last - *first >= most || (count += *last - *first + 1) > most) refuse("are too many");
        ranges_.emplace_back(*first, *last);
        if (one.size() == rest.size()) break;
        rest.remove_prefix(one.size() + 1);
    }
    std::ranges::sort(ranges_);
    for (std::size_t next = 1; next < ranges_.size(); ++next)
        if (ranges_[next].first <= ranges_[next - 1].second) refuse("contain duplicates");
}

bool StepFrames::contains(std::int64_t frame) const {
    return std::ranges::any_of(ranges_,
                               [=](const auto& range) { return frame >= range.first && frame <= range.second; });
}

namespace {

std::string path_of(const std::string& folder, const char* name) {
    return std::filesystem::path(folder) / fmt::format("{}.png", name);
}

}  // namespace

void write_step_pictures(const std::string& folder, const HogParameters& parameters, HostView<const std::uint8_t> frame,
                         Executor& executor, bool replace) {
    const OutputFileOptions files{.replace = replace};
    make_folder(folder);
    for (const auto& [name, image] : hog_step_pictures(hog_steps(frame, parameters), parameters.signed_gradients))
        write_png(path_of(folder, name), image.view(), files);
    // The strokes show the cells' histograms before normalisation.
    auto plain = parameters;
    plain.norm = HogNorm::none;
    FrameHog hog(plain, frame.shape(), executor);
    Frame mirror(frame.shape(), executor);
    copy(frame, mirror.host());
    mirror.upload();
    FrameDescriptors cells(hog.output_shape(), executor);
    hog.start(mirror, cells);
    cells.wait();
    auto strokes = hog_strokes({cells.values().data(), hog.output_shape()}, plain);
    write_png(path_of(folder, hog_step_names.back()), strokes.view(), files);
}

void add_step_pictures(JobFiles& files, const std::string& folder) {
    if (folder.empty()) return;
    for (const auto* name : hog_step_names) files.output("--steps", path_of(folder, name), {"pictures", {".png"}});
}

const ParameterFields<TrainOptions>& train_fields() {
    static const ParameterFields<TrainOptions> fields = {
        parameter_field(&TrainOptions::folds, {.name = "folds",
                                               .help = "also cross-validate with this many folds",
                                               .minimum = 2,
                                               .maximum = 1e6,
                                               .unit = "N"})};
    return fields;
}
namespace {

// Lists the images of a folder; they are loaded when the training needs them.
TrainingImages images_of(const std::string& folder, const std::stop_token& stop) {
    return {images_in(folder), [stop](const std::string& path) {
                const auto source = open_source(path, {.stop = stop});
                HostImage image(source->info().shape);
                FrameTime time;
                if (!source->read(image.view(), time)) fail(ErrorCode::source_lost, "{} contains no image", path);
                return image;
            }};
}

}  // namespace

JobFiles files_of(const TrainOptions& options) {
    return JobFiles()
        .source(options.positives)
        .source(options.negatives)
        .output("-o", options.output, {"models", {".npy"}})
        .output("--curve", options.curve, {"curves", {".csv"}});
}

struct TrainJob::State {
    explicit State(const TrainOptions& asked);

    std::optional<TrainedModel> run();
    OutputFileOptions files() const { return {.stop = options.stop, .replace = options.replace}; }
    bool validate();

    TrainOptions options;
    TrainingImages positives, negatives;
    Executor executor;
    std::optional<OutputFile> curve_file;
    std::optional<DetectionCurve> curve;
};

TrainJob::State::State(const TrainOptions& asked)
    : options(asked),
      positives(images_of(options.positives, options.stop)),
      negatives(images_of(options.negatives, options.stop)),
      executor(BackendChoice::cpu, options.threads) {
    files_of(options).require_different();
    window_shape(options.window);
    // Opened and closed again, so that an unwritable path is reported before the training.
    const OutputFile can_be_written(options.output, files());
    if (!options.curve.empty()) curve_file.emplace(options.curve, files());
}

std::optional<TrainedModel> TrainJob::State::run() {
    if (options.folds && !validate()) return {};
    auto trained = train_window_model(options.window, positives, negatives, options.training, executor,
                                      options.on_training, options.stop);
    if (!trained) return {};
    if (curve_file) curve_file->finish();
    write_window_model(options.output, trained->model, files());
    return trained;
}

// Runs the cross-validation. Returns false if it was stopped.
bool TrainJob::State::validate() {
    curve = cross_validate(options.window, positives, negatives, options.training, *options.folds, executor,
                           options.on_fold, options.stop);
    if (!curve) return false;
    if (options.on_curve) options.on_curve(*curve);
    if (curve_file) {
        const auto text = to_csv(*curve);
        curve_file->write(text.data(), text.size());
    }
    return true;
}

TrainJob::TrainJob(const TrainOptions& options) : state_(std::make_unique<State>(options)) {}
TrainJob::~TrainJob() = default;

const TrainingImages& TrainJob::positives() const { return state_->positives; }
const TrainingImages& TrainJob::negatives() const { return state_->negatives; }
std::optional<TrainedModel> TrainJob::run() { return state_->run(); }
const std::optional<DetectionCurve>& TrainJob::curve() const { return state_->curve; }

}  // namespace framewire::jobs
