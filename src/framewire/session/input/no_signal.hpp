#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"

#include <cstdint>
#include <functional>

namespace framewire::session {

/// The picture that stands in for a source that is away: dark, with "no signal" in its middle. For one thread.
class NoSignal {
public:
    NoSignal() = default;
    NoSignal(const NoSignal&) = delete;
    NoSignal& operator=(const NoSignal&) = delete;

    /// For SourceOptions::draw_loss; refers to this. Its first call allocates; where there is no font, the picture is
    /// without words and a warning says so.
    std::function<void(HostView<std::uint8_t>)> drawing() {
        return [this](HostView<std::uint8_t> image) { draw(image); };
    }
    /// Whether it was drawn since the last call.
    bool take_drawn();

private:
    void draw(HostView<std::uint8_t> image);

    HostImage picture_;
    bool drawn_ = false;
};

}  // namespace framewire::session
