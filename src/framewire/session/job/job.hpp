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

/// What every job has: its options, a stop of its own, its figures and the file for them. For one run.
class Job {
public:
    /// Opens the file of the statistics, so that a place where nothing can be written shows early. Throws Error{usage}
    /// where one of `files` would be lost, Error{io}.
    Job(const JobOptions& options, const JobFiles& files);
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    const JobOptions& options() const { return options_; }
    Statistics& statistics() { return *statistics_; }
    const Statistics& statistics() const { return *statistics_; }
    StatisticsFile& statistics_file() { return statistics_file_; }

    /// Whether the caller asked for a stop.
    bool stopped() const { return options_.stop.stop_requested(); }
    /// Comes when the caller asks for a stop, and when the job has failed: what sources and sinks wait by.
    std::stop_token stop() const { return stop_.get_token(); }

    /// How sinks of frames from `source` are opened.
    SinkOptions sink_options(const SourceInfo& source) const;
    /// How frames of the shape `sent` go from `source` through the circle, as many under way as suit the backend.
    CircleOptions circle_options(const SourceInfo& source, const Shape& sent, Backend backend) const;

    /// Throws Error{internal} from the second call on.
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
