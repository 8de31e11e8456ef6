#pragma once

#include "framewire/detect/object_records.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/detector_options.hpp"
#include "framewire/session/job/job_files.hpp"
#include "framewire/session/job/result.hpp"
#include "framewire/session/options.hpp"
#include "framewire/session/steps/detect_steps_options.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace framewire::session {

/// Options of a DetectJob.
struct DetectOptions {
    JobOptions job{};
    InputOptions input{};
    DetectorOptions detector{};
    /// File for the object records; - is standard output.
    std::string output{"-"};
    RecordFormat format = RecordFormat::jsonl;
    /// Optional. Sink for frames with outlined objects, see open_sink().
    std::string annotate{};
    /// If true, the source's sound is copied to `annotate`, if that output can hold sound.
    bool audio = true;
    /// Optional. Sink for the foreground masks, see open_sink().
    std::string mask{};
    /// Optional. File or folder for label images, see LabelOutput.
    std::string labels{};
    DetectStepsOptions steps{};
};

/// Returns the files that these options read and write. Throws Error{usage} if several outputs are standard output.
JobFiles files_of(const DetectOptions& options);

/// Outcome of a DetectJob.
struct DetectResult : JobResult {
    /// Objects recorded, summed over all frames.
    std::int64_t objects = 0;
    /// Objects found but not recorded, because their frame had too many.
    std::int64_t left_out = 0;
};

/// Finds moving objects in the filtered frames of a source and writes records, and optionally videos and label images.
/// A job runs once.
class DetectJob {
public:
    /// Opens the source, then everything else, cheap checks first and outputs last. Throws as files_of(), FrameJob,
    /// make_detector(), open_sink() and OutputFile do.
    explicit DetectJob(const DetectOptions& options);
    ~DetectJob();

    /// Runs the job; may be called once. If anything fails, the outputs are completed with what was found before, and
    /// the first error is thrown. Throws Error{no_input} if the source has no frames.
    const DetectResult& run();
    /// Result of run(), valid even if it threw.
    const DetectResult& result() const;
    /// Statistics of the run in progress; from any thread.
    const Statistics& statistics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
