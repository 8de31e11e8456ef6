#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/changes.hpp"
#include "framewire/delta/prediction/effort.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace framewire::delta {

/// The difference encoder's mode `bounded`: R takes the cheapest picture within the threshold of the camera's, and the
/// way there is packed at once, as delta/format.md says. Where nothing is off by more than the threshold R stays. The
/// errors never add up: whatever R was before, each byte of what it is then is within the threshold of this frame.
/// Move-only; not for two threads at once.
class BoundedPacker {
public:
    /// For frames of `shape` (one frame). `effort` is how long motion is looked for: 0 not at all, 1 a little, 2 well.
    /// Where there is a `pool`, which lives longer, its threads share the blocks of each frame; the bytes are the same.
    BoundedPacker(const Shape& shape, int effort, const ThreadPool* pool = nullptr);
    ~BoundedPacker();
    BoundedPacker(BoundedPacker&&) noexcept;
    BoundedPacker& operator=(BoundedPacker&&) noexcept;

    static constexpr int max_effort = Effort::most;

    /// Sets `reference` to a first picture near `camera`, nearer than `threshold` (0..254) asks for, so that noise
    /// seldom leaves it, and appends it packed. Where that saves little it is the camera's own. The summary's count is
    /// 0.
    Summary pack_first(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int threshold,
                       std::vector<std::uint8_t>& out);
    /// Brings `reference` within `threshold` (0..254) of `camera` and appends the step packed. The summary counts the
    /// bytes that were off by more.
    Summary pack_step(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int threshold,
                      std::vector<std::uint8_t>& out);
    /// How each block was off before the last step or picture: the bytes that were so by more than the threshold, and
    /// how far it is off since.
    std::span<const Summary> blocks() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::delta
