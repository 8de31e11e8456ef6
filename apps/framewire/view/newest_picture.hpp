#pragma once

#include "view/window/window.hpp"

#include "framewire/core/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace framewire::app {

/// The newest picture on its way from the receiving thread to the window's.
class NewestPicture {
public:
    explicit NewestPicture(const Shape& shape) : picture_(shape) {}

    void put(HostView<const std::uint8_t> picture);
    /// Gives it to the window, as its picture of that number; false when the window has it already.
    bool show_in(Window& window, std::size_t number = 0);
    /// The picture as it is.
    template <class Body>
    void look(Body&& body) const {
        const std::lock_guard lock(mutex_);
        body(picture_.view());
    }

private:
    mutable std::mutex mutex_;
    HostImage picture_;
    bool fresh_ = false;
};

}  // namespace framewire::app
