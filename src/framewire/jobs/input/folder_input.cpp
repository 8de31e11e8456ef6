#include "framewire/jobs/input/folder_input.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/jobs/input/filtered_input.hpp"
#include "framewire/media/image_sequence.hpp"
#include "framewire/media/media.hpp"

namespace framewire::jobs {
namespace {

// Gives `image` this shape, and reuses its memory if it already has it.
void ensure_shape(Frame& image, const Shape& shape, Executor& executor) {
    if (image.shape() != shape) image = Frame(shape, executor);
}

}  // namespace

FolderInput::FolderInput(const InputOptions& input, const JobOptions& job, std::stop_token stop)
    : chain_(parse_chain(input.filters)),
      images_(images_in(input.source)),
      info_{.name = input.source, .frames = static_cast<std::int64_t>(images_.size())},
      stop_(std::move(stop)),
      limits_{input.max_pixels, input.max_memory_bytes},
      executor_(make_executor(job)) {
    if (input.start_seconds > 0 || input.duration_seconds)
        fail(ErrorCode::usage, "{}: start and duration do not apply to a folder of images", input.source);
    if (input.fps > 0 || job.own_rate)
        fail(ErrorCode::usage, "{}: a rate does not apply to a folder of images", input.source);
}

std::optional<std::int64_t> FolderInput::expected_frames(std::optional<std::int64_t> limit) const {
    return jobs::expected_frames(info_, limit);
}

bool FolderInput::capture(InputFrame& frame, FrameTime& time) {
    frame.sent = frame.looked_at = true;
    while (next_ < images_.size() && !stop_.stop_requested()) {
        const auto index = next_++;
        try {
            if (!read(images_[index], frame, time)) return false;
        } catch (const Error& error) {
            if (stop_.stop_requested()) return false;
            // The folder exists, so a broken image is a damaged source rather than a missing input.
            note_failure(static_cast<std::int64_t>(index), ErrorCode::source_lost, error.what());
            continue;
        }
        time.index = static_cast<std::int64_t>(index);
        // the time that the image has in a video of the folder
        time.seconds = static_cast<double>(index) / info_.rate.value();
        return true;
    }
    return false;
}

// Reads one image. Returns false if the job was stopped.
bool FolderInput::read(const std::string& path, InputFrame& frame, FrameTime& time) {
    SourceOptions options{.stop = stop_};
    if (limits_.max_pixels) options.max_pixels = *limits_.max_pixels;
    const auto source = open_source(path, options);
    const auto& info = source->info();
    ensure_shape(frame.captured, info.shape, executor_);
    frame.format = format_of(info);
    const bool has_planes = frame.format.planes() && !chain_.empty();
    const bool was_read =
        has_planes ? source->read_own(frame.captured.fill_on_host(), time) : source->capture(frame.captured, time);
    frame.own = was_read && has_planes ? source->native_frame() : nullptr;
    frame.has_image = !frame.own;
    if (was_read) return true;
    if (stop_.stop_requested()) return false;
    fail(ErrorCode::source_lost, "{} contains no image", path);
}

// Logs a failure and counts it. Locked, because capture() and filter() may fail on different threads at the same time.
void FolderInput::note_failure(std::int64_t index, ErrorCode code, const std::string& why) {
    log_error("{}", why);
    const std::lock_guard lock(failures_mutex_);
    // One thread reads images while another one processes those before them.
    if (failures_++ > 0 && first_failed_ < index) return;
    first_failure_ = Error(code, why);
    first_failed_ = index;
}

void FolderInput::require_whole() const {
    const std::lock_guard lock(failures_mutex_);
    if (failures_ > 0)
        fail(first_failure_->code(), "{}: {} of {} images failed; the first error: {}", info_.name, failures_,
             images_.size(), first_failure_->what());
}

// Consecutive images of the same format share one plan.
void FolderInput::filter(InputFrame& frame, const FrameTime& time, const Statistics& statistics, Wanted wanted) {
    if (!plan_ || plan_->source() != frame.format) {
        check_limits(limits_, chain_, frame.format.shape());
        plan_.emplace(chain_, frame.format, executor_);
        if (!chain_.empty()) plan_->deliver(std::nullopt);
    }
    if (chain_.empty()) return pass_on(frame, executor_, wanted);
    ensure_shape(frame.filtered, plan_->result().shape(), executor_);
    if (plan_->shows_frame_values()) plan_->set_frame_values(run_values(statistics.snapshot(), time, image(time)));
    executor_.in_its_space([&]<MemorySpace space>() {
        const auto source = source_picture<space>(frame, *plan_, executor_);
        run_plan(*plan_, frame, source, source);
    });
    frame.own.reset();
    take_result(*plan_, frame, executor_, wanted);
}

void FolderInput::count_sent(InputFrame& frame, Statistics& statistics) {
    last_sent_ = frame.result().shape();
    statistics.add_raw_bytes(last_sent_.bytes());
}

RunDescription FolderInput::description() const {
    return {info_.name, std::string(to_string(executor_.backend())), last_sent_};
}

}  // namespace framewire::jobs
