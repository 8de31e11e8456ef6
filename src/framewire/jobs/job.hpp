#pragma once

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/time.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/jobs/gpu_fleet.hpp"
#include "framewire/jobs/input/input.hpp"
#include "framewire/jobs/options.hpp"
#include "framewire/jobs/outputs.hpp"
#include "framewire/media/files.hpp"
#include "framewire/media/media.hpp"
#include "framewire/plan/frame_ring.hpp"
#include "framewire/plan/source.hpp"
#include "framewire/plan/statistics.hpp"

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::jobs {

/// Runs several attempts and keeps the first exception, so that later outputs are still completed after an earlier one
/// has failed. Not thread-safe.
class FirstFailure {
public:
    /// Calls `step`. If it throws and no attempt failed before, keeps the exception; later exceptions are dropped.
    template <class Step>
    void attempt(Step&& step) {
        try {
            step();
        } catch (...) {
            if (!failure_) failure_ = std::current_exception();
        }
    }
    /// Returns the first exception; null if no attempt failed.
    const std::exception_ptr& what() const { return failure_; }
    /// Returns true if an attempt failed.
    explicit operator bool() const { return failure_ != nullptr; }
    /// Rethrows the first exception, if there is one.
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    std::exception_ptr failure_;
};

/// Returns how the outputs of a run end. A requested stop completes the outputs of a live source, which has no other
/// end, and truncates those of any other source.
inline Ending ending_of(const FirstFailure& failure, bool stopped, bool live) {
    return failure || (stopped && !live) ? Ending::broken_off : Ending::complete;
}

/// Kind of output, as named in messages, with the file extensions that are allowed for it.
struct FileFormat {
    std::string_view name;
    std::vector<std::string_view> endings;
};

/// JSON lines, one line per frame or image.
inline const FileFormat json_lines_format{"JSON lines", {".jsonl", ".ndjson"}};
/// Arrays in the format of numpy.load().
inline const FileFormat npy_format{"NumPy arrays", {".npy"}};

/// Collects the files that a job's options name before any of them is opened, so that conflicts are detected first.
/// Messages name a file by its command-line option. All functions that add files return *this.
class JobFiles {
public:
    /// Adds the files that a source reads, and the file of true objects that the source may write. Throws as
    /// files_read_by() does.
    JobFiles& source(const std::string& text);
    /// Adds one input file. Does nothing if `path` is empty.
    JobFiles& input(const std::string& option, const std::string& path);
    /// Adds the files that the sink described by `text` writes. Does nothing if `text` is empty.
    JobFiles& sink(const std::string& option, const std::string& text);
    /// Adds one output file; - is standard output. Does nothing if `path` is empty. require_different() later checks
    /// that the file has one of the format's extensions, in upper or lower case; standard output, devices, pipes and
    /// sockets may have any name.
    JobFiles& output(const std::string& option, const std::string& path, const FileFormat& format);
    /// Adds one output file like output(), but for binary data, which must not be written to a terminal.
    JobFiles& bytes(const std::string& option, const std::string& path, const FileFormat& format);
    /// Adds the statistics file of `--stats`.
    JobFiles& statistics(const std::string& path);
    /// Adds one output file in `folder` per image of the folder `source`, with the extension `ending`. Throws as
    /// outputs_of() does.
    JobFiles& outputs(const std::string& option, const std::string& folder, const std::string& source,
                      std::string_view ending);

    /// Adds all files of another job.
    JobFiles& add(const JobFiles& others);

    /// Returns the input files added so far.
    const std::vector<RunFile>& inputs() const { return inputs_; }
    /// Returns the output files added so far.
    const std::vector<RunFile>& outputs() const { return outputs_; }

    /// Throws Error{usage} if an output is also an input or another output, or if its extension does not match its
    /// format.
    void require_different() const;
    /// Returns the outputs that already exist.
    std::vector<RunFile> there() const { return files_there(outputs_); }
    /// Returns true if one of the inputs is standard input.
    bool reads_standard_input() const;
    /// Returns the option that writes binary data to standard output; empty if no option does.
    const std::string& bytes_to_standard_output() const { return bytes_to_standard_output_; }

private:
    void add_output(const std::string& option, const std::string& path);

    std::vector<RunFile> inputs_, outputs_;
    std::string bytes_to_standard_output_;
    // error message for the first output whose extension does not match its format
    std::string ending_problem_;
};

/// Throws Error{usage} if more than one of the outputs is standard output. `names` lists the options for the message.
void require_one_standard_output(std::initializer_list<std::string_view> outputs, std::string_view names);

/// Base class of all jobs: options, stop token, statistics, and the file for the statistics. A job runs once.
class Job {
public:
    /// Opens the statistics file, so that an unwritable path is reported before any work. Throws Error{usage} if an
    /// output would overwrite one of the inputs or another output in `files`, and Error{io}.
    Job(const JobOptions& options, const JobFiles& files);
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    /// Returns the options passed to the constructor.
    const JobOptions& options() const { return options_; }
    /// Returns the statistics of this job, or those shared through JobOptions::statistics. Thread-safe.
    Statistics& statistics() { return *statistics_; }
    /// Returns the statistics as a read-only reference.
    const Statistics& statistics() const { return *statistics_; }
    /// Returns the file for `--stats`. If the option was not given, writing to it does nothing.
    StatisticsFile& statistics_file() { return statistics_file_; }

    /// Returns true if the caller requested a stop.
    bool stopped() const { return options_.stop.stop_requested(); }
    /// Returns the token that sources and sinks check while they wait. It is triggered if the caller requests a stop or
    /// the job fails.
    std::stop_token stop() const { return stop_.get_token(); }

    /// Returns the options for sinks that receive frames of `source`.
    SinkOptions sink_options(const SourceInfo& source) const;
    /// Returns the options of a frame ring for frames of `source` that are sent in shape `sent`, with the number of
    /// frames in flight that suits the backend.
    FrameRingOptions frame_ring_options(const SourceInfo& source, const Shape& sent, Backend backend) const;

    /// Marks the job as started. Throws Error{internal} if the job was started before.
    void begin_run();

private:
    JobOptions options_;
    std::stop_source stop_;
    std::stop_callback<std::function<void()>> on_stop_;
    StatisticsFile statistics_file_;
    std::shared_ptr<Statistics> statistics_;
    bool ran_ = false;
};

/// Returns the pixel aspect ratio (width / height) after filters have moved a frame by `placement`, so that a player
/// shows the picture with unchanged proportions, as FFmpeg's filters do. Square pixels stay square, because a filter
/// that scales them is meant to change the proportions. Empty if the placement is not a multiple of 90 degrees, or if
/// the ratio is outside 1:1000 to 1000:1.
std::optional<Rational> aspect_after(const PlaneMap& placement, Rational aspect);

/// Outcome of a job, even of one that failed.
struct JobResult {
    /// Final statistics.
    StatisticsSnapshot figures{};
    /// Source, backend, filters, and the filters' results.
    RunDescription description{};
    /// How the outputs ended.
    Ending ending = Ending::complete;
};

/// Stages that a job adds to the frame ring.
///
/// `Found` holds the results for one frame; its wait() returns when they are complete. Each slot of the ring has one
/// InputFrame and one `Found`, both of which are reused. A slot belongs to one stage at a time, and each stage runs on
/// one thread, except work on the worker pool:
///
///     begin                   once, before the first frame
///     capture of the input    capture thread, in frame order
///     filter, then start      processing thread, in frame order
///     work or Found::wait()   worker pool, several frames in parallel; the sending thread if `workers` is 0
///     send                    thread that called run(), in frame order
///     finish, describe        once, after the last frame
template <class Found>
struct FrameStages {
    /// Consumers that need the results of the filters.
    Wanted wanted{};
    /// Optional. Number of frames in flight. Default: the number that suits the backend.
    std::optional<int> under_way{};
    /// Number of workers, see FrameRingOptions.
    int workers = 0;
    /// If true, frames are passed on no earlier than their own times, see FrameRingOptions.
    bool at_source_rate = false;
    /// If true, a GPU that fails does not fail the run if another processor is left: capture ends, frames in flight are
    /// dropped, and FrameJob::lost_gpu() returns true, so that another job can continue with the source.
    bool outlives_gpu = false;
    /// Optional. Called before the first frame; return false to process no frame.
    std::function<bool()> begin{};
    /// Makes the results object of one slot. Called once per slot.
    std::function<Found()> make;
    /// Optional. Starts the work on the filtered frame.
    std::function<void(InputFrame& frame, const FrameTime& time, Found& found)> start{};
    /// Optional. Called after `start`, instead of Found::wait(), on the worker pool, for several frames in parallel.
    std::function<void(InputFrame& frame, Found& found)> work{};
    /// Called with the frame and its results, in frame order.
    std::function<void(InputFrame& frame, const FrameTime& time, Found& found)> send;
    /// Completes the outputs, with one FirstFailure::attempt() per output.
    std::function<void(FirstFailure& failure, Ending ending)> finish;
    /// Optional. Adds the job's totals to the description of the run.
    std::function<void(RunDescription& run)> describe{};
};

/// Job that sends the frames of an input through a frame ring. `Input` is FilteredInput or FolderInput.
template <class Input>
class FrameJob : public Job {
public:
    /// Opens the statistics file, then the input. Throws as the constructors of Job and Input do.
    FrameJob(const JobOptions& options, const InputOptions& input, const JobFiles& files)
        : Job(with_gpu(options), files),
          input_(input, Job::options(), stop()),
          pixel_aspect_(pixel_aspect()),
          patience_seconds_(input.may_skip ? 0 : longest_wait_seconds) {
        statistics().set_decode_monitor(input_.decode_monitor());
        statistics().set_gpu(input_.executor().gpu());
        if (!options.time_steps) return;
        statistics().time_steps();
        input_.executor().time_steps([this](std::string_view name, double ms) { statistics().record_step(name, ms); });
    }

    /// Returns the input: the source and the filters of the job.
    Input& input() { return input_; }
    /// Returns the input as a read-only reference.
    const Input& input() const { return input_; }
    /// Returns true if the run ended because its GPU failed, see FrameStages::outlives_gpu.
    bool lost_gpu() const { return lost_gpu_; }
    /// Returns Job::sink_options() for frames of the input, with the pixel aspect after the filters and the begin of
    /// the time range.
    SinkOptions sink_options() const {
        auto options = Job::sink_options(input_.info());
        options.facts.pixel_aspect = pixel_aspect_;
        if (input_.segment_begin_seconds()) options.begin_seconds = input_.segment_begin_seconds();
        return options;
    }

    /// Returns sink options for a video that replaces the input's own video: the other contents of the input's file are
    /// copied, and its sound if `audio` is true.
    SinkOptions film_options(const InputOptions& input, bool audio) const {
        auto film = sink_options();
        // Retimed frames no longer match the sound's times. Parts made from time ranges get their sound when they are
        // joined.
        if (input.fps <= 0 && !input.segment) film.medium = input_.info().medium;
        film.source_threshold = input_.info().threshold;
        film.audio = audio;
        film.start_seconds = input.start_seconds;
        film.to_the_end = !options().frames && !input.duration_seconds;
        return film;
    }

    /// Sends all frames through the stages; may be called once. The outputs are completed even if a stage fails; then
    /// `result` is filled and the first error is thrown. Throws Error{no_input} if the source had no frames.
    template <class Found>
    void run(const FrameStages<Found>& stages, JobResult& result) {
        begin_run();
        FirstFailure failure;
        failure.attempt([&] {
            if (!stages.begin || stages.begin()) pump(stages);
        });
        failure.attempt([&] { input_.require_whole(); });
        result.ending = ending_of(failure, stopped(), input_.info().live);
        stages.finish(failure, result.ending);
        result.figures = statistics().snapshot();
        failure.attempt([&] {
            result.description = input_.description();
            if (stages.describe) stages.describe(result.description);
            statistics_file().write(result.figures, result.description);
        });
        failure.rethrow();
        if (result.figures.frames == 0 && !stopped() && !lost_gpu_)
            fail(ErrorCode::no_input, "{} has no frames", input_.info().name);
    }

private:
    // Takes a GPU, unless one was taken for the job.
    static JobOptions with_gpu(JobOptions options) {
        if (!options.gpu && options.gpus) options.gpu = options.gpus->take();
        return options;
    }
    // Returns the pixel aspect ratio of the filtered frames.
    Rational pixel_aspect() const {
        const auto& own = input_.info().facts.pixel_aspect;
        const auto after = aspect_after(input_.placement(), own);
        if (!after)
            log_warning("{}: its pixel aspect ratio is {}:{}; rotated frames are written with square pixels",
                        input_.info().name, own.numerator, own.denominator);
        return after.value_or(Rational{1, 1});
    }

    // One slot of the frame ring.
    template <class Found>
    struct Slot {
        InputFrame frame;
        Found found;
    };

    // Runs the frame ring. A frame that is not sent (because it lies before a time range, or a change of the rate skips
    // it) passes all stages except `send`. A frame that is not looked at is only filtered.
    template <class Found>
    void pump(const FrameStages<Found>& stages) {
        const Progress progress(options().progress, statistics(), input_.expected_frames(options().frames));
        auto frame_ring = frame_ring_options(input_.info(), input_.shape(), input_.executor().backend());
        frame_ring.patience_seconds = patience_seconds_;
        frame_ring.at_source_rate = stages.at_source_rate || (options().own_rate && !input_.info().live);
        if (stages.under_way) frame_ring.let_wait(*stages.under_way);
        frame_ring.workers = stages.workers;
        frame_ring.let_wait(frame_ring.waiting + frame_ring.workers);
        std::vector<Slot<Found>> slots;
        input_.executor().use_gpu();
        for (int slot = 0; slot < frame_ring.slots; ++slot) slots.push_back({input_.make_frame(), stages.make()});
        const auto at = [&](int slot) -> Slot<Found>& { return slots[static_cast<std::size_t>(slot)]; };
        run_frame_ring({.capture =
                            [&](int slot, FrameTime& time) {
                                bool captured = false;
                                on_gpu(stages, at(slot), [&] { captured = input_.capture(at(slot).frame, time); });
                                return captured;
                            },
                        .sends = [&](int slot) { return at(slot).frame.sent; },
                        .failed = [&](int slot) { return !at(slot).frame.sent; },
                        .process =
                            [&](int slot, const FrameTime& time) {
                                on_gpu(stages, at(slot), [&] { process(stages, at(slot), time); });
                            },
                        .wait =
                            [&](int slot) {
                                on_gpu(stages, at(slot), [&] {
                                    auto& [frame, found] = at(slot);
                                    if (frame.looked_at) stages.work ? stages.work(frame, found) : found.wait();
                                    frame.wait();
                                });
                            },
                        .send =
                            [&](int slot, const FrameTime& time) {
                                on_gpu(stages, at(slot), [&] {
                                    stages.send(at(slot).frame, time, at(slot).found);
                                    input_.count_sent(at(slot).frame, statistics());
                                });
                            }},
                       frame_ring, statistics());
    }

    // Runs a stage for one frame. Stages run on several threads, each of which makes the GPU its current one first.
    // Once the GPU is lost, frames are only dropped.
    template <class Found, class Stage>
    void on_gpu(const FrameStages<Found>& stages, Slot<Found>& slot, const Stage& stage) {
        if (!lost_gpu_) try {
                if (options().gpu) options().gpu->require_working();
                input_.executor().use_gpu();
                return stage();
            } catch (...) {
                if (!lost_gpu_ && !(stages.outlives_gpu && options().gpu && options().gpu->must_move())) throw;
                lost_gpu_ = true;
            }
        slot.frame.sent = false;
    }

    // Filters the frame and starts the job's own work on it. Runs on the processing thread.
    template <class Found>
    void process(const FrameStages<Found>& stages, Slot<Found>& slot, const FrameTime& time) {
        input_.naming_errors(slot.frame, time, [&] {
            input_.filter(slot.frame, time, statistics(), stages.wanted);
            if (stages.start && slot.frame.looked_at) stages.start(slot.frame, time, slot.found);
        });
    }

    // If a job wants all live frames, they wait in the source, as packets, for up to this time before any is dropped.
    static constexpr double longest_wait_seconds = 10;

    Input input_;
    Rational pixel_aspect_;
    double patience_seconds_;
    std::atomic<bool> lost_gpu_ = false;
};

}  // namespace framewire::jobs
