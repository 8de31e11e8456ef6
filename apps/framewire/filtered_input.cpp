#include "filtered_input.hpp"

#include "framewire/media/media.hpp"
#include "framewire/pipeline/run_values.hpp"

#include <string>
#include <utility>

namespace framewire::app {

void filter_frame(FrameProcessor& processor, InputFrame& frame, const FrameTime& time, const Statistics& statistics,
                  std::string_view source) {
    if (processor.empty()) return;
    if (processor.shows_frame_values()) processor.set_frame_values(run_values(statistics.snapshot(), time, source));
    processor.process(frame.captured.view(), frame.filtered.view());
}

FilteredInput::FilteredInput(const InputOptions& input, const CommonOptions& common, std::stop_token stop)
    : chain_(parse_chain(input.filters)),
      source_(open_source(input.source,
                          {.stop = std::move(stop), .one_size = input.one_size, .replace_truth = common.replace})),
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

RunDescription FilteredInput::description() const {
    return {info_.name, std::string(to_string(executor_.backend())), shape(), processor_.figures()};
}

}  // namespace framewire::app
