#include "framewire/jobs/input/filtered_input.hpp"
#include "framewire/core/error.hpp"
#include "framewire/jobs/input/input.hpp"
#include "framewire/plan/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

// Capture and filtering of one source's frames. Control requests are in filtered_input_requests.cpp.

namespace framewire::jobs {

FilteredInput::FilteredInput(const InputOptions& input, const JobOptions& job, std::stop_token stop)
    : chain_(split_at_rate(parse_chain(input.filters))),
      stop_(stop),
      fps_(input.fps),
      loop_(input.loop),
      sound_(input.sound),
      opened_(input.opened ? input.opened : std::make_shared<OpenedSource>(input, job, stop)),
      on_stop_(std::move(stop), [this] { opened_->stop(); }),
      source_(&opened_->source()),
      info_(source_->info()),
      limits_(checked_limits(input)),
      shown_name_(input.public_name ? public_name(info_.name) : info_.name),
      executor_(make_executor(job)),
      may_switch_(input.accepts_control),
      adjusts_of_own_(input.accepts_control && !first_adjust(chain_.whole)),
      switches_(chain_.whole, info_.shape),
      adjustment_(first_adjust(chain_.whole).value_or(Adjustment{})),
      camera_controls_(chain_.whole, *source_, [this](const auto& settings) { return set_in_chain(settings); }) {
    make_plans();
    shape_ = plan_->result().shape();
    if (input.segment) {
        segment_.emplace(input, info_.name);
        segment_begin_seconds_ = whole_seconds_before(input);
    }
    if (chain_.rate)
        resampler_.emplace(info_.shape, asked_rate(fps_).value_or(info_.rate), *chain_.rate, before_.has_value(),
                           [this](FrameResampler::Picture& picture) {
                               const auto read_one = [&] {
                                   return read(picture.image.view(), picture.time, picture.own);
                               };
                               if (!read_next(picture.time, read_one)) return false;
                               picture.signal = !opened_->no_signal().take_drawn();
                               return true;
                           });
}

FrameLimits FilteredInput::checked_limits(const InputOptions& input) const {
    const FrameLimits limits{input.max_pixels, input.max_memory_bytes, input.detects};
    check_limits(limits, chain_.whole, info_.shape);
    return limits;
}

// Privacy masks are drawn on images.
FrameFormat FilteredInput::source_format() const { return hidden_ ? FrameFormat(info_.shape) : format_of(info_); }

std::optional<FilteredInput::BeforeRate> FilteredInput::make_before() {
    if (!chain_.rate || chain_.before.empty()) return std::nullopt;
    FramePlan plan(with_settings(chain_.before), source_format(), executor_);
    WorkPicture result(plan.result(), executor_);
    return BeforeRate{std::move(plan), std::move(result)};
}

void FilteredInput::make_plans() {
    plans_are_old_ = false;
    before_ = make_before();
    const auto chain = chain_now();
    const auto format = source_format();
    plan_ = std::make_unique<FramePlan>(chain, before_ ? before_->plan.result() : format, executor_, format);
    is_unfiltered_ = !before_ && chain.empty();
    if (std::exchange(is_delivered_, false)) deliver();
    takes_planes_ = before_ ? before_->plan.begins_on_planes() : plan_->begins_on_planes();
}

void FilteredInput::deliver() {
    if (std::exchange(is_delivered_, true)) return;
    if (!is_unfiltered_) plan_->deliver(sink_planes_);
    takes_planes_ = before_ ? before_->plan.begins_on_planes() : plan_->begins_on_planes();
}

void FilteredInput::give_planes(const std::optional<YuvInfo>& planes) {
    const std::lock_guard lock(plan_mutex_);
    sink_planes_ = planes;
    if (is_unfiltered_) gives_own_ = info_.has_native_frames;
    deliver();
}

void FilteredInput::give_unfiltered_pictures() { gives_own_ = info_.has_native_frames && is_unfiltered_; }

std::vector<PlannedStep> FilteredInput::planned_steps() const {
    const std::lock_guard lock(plan_mutex_);
    auto steps = before_ ? before_->plan.steps() : std::vector<PlannedStep>();
    if (chain_.rate)
        steps.push_back({chain_.rate_text, to_string(before_ ? before_->plan.result() : source_format()),
                         "frames are left out or repeated"});
    std::ranges::move(plan_->steps(), std::back_inserter(steps));
    // The frame is converted for its masks before the plan receives it.
    const auto& planned_for = before_ ? before_->plan.source() : plan_->source();
    if (const auto planes = format_of(info_).planes(); planes && !planned_for.planes() && !steps.empty())
        steps.insert(steps.begin(), {"convert", to_string(planes->format) + " to BGR", "privacy masks need colours"});
    return steps;
}

// Controlled inputs keep the native frame beside its image, because the plans may change until the frame is filtered.
bool FilteredInput::read(HostView<std::uint8_t> image, FrameTime& time, std::shared_ptr<const NativeFrame>& own) {
    const bool needs_own = gives_own_ || takes_planes_ || (may_switch_ && info_.has_native_frames);
    if (!(needs_own ? source_->read_own(image, time) : source_->read(image, time))) return false;
    own = needs_own ? source_->native_frame() : nullptr;
    return true;
}

InputFrame FilteredInput::make_frame() {
    {
        const std::lock_guard lock(plan_mutex_);
        deliver();
    }
    InputFrame frame{Frame(info_.shape, executor_), {}, FramePlanes(executor_)};
    if (is_unfiltered_ && !may_switch_) return frame;
    const bool same_memory = results_replace_ && backend() == Backend::cuda && shape_ == info_.shape;
    frame.filtered = same_memory ? Frame(frame.captured.host(), executor_) : Frame(shape_, executor_);
    return frame;
}

bool FilteredInput::seek(double seconds) {
    if (!source_->seek(seconds)) return false;
    if (resampler_) resampler_->begin_again();
    return true;
}

void FilteredInput::begin_again() {
    const std::lock_guard lock(plan_mutex_);
    make_plans();
}

Rational FilteredInput::rate() const { return chain_.rate.value_or(asked_rate(fps_).value_or(info_.rate)); }

std::optional<std::int64_t> FilteredInput::expected_frames(std::optional<std::int64_t> limit) const {
    if (segment_ && !chain_.rate) return segment_->segment().frames;
    return loop_ || chain_.rate ? limit : jobs::expected_frames(info_, limit);
}

void FilteredInput::set_time(FrameTime& time) {
    if (fps_ > 0 && !info_.live) {
        time.seconds = static_cast<double>(captured_frames_) / fps_;
        time.duration_seconds = 0;
    }
    ++captured_frames_;
}

// Reads the next frame with read_one() and determines its position in the time range, if there is one. Returns false at
// the end.
template <class ReadOne>
bool FilteredInput::read_next(FrameTime& time, ReadOne&& read_one) {
    const bool in_segment = reading_ == Reading::segment;
    if (in_segment && place_ == SegmentPosition::Is::behind) return false;
    if (!read_one()) {
        if (in_segment && !stop_.stop_requested()) segment_->end();
        return false;
    }
    if (sound_) sound_->place(time.seconds);
    if (in_segment) {
        place_ = segment_->take(time, source_->damaged());
        captured_frames_ = time.index;
    }
    set_time(time);
    return true;
}

// Seeks to the lead of the time range: the frames that filters and detectors need to see before its first frame.
void FilteredInput::go_to_segment() {
    const auto& segment = segment_->segment();
    const bool is_elsewhere = segment.lead_frame > 0 || reading_ == Reading::first_frame;
    if (is_elsewhere && !seek(segment.lead_seconds))
        fail(ErrorCode::config, "{}: cannot seek to {} s", info_.name, segment.lead_seconds);
    segment_->begin(source_->damaged());
    reading_ = Reading::segment;
}

bool FilteredInput::capture(InputFrame& frame, FrameTime& time) {
    if (is_to_end_ && captured_frames_ > 0) {
        ended_here_ = true;
        return false;
    }
    if (segment_ && reading_ != Reading::segment) {
        if (reading_ == Reading::not_begun && segment_->segment().first_frame)
            reading_ = Reading::first_frame;
        else
            go_to_segment();
    }
    if (!capture_next(frame, time)) return false;
    if (reading_ == Reading::first_frame) {
        frame.sent = false;
        if (frame.looked_at) go_to_segment();
    }
    return true;
}

bool FilteredInput::capture_next(InputFrame& frame, FrameTime& time) {
    if (resampler_) return capture_at_rate(frame, time);
    const auto read_one = [&] {
        const bool reads = gives_own_ || takes_planes_ || (may_switch_ && info_.has_native_frames);
        return reads ? read(frame.captured.fill_on_host(), time, frame.own) : source_->capture(frame.captured, time);
    };
    if (!read_next(time, read_one)) return false;
    if (reading_ == Reading::segment && place_ == SegmentPosition::Is::behind) return false;
    frame.sent = place_ == SegmentPosition::Is::within;
    frame.signal = !opened_->no_signal().take_drawn();
    frame.has_image = !frame.own;
    // Two frames are in work at a time: this one is converted while the previous one is filtered.
    if (!takes_planes_ && !gives_own_) make_image(frame);
    return true;
}

bool FilteredInput::capture_at_rate(InputFrame& frame, FrameTime& time) {
    FrameResampler::Given given;
    if (!resampler_->capture(frame.captured.fill_on_host(), time, given)) return false;
    const auto place = reading_ == Reading::segment ? segment_->at_rate(time.index) : SegmentPosition::Is::within;
    if (place == SegmentPosition::Is::behind) return false;
    frame.own = std::move(given.own);
    frame.has_image = !frame.own;
    frame.reading = given.reading;
    frame.looked_at = given.at_rate;
    frame.sent = given.at_rate && place == SegmentPosition::Is::within;
    frame.signal = given.signal;
    return true;
}

void FilteredInput::filter(InputFrame& frame, const FrameTime& time, const Statistics& statistics, Wanted wanted) {
    if (const auto hidden = follow_requests(frame)) {
        make_image(frame);
        frame.own.reset();
        hidden->run(frame.captured, executor_);
    }
    frame.unfiltered = is_unfiltered_;
    if (is_unfiltered_) {
        if (!frame.own || !gives_own_) pass_on(frame, executor_, wanted);
        return;
    }
    executor_.in_its_space([&]<MemorySpace space>() { run_plans<space>(frame, time, statistics); });
    if (wanted.captured && !frame.has_image) {
        make_image(frame);
        if (backend() == Backend::cuda && (wanted.by_stages || frame.captured.filled_on_gpu()))
            executor_.step("upload", [&] { frame.captured.upload(); });
    }
    frame.own.reset();
    if (frame.looked_at) take_result(*plan_, frame, executor_, wanted);
}

template <MemorySpace space>
void FilteredInput::run_plans(InputFrame& frame, const FrameTime& time, const Statistics& statistics) {
    const auto source = source_picture<space>(frame, before_ ? before_->plan : *plan_, executor_);
    auto in = source;
    if (before_) {
        const auto result = before_->result.view<space>();
        if (frame.reading != before_->reading) {
            show_values(before_->plan, time, statistics);
            before_->plan.run(source, source, result);
            before_->reading = frame.reading;
        }
        in = result;
    }
    if (!frame.looked_at) return;
    show_values(*plan_, time, statistics);
    run_plan(*plan_, frame, in, source);
}

void FilteredInput::show_values(FramePlan& plan, const FrameTime& time, const Statistics& statistics) const {
    if (plan.shows_frame_values()) plan.set_frame_values(run_values(statistics.snapshot(), time, shown_name_));
}

RunDescription FilteredInput::description() const {
    auto figures = before_ ? before_->plan.figures() : std::vector<ChainFigures>();
    std::ranges::move(plan_->figures(), std::back_inserter(figures));
    return {info_.name,      std::string(to_string(executor_.backend())),
            shape(),         std::move(figures),
            planned_steps(), source_->damaged()};
}

std::optional<std::int64_t> expected_frames(const SourceInfo& source, std::optional<std::int64_t> limit) {
    if (!source.frames) return limit;
    return limit ? std::min(*limit, *source.frames) : *source.frames;
}

}  // namespace framewire::jobs
