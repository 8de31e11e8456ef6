#pragma once

#include "framewire/colour/yuv_picture.hpp"
#include "framewire/core/time/frame_time.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/pipeline/chain/chain_plan.hpp"
#include "framewire/pipeline/frames/frame.hpp"
#include "framewire/pipeline/source.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace framewire::session {

/// One frame in the pipeline: as captured and, if there are filters, as filtered.
struct InputFrame {
    Frame captured, filtered;
    /// Native frame instead of the result's image: see give_own_pictures().
    std::shared_ptr<const OwnPicture> own{};
    /// Planes instead of the result's image: see give_own_pictures().
    std::shared_ptr<const YuvPicture> planes{};
    /// False if the source was away and the picture only says so.
    bool signal = true;
    /// Number of seeks before this frame, for a source that is played back and forth.
    int pass = 0;
    /// Number of the source's frame, if the chain changes the rate.
    std::int64_t reading = 0;
    /// False if a change of the rate skips the frame, so that only filters before the change see it.
    bool looked_at = true;
    /// True if all filters of the chain are off.
    bool unfiltered = false;
    /// False if the frame is skipped or lies before the time range.
    bool sent = true;
    /// Number of control requests with which it was made.
    std::uint64_t orders = 0;
    /// True for the first frame made with a request that changes pictures: nothing of earlier pictures may remain.
    bool replaces = false;

    /// Returns the filtered frame, or the captured one if nothing filtered it.
    Frame& result() { return filtered.empty() || unfiltered ? captured : filtered; }
    /// Waits until all work queued for both images is done, so that the slot can be reused.
    void wait() {
        captured.wait();
        filtered.wait();
    }
};

/// Starts `stage` on the result of the filters. The stage also takes native frames as planes or rows.
template <class Stage, class Found>
void start_on(InputFrame& frame, Stage& stage, Found& found) {
    if (const auto own = std::exchange(frame.own, nullptr)) {
        if (const auto planes = own->planes()) return stage.start(*planes, found);
        if (const auto rows = own->rows()) return stage.start(rows, found);
        own->to_image(frame.captured.fill_on_host());
    }
    stage.start(frame.result(), found);
}

/// Destinations for which the results of the filters are needed.
struct Wanted {
    /// In host memory, for a sink.
    bool on_host = false;
    /// On the backend, for the job's own stages.
    bool by_stages = false;
};

/// Runs the filters of `plan` from `captured` to `filtered`, if there are any. Host memory is valid after
/// InputFrame::wait(); stages on the same backend may start at once. `statistics` and `source` are values that filters
/// may display.
void filter_frame(ChainPlan& plan, const Executor& executor, InputFrame& frame, const FrameTime& time,
                  const Statistics& statistics, std::string_view source, Wanted wanted);

}  // namespace framewire::session
