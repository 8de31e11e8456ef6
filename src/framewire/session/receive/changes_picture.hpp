#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/delta/changes.hpp"
#include "framewire/filters/heatmap/heatmap.hpp"
#include "framewire/filters/noise/noise.hpp"
#include "framewire/net/client.hpp"
#include "framewire/session/receive/changes_kind.hpp"

#include <memory>

namespace framewire::session {

/// Picture of the bytes in which a stream's newest state differs from the one drawn before (the last stage of the
/// streaming report, section 5.0.6). It compares the pictures themselves, so it does not matter how an update was
/// transmitted. The first picture counts as unchanged. For one thread.
class ChangesPicture {
public:
    /// Mask and overlay look as in the noise filter. `shape` is the stream's; `threads` limits the CPU threads, 0: all.
    ChangesPicture(ChangesKind kind, const Shape& shape, int threads);

    /// Shape of the result: the stream's size with 3 channels.
    const Shape& shape() const { return picture_.shape(); }
    /// Draws the changes of the client's newest picture. The result is valid until the next call.
    HostView<const std::uint8_t> draw(const net::Client& client);

private:
    void find_changes(HostView<const std::uint8_t> now);

    Executor executor_;
    delta::HostChanges changes_;
    // picture drawn last; empty before the first
    HostImage before_;
    HostImage picture_;
    // used for mask and overlay
    std::unique_ptr<NoiseFromChanges> noise_;
    std::unique_ptr<HeatmapFromChanges> heat_;
};

}  // namespace framewire::session
