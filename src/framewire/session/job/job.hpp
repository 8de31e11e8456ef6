#pragma once

#include "framewire/media/media.hpp"
#include "framewire/pipeline/circle/circle.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/job/failure.hpp"
#include "framewire/session/job/job_files.hpp"
#include "framewire/session/options.hpp"
#include "framewire/session/outputs/statistics_file.hpp"

#include <functional>
#include <memory>
#include <stop_token>

namespace framewire::session {

/// Base of all jobs: options, stop token, statistics and the file for them. A job runs once.
class Job {
public:
    /// Opens the statistics file, so that an unwritable path is reported before any work. Throws Error{usage} if an
    /// output would overwrite one of the inputs or another output in `files`, and Error{io}.
    Job(const JobOptions& options, const JobFiles& files);
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    /// Options as given to the constructor.
    const JobOptions& options() const { return options_; }
    /// Statistics of this job, or those shared through JobOptions::statistics. Thread-safe.
    Statistics& statistics() { return *statistics_; }
    const Statistics& statistics() const { return *statistics_; }
    /// File for `--stats`; does nothing if none was asked for.
    StatisticsFile& statistics_file() { return statistics_file_; }

    /// Returns true if the caller requested a stop.
    bool stopped() const { return options_.stop.stop_requested(); }
    /// Token that sources and sinks watch while they wait. Triggered if the caller requests a stop or the job fails.
    std::stop_token stop() const { return stop_.get_token(); }

    /// Returns options for sinks that take frames of `source`.
    SinkOptions sink_options(const SourceInfo& source) const;
    /// Returns options of the frame ring for frames of `source` that are sent in the shape `sent`, with as many frames
    /// in flight as suit the backend.
    CircleOptions circle_options(const SourceInfo& source, const Shape& sent, Backend backend) const;

    /// Marks the job as run. Throws Error{internal} from the second call on.
    void begin_run();

private:
    JobOptions options_;
    std::stop_source stop_;
    std::stop_callback<std::function<void()>> on_stop_;
    StatisticsFile statistics_file_;
    std::shared_ptr<Statistics> statistics_;
    bool ran_ = false;
};

}  // namespace framewire::session
