#include "framewire/jobs/input/filtered_input.hpp"
#include "framewire/core/error.hpp"
#include "framewire/jobs/input/input.hpp"
#include "framewire/plan/planes/pixel_move_of.hpp"
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
      opened_(input.opened ? input.opened : std::make_shared<OpenedSource>(input, job.replace, stop)),
      on_stop_(std::move(stop), [this] { opened_->stop(); }),
      source_(&opened_->source()),
      info_(source_->info()),
      limits_(checked_limits(input)),
      shown_name_(input.public_name ? public_name(info_.name) : info_.name),
      executor_(job.backend, job.threads),
      before_(make_before()),
      plan_(make_plan(chain_.after)),
      moves_(moves_of_chain()),
      shape_(plan_.output_shape()),
      may_switch_(input.accepts_control),
      adjusts_of_own_(input.accepts_control && !first_adjust(chain_.whole)),
      switches_(chain_.whole, info_.shape),
      adjustment_(first_adjust(chain_.whole).value_or(Adjustment{})),
      camera_controls_(chain_.whole, *source_, [this](const auto& settings) { return set_in_chain(settings); }) {
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

std::optional<FilteredInput::BeforeRate> FilteredInput::make_before() {
    if (!chain_.rate || chain_.before.empty()) return std::nullopt;
    ChainPlan plan(chain_.before, info_.shape, executor_);
    Frame result(plan.output_shape(), executor_);
    return BeforeRate{std::move(plan), std::move(result)};
}

ChainPlan FilteredInput::make_plan(const Chain& after) { return {after, rated_shape(), executor_, info_.shape}; }

std::optional<std::vector<PixelMove>> FilteredInput::moves_of_chain() const {
    if (before_) return std::nullopt;
    std::vector<PixelMove> moves;
    auto shape = info_.shape;
    for (const auto& call : chain_.after.calls) {
        const auto move = pixel_move_of(call, shape);
        if (!move) return std::nullopt;
        shape = move->to;
        moves.push_back(*move);
    }
    return moves;
}

// Native frames are moved on the host, wherever filters run, by as many threads as those have.
Executor& FilteredInput::on_host() {
    if (executor_.backend() == Backend::cpu) return executor_;
    if (!host_executor_) host_executor_.emplace(BackendChoice::cpu, executor_.pool().threads());
    return *host_executor_;
}

// The frame's native frame through all filters; false where it does not go through one as it is.
bool FilteredInput::move_own(InputFrame& frame) {
    auto own = frame.own;
    const auto move_all = [&] {
        for (const auto& move : *moves_)
            if (own) own = own->moved(move, on_host());
    };
    moves_->empty() ? move_all() : executor_.step("moves", move_all);
    if (!own) return false;
    frame.own = std::move(own);
    return true;
}

void FilteredInput::give_native_frames(const std::optional<YuvInfo>& planes) {
    if (!info_.has_native_frames || before_) return;
    if (planes) {
        linear_planes_ = make_linear_planes(*planes);
        if (linear_planes_ && linear_planes_->blends()) moves_.reset();  // which would be tried in vain
        planes_pass_ = make_planes_pass(*planes);
    }
    gives_own_ = moves_ || linear_planes_ || planes_pass_;
}

std::optional<LinearPlanes> FilteredInput::make_linear_planes(const YuvInfo& planes) {
    const auto& facts = info_.facts;
    if (facts.sampling != planes.format.chroma || !facts.coding) return std::nullopt;
    const YuvInfo own{planes.format, *facts.coding, facts.siting, 1, info_.shape.height, info_.shape.width};
    return LinearPlanes::of(chain_.after, own, planes, on_host());
}

std::optional<PlanesPass> FilteredInput::make_planes_pass(const YuvInfo& planes) {
    if (plan_.empty()) return std::nullopt;
    if (backend() == Backend::cpu) return PlanesPass::of(plan_, planes, executor_.pool());
    const auto& calls = chain_.after.calls;
    if (!std::ranges::all_of(calls, [](const auto& call) { return call.filter->draws; })) return std::nullopt;
    drawing_.emplace(chain_.after, rated_shape(), on_host());
    return PlanesPass::of(*drawing_, planes, on_host().pool());
}

// The native frame as a linear chain makes it, plane by plane; false where it has none of the result's form.
bool FilteredInput::move_planes(InputFrame& frame) {
    const auto planes = frame.own->planes();
    if (!planes || !linear_planes_->takes(planes->info)) return false;
    executor_.step(linear_planes_->name(), [&] { frame.planes = linear_planes_->run(*planes); });
    frame.own.reset();
    return true;
}

// The native frame from planes to planes; false where it has none that goes so.
bool FilteredInput::filter_planes(InputFrame& frame, const FrameTime& time, const Statistics& statistics) {
    const auto planes = frame.own->planes();
    if (!planes || !planes_pass_->takes(planes->info)) return false;
    if (drawing_ && !planes_pass_->keeps_rest(planes->info)) return false;
    show_values(planes_pass_->plan(), time, statistics);
    executor_.step(planes_pass_->name(), [&] { frame.planes = planes_pass_->run(*planes); });
    frame.own.reset();
    return true;
}

// If native frames are given, the image may be left out.
bool FilteredInput::read(HostView<std::uint8_t> image, FrameTime& time, std::shared_ptr<const NativeFrame>& own) {
    if (!(gives_own_ ? source_->read_own(image, time) : source_->read(image, time))) return false;
    own = gives_own_ ? source_->native_frame() : nullptr;
    return true;
}

InputFrame FilteredInput::make_frame() {
    InputFrame frame{Frame(info_.shape, executor_), {}, {}};
    if (!before_ && plan_.empty() && !may_switch_) return frame;
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
    plan_again();
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
        return gives_own_ ? read(frame.captured.fill_on_host(), time, frame.own)
                          : source_->capture(frame.captured, time);
    };
    if (!read_next(time, read_one)) return false;
    if (reading_ == Reading::segment && place_ == SegmentPosition::Is::behind) return false;
    frame.sent = place_ == SegmentPosition::Is::within;
    frame.signal = !opened_->no_signal().take_drawn();
    return true;
}

