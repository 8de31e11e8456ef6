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

/// Where the stream's newest state differs from the one drawn before (the streaming report's last step, section 5.0.6),
/// whichever way it came. The first picture counts as no change.
class ChangesPicture {
public:
    /// A mask and an overlay are as the noise filter has them; `shape` is the stream's.
    ChangesPicture(ChangesKind kind, const Shape& shape, int threads);

    const Shape& shape() const { return picture_.shape(); }
    /// Of the client's newest picture; holds until the next call.
    HostView<const std::uint8_t> draw(const net::Client& client);

private:
    void find_changes(HostView<const std::uint8_t> now);

    Executor executor_;
    delta::HostChanges changes_;
    HostImage before_;  // the picture drawn last; empty before the first
    HostImage picture_;
    std::unique_ptr<NoiseFromChanges> noise_;  // of mask and overlay
    std::unique_ptr<HeatmapFromChanges> heat_;
};

}  // namespace framewire::session
