#include "view/camera/camera.hpp"

#include "framewire/core/log.hpp"

#include <utility>

namespace framewire::app {
namespace {

constexpr std::size_t most_samples = 5;

}  // namespace

// Runs the job on its thread and stores its error.
void ShownCamera::start(std::function<void()> changed) {
    changed_ = std::move(changed);
    thread_ = std::jthread([this] {
        std::exception_ptr failure;
        std::string text;
        try {
            run();
        } catch (const std::exception& error) {
            failure = std::current_exception();
            text = error.what();
        }
        {
            const std::lock_guard lock(mutex_);
            over_ = true;
            failure_ = failure;
            failure_text_ = std::move(text);
        }
        tell_changed();
    });
}

void ShownCamera::join() {
    if (thread_.joinable()) thread_.join();
    if (const auto saved = recording_.stop()) log_info("saved {}", *saved);
}

void ShownCamera::rethrow() const {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
}

bool ShownCamera::over() const {
    const std::lock_guard lock(mutex_);
    return over_;
}

std::string ShownCamera::failure_text() const {
    const std::lock_guard lock(mutex_);
    return failure_text_;
}

bool ShownCamera::give(const TakePicture& take, std::size_t number) { return seen_.give(take, number); }

void ShownCamera::put_seen(HostView<const std::uint8_t> picture) {
    recording_.put(picture);
    seen_.put(picture);
}

void ShownCamera::tell_changed() const {
    if (changed_) changed_();
}

// A counter that decreases was restarted, so the older samples are dropped.
double RateSince::operator()(double total) {
    if (!samples_.empty() && total < samples_.back().total) samples_.clear();  // the counter restarted
    samples_.push_back({Clock::now(), total});
    if (samples_.size() > most_samples) samples_.pop_front();
    const double seconds = milliseconds(samples_.front().at, samples_.back().at) / 1000;
    return seconds > 0 ? (total - samples_.front().total) / seconds : 0;
}

}  // namespace framewire::app
