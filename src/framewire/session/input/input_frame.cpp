#include "framewire/session/input/input_frame.hpp"

#include "framewire/pipeline/chain/run_values.hpp"

namespace framewire::session {

void filter_frame(ChainPlan& plan, InputFrame& frame, const FrameTime& time, const Statistics& statistics,
                  std::string_view source, Wanted wanted) {
    if (plan.empty() && !wanted.by_stages) return;
    frame.captured.upload();
    if (plan.empty()) return;
    if (plan.shows_frame_values()) plan.set_frame_values(run_values(statistics.snapshot(), time, source));
    plan.run(frame.captured, frame.filtered);
    if (wanted.on_host) frame.filtered.download();
}

}  // namespace framewire::session
