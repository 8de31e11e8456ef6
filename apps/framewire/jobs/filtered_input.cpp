#include "jobs/filtered_input.hpp"

#include "framewire/media/media.hpp"
#include "framewire/pipeline/chain/run_values.hpp"

#include <string>
#include <utility>

namespace framewire::app {

InputFrame make_frame(const ChainPlan& plan, Executor& executor) {
    InputFrame frame{Frame(plan.input_shape(), executor), {}};
    if (!plan.empty()) frame.filtered = Frame(plan.output_shape(), executor);
    return frame;
}

void filter_frame(ChainPlan& plan, InputFrame& frame, const FrameTime& time, const Statistics& statistics,
                  std::string_view source, Wanted wanted) {
    if (plan.empty() && !wanted.by_stages) return;
    frame.captured.upload();
    if (plan.empty()) return;
    if (plan.shows_frame_values()) plan.set_frame_values(run_values(statistics.snapshot(), time, source));
    plan.run(frame.captured, frame.filtered);
    if (wanted.on_host) frame.filtered.download();
}

FilteredInput::FilteredInput(const InputOptions& input, const CommonOptions& common, std::stop_token stop)
    : chain_(parse_chain(input.filters)),
      source_(open_source(input.source,
                          {.stop = std::move(stop), .one_size = input.one_size, .replace_truth = common.replace})),
      info_(source_->info()),
      executor_(common.backend_choice(), common.threads),
      plan_(chain_, info_.shape, executor_),
      panel_(chain_, *source_, [this](const auto& settings) { return plan_.set_adjustment(settings); }) {}

RunDescription FilteredInput::description() const {
    return {info_.name, std::string(to_string(executor_.backend())), shape(), plan_.figures()};
}

}  // namespace framewire::app
