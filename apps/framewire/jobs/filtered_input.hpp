#pragma once

#include "options/common.hpp"

#include "framewire/pipeline/chain/camera_panel.hpp"
#include "framewire/pipeline/chain/chain.hpp"
#include "framewire/pipeline/chain/chain_plan.hpp"
#include "framewire/pipeline/frames/frame.hpp"

#include <memory>
#include <string_view>

namespace framewire::app {

/// One frame on its way: as captured and, where there are filters, as filtered.
struct InputFrame {
    Frame captured, filtered;

    /// What comes of it.
    Frame& result() { return filtered.empty() ? captured : filtered; }
    /// Returns when all that was queued for either is over: the next frame may take their place.
    void wait() {
        captured.wait();
        filtered.wait();
    }
};

/// For frames that go through `plan`.
InputFrame make_frame(const ChainPlan& plan, Executor& executor);

/// Where what comes of the filters is wanted.
struct Wanted {
    bool on_host = false;    ///< by a sink
    bool by_stages = false;  ///< by stages on the same backend
};

/// Captured to filtered, where there are filters. What is wanted on the host is there after InputFrame::wait(); stages
/// may begin with it at once. `statistics` and `source` are what filters may show of the run.
void filter_frame(ChainPlan& plan, InputFrame& frame, const FrameTime& time, const Statistics& statistics,
                  std::string_view source, Wanted wanted);

/// What run, detect and hog begin with: a source, the filters its frames go through, and what both run on. capture()
/// and filter() may run at the same time on two frames.
class FilteredInput {
public:
    /// Throws as parse_chain(), open_source(), Executor and ChainPlan do, in this order.
    FilteredInput(const InputOptions& input, const CommonOptions& common, std::stop_token stop);
    FilteredInput(const FilteredInput&) = delete;
    FilteredInput& operator=(const FilteredInput&) = delete;

    const SourceInfo& info() const { return info_; }
    Executor& executor() { return executor_; }
    Backend backend() const { return executor_.backend(); }
    /// Of frames as filtered.
    const Shape& shape() const { return plan_.output_shape(); }

    InputFrame make_frame() { return app::make_frame(plan_, executor_); }
    /// False when there is no further frame.
    bool capture(InputFrame& frame, FrameTime& time) { return source_->read(frame.captured.host(), time); }
    /// As filter_frame(). `statistics` are those that filters may show.
    void filter(InputFrame& frame, const FrameTime& time, const Statistics& statistics, Wanted wanted) {
        filter_frame(plan_, frame, time, statistics, info_.name, wanted);
    }

    /// For the statistics, with what the filters found in the last frame.
    RunDescription description() const;

private:
    Chain chain_;
    std::unique_ptr<Source> source_;
    SourceInfo info_;
    Executor executor_;
    ChainPlan plan_;
    CameraPanel panel_;
};

}  // namespace framewire::app
