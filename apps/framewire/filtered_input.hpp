#pragma once

#include "common.hpp"

#include "framewire/pipeline/camera_panel.hpp"
#include "framewire/pipeline/chain.hpp"
#include "framewire/pipeline/frame_processor.hpp"

#include <memory>
#include <string_view>

namespace framewire::app {

/// One frame on its way: as captured and, where there are filters, as filtered.
struct InputFrame {
    HostImage captured, filtered;

    HostImage& image() { return filtered.shape().height == 0 ? captured : filtered; }
};

/// Captured to filtered, where there are filters. `statistics` and `source` are what filters may show of the run.
void filter_frame(FrameProcessor& processor, InputFrame& frame, const FrameTime& time, const Statistics& statistics,
                  std::string_view source);

/// What run, detect and hog begin with: a source, the filters its frames go through, and what both run on. capture()
/// and filter() may run at the same time on two frames.
class FilteredInput {
public:
    /// Throws as parse_chain(), open_source(), Executor and FrameProcessor do, in this order.
    FilteredInput(const InputOptions& input, const CommonOptions& common, std::stop_token stop);
    FilteredInput(const FilteredInput&) = delete;
    FilteredInput& operator=(const FilteredInput&) = delete;

    const SourceInfo& info() const { return info_; }
    Executor& executor() { return executor_; }
    /// Of frames as filtered.
    const Shape& shape() const { return processor_.output_shape(); }

    InputFrame make_frame() const;
    /// False when there is no further frame.
    bool capture(InputFrame& frame, FrameTime& time) { return source_->read(frame.captured.view(), time); }
    /// `statistics` are those that filters may show.
    void filter(InputFrame& frame, const FrameTime& time, const Statistics& statistics) {
        filter_frame(processor_, frame, time, statistics, info_.name);
    }

    /// For the statistics, with what the filters found in the last frame.
    RunDescription description() const;

private:
    Chain chain_;
    std::unique_ptr<Source> source_;
    SourceInfo info_;
    Executor executor_;
    FrameProcessor processor_;
    CameraPanel panel_;
};

}  // namespace framewire::app
