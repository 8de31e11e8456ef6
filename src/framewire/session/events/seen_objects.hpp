#pragma once

#include "framewire/core/component.hpp"
#include "framewire/core/time/frame_time.hpp"
#include "framewire/core/view.hpp"

#include <span>

namespace framewire::session {

/// What was found in a frame that was just sent.
struct SeenFrame {
    FrameTime time{};
    Shape shape{};                         ///< of the picture that viewers get
    std::span<const Component> objects{};  ///< where viewers see them; valid during the call
};

/// Is told of each frame that a camera with a detector sends, in order, by one thread at a time. Frames that say "no
/// signal" are none.
class SeenObjects {
public:
    virtual ~SeenObjects() = default;
    /// Within the frame's way: must not wait for anything.
    virtual void seen(const SeenFrame& frame) noexcept = 0;
};

}  // namespace framewire::session
