#pragma once

#include "framewire/service/web/site_testing.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

namespace framewire::service {

/// A camera that shows 25 pictures per second, alternating between two shades.
class MovingCamera : public web::FakeCamera {
public:
    explicit MovingCamera(const std::string& name, const Shape& shape = {1, 96, 128, 3}) : FakeCamera(name, shape) {
        show(100);
        thread_ = std::jthread([this](const std::stop_token& stop) {
            for (int number = 0; !stop.stop_requested(); ++number) {
                if (moves_) show(static_cast<std::uint8_t>(number % 2 ? 90 : 110));
                std::this_thread::sleep_for(std::chrono::milliseconds(40));
            }
        });
    }
    void stop_moving() { moves_ = false; }
    /// Makes the next pictures larger.
    void grow() { grown_ = true; }
    std::optional<Picture> picture() const override {
        auto picture = FakeCamera::picture();
        if (picture && grown_) {
            picture->image = HostImage(Shape{1, 144, 192, 3});
            for (int y = 0; y < picture->image.shape().height; ++y)
                std::fill_n(picture->image.view().row(0, y), picture->image.shape().row_bytes(), std::uint8_t{50});
        }
        return picture;
    }

private:
    std::atomic<bool> moves_ = true, grown_ = false;
    std::jthread thread_;
};

}  // namespace framewire::service
