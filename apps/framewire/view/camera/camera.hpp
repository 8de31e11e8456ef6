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

/// One line of a camera's statistics.
struct Figure {
    std::string_view name;
    std::string text;
    std::optional<double> plotted{};  ///< current value, if its history is plotted
};

/// Camera in a window: receives pictures from a job that runs on its own thread, and passes commands to the job. Call
/// members from the window's thread unless stated otherwise.
class ShownCamera {
public:
    /// Number of window pictures per camera: the result, then the original.
    static constexpr std::size_t pictures_each = 2;

    virtual ~ShownCamera() = default;
    ShownCamera(const ShownCamera&) = delete;
    ShownCamera& operator=(const ShownCamera&) = delete;

    /// Starts the job. `changed` is called on other threads when there is something new to show.
    void start(std::function<void()> changed);
    /// Waits for the job to end, which the caller must have requested by other means, and completes the recording.
    void join();
    /// Throws the error of the job, once it has ended.
    void rethrow() const;
    /// True once the job has ended.
    bool over() const;
    /// Reason why the job failed; empty if it did not.
    std::string failure_text() const;

    /// Passes new pictures to `take`, numbered from `number`; returns false if there are none.
    virtual bool give(const TakePicture& take, std::size_t number);
    /// The newest picture as shown.
    const NewestPicture& seen() const { return seen_; }
    /// The recording of what is shown.
    SeenRecording& recording() { return recording_; }

    /// Name for captions and file names.
    virtual std::string name() const = 0;
    /// Frames per second, as far as known.
    virtual Rational rate() const = 0;
    /// Description of a current problem; empty if there is none.
    virtual std::string trouble() const = 0;
    /// True if this camera alone keeps the window open.
    virtual bool holds_window() const { return !over(); }
    /// Statistics to display; rates are averages over the last few calls.
    virtual std::vector<Figure> figures() = 0;
    /// Settings for the camera's panel; nullopt if nothing can be set.
    virtual std::optional<service::Controls> controls() const = 0;
    /// Applies a control request. Throws as the job does.
    virtual void control(const service::ControlRequest& request) = 0;
    /// The job if it can be paused, stepped and sought; null for live pictures.
    virtual jobs::ShowJob* playing() { return nullptr; }
    virtual const jobs::ShowJob* playing() const { return nullptr; }

protected:
    ShownCamera() = default;

    /// Runs the job to its end, on the job's thread.
    virtual void run() = 0;
    /// Stores a picture for display and recording. Callable from any thread.
    void put_seen(HostView<const std::uint8_t> picture);
    /// Calls the function that start() was given.
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

/// Growth rate of a counter per second, averaged over the last few calls.
class RateSince {
public:
    /// Adds the current count and returns the rate; 0 for the first call.
    double operator()(double total);

private:
    struct Sample {
        Clock::time_point at;
        double total;
    };
    std::deque<Sample> samples_;
};

}  // namespace framewire::app
