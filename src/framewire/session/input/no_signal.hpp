#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"

#include <cstdint>
#include <functional>

namespace framewire::session {

/// Picture for a source that is away: its last frame, darkened, with "no signal" in the middle. For one thread.
class NoSignal {
public:
    NoSignal() = default;
    NoSignal(const NoSignal&) = delete;
    NoSignal& operator=(const NoSignal&) = delete;

    /// Returns a function for SourceOptions::draw_loss that refers to this object. The first call per size allocates.
    /// If there is no font, the frame is only darkened and a warning is logged.
    std::function<void(HostView<std::uint8_t>)> drawing() {
        return [this](HostView<std::uint8_t> image) { draw(image); };
    }
    /// Returns true if the picture was drawn since the last call.
    bool take_drawn();

private:
    void draw(HostView<std::uint8_t> image);

    // the text, white on black
    HostImage words_;
    bool drawn_ = false;
};

}  // namespace framewire::session
