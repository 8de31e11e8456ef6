#pragma once

#include "commands/commands.hpp"

#include "framewire/cuda/executor.hpp"
#include "framewire/media/media.hpp"
#include "framewire/pipeline/circle/circle.hpp"
#include "framewire/pipeline/source.hpp"
#include "framewire/pipeline/statistics/progress.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace framewire::app {

/// The flags that all subcommands share which move frames.
struct CommonOptions {
    std::string backend = "auto";
    std::optional<std::int64_t> frames;  ///< none: all there are
    int threads = 0;
    std::string statistics_path;  ///< empty: none wanted
    std::string progress = "auto";
    std::string log_level = "info";
    bool replace = false, keep = false;  ///< -y and -n: what becomes of outputs that are there already

    ProgressMode progress_mode() const { return parse_progress(progress); }
    BackendChoice backend_choice() const { return parse_backend(backend); }
};

void add_common_options(CLI::App& command, CommonOptions& options);

/// `-i` and `-f`: where frames come from and through what.
struct InputOptions {
    std::string source, filters;
    bool one_size = false;  ///< see SourceOptions
};

void add_input_options(CLI::App& command, InputOptions& options);

/// What a subcommand does, with SIGINT, SIGTERM and SIGHUP turned into a stop of the source it is given.
using StoppableWork = std::function<void(const std::stop_source& stop)>;

/// Lets the subcommand do `work` when the command line names it, with its log lines on standard error. A second signal
/// ends the program at once; after the first what `work` throws is logged only, and the exit code is 128+n. `options`
/// lives as long as `work`.
void set_work(CLI::App& command, Action& chosen, const CommonOptions& options, StoppableWork work);

/// How many frames there will be, where that is known.
std::optional<std::int64_t> expected_frames(const SourceInfo& source, std::optional<std::int64_t> limit);

/// How frames of the shape `sent` go from the source through the circle, as many under way as suit the backend.
CircleOptions circle_options(const CommonOptions& options, const SourceInfo& source, const Shape& sent,
                             const std::stop_source& stop, Backend backend);

/// Keeps the first of several failures, so that what can still be completed after it is.
class FirstFailure {
public:
    template <class Step>
    void attempt(Step&& step) {
        try {
            step();
        } catch (...) {
            if (!failure_) failure_ = std::current_exception();
        }
    }
    explicit operator bool() const { return failure_ != nullptr; }
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    std::exception_ptr failure_;
};

/// How the outputs of a run end. A stop is the end of a live source, which has no other, and breaks anything else off.
inline Ending ending_of(const FirstFailure& failure, const std::stop_source& stop, bool live) {
    return failure || (stop.stop_requested() && !live) ? Ending::broken_off : Ending::complete;
}

/// How a sink of frames from `source` is opened.
SinkOptions sink_options(const CommonOptions& options, const SourceInfo& source, const std::stop_source& stop);

/// The file of `--stats`, opened before the work so that a place where nothing can be written shows early; whole or not
/// there at all.
class StatisticsFile {
public:
    /// Throws Error{io}.
    explicit StatisticsFile(const CommonOptions& options);
    /// Whether there is one.
    explicit operator bool() const { return file_.has_value(); }
    void write(const std::string& json);
    void write(const StatisticsSnapshot& figures, const RunDescription& run);

private:
    std::optional<OutputFile> file_;
};

}  // namespace framewire::app
