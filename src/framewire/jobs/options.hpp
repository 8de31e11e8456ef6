#pragma once

#include "framewire/cuda/executor.hpp"
#include "framewire/plan/statistics.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace framewire::jobs {

/// A time range of a source. A job on it writes exactly those frames that a job on the whole source would write in this
/// range. Times and numbers are those of the source. See segments_of().
struct FileSegment {
    /// Time of its first frame.
    double begin_seconds = 0;
    /// Number of its first frame.
    std::int64_t begin_frame = 0;
    /// Number of frames.
    std::int64_t frames = 0;
    /// Time of the first frame after the range; empty if the range extends to the end.
    std::optional<double> end_seconds{};
    /// Time of the first frame that filters and detectors must see before the range.
    double lead_seconds = 0;
    /// Number of that frame.
    std::int64_t lead_frame = 0;
    /// If true, they must also see the source's very first frame before that.
    bool first_frame = false;
};

class OpenedSource;

/// Options that all jobs share.
struct JobOptions {
    /// Backend of filters and detectors.
    BackendChoice backend = BackendChoice::automatic;
    /// Number of threads of the CPU backend; 0 uses all processors.
    int threads = 0;
    /// Optional. Upper limit for the number of frames. Default: all frames of the source.
    std::optional<std::int64_t> frames{};
    /// If true, existing output files are replaced; otherwise they are an error.
    bool replace = false;
    /// Optional. File for the run's statistics, as JSON.
    std::string statistics_path{};
    /// How progress is shown on standard error.
    ProgressMode progress = ProgressMode::none;
    /// If true, frames of a file are processed no sooner than their own times.
    bool own_rate = false;
    /// If true, the statistics contain the duration of each operation. On a GPU the operations then run one after the
    /// other.
    bool time_steps = false;
    /// Optional. Statistics object that also counts this job, e.g. for consecutive jobs of one camera. Default: one of
    /// its own.
    std::shared_ptr<Statistics> statistics{};
    /// Ends the job early; outputs stay usable as far as their format permits.
    std::stop_token stop{};
};

/// Credentials with which a viewer or a relay connects to a stream's server.
struct StreamAccess {
    /// Access token; empty: none is sent.
    std::string token{};
    /// Expected certificate fingerprint, see net::ClientOptions.
    std::string fingerprint{};
};

/// Source of a job's frames, and the filters they pass first.
struct InputOptions {
    std::string source;                        ///< see open_source()
    std::string filters{};                     ///< see parse_chain()
    bool one_size = false;                     ///< see SourceOptions
    bool loop = false;                         ///< see SourceOptions
    double start_seconds = 0;                  ///< see SourceOptions
    std::optional<double> duration_seconds{};  ///< see SourceOptions
    bool seekable = false;                     ///< see SourceOptions
    /// Optional. Time range of the source to process, instead of a start and a duration.
    std::optional<FileSegment> segment{};
    /// If above 0: the frame rate requested from the source; frames of a source that is not live get times by this
    /// rate.
    double fps = 0;
    /// Overrides the colour matrix that the medium states for YUV frames: bt601, bt709 or bt2020. Empty: no override.
    std::string matrix{};
    /// Overrides the value range in the same way: limited or full.
    std::string range{};
    std::optional<std::chrono::milliseconds> reconnect{};  ///< see SourceOptions
    /// Credentials, if the source is a stream.
    StreamAccess access{};
    int decoder_threads = 0;  ///< see SourceOptions
    /// See SourceOptions. If the size changes, the job ends and can be continued by another one.
    bool follows_size = false;
    /// See FrameLimits. Served cameras that set none get FrameLimits::served_pixels and served_memory_bytes().
    std::optional<std::int64_t> max_pixels{}, max_memory_bytes{};
    /// True if a detector looks at the frames; counted in the memory estimate.
    bool detects = false;
    /// Optional. A source that an earlier job has read, used instead of opening `source`.
    std::shared_ptr<OpenedSource> opened{};
    /// If true, the consumer of a live source needs the latest frames, not all of them.
    bool may_skip = false;
    /// If true, frames with the text "no signal" are delivered while a lost camera or network source is away.
    bool shows_loss = false;
    /// If true, brightness, contrast, saturation and gain can be set even if the chain has no `adjust`, and filters can
    /// be switched on and off while frames flow.
    bool accepts_control = false;
    /// If true, filters display the source's public_name().
    bool public_name = false;
};

}  // namespace framewire::jobs
