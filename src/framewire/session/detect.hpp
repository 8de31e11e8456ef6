#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/detect/object_records.hpp"
#include "framewire/session/detector.hpp"
#include "framewire/session/input/filtered_input.hpp"
#include "framewire/session/job/frame_job.hpp"
#include "framewire/session/options.hpp"
#include "framewire/session/outputs/record_file.hpp"
#include "framewire/session/outputs/video_output.hpp"

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
    std::string mask{};      ///< the masks, likewise
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

    /// To be called once. Throws what failed on the way, after what was found before was written; Error{no_input} where
    /// the source has no frames.
    const DetectResult& run();
    /// Of run(), when it threw, too.
    const DetectResult& result() const { return result_; }
    /// Of the run as it goes; from any thread.
    const Statistics& statistics() const { return job_.statistics(); }

private:
    void send(InputFrame& frame, const FrameTime& time, const FrameObjects& found);
    void finish(FirstFailure& failure, Ending ending);

    FrameJob<FilteredInput> job_;
    std::unique_ptr<FrameDetector> detector_;
    VideoOutput annotated_, masks_;
    HostImage mask_;  // the last one, unpacked
    ObjectRecords records_;
    RecordFile output_;
    DetectResult result_;
};

}  // namespace framewire::session
