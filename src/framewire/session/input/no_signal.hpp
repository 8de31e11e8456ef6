#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"

#include <cstdint>
#include <functional>

namespace framewire::session {

/// What shows that a source is away: its last picture, darkened, with "no signal" in the middle. For one thread.
class NoSignal {
public:
    NoSignal() = default;
    NoSignal(const NoSignal&) = delete;
    NoSignal& operator=(const NoSignal&) = delete;

    /// For SourceOptions::draw_loss; refers to this. The first call for a size allocates; where there is no font, the
    /// picture is only darkened and a warning says so.
    std::function<void(HostView<std::uint8_t>)> drawing() {
        return [this](HostView<std::uint8_t> image) { draw(image); };
    }
    /// Whether it was drawn since the last call.
    bool take_drawn();

private:
    void draw(HostView<std::uint8_t> image);

    HostImage words_;  // white on black
    bool drawn_ = false;
};

}  // namespace framewire::session
