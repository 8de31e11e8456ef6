#pragma once

#include "framewire/cuda/executor.hpp"
#include "framewire/pipeline/statistics/progress.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/input/stretch/stretch.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace framewire::session {

class OpenedSource;

/// What all jobs take.
struct JobOptions {
    BackendChoice backend = BackendChoice::automatic;
    int threads = 0;                       ///< of the CPU backend; 0 takes all the machine has
    std::optional<std::int64_t> frames{};  ///< the most; none: all there are
    bool replace = false;                  ///< outputs that are there already give way; else they are refused
    std::string statistics_path{};         ///< a file for the run's figures, as JSON; empty: none wanted
    ProgressMode progress = ProgressMode::none;
    bool own_rate = false;    ///< frames of a file are handed on no sooner than their own times
    bool time_steps = false;  ///< the figures tell how long each step takes; on a GPU steps then wait for each other
    /// Gathers the figures, with those of the jobs before; none: of this one alone.
    std::shared_ptr<Statistics> statistics{};
    std::stop_token stop{};  ///< ends the job early, its outputs as whole as they can be
};

/// What the server of a stream wants of its viewers.
struct StreamAccess {
    std::string token{};        ///< empty: none
    std::string fingerprint{};  ///< see net::ClientOptions
};

/// Where a job's frames come from, and what they go through first.
struct InputOptions {
    std::string source;                        ///< see open_source()
    std::string filters{};                     ///< see parse_chain()
    bool one_size = false;                     ///< see SourceOptions
    bool loop = false;                         ///< see SourceOptions
    double start_seconds = 0;                  ///< see SourceOptions
    std::optional<double> duration_seconds{};  ///< see SourceOptions
    bool seekable = false;                     ///< see SourceOptions
    std::optional<Stretch> stretch{};          ///< what of it is put out, in place of a start and a duration
    double fps = 0;        ///< above 0: asked of the source, and frames that do not come live are timed by it
    std::string matrix{};  ///< bt601, bt709 or bt2020 instead of what the medium says of its YUV colours
    std::string range{};   ///< limited or full, likewise
    std::optional<std::chrono::milliseconds> reconnect{};  ///< see SourceOptions
    StreamAccess access{};                                 ///< of a source that is a stream
    int decoder_threads = 0;                               ///< see SourceOptions
    bool follows_size = false;                             ///< see SourceOptions; the job ends there
    /// See FrameLimits. Served cameras without their own have FrameLimits::served_pixels and served_memory_bytes().
    std::optional<std::int64_t> max_pixels{}, max_memory_bytes{};
    bool detects = false;  ///< a detector looks at the frames: for the estimate of memory
    /// In place of opening `source`: one that a job before has read.
    std::shared_ptr<OpenedSource> opened{};
    bool may_skip = false;    ///< who wants the frames of a live source wants the latest ones, not all
    bool shows_loss = false;  ///< while a lost camera or network source is away, frames come that say "no signal"
    /// Brightness and its like are taken by a chain without `adjust`, too, and filters may be switched while frames
    /// flow.
    bool panel = false;
    bool public_name = false;  ///< filters show the source's public_name()
};

}  // namespace framewire::session
