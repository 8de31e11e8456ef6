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

struct DetectOptions {
    JobOptions job{};
    InputOptions input{};
    DetectorOptions detector{};
    std::string output{"-"};  ///< the records' file; - is standard output
    RecordFormat format = RecordFormat::jsonl;
    std::string annotate{};  ///< the frames with boxes, see open_sink(); empty: not wanted
    bool audio = true;       ///< the source's sound goes along with them where that output takes it
    std::string mask{};      ///< the masks, likewise
    std::string labels{};    ///< the label images, see LabelOutput; empty: not wanted
    DetectStepsOptions steps{};
};

/// What these options read and write. Throws Error{usage} where several outputs are standard output.
JobFiles files_of(const DetectOptions& options);

struct DetectResult : JobResult {
    std::int64_t objects = 0;
    std::int64_t left_out = 0;  ///< found beyond those, in frames that had too many
};

/// From a source through filters to records of moving objects, and videos beside them. For one run.
class DetectJob {
public:
    /// Opens all there is, what is cheap to refuse first and outputs last. Throws as files_of(), FrameJob,
    /// make_detector(), open_sink() and OutputFile do.
    explicit DetectJob(const DetectOptions& options);
    ~DetectJob();

    /// To be called once. Throws what failed on the way, after what was found before was written; Error{no_input} where
    /// the source has no frames.
    const DetectResult& run();
    /// Of run(), when it threw, too.
    const DetectResult& result() const;
    /// Of the run as it goes; from any thread.
    const Statistics& statistics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
