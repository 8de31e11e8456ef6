#include "view/player.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/time/seconds.hpp"
#include "framewire/media/media.hpp"
#include "framewire/session/job/failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

namespace framewire::app {
namespace {

constexpr std::chrono::milliseconds player_wait{100};
constexpr double words_last_ms = 1500, no_signal_after_ms = 2000;
constexpr double short_seek_s = 5, long_seek_s = 60, speed_step = 1.1;

constexpr std::string_view help =
    "space p     pause, go on\n"
    ".  ,        a frame on, a frame back\n"
    "left right  5 seconds back, on\n"
    "down up     a minute back, on\n"
    "Home        to the start\n"
    "[  ]        slower, faster\n"
    "Backspace   the source's own speed\n"
    "c           compare: side by side, split, not\n"
    "s           save the pictures\n"
    "i           figures\n"
    "f           full screen\n"
    "?           this help\n"
    "q           end";

}  // namespace

Player::Player(PlayerOptions options, std::stop_source stop) : options_(std::move(options)), stop_(std::move(stop)) {
    for (const auto& source : options_.sources) open(source);
}

Player::~Player() { stop_.request_stop(); }  // before threads are waited for

void Player::open(session::ShowOptions options) {
    auto shown = std::make_unique<Shown>();
    options.job.stop = stop_.get_token();
    options.on_frame = [this, to = shown.get()](const session::ShownFrame& frame) {
        to->result->put(frame.result);
        to->original->put(frame.captured);
        window_->wake();
    };
    shown->job = std::make_unique<session::ShowJob>(options);
    shown->result = std::make_unique<NewestPicture>(shown->job->shape());
    shown->original = std::make_unique<NewestPicture>(shown->job->source().shape);
    shown_.push_back(std::move(shown));
}

void Player::run() {
    std::vector<Shape> pictures;
    for (const auto& shown : shown_) pictures.insert(pictures.end(), {shown->job->shape(), shown->job->source().shape});
    window_ = std::make_unique<Window>(pictures, title());
    if (options_.full_screen) window_->set_full_screen(true);
    arrange();
    session::FirstFailure failure;
    failure.attempt([&] {
        start();
        watch();
    });
    stop_.request_stop();
    for (const auto& shown : shown_)
        if (shown->thread.joinable()) shown->thread.join();
    failure.rethrow();
    for (const auto& shown : shown_)
        if (shown->failure) std::rethrow_exception(shown->failure);
}

void Player::start() {
    for (const auto& of_source : shown_)
        of_source->thread = std::jthread([this, shown = of_source.get()] {
            try {
                shown->job->run();
            } catch (const std::exception& error) {
                shown->failure = std::current_exception();
                shown->failure_text = error.what();
            }
            shown->over = true;
            window_->wake();
        });
}

bool Player::is_over() const {
    return stop_.stop_requested() ||
           std::ranges::all_of(shown_, [](const auto& shown) { return shown->over && !shown->failure; });
}

void Player::watch() {
    std::vector<Words> drawn_words;
    std::string drawn_title;
    while (!is_over() && window_->wait(player_wait)) {
        bool changed = false;
        for (const auto& key : window_->take_keys()) {
            if (!take_key(key)) return;
            changed = true;
        }
        for (std::size_t index = 0; index < shown_.size(); ++index) {
            changed |= shown_[index]->result->show_in(*window_, 2 * index);
            changed |= shown_[index]->original->show_in(*window_, 2 * index + 1);
        }
        if (auto text = title(); text != drawn_title) window_->set_title(drawn_title = std::move(text));
        if (auto over_them = words(); over_them != drawn_words) {
            window_->set_words(drawn_words = std::move(over_them));
            changed = true;
        }
        if (changed) window_->draw();
    }
}

// Side by side a source takes two cells, and so a row.
int Player::columns() const {
    if (options_.comparison == Comparison::side_by_side) return 2;
    return static_cast<int>(std::ceil(std::sqrt(static_cast<double>(shown_.size()))));
}

void Player::arrange() {
    const int across = columns();
    std::vector<Place> places;
    for (std::size_t index = 0; index < shown_.size(); ++index) {
        const auto number = static_cast<int>(index);
        const Place result{.picture = 2 * index, .column = number % across, .row = number / across};
        const Place original{.picture = 2 * index + 1, .column = number % across, .row = number / across, .to = 0.5};
        switch (options_.comparison) {
            case Comparison::none: places.push_back(result); break;
            case Comparison::side_by_side:
                places.push_back({.picture = 2 * index + 1, .row = number});
                places.push_back({.picture = 2 * index, .column = 1, .row = number});
                break;
            case Comparison::split: places.insert(places.end(), {result, original}); break;
        }
    }
    const auto count = static_cast<int>(shown_.size());
    const int rows = options_.comparison == Comparison::side_by_side ? count : (count + across - 1) / across;
    window_->arrange(across, rows, places);
}

template <class Body>
void Player::each(Body&& body) {
    for (const auto& shown : shown_) body(*shown->job);
}

bool Player::take_key(std::string_view key) {
    const bool paused = shown_.front()->job->state().paused;
    const double speed = shown_.front()->job->state().speed;
    if (key == "q" || (key == "Escape" && !window_->full_screen())) return false;
    if (key == " " || key == "p") {
        each([&](auto& job) { job.set_paused(!paused); });
        say(paused ? "goes on" : "paused");
    } else if (key == ".") {
        each([](auto& job) { job.step(); });
        say({});
    } else if (key == ",") {
        each([](auto& job) { job.step_back(); });
        say({});
    } else if (key == "Left" || key == "Right") {
        seek_by(key == "Left" ? -short_seek_s : short_seek_s);
    } else if (key == "Down" || key == "Up") {
        seek_by(key == "Down" ? -long_seek_s : long_seek_s);
    } else if (key == "Home") {
        each([](auto& job) { job.seek(0); });
        say({});
    } else if (key == "[" || key == "]") {
        set_speed(key == "[" ? speed / speed_step : speed * speed_step);
    } else if (key == "Backspace") {
        set_speed(1);
    } else if (key == "c") {
        options_.comparison = static_cast<Comparison>((static_cast<int>(options_.comparison) + 1) % 3);
        arrange();
    } else if (key == "s") {
        save_snapshots();
    } else if (key == "i") {
        shows_figures_ = !shows_figures_;
    } else if (key == "?") {
        shows_help_ = !shows_help_;
    } else if (key == "f" || key == "Escape") {
        window_->set_full_screen(!window_->full_screen());
    }
    return true;
}

void Player::seek_by(double seconds) {
    bool any = false;
    each([&](auto& job) { any |= job.seek_by(seconds); });
    say(any ? "" : "a live source has no other time");
}

void Player::set_speed(double speed) {
    each([&](auto& job) { job.set_speed(speed); });
    say(fmt::format("speed {:.2f}", shown_.front()->job->state().speed));
}

// Never over what is there already.
void Player::save_snapshots() {
    std::string names;
    try {
        for (const auto& shown : shown_) {
            if (!shown->job->state().shows) continue;
            std::filesystem::path path;
            do {
                path = std::filesystem::path(options_.snapshots) /
                       fmt::format("framewire-shot{:04}.png", next_snapshot_++);
            } while (std::filesystem::exists(path));
            shown->result->look([&](HostView<const std::uint8_t> picture) {
                const auto sink = open_sink(path.string(), picture.shape(), {1, 1});
                sink->write(picture, {});
                sink->finish();
            });
            log_info("saved {}", path.string());
            names += fmt::format("{}{}", names.empty() ? "saved " : ", ", path.string());
        }
        say(names.empty() ? "there is no picture yet" : names);
    } catch (const std::exception& error) {  // the window stays, whatever the disk
        log_error("{}", error.what());
        say(error.what());
    }
}

// No words: where the sources are.
void Player::say(std::string words) {
    said_position_ = words.empty();
    said_ = std::move(words);
    said_at_ = Clock::now();
}

std::vector<Words> Player::words() const {
    using Corner = Words::Corner;
    std::vector<Words> all;
    const int across = columns();
    const bool pairs = options_.comparison == Comparison::side_by_side;
    for (std::size_t index = 0; index < shown_.size(); ++index) {
        const auto& shown = *shown_[index];
        const auto number = static_cast<int>(index);
        const int column = pairs ? 0 : number % across, row = pairs ? number : number / across;
        if (shows_figures_) all.push_back({figures_of(shown), column, row});
        if (auto trouble = trouble_of(shown); !trouble.empty())
            all.push_back({std::move(trouble), column, row, Corner::lower_left, true});
        else if (said_position_ && milliseconds_since(said_at_) < words_last_ms)
            all.push_back({position_of(shown), column, row, Corner::lower_left});
    }
    if (!said_.empty() && milliseconds_since(said_at_) < words_last_ms)
        all.push_back({said_, 0, 0, Corner::lower_left});
    if (shows_help_) all.push_back({std::string(help), 0, 0, Corner::middle});
    return all;
}

std::string Player::trouble_of(const Shown& shown) const {
    if (shown.over && !shown.failure_text.empty()) return "ended: " + shown.failure_text;
    const auto state = shown.job->state();
    if (!state.lost.empty()) return "source lost: " + state.lost;
    if (shown.job->source().live && !state.paused) {
        const double silent_ms = milliseconds_since(state.shows ? state.shown_at : started_at_);
        if (silent_ms > no_signal_after_ms) return fmt::format("no signal for {:.0f} s", silent_ms / 1000);
    }
    return {};
}

std::string Player::position_of(const Shown& shown) const {
    const auto state = shown.job->state();
    const auto& source = shown.job->source();
    auto text = to_clock_text(state.time.seconds);
    if (source.frames) text += " / " + to_clock_text(static_cast<double>(*source.frames) / source.rate.value());
    return fmt::format("{}  frame {}", text, state.time.index);
}

std::string Player::figures_of(const Shown& shown) const {
    const auto state = shown.job->state();
    const auto& source = shown.job->source();
    const auto figures = shown.job->statistics().snapshot();
    return fmt::format(
        "{}\n{} at {:.4g} fps{}\n{}{}\nshown as {}, on {}\n{:.1f} fps, {} frames, {} dropped\n"
        "read {:.2f} ms, process {:.2f} ms",
        source.name, to_string(source.shape), source.rate.value(), source.live ? ", live" : "", position_of(shown),
        state.paused       ? ", paused"
        : state.ended      ? ", at the end"
        : state.speed != 1 ? fmt::format(", speed {:.2f}", state.speed)
                           : "",
        to_string(shown.job->shape()), to_string(shown.job->backend()), figures.fps, figures.frames, figures.drops,
        figures.read_ms.median_ms, figures.process_ms.median_ms);
}

std::string Player::title() const {
    auto text = fmt::format("framewire: {}", shown_.front()->job->source().name);
    if (shown_.size() > 1) text += fmt::format(" and {} more", shown_.size() - 1);
    const auto state = shown_.front()->job->state();
    if (!state.lost.empty()) return text + ", lost";
    return text + (state.paused ? ", paused" : state.ended ? ", at the end" : "");
}

}  // namespace framewire::app
