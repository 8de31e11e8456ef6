// Schedule and budget of refinement. The budget is bounded in two ways: by a bitrate per pixel, and by a share of what
// the stream itself takes. The size of a refinement is predicted from earlier ones when it is chosen, and the budget is
// corrected when the size is known.

#include "framewire/delta/refresh/rest_budget.hpp"

#include "framewire/core/error.hpp"
#include "framewire/delta/packing/packed.hpp"
#include "framewire/delta/refresh/rest_sharpener.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace framewire::delta {
namespace {

// Number of samples that a cell takes in the time after which it counts as static.
constexpr int samples_wanted = 12;
// The budget accumulates for at least the first time, so that a delta frame is worth its overhead, and for at most the
// second one, so that no delta frame is large.
constexpr double least_saved_seconds = 0.1, most_saved_seconds = 0.5;
// All cells are examined within this share of the time after which a cell counts as static.
constexpr double looking_share = 0.5;
constexpr double first_bytes_per_change = 1;  // assumed until the first refinement is reported
constexpr double news = 0.25;                 // weight of a new observation
constexpr double longest_pause_seconds = 3600;
// The saved share of the stream's bytes is limited to what can be spent in this time.
constexpr double longest_saved_seconds = 60;
constexpr double most_room_bytes = 1e12;

double allowed_seconds(double seconds) {
    if (!(seconds >= RestSharpener::least_seconds && seconds <= RestSharpener::most_seconds))
        fail(ErrorCode::usage, "what rests for {} seconds; {} to {} are allowed", seconds, RestSharpener::least_seconds,
             RestSharpener::most_seconds);
    return seconds;
}

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }
std::int64_t parts(double bytes) {
    return std::llround(std::clamp(bytes, 0.0, most_room_bytes) * static_cast<double>(byte_parts));
}

}  // namespace

RestBudget::RestBudget(const Shape& shape, double seconds, int threshold)
    : bytes_per_second_(static_cast<double>(shape.width) * shape.height * RestSharpener::bits_per_pixel_and_second / 8),
      least_bytes_per_second_(static_cast<double>(shape.width) * shape.height *
                              RestSharpener::least_bits_per_pixel_and_second / 8),
      seconds_(allowed_seconds(seconds)),
      thresholds_{(validate_packed_threshold(threshold), threshold / 2), threshold / 4, 0},
      cells_(CellGrid(shape).count()) {
    parts_per_change_.fill(first_bytes_per_change * static_cast<double>(byte_parts));
}

// Returns the budget that the time since the last frame adds.
double RestBudget::earned(double gap, double stream_bytes) {
    const double most = gap * bytes_per_second_;
    if (!std::isfinite(stream_bytes)) return most;
    const double news = std::max(0.0, stream_bytes - std::exchange(stream_bytes_, stream_bytes));
    saved_bytes_ =
        std::min(saved_bytes_ + std::max(RestSharpener::share_of_stream * news, gap * least_bytes_per_second_),
                 longest_saved_seconds * bytes_per_second_);
    const double now = std::min(most, saved_bytes_);
    saved_bytes_ -= now;
    return now;
}

RestTurn RestBudget::next(double seconds, int within, double room_bytes, double stream_bytes) {
    const double gap = seconds - frame_at_;
    frame_at_ = seconds;
    const bool goes_on = std::exchange(begun_, true) && gap > 0 && gap <= longest_pause_seconds;
    if (goes_on) {
        frame_seconds_ = gap;
        now_ += nanoseconds(gap);
    }
    // Cells take samples in turns, so that all frames cost about the same. The number of turns is odd, because lighting
    // may make every other frame brighter.
    const double frames = frame_seconds_ > 0 ? seconds_ / samples_wanted / frame_seconds_ : 1;
    const auto turns = 1 + 2 * std::llround(std::clamp((frames - 1) / 2, 0.0, 1e6));
    const double looked_at = std::min(1.0, frame_seconds_ / (looking_share * seconds_)) * cells_;

    RestTurn turn{};
    turn.anew = std::exchange(anew_, false);
    turn.now = now_;
    turn.rests = nanoseconds(seconds_);
    turn.turns = static_cast<int>(turns);
    turn.phase = static_cast<int>(++turn_ % turns);
    turn.within = within;
    std::ranges::copy(thresholds_, turn.thresholds);
    turn.credit = goes_on ? parts(earned(gap, stream_bytes)) : 0;
    turn.most = parts(std::max(most_saved_seconds, frame_seconds_) * bytes_per_second_);
    turn.least = parts(least_saved_seconds * bytes_per_second_);
    turn.room = parts(room_bytes);
    turn.looked_at = 1 + static_cast<std::uint32_t>(looked_at);
    const std::lock_guard lock(mutex_);
    turn.correction = std::exchange(correction_, 0);
    turn.done = std::exchange(done_, 0);
    std::ranges::transform(parts_per_change_, turn.per_change, [](double of) { return std::llround(of); });
    return turn;
}

void RestBudget::took(const SharperStep& step, std::int64_t bytes) {
    const auto& [stage, threshold, count, max_error, squared_error, expected] = step.told_;
    const auto now = bytes * byte_parts;
    const std::lock_guard lock(mutex_);
    correction_ += expected - now;
    done_ += expected;
    auto& per_change = parts_per_change_[static_cast<std::size_t>(stage)];
    per_change += news * (static_cast<double>(std::max<std::int64_t>(now - message_parts, 0)) / count - per_change);
}

}  // namespace framewire::delta
