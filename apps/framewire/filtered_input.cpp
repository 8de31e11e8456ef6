#include "filtered_input.hpp"

#include "framewire/media/media.hpp"
#include "framewire/pipeline/run_values.hpp"

#include <string>
#include <utility>

namespace framewire::app {

FilteredInput::FilteredInput(const InputOptions& input, const CommonOptions& common, std::stop_token stop)
    : chain_(parse_chain(input.filters)),
      source_(open_source(input.source, {.stop = std::move(stop)})),
      info_(source_->info()),
      executor_(common.backend_choice(), common.threads),
      processor_(chain_, info_.shape, executor_),
      panel_(chain_, *source_, [this](const auto& settings) { return processor_.set_adjustment(settings); }) {}

InputFrame FilteredInput::make_frame() const {
    InputFrame frame;
    frame.captured = HostImage(info_.shape, executor_.frame_memory());
    if (!processor_.empty()) frame.filtered = HostImage(shape(), executor_.frame_memory());
    return frame;
}

void FilteredInput::filter(InputFrame& frame, const FrameTime& time, const Statistics& statistics) {
    if (processor_.empty()) return;
    if (processor_.shows_frame_values())
        processor_.set_frame_values(run_values(statistics.snapshot(), time, info_.name));
    processor_.process(frame.captured.view(), frame.filtered.view());
}

RunDescription FilteredInput::description() const {
    return {info_.name, std::string(to_string(executor_.backend())), shape(), processor_.figures()};
}

}  // namespace framewire::app
