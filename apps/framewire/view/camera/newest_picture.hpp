#pragma once

#include "framewire/core/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

namespace framewire::app {

/// Takes a picture of that number; it holds until the call returns.
using TakePicture = std::function<void(HostView<const std::uint8_t> picture, std::size_t number)>;

/// The newest picture on its way from the receiving thread to the window's. Each may have a shape of its own.
class NewestPicture {
public:
    void put(HostView<const std::uint8_t> picture);
    /// Gives it away where that was not done yet; else false.
    bool give(const TakePicture& take, std::size_t number);
    /// The picture as it is; false when there is none yet.
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
