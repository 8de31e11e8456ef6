#include "view/viewer.hpp"

#include "framewire/core/time/clock.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace framewire::app {
namespace {

constexpr std::chrono::milliseconds longest_wait{100}, title_period{1000};

}  // namespace

void Viewer::look_at(session::ReceiveOptions& options) {
    options.on_stream = [this](const net::StreamInfo& stream, const Shape& shown) {
        window_ = std::make_unique<Window>(shown, "framewire: " + stream.source);
        newest_ = std::make_unique<NewestPicture>(shown);
    };
    options.on_picture = [this](HostView<const std::uint8_t> picture) {
        newest_->put(picture);
        window_->wake();
    };
    options.on_end = [this] { failure_.rethrow(); };
}

void Viewer::run(session::ReceiveJob& job, std::stop_source stop) {
    session::FirstFailure of_job;
    std::atomic<bool> received_all = false;
    {
        const std::jthread receiving([&] {
            of_job.attempt([&] { job.run(); });
            received_all = true;
            window_->wake();
        });
        failure_.attempt([&] {
            auto title_due = Clock::now() + title_period;
            while (!received_all && window_->wait(longest_wait)) {
                newest_->show_in(*window_);
                if (Clock::now() < title_due) continue;
                title_due += title_period;
                show_figures(job);
            }
        });
        stop.request_stop();  // before the thread is waited for
    }
    of_job.rethrow();
    failure_.rethrow();
}

void Viewer::show_figures(const session::ReceiveJob& job) {
    const auto now = job.statistics().snapshot();
    const double seconds = std::chrono::duration<double>(title_period).count();
    window_->set_title(fmt::format("framewire: {}, {:.0f} fps, {:.2f} Mbit/s", job.stream().source,
                                   static_cast<double>(now.frames - titled_.frames) / seconds,
                                   8e-6 * static_cast<double>(now.sent_bytes - titled_.sent_bytes) / seconds));
    titled_ = now;
}

}  // namespace framewire::app
