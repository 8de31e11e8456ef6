#pragma once

#include "view/newest_picture.hpp"
#include "view/window/window.hpp"

#include "framewire/core/time/clock.hpp"
#include "framewire/session/show/show.hpp"

#include <atomic>
#include <exception>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace framewire::app {

/// How results and originals are seen.
enum class Comparison { none, side_by_side, split };

struct PlayerOptions {
    std::vector<session::ShowOptions> sources;  ///< on_frame and the stop are the player's
    Comparison comparison = Comparison::none;
    bool full_screen = false;
    std::string snapshots;  ///< the folder that they go to
};

/// A window on one or more sources, led by keys.
class Player {
public:
    /// Opens the sources. Throws as ShowJob does.
    Player(PlayerOptions options, std::stop_source stop);
    ~Player();

    /// Opens the window; returns when the user closes it, the stop comes, or all sources have shown what they were to.
    /// Throws what the window throws, then what a source broke with.
    void run();

private:
    // A source with what of it is on its way to the window.
    struct Shown {
        std::unique_ptr<NewestPicture> result, original;
        std::unique_ptr<session::ShowJob> job;
        std::jthread thread{};
        std::exception_ptr failure{};
        std::atomic<bool> over = false;
        std::string failure_text{};  ///< once it is over
    };

    void open(session::ShowOptions options);
    void start();
    void watch();
    void arrange();
    bool is_over() const;
    /// False when it ends the window.
    bool take_key(std::string_view key);
    template <class Body>
    void each(Body&& body);
    void seek_by(double seconds);
    void set_speed(double speed);
    void save_snapshots();
    void say(std::string words);
    std::vector<Words> words() const;
    std::string figures_of(const Shown& shown) const;
    std::string trouble_of(const Shown& shown) const;
    std::string position_of(const Shown& shown) const;
    std::string title() const;
    int columns() const;

    PlayerOptions options_;
    std::stop_source stop_;
    std::vector<std::unique_ptr<Shown>> shown_;
    std::unique_ptr<Window> window_;
    bool shows_help_ = false, shows_figures_ = false;
    std::string said_;  // shortly, of what a key did
    Clock::time_point said_at_{};
    bool said_position_ = false;
    int next_snapshot_ = 1;
    Clock::time_point started_at_ = Clock::now();
};

}  // namespace framewire::app
