#include "framewire/session/input/input_frame.hpp"

#include "framewire/pipeline/chain/run_values.hpp"

namespace framewire::session {

void filter_frame(ChainPlan& plan, const Executor& executor, InputFrame& frame, const FrameTime& time,
                  const Statistics& statistics, std::string_view source, Wanted wanted) {
    // On CUDA, frames are uploaded if anything there reads them, and downloaded only if the host needs the result.
    const bool comes_down = wanted.on_host && (!plan.empty() || frame.captured.filled_on_gpu());
    if (plan.empty() && !wanted.by_stages && !comes_down) return;
    const bool travels = executor.backend() == Backend::cuda;
    if (travels) executor.step("upload", [&] { frame.captured.upload(); });
    if (!plan.empty()) {
        if (plan.shows_frame_values()) plan.set_frame_values(run_values(statistics.snapshot(), time, source));
        plan.run(frame.captured, frame.filtered);
    }
    if (travels && comes_down) executor.step("download", [&] { frame.result().download(); });
}

}  // namespace framewire::session
