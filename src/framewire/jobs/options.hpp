#pragma once

#include "framewire/cuda/executor.hpp"
#include "framewire/media/media.hpp"
#include "framewire/plan/statistics.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace framewire::jobs {

/// A time range of a source. A job on the range writes exactly those frames that a job on the whole source would write
/// there. Times and frame numbers are those of the source. See segments_of().
struct FileSegment {
    /// Time of the range's first frame.
    double begin_seconds = 0;
    /// Number of the range's first frame.
    std::int64_t begin_frame = 0;
    /// Number of frames in the range.
    std::int64_t frames = 0;
    /// Time of the first frame after the range; empty if the range extends to the end.
    std::optional<double> end_seconds{};
    /// Time of the first frame that filters and detectors must see before the range.
    double lead_seconds = 0;
    /// Number of the frame at `lead_seconds`.
    std::int64_t lead_frame = 0;
    /// If true, filters and detectors must also see the source's very first frame before the others.
    bool first_frame = false;
};

class GpuFleet;
class GpuShare;
class OpenedSource;

/// Options that all jobs share.
struct JobOptions {
    /// Backend of filters and detectors.
    BackendChoice backend = BackendChoice::automatic;
    /// Optional. GPUs that several jobs share; the job takes one, and then runs there instead of on `backend`. Default:
    /// the first GPU, if the backend is cuda.
    std::shared_ptr<GpuFleet> gpus{};
    /// Optional. What was taken from `gpus` for this job. Default: the job takes it.
    std::shared_ptr<GpuShare> gpu{};
    /// Number of threads of the CPU backend; 0: one per processor.
    int threads = 0;
    /// Optional. Maximum number of frames. Default: all frames of the source.
    std::optional<std::int64_t> frames{};
    /// If true, existing output files are replaced; otherwise they cause an error.
    bool replace = false;
    /// Optional. File for the run's statistics, as JSON.
    std::string statistics_path{};
    /// How progress is shown on standard error.
    ProgressMode progress = ProgressMode::none;
    /// If true, frames of a file are processed no earlier than their own times.
    bool own_rate = false;
    /// If true, the statistics contain the duration of each operation. On a GPU the operations then run sequentially.
    bool time_steps = false;
    /// Optional. Statistics object to which this job adds, for example for consecutive jobs of one camera. Default: the
    /// job has its own.
    std::shared_ptr<Statistics> statistics{};
    /// Token that ends the job early. Outputs stay usable as far as their formats permit.
    std::stop_token stop{};
};

/// Credentials with which a viewer or a relay connects to a stream's server.
struct StreamAccess {
    /// Access token; empty: no token is sent.
    std::string token{};
    /// Expected certificate fingerprint, see net::ClientOptions.
    std::string fingerprint{};
};

/// Source of a job's frames, and the filters applied to them first.
struct InputOptions {
    std::string source;                        ///< see open_source()
    std::string filters{};                     ///< see parse_chain()
    bool one_size = false;                     ///< see SourceOptions
    bool loop = false;                         ///< see SourceOptions
    double start_seconds = 0;                  ///< see SourceOptions
    std::optional<double> duration_seconds{};  ///< see SourceOptions
    bool seekable = false;                     ///< see SourceOptions
    /// Optional. Time range of the source to process; used instead of a start and a duration.
    std::optional<FileSegment> segment{};
    /// Frame rate requested from the source; 0: the source's own. Frames of a source that is not live get their times
    /// from this rate.
    double fps = 0;
    /// Overrides the colour matrix that the medium states for YUV frames: bt601, bt709 or bt2020. Empty: no override.
    std::string matrix{};
    /// Overrides the value range that the medium states for YUV frames: limited or full. Empty: no override.
    std::string range{};
    std::optional<std::chrono::milliseconds> reconnect{};  ///< see SourceOptions
    /// Credentials for the server, if the source is a stream.
    StreamAccess access{};
    int decoder_threads = 0;  ///< see SourceOptions
    /// See SourceOptions. The default uses the GPU only if the backend is cuda.
    DecodeChoice decode = DecodeChoice::automatic;
    /// See SourceOptions. If the frame size changes, the job ends, and another job can continue.
    bool follows_size = false;
    /// See FrameLimits. Served cameras without limits of their own get FrameLimits::served_pixels and
    /// served_memory_bytes().
    std::optional<std::int64_t> max_pixels{}, max_memory_bytes{};
    /// True if a detector processes the frames; its memory then counts in the estimate.
    bool detects = false;
    /// Optional. An open source that an earlier job has read; used instead of opening `source`.
    std::shared_ptr<OpenedSource> opened{};
    /// If true, the consumer of a live source needs only the latest frames.
    bool may_skip = false;
    /// If true, frames with the text "no signal" are delivered while a camera or network source is away.
    bool shows_loss = false;
    /// If true, brightness, contrast, saturation and gain can be set even if the chain has no `adjust`, and filters can
    /// be switched on and off while the job runs.
    bool accepts_control = false;
    /// Optional. Gets the sound of the source, see SourceOptions, on the wall clock at which viewers see its frames.
    /// Not for frames whose times are changed: `fps` with a source that is not live.
    std::shared_ptr<SoundTap> sound{};
    /// If true, filters display the source's public_name().
    bool public_name = false;
};

}  // namespace framewire::jobs
