#pragma once

#include "framewire/cuda/executor.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/delta/packing/packing.hpp"
#include "framewire/delta/refresh/rest_sharpener.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace framewire::session {

/// Default time in seconds after which static regions of a broadcast are refined.
inline constexpr double usual_refresh_seconds = 1;

/// Packed refinement of one frame: a second delta frame that brings static regions closer to the camera.
struct PackedSharper {
    /// Allocates for frames of this shape on the executor's backend.
    PackedSharper(const Shape& shape, const Executor& executor) : step(shape, executor) {}

    /// The refinement.
    delta::SharperStep step;
    /// Its packed form; empty if `step` is.
    std::vector<std::uint8_t> packed{};

    /// Fills `packed` from `step`, which must be complete.
    void pack(delta::Packer& packer) {
        packed.clear();
        if (!step.empty()) packer.pack_changes(step.changes(), step.threshold(), packed);
    }
};

/// Returns the time in seconds after which static regions of a stream are refined; empty: never. `asked` is the option;
/// 0 turns refinement off. Default: recorded streams are not refined, because a file holds one state per frame; others
/// use usual_refresh_seconds. Lossless streams have nothing to refine. Throws Error{usage} if refinement of a recorded
/// stream is requested.
std::optional<double> refresh_seconds_of(std::optional<double> asked, const delta::EncoderParameters& encoder,
                                         bool recorded);

}  // namespace framewire::session
