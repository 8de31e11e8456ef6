#include "framewire/session/input/folder_input.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/media/media.hpp"
#include "framewire/session/input/filtered_input.hpp"

namespace framewire::session {
namespace {

// An image of the shape, the one that is there where it has it.
void ensure_shape(Frame& image, const Shape& shape, Executor& executor) {
    if (image.shape() != shape) image = Frame(shape, executor);
}

}  // namespace

FolderInput::FolderInput(const InputOptions& input, const JobOptions& job, std::stop_token stop)
    : chain_(parse_chain(input.filters)),
      images_(images_in(input.source)),
      info_{.name = input.source, .frames = static_cast<std::int64_t>(images_.size())},
      stop_(std::move(stop)),
      executor_(job.backend, job.threads) {
    if (input.start_seconds > 0 || input.duration_seconds)
        fail(ErrorCode::usage, "{}: images that are looked at one by one have no start and no duration", input.source);
}

std::optional<std::int64_t> FolderInput::expected_frames(std::optional<std::int64_t> limit) const {
    return session::expected_frames(info_, limit);
}

bool FolderInput::capture(InputFrame& frame, FrameTime& time) {
    if (next_ == images_.size() || stop_.stop_requested()) return false;
    const auto& path = images_[next_];
    const auto source = [&] {
        try {
            return open_source(path, {.stop = stop_});
        } catch (const Error& error) {
            // The folder was there: it breaks here.
            throw Error(ErrorCode::source_lost, error.what());
        }
    }();
    ensure_shape(frame.captured, source->info().shape, executor_);
    if (!source->capture(frame.captured, time)) {
        if (stop_.stop_requested()) return false;
        fail(ErrorCode::source_lost, "{} holds no picture", path);
    }
    time.index = static_cast<std::int64_t>(next_);
    time.seconds = static_cast<double>(next_) / info_.rate.value();  // as the folder's video has it
    ++next_;
    return true;
}

void FolderInput::filter(InputFrame& frame, const FrameTime& time, const Statistics& statistics, Wanted wanted) {
    const auto& shape = frame.captured.shape();
    if (!plan_ || plan_->input_shape() != shape) plan_.emplace(chain_, shape, executor_);
    if (!plan_->empty()) ensure_shape(frame.filtered, plan_->output_shape(), executor_);
    filter_frame(*plan_, executor_, frame, time, statistics, image(time), wanted);
}

void FolderInput::count_sent(InputFrame& frame, Statistics& statistics) {
    last_sent_ = frame.result().shape();
    statistics.add_raw_bytes(last_sent_.bytes());
}

RunDescription FolderInput::description() const {
    return {info_.name, std::string(to_string(executor_.backend())), last_sent_};
}

}  // namespace framewire::session
