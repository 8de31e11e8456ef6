#include "commands/commands.hpp"
#include "jobs/video_output.hpp"
#include "options/common.hpp"
#include "options/output_check.hpp"
#include "view/changes_picture.hpp"
#include "view/window.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/detect/overlay/box_overlay.hpp"
#include "framewire/media/media.hpp"
#include "framewire/net/client.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace framewire::app {
namespace {

struct ViewOptions {
    CommonOptions common;
    std::string url, output, changes;
    bool no_window = false, no_boxes = false;
    double reconnect_seconds = 10;
    std::int64_t max_pixels = net::ClientOptions{}.max_pixels;
};

constexpr std::chrono::milliseconds longest_wait{100}, title_period{1000};

net::ClientOptions client_options(const ViewOptions& options) {
    if (!std::isfinite(options.reconnect_seconds))
        fail(ErrorCode::usage, "--reconnect {} is no time; 0 to 86400 seconds are allowed", options.reconnect_seconds);
    net::ClientOptions client;
    client.reconnect = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * options.reconnect_seconds));
    client.max_pixels = options.max_pixels;
    return client;
}

// Times for a recording: it begins at 0, and goes on where it was when the stream's own times go back, as they do with
// a server started anew, or leap further than a recording should have a gap.
class RecordingTime {
public:
    explicit RecordingTime(Rational rate) : frame_seconds_(std::min(1 / rate.value(), longest_gap_seconds)) {}

    FrameTime next(double stream_seconds) {
        if (index_ == 0)
            offset_ = stream_seconds;
        else if (const double step = stream_seconds - offset_ - seconds_; step <= 0 || step > longest_gap_seconds)
            offset_ = stream_seconds - seconds_ - frame_seconds_;
        seconds_ = stream_seconds - offset_;
        return {index_++, seconds_, Clock::now()};
    }

private:
    static constexpr double longest_gap_seconds = 3600;

    double frame_seconds_;
    double offset_ = 0, seconds_ = 0;
    std::int64_t index_ = 0;
};

// The newest picture on its way from the receiving thread to the window's.
class NewestPicture {
public:
    explicit NewestPicture(const Shape& shape) : picture_(shape) {}

    void put(HostView<const std::uint8_t> picture) {
        const std::lock_guard lock(mutex_);
        copy(picture, picture_.view());
        fresh_ = true;
    }

    /// Shows the picture when it was not shown before.
    void show_in(Window& window) {
        const std::lock_guard lock(mutex_);
        if (!std::exchange(fresh_, false)) return;
        window.show(std::as_const(picture_).view());
    }

private:
    std::mutex mutex_;
    HostImage picture_;
    bool fresh_ = false;
};

// From a server to a window, a recording, or both. What fails on the way is thrown after the recording was completed.
class View {
public:
    View(const ViewOptions& options, const std::stop_source& stop)
        : options_(options),
          stop_(stop),
          statistics_file_(options.common),
          client_(net::parse_stream_address(options.url), client_options(options), stop.get_token()),
          info_(client_.info()),
          time_(info_.rate) {
        if (!options.changes.empty())
            changes_ = std::make_unique<ChangesPicture>(options.changes, info_.shape, options.common.threads);
        const auto& shown = changes_ ? changes_->shape() : info_.shape;
        if (!options.no_window) {
            window_ = std::make_unique<Window>(shown, "framewire: " + info_.source);
            newest_ = std::make_unique<NewestPicture>(shown);
        }
        recording_ = VideoOutput(options.output, shown, info_.rate,
                                 {.stop = stop.get_token(), .replace = options.common.replace, .once_only = true});
    }

    void operator()() {
        log_info("viewing {}: {}, {:.4g} fps, {}", info_.source, to_string(info_.shape), info_.rate.value(),
                 info_.mode == delta::Mode::lossless ? "lossless" : fmt::format("within {}", info_.threshold));
        FirstFailure failure;
        failure.attempt([&] {
            const Progress progress(options_.common.progress_mode(), statistics_, options_.common.frames);
            if (window_)
                receive_beside_window();
            else
                receive();
        });
        const auto ending = ending_of(failure, stop_, true);
        failure.attempt([&] { recording_.finish(ending); });
        failure.attempt([&] { report(); });
        failure.rethrow();
        if (frames_ == 0 && !stop_.stop_requested())
            fail(ErrorCode::source_lost, "{} ended before its first picture", options_.url);
    }

private:
    void receive() {
        while ((!options_.common.frames || frames_ < *options_.common.frames) && client_.next()) {
            if (frames_ == 0) statistics_.start();  // the wait for the first says nothing of the rate
            const auto picture = with_boxes(changes_ ? changes_->draw(client_) : client_.picture());
            if (recording_.wanted()) recording_.write(picture, time_.next(client_.state().seconds));
            if (window_) {
                newest_->put(picture);
                window_->wake();
            }
            ++frames_;
            statistics_.count_frame(info_.shape.frame_bytes());
            statistics_.set_sent_bytes(client_.counts().bytes);
        }
    }

    // The picture with the boxes of what the server detected in it; holds until the next call.
    HostView<const std::uint8_t> with_boxes(HostView<const std::uint8_t> picture) {
        const auto objects = client_.objects();
        if (options_.no_boxes || objects.empty()) return picture;
        if (boxed_.shape() != picture.shape()) boxed_ = HostImage(picture.shape());
        copy(picture, boxed_.view());
        draw_outlines(objects, {}, boxed_.view());
        return std::as_const(boxed_).view();
    }