bool FilteredInput::capture_at_rate(InputFrame& frame, FrameTime& time) {
    FrameResampler::Given given;
    if (!resampler_->capture(frame.captured.fill_on_host(), time, given)) return false;
    const auto place = reading_ == Reading::segment ? segment_->at_rate(time.index) : SegmentPosition::Is::within;
    if (place == SegmentPosition::Is::behind) return false;
    frame.own = std::move(given.own);
    frame.reading = given.reading;
    frame.looked_at = given.at_rate;
    frame.sent = given.at_rate && place == SegmentPosition::Is::within;
    frame.signal = given.signal;
    return true;
}

void FilteredInput::filter(InputFrame& frame, const FrameTime& time, const Statistics& statistics, Wanted wanted) {
    if (const auto hidden = follow_requests(frame)) {
        if (const auto own = std::exchange(frame.own, nullptr)) own->to_image(frame.captured.fill_on_host());
        hidden->run(frame.captured, executor_);
    }
    if (before_) return filter_at_rate(frame, time, statistics, wanted);
    if (frame.own && moves_ && move_own(frame)) return;
    if (frame.own && linear_planes_ && move_planes(frame)) return;
    if (frame.own && planes_pass_ && filter_planes(frame, time, statistics)) return;
    if (const auto own = std::exchange(frame.own, nullptr)) own->to_image(frame.captured.fill_on_host());
    frame.unfiltered = plan_.empty();
    filter_frame(plan_, executor_, frame, time, statistics, shown_name_, wanted);
}

void FilteredInput::show_values(ChainPlan& plan, const FrameTime& time, const Statistics& statistics) const {
    if (plan.shows_frame_values()) plan.set_frame_values(run_values(statistics.snapshot(), time, shown_name_));
}

void FilteredInput::filter_at_rate(InputFrame& frame, const FrameTime& time, const Statistics& statistics,
                                   Wanted wanted) {
    frame.captured.upload();
    if (frame.reading != before_->reading) {
        show_values(before_->plan, time, statistics);
        before_->plan.run(frame.captured, before_->result);
        before_->reading = frame.reading;
    }
    if (!frame.looked_at) return;
    show_values(plan_, time, statistics);
    plan_.run(before_->result, frame.captured, frame.filtered);
    if (wanted.on_host) frame.filtered.download();
}

RunDescription FilteredInput::description() const {
    auto figures = before_ ? before_->plan.figures() : std::vector<ChainFigures>();
    std::ranges::move(plan_.figures(), std::back_inserter(figures));
    if (figures.empty() && linear_planes_) figures = linear_planes_->figures();
    return {info_.name, std::string(to_string(executor_.backend())), shape(), std::move(figures), source_->damaged()};
}

std::optional<std::int64_t> expected_frames(const SourceInfo& source, std::optional<std::int64_t> limit) {
    if (!source.frames) return limit;
    return limit ? std::min(*limit, *source.frames) : *source.frames;
}

}  // namespace framewire::jobs
