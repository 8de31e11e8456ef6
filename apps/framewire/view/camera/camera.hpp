#pragma once

#include "view/camera/newest_picture.hpp"
#include "view/camera/seen_recording.hpp"

#include "framewire/core/time.hpp"
#include "framewire/jobs/show.hpp"
#include "framewire/service/control.hpp"

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

/// One line of the displayed statistics of a camera.
struct Figure {
    std::string_view name;
    std::string text;
    std::optional<double> plotted{};  ///< current value; empty if no history is plotted
};

/// A camera in a window. It receives pictures from a job that runs on a separate thread, and passes commands to that
/// job. All members must be called on the window's thread unless stated otherwise.
class ShownCamera {
public:
    /// Number of pictures per camera in the window: the result, then the original.
    static constexpr std::size_t pictures_each = 2;

    virtual ~ShownCamera() = default;
    ShownCamera(const ShownCamera&) = delete;
    ShownCamera& operator=(const ShownCamera&) = delete;

    /// Starts the job. `changed` is called on other threads whenever there is something new to show.
    void start(std::function<void()> changed);
    /// Waits for the end of the job, which the caller must have requested before, and completes the recording.
    void join();
    /// Throws the job's error if the job has ended with one.
    void rethrow() const;
    /// Returns true once the job has ended.
    bool over() const;
    /// Returns the reason for which the job failed; empty if it did not fail.
    std::string failure_text() const;

    /// Passes new pictures to `take`, numbered from `number` on. Returns false if there are none.
    virtual bool give(const TakePicture& take, std::size_t number);
    /// Returns the newest picture as shown.
    const NewestPicture& seen() const { return seen_; }
    /// Returns the recording of the pictures that are shown.
    SeenRecording& recording() { return recording_; }

    /// Returns the name for captions and file names.
    virtual std::string name() const = 0;
    /// Returns the frames per second, as far as known.
    virtual Rational rate() const = 0;
    /// Returns a description of a current problem; empty if there is none.
    virtual std::string trouble() const = 0;
    /// Returns true while this camera must keep the window open.
    virtual bool holds_window() const { return !over(); }
    /// Returns the statistics to be displayed. Rates are averages over the last few calls.
    virtual std::vector<Figure> figures() = 0;
    /// Returns the settings for the camera's panel; nullopt if nothing can be set.
    virtual std::optional<service::Controls> controls() const = 0;
    /// Applies a control request. Throws as the job does.
    virtual void control(const service::ControlRequest& request) = 0;
    /// Returns the job if it can be paused, stepped and sought; null for live pictures.
    virtual jobs::ShowJob* playing() { return nullptr; }
    virtual const jobs::ShowJob* playing() const { return nullptr; }

protected:
    ShownCamera() = default;

    /// Runs the job to its end. Called on the job's thread.
    virtual void run() = 0;
    /// Stores a picture for display and recording. Callable from any thread.
    void put_seen(HostView<const std::uint8_t> picture);
    /// Calls the function that was passed to start().
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

/// Computes the growth rate of a counter per second, averaged over the last few calls.
class RateSince {
public:
    /// Adds the counter's current value and returns the rate; 0 for the first call.
    double operator()(double total);

private:
    struct Sample {
        Clock::time_point at;
        double total;
    };
    std::deque<Sample> samples_;
};

}  // namespace framewire::app