    // Windows belong to the program's first thread, so receiving moves to another.
    void receive_beside_window() {
        std::exception_ptr failure;
        std::atomic<bool> received_all = false;
        {
            const std::jthread receiving([&] {
                try {
                    receive();
                } catch (...) {
                    failure = std::current_exception();
                }
                received_all = true;
                window_->wake();
            });
            struct StopReceiving {  // before the thread is waited for, whatever happens here
                std::stop_source stop;
                ~StopReceiving() { stop.request_stop(); }
            } const stop_receiving{stop_};
            auto title_due = Clock::now() + title_period;
            while (!received_all && window_->wait(longest_wait)) {
                newest_->show_in(*window_);
                if (Clock::now() < title_due) continue;
                title_due += title_period;
                show_figures();
            }
        }
        if (failure) std::rethrow_exception(failure);
    }

    void show_figures() {
        const auto now = statistics_.snapshot();
        const double seconds = std::chrono::duration<double>(title_period).count();
        window_->set_title(fmt::format("framewire: {}, {:.0f} fps, {:.2f} Mbit/s", info_.source,
                                       static_cast<double>(now.frames - titled_.frames) / seconds,
                                       8e-6 * static_cast<double>(now.sent_bytes - titled_.sent_bytes) / seconds));
        titled_ = now;
    }

    void report() {
        const auto figures = statistics_.snapshot();
        const auto counts = client_.counts();
        log_info("{} frames in {:.2f} s, {:.1f} fps, {:.2f} MB received; {} versions skipped, {} reconnections",
                 figures.frames, figures.seconds, figures.fps, 1e-6 * static_cast<double>(counts.bytes),
                 counts.received.skipped, counts.reconnections);
        if (!statistics_file_) return;
        const auto changed_of =
            static_cast<double>(counts.received.changes) * static_cast<double>(info_.shape.frame_bytes());
        const nlohmann::ordered_json json{
            {"source", info_.source},
            {"size",
             {{"width", info_.shape.width}, {"height", info_.shape.height}, {"channels", info_.shape.channels}}},
            {"mode", to_string(info_.mode)},
            {"threshold", info_.threshold},
            {"frames", figures.frames},
            {"seconds", figures.seconds},
            {"fps", figures.fps},
            {"raw_bytes", figures.raw_bytes},
            {"received_bytes", counts.bytes},
            {"pictures", counts.received.pictures},
            {"steps", counts.received.changes},
            {"skipped", counts.received.skipped},
            {"changed", changed_of > 0 ? static_cast<double>(counts.received.changed_bytes) / changed_of : 0.0},
            {"version", client_.state().version},
            {"frame", client_.state().frame},
            {"reconnections", counts.reconnections},
        };
        statistics_file_.write(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    }

    const ViewOptions& options_;
    std::stop_source stop_;
    // In this order, so that what is cheap to refuse is refused first and the output is touched last.
    StatisticsFile statistics_file_;
    net::Client client_;
    net::StreamInfo info_;
    RecordingTime time_;
    std::unique_ptr<ChangesPicture> changes_;
    HostImage boxed_;  // there once the server has detected something
    std::unique_ptr<Window> window_;
    std::unique_ptr<NewestPicture> newest_;
    VideoOutput recording_;

    Statistics statistics_;
    StatisticsSnapshot titled_;
    std::int64_t frames_ = 0;
};

}  // namespace

void add_view(CLI::App& program, Action& chosen) {
    auto* command =
        program.add_subcommand("view", "Receives a difference stream and shows it in a window, records it, or both");
    const auto options = std::make_shared<ViewOptions>();
    command->add_option("url", options->url, "where the stream is: tcp://HOST:PORT or tcp://HOST:PORT/NAME")
        ->required()
        ->type_name("URL");
    command->add_option("-o,--output", options->output, "record to a file by its ending, -, a URL")->type_name("DST");
    command
        ->add_option("--changes", options->changes,
                     "show what each step changed instead: mask, red on black; overlay, red over the picture; heat, by "
                     "how much")
        ->check(CLI::IsMember({"mask", "overlay", "heat"}));
    command->add_flag("--no-window", options->no_window, "only record, or count");
    command->add_flag("--no-boxes", options->no_boxes, "leave out the boxes of objects that the server detects");
    command
        ->add_option("--reconnect", options->reconnect_seconds,
                     "how long a lost stream is tried to be had again, from the loss to its next picture")
        ->check(CLI::Range(0.0, 86'400.0))
        ->type_name("SECONDS")
        ->capture_default_str();
    command->add_option("--max-pixels", options->max_pixels, "refuse streams of larger pictures")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{max_side_px} * max_side_px))
        ->type_name("N")
        ->capture_default_str();
    add_common_options(*command, options->common);
    set_work(*command, chosen, options->common, [options](const std::stop_source& stop) {
        if (!options->no_window && !Window::supported())
            fail(ErrorCode::config, "this build has no windows; --no-window does without");
        RunFiles files;
        files.sink("-o", options->output).output("--stats", options->common.statistics_path);
        if (files.may_write(options->common, stop.get_token())) View(*options, stop)();
    });
}

}  // namespace framewire::app
