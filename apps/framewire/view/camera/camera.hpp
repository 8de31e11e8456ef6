#pragma once

#include "view/camera/newest_picture.hpp"
#include "view/camera/seen_recording.hpp"

#include "framewire/core/time/clock.hpp"
#include "framewire/core/time/rational.hpp"
#include "framewire/session/control/control.hpp"
#include "framewire/session/show/show.hpp"

#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace framewire::app {

/// A line of what is told of a camera.
struct Figure {
    std::string_view name;
    std::string text;
    std::optional<double> plotted{};  ///< its value now, where its course is drawn
};

/// What a window shows and its keys lead: pictures on their way from a job that runs on a thread of its own. Calls are
/// for the window's thread, but where others are named.
class ShownCamera {
public:
    /// How pictures lie in the window: each camera has two, the second for the original.
    static constexpr std::size_t pictures_each = 2;

    virtual ~ShownCamera() = default;
    ShownCamera(const ShownCamera&) = delete;
    ShownCamera& operator=(const ShownCamera&) = delete;

    /// Begins; `changed` is called on other threads when there is something to show.
    void start(std::function<void()> changed);
    /// Waits for the end, which someone else has asked for, and completes the recording.
    void join();
    /// Throws what the job failed with, once it is over.
    void rethrow() const;
    /// Whether nothing more comes; and why, where it broke.
    bool over() const;
    std::string failure_text() const;

    /// Gives what is new away, as pictures from `number` on; false when there is nothing.
    virtual bool give(const TakePicture& take, std::size_t number);
    const NewestPicture& seen() const { return seen_; }
    SeenRecording& recording() { return recording_; }

    virtual std::string name() const = 0;
    /// Frames a second, as far as known.
    virtual Rational rate() const = 0;
    /// What is wrong; empty: nothing.
    virtual std::string trouble() const = 0;
    /// Whether the window stays for this camera alone.
    virtual bool holds_window() const { return !over(); }
    /// What there is to tell; rates are of the last few calls.
    virtual std::vector<Figure> figures() = 0;
    /// What its panel sets; none where nothing may be set.
    virtual std::optional<session::Controls> controls() const = 0;
    /// Throws as the job does.
    virtual void control(const session::ControlOrder& order) = 0;
    /// What pauses, steps and seeks; null where it comes as it comes.
    virtual session::ShowJob* playing() { return nullptr; }
    virtual const session::ShowJob* playing() const { return nullptr; }

protected:
    ShownCamera() = default;

    /// Runs the job to its end; on its thread.
    virtual void run() = 0;
    /// Takes a picture to be seen; on any thread.
    void put_seen(HostView<const std::uint8_t> picture);
    void tell_changed() const;

private:
    NewestPicture seen_;
    SeenRecording recording_;
    std::function<void()> changed_;
    mutable std::mutex mutex_;
    bool over_ = false;
    std::exception_ptr failure_;
    std::string failure_text_;
    std::jthread thread_;
};

/// How much a second a count grows, in the mean of the last few calls.
class RateSince {
public:
    /// With the count at this moment; 0 at first.
    double operator()(double total);

private:
    struct Sample {
        Clock::time_point at;
        double total;
    };
    std::deque<Sample> samples_;
};

}  // namespace framewire::app
