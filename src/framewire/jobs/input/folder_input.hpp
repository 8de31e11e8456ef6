#pragma once

#include "framewire/core/error.hpp"
#include "framewire/core/time.hpp"
#include "framewire/jobs/input/input.hpp"
#include "framewire/jobs/options.hpp"
#include "framewire/plan/chain.hpp"
#include "framewire/plan/chain_plan.hpp"
#include "framewire/plan/source.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace framewire::jobs {

/// Input for the images of a folder. Images may have different sizes; filters restart whenever the size changes.
/// FrameTime::index is the position in images(). An image that fails is logged and skipped; require_whole() reports the
/// failure at the end. capture() and filter() may run in parallel on two images.
class FolderInput {
public:
    /// Lists the images. Throws as parse_chain(), images_in() and Executor do, in this order, and Error{usage} if a
    /// start, a duration or a rate is given.
    FolderInput(const InputOptions& input, const JobOptions& job, std::stop_token stop);
    FolderInput(const FolderInput&) = delete;
    FolderInput& operator=(const FolderInput&) = delete;

    /// Returns the paths of the images, in order.
    const std::vector<std::string>& images() const { return images_; }
    /// Returns the path of the image that was captured with this time.
    const std::string& image(const FrameTime& time) const { return images_[static_cast<std::size_t>(time.index)]; }

    /// Returns the name of the folder and the number of images.
    const SourceInfo& info() const { return info_; }
    /// Returns the executor of the filters.
    Executor& executor() { return executor_; }
    /// Returns null, because images are always decoded on the CPU.
    std::shared_ptr<DecodeMonitor> decode_monitor() const { return nullptr; }
    /// Returns an empty shape, because each image has its own.
    Shape shape() const { return {}; }
    /// Returns the identity, because images have square pixels.
    PlaneMap placement() const { return {}; }
    /// Returns the number of images, or `limit` if that is smaller.
    std::optional<std::int64_t> expected_frames(std::optional<std::int64_t> limit) const;

    /// Makes an empty frame, which is allocated when the size of an image is known.
    InputFrame make_frame() {
        InputFrame frame;
        frame.work = FramePlanes(executor_);
        return frame;
    }
    /// Reads the next readable image. Returns false if there is none.
    bool capture(InputFrame& frame, FrameTime& time);
    /// Throws an Error with the first failure's code if any image failed. Called after the last image.
    void require_whole() const;
    /// Filters the image, and makes a new plan first if the image's format differs from the previous one.
    void filter(InputFrame& frame, const FrameTime& time, const Statistics& statistics, Wanted wanted);

    /// Runs `body`, which processes the image that was captured at `time`. If `body` throws an Error, the image counts
    /// as failed and is not sent.
    template <class Body>
    void naming_errors(InputFrame& frame, const FrameTime& time, Body&& body) {
        try {
            std::forward<Body>(body)();
        } catch (const Error& error) {
            frame.sent = frame.looked_at = false;
            note_failure(time.index, error.code(), fmt::format("{}: {}", image(time), error.what()));
        }
    }
    /// Adds the image's size to the raw bytes.
    void count_sent(InputFrame& frame, Statistics& statistics);

    /// Describes the run for the statistics, with the size of the last image sent.
    RunDescription description() const;

private:
    // Counts a failure of the image with this number, and keeps it if no earlier image has failed.
    void note_failure(std::int64_t index, ErrorCode code, const std::string& why);
    bool read(const std::string& path, InputFrame& frame, FrameTime& time);

    Chain chain_;
    std::vector<std::string> images_;
    SourceInfo info_;
    std::stop_token stop_;
    FrameLimits limits_;
    Executor executor_;

    std::optional<FramePlan> plan_;
    std::size_t next_ = 0;
    Shape last_sent_{};

    mutable std::mutex failures_mutex_;
    std::int64_t failures_ = 0;  // guarded by failures_mutex_
    // guarded by failures_mutex_: the failure of the first image that failed, and its number
    std::optional<Error> first_failure_;
    std::int64_t first_failed_ = 0;
};

}  // namespace framewire::jobs
