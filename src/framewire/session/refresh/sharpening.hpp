#pragma once

#include "framewire/cuda/executor.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/delta/packing/packing.hpp"
#include "framewire/delta/refresh/rest_sharpener.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace framewire::session {

/// How long a block of a broadcast rests before it is sharpened, unless something else is said.
inline constexpr double usual_refresh_seconds = 1;

/// A frame's second step, which makes sharper what rests, on its way to viewers.
struct PackedSharper {
    PackedSharper(const Shape& shape, const Executor& executor) : step(shape, executor) {}

    delta::SharperStep step;
    std::vector<std::uint8_t> packed{};  // where the step is not empty

    void pack(delta::Packer& packer) {
        packed.clear();
        if (!step.empty()) packer.pack_changes(step.changes(), step.threshold(), packed);
    }
};

/// How long blocks of a stream rest before they are sharpened; none: they are not. `asked` 0 is that, too. Where
/// nothing is asked for, streams that are recorded are not sharpened. Throws Error{usage} where it is asked for these.
std::optional<double> refresh_seconds_of(std::optional<double> asked, const delta::EncoderParameters& encoder,
                                         bool recorded);

}  // namespace framewire::session
