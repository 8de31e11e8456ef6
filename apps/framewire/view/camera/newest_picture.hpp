#pragma once

#include "framewire/core/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

namespace framewire::app {

/// Function that receives the picture with the given number. The view is valid during the call.
using TakePicture = std::function<void(HostView<const std::uint8_t> picture, std::size_t number)>;

/// Passes the newest picture from a receiving thread to the window's thread. Pictures may differ in shape. Thread-safe.
class NewestPicture {
public:
    /// Copies a picture, which replaces the previous one.
    void put(HostView<const std::uint8_t> picture);
    /// Passes the picture to `take` unless it was passed before. Returns false if there is no new picture.
    bool give(const TakePicture& take, std::size_t number);
    /// Calls `body` with the current picture while the mutex is locked. Returns false if there is no picture yet.
    template <class Body>
    bool look(Body&& body) const {
        const std::lock_guard lock(mutex_);
        if (picture_.shape().bytes() == 0) return false;
        body(picture_.view());
        return true;
    }

private:
    mutable std::mutex mutex_;
    HostImage picture_;
    bool fresh_ = false;
};

}  // namespace framewire::app
