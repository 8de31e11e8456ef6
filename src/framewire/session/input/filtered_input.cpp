#include "framewire/session/input/filtered_input.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/named_value.hpp"
#include "framewire/media/media.hpp"
#include "framewire/session/input/public_name.hpp"

#include <algorithm>
#include <cmath>

namespace framewire::session {
namespace {

std::optional<Rational> asked_rate(double fps) {
    if (fps <= 0) return std::nullopt;
    return Rational{std::llround(fps * 1000), 1000};
}

std::optional<YuvMatrix> asked_matrix(const std::string& name) {
    static constexpr NamedValue<YuvMatrix> matrices[] = {
        {"bt601", YuvMatrix::bt601}, {"bt709", YuvMatrix::bt709}, {"bt2020", YuvMatrix::bt2020}};
    if (name.empty()) return std::nullopt;
    if (const auto* matrix = value_named(matrices, name)) return *matrix;
    fail(ErrorCode::usage, "matrix '{}' is not known; allowed are bt601, bt709 and bt2020", name);
}

std::optional<bool> asked_range(const std::string& name) {
    if (name.empty()) return std::nullopt;
    if (name != "limited" && name != "full")
        fail(ErrorCode::usage, "range '{}' is not known; allowed are limited and full", name);
    return name == "full";
}

}  // namespace

FilteredInput::FilteredInput(const InputOptions& input, const JobOptions& job, std::stop_token stop)
    : chain_(parse_chain(input.filters)),
      fps_(input.fps),
      loop_(input.loop),
      source_(open_source(input.source, {.stop = std::move(stop),
                                         .reconnect = input.reconnect,
                                         .draw_loss = input.shows_loss ? no_signal_.drawing() : nullptr,
                                         .rate = asked_rate(input.fps),
                                         .loop = input.loop,
                                         .one_size = input.one_size,
                                         .matrix = asked_matrix(input.matrix),
                                         .full_range = asked_range(input.range),
                                         .replace_truth = job.replace})),
      info_(source_->info()),
      shown_name_(input.public_name ? public_name(info_.name) : info_.name),
      executor_(job.backend, job.threads),
      plan_(chain_, info_.shape, executor_),
      panel_(chain_, *source_, [this](const auto& settings) { return plan_.set_adjustment(settings); }) {}

Rational FilteredInput::rate() const { return asked_rate(fps_).value_or(info_.rate); }

std::optional<std::int64_t> FilteredInput::expected_frames(std::optional<std::int64_t> limit) const {
    return loop_ ? limit : session::expected_frames(info_, limit);
}

bool FilteredInput::capture(InputFrame& frame, FrameTime& time) {
    if (!source_->capture(frame.captured, time)) return false;
    frame.signal = !no_signal_.take_drawn();
    if (fps_ > 0 && !info_.live) time.seconds = static_cast<double>(captured_frames_) / fps_;
    frame.own = plan_.empty() ? source_->own_picture() : nullptr;
    ++captured_frames_;
    return true;
}

RunDescription FilteredInput::description() const {
    return {info_.name, std::string(to_string(executor_.backend())), shape(), plan_.figures()};
}

std::optional<std::int64_t> expected_frames(const SourceInfo& source, std::optional<std::int64_t> limit) {
    if (!source.frames) return limit;
    return limit ? std::min(*limit, *source.frames) : *source.frames;
}

}  // namespace framewire::session
