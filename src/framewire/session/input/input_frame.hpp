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

/// One frame on its way: as captured and, where there are filters, as filtered.
struct InputFrame {
    Frame captured, filtered;
    std::shared_ptr<const OwnPicture> own{};     ///< in place of the result's image: see give_own_pictures()
    std::shared_ptr<const YuvPicture> planes{};  ///< likewise
    bool signal = true;                          ///< false where the source was away, and the picture only says so
    int pass = 0;              ///< of a source that is gone to and fro in: which reading of it this frame is of
    std::int64_t reading = 0;  ///< which of a source's frames this is, where the chain changes their rate
    bool looked_at = true;     ///< false where that leaves it out, and only filters before see it
    bool unfiltered = false;   ///< all filters that there are were off
    bool sent = true;          ///< false there, and of a frame before the stretch that is put out
    std::uint64_t orders = 0;  ///< how many control requests it was made with
    bool replaces = false;     ///< the first made with one that changes pictures: nothing of those before may stay

    /// What comes of it.
    Frame& result() { return filtered.empty() || unfiltered ? captured : filtered; }
    /// Returns when all that was queued for either is over: the next frame may take their place.
    void wait() {
        captured.wait();
        filtered.wait();
    }
};

/// Begins `stage`, which takes planes and rows as its own frames, on what comes of the filters.
template <class Stage, class Found>
void start_on(InputFrame& frame, Stage& stage, Found& found) {
    if (const auto own = std::exchange(frame.own, nullptr)) {
        if (const auto planes = own->planes()) return stage.start(*planes, found);
        if (const auto rows = own->rows()) return stage.start(rows, found);
        own->to_image(frame.captured.fill_on_host());
    }
    stage.start(frame.result(), found);
}

/// Where what comes of the filters is wanted.
struct Wanted {
    bool on_host = false;    ///< by a sink
    bool by_stages = false;  ///< by stages on the same backend
};

/// Captured to filtered, where there are filters. What is wanted on the host is there after InputFrame::wait(); stages
/// may begin with it at once. `statistics` and `source` are what filters may show of the run.
void filter_frame(ChainPlan& plan, const Executor& executor, InputFrame& frame, const FrameTime& time,
                  const Statistics& statistics, std::string_view source, Wanted wanted);

}  // namespace framewire::session
