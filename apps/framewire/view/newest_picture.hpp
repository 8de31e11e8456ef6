#pragma once

#include "view/window.hpp"

#include "framewire/core/buffer.hpp"

#include <cstdint>
#include <mutex>

namespace framewire::app {

/// The newest picture on its way from the receiving thread to the window's.
class NewestPicture {
public:
    explicit NewestPicture(const Shape& shape) : picture_(shape) {}

    void put(HostView<const std::uint8_t> picture);
    /// Shows the picture when it was not shown before.
    void show_in(Window& window);

private:
    std::mutex mutex_;
    HostImage picture_;
    bool fresh_ = false;
};

}  // namespace framewire::app
