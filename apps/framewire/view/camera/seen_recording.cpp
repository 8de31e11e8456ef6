// Recording of the window's pictures. The file is opened with the first picture, which determines its shape. Timestamps
// are those of display, so that the recording shows what the user saw.

#include "view/camera/seen_recording.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/media.hpp"

#include <exception>
#include <utility>

namespace framewire::app {

void SeenRecording::start(std::string path, Rational rate) {
    const std::lock_guard lock(mutex_);
    path_ = std::move(path);
    rate_ = rate;
    started_ = Clock::now();
    pictures_ = 0;
}

void SeenRecording::put(HostView<const std::uint8_t> picture) {
    const std::lock_guard lock(mutex_);
    if (path_.empty()) return;
    try {
        if (sink_ && picture.shape() != shape_) {
            problem_ = "the picture size changed; saved " + *finish();
            return;
        }
        if (!sink_) {
            sink_ = open_sink(literal_sink(path_), picture.shape(), rate_, {.hurry = true});
            shape_ = picture.shape();
            started_ = Clock::now();
        }
        sink_->write(picture, {pictures_++, milliseconds_since(started_) / 1000, Clock::now()});
    } catch (const std::exception& error) {
        problem_ = error.what();
        sink_.reset();
        path_.clear();
    }
}

std::optional<std::string> SeenRecording::stop() {
    const std::lock_guard lock(mutex_);
    return finish();
}

// Ends the recording; the caller holds the mutex. The state is cleared first, because finish() of the sink may throw.
std::optional<std::string> SeenRecording::finish() {
    const auto path = std::exchange(path_, {});
    const auto sink = std::exchange(sink_, nullptr);
    if (!sink) return std::nullopt;
    sink->finish();
    return path;
}

std::optional<double> SeenRecording::seconds() const {
    const std::lock_guard lock(mutex_);
    if (path_.empty()) return std::nullopt;
    return milliseconds_since(started_) / 1000;
}

std::optional<std::string> SeenRecording::take_problem() {
    const std::lock_guard lock(mutex_);
    return std::exchange(problem_, std::nullopt);
}

}  // namespace framewire::app
