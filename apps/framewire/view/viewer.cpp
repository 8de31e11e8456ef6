#include "view/viewer.hpp"

#include "framewire/core/time/clock.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <string_view>
#include <thread>
#include <vector>

namespace framewire::app {
namespace {

constexpr std::string_view instead_of_window = "; --no-window does without";
constexpr std::chrono::milliseconds longest_wait{100}, title_period{1000};

}  // namespace

void Viewer::look_at(session::ReceiveOptions& options) {
    options.on_stream = [this](const net::StreamInfo& stream, const Shape& shown) {
        window_ = std::make_unique<Window>(std::vector{shown}, "framewire: " + stream.source, instead_of_window);
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
                if (newest_->show_in(*window_)) window_->draw();
                if (take_keys()) break;
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

// True when one of them ends it.
bool Viewer::take_keys() {
    for (const auto& key : window_->take_keys()) {
        if (key == "f") window_->set_full_screen(!window_->full_screen());
        if (key == "q" || key == "Escape") return true;
    }
    return false;
}

void Viewer::show_figures(const session::ReceiveJob& job) {
    const auto now = job.statistics().snapshot();
    const double seconds = std::chrono::duration<double>(title_period).count();
    window_->set_title(fmt::format("framewire: {}, {:.0f} fps, {:.2f} Mbit/s, within {}", job.stream().source,
                                   static_cast<double>(now.frames - titled_.frames) / seconds,
                                   8e-6 * static_cast<double>(now.sent_bytes - titled_.sent_bytes) / seconds,
                                   job.threshold()));
    titled_ = now;
}

}  // namespace framewire::app
