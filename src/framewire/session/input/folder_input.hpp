#pragma once

#include "framewire/core/error.hpp"
#include "framewire/core/time/frame_time.hpp"
#include "framewire/pipeline/chain/chain.hpp"
#include "framewire/pipeline/chain/chain_plan.hpp"
#include "framewire/pipeline/source.hpp"
#include "framewire/session/input/frame_limits.hpp"
#include "framewire/session/input/input_frame.hpp"
#include "framewire/session/options.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace framewire::session {

/// The images of a folder, each of its own size, one after the other through filters that begin anew where the size
/// changes. FrameTime::index is an image's place in images(). An image that fails is left out and logged, and the
/// others go on; require_whole() throws for it. capture() and filter() may run at the same time on two images.
class FolderInput {
public:
    /// Throws as parse_chain(), images_in() and Executor do, in this order.
    FolderInput(const InputOptions& input, const JobOptions& job, std::stop_token stop);
    FolderInput(const FolderInput&) = delete;
    FolderInput& operator=(const FolderInput&) = delete;

    /// Their paths, in order.
    const std::vector<std::string>& images() const { return images_; }
    const std::string& image(const FrameTime& time) const { return images_[static_cast<std::size_t>(time.index)]; }

    const SourceInfo& info() const { return info_; }
    Executor& executor() { return executor_; }
    /// None: images have each their own.
    Shape shape() const { return {}; }
    /// Nor have they pixels of another shape than squares.
    PlaneMap placement() const { return {}; }
    std::optional<std::int64_t> expected_frames(std::optional<std::int64_t> limit) const;

    /// It takes its size from the image.
    InputFrame make_frame() const { return {}; }
    /// False when there is no further image that can be read.
    bool capture(InputFrame& frame, FrameTime& time);
    /// Images are read by capture().
    /// After the last image. Throws an Error with the first failure's code if an image failed.
    void require_whole() const;
    /// As filter_frame().
    void filter(InputFrame& frame, const FrameTime& time, const Statistics& statistics, Wanted wanted);

    /// Runs `body`, which processes the image of `time`. If it throws an Error, the image fails: the frame is not sent.
    template <class Body>
    void naming_errors(InputFrame& frame, const FrameTime& time, Body&& body) {
        try {
            std::forward<Body>(body)();
        } catch (const Error& error) {
            frame.sent = frame.looked_at = false;
            note_failure(error.code(), fmt::format("{}: {}", image(time), error.what()));
        }
    }
    /// Counts an image's own size.
    void count_sent(InputFrame& frame, Statistics& statistics);

    /// For the statistics; the size is that of the last image sent.
    RunDescription description() const;

private:
    void note_failure(ErrorCode code, const std::string& why);
    bool read(const std::string& path, InputFrame& frame, FrameTime& time);

    Chain chain_;
    std::vector<std::string> images_;
    SourceInfo info_;
    std::stop_token stop_;
    FrameLimits limits_;
    Executor executor_;

    std::optional<ChainPlan> plan_;
    std::size_t next_ = 0;
    Shape last_sent_{};

    mutable std::mutex failures_mutex_;
    std::int64_t failures_ = 0;           // guarded by failures_mutex_
    std::optional<Error> first_failure_;  // likewise
};

}  // namespace framewire::session
