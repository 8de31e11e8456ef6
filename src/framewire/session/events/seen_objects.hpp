#pragma once

#include "framewire/core/component.hpp"
#include "framewire/core/time/frame_time.hpp"
#include "framewire/core/view.hpp"

#include <span>

namespace framewire::session {

/// Objects found in a frame that was just sent.
struct SeenFrame {
    /// Time of the frame.
    FrameTime time{};
    /// Shape of the picture that viewers receive.
    Shape shape{};
    /// Objects at the positions where viewers see them. Valid during the call.
    std::span<const Component> objects{};
};

/// Receiver for the frames that a camera with a detector sends: in order, from one thread at a time. Frames that only
/// say "no signal" are left out.
class SeenObjects {
public:
    virtual ~SeenObjects() = default;
    /// Takes one frame. Called while the frame is being sent, so it must not block.
    virtual void seen(const SeenFrame& frame) noexcept = 0;
};

}  // namespace framewire::session
