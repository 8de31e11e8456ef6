#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/runs_reader.hpp"
#include "framewire/codec/symbols.hpp"
#include "framewire/core/view.hpp"

#include <cstdint>
#include <span>

namespace framewire::codec {

/// Decoder for the forms "changes" and "changes in runs" of format.md. Never writes outside the block. It refuses
/// inconsistent bytes; some damage is undetectable and decodes to other changes within the block. Not thread-safe;
/// keeps its memory between calls.
class ChangesDecoder {
public:
    /// Result of decode().
    using Found = FoundChanges;
    /// Decodes one block. Writes the differences of the changed sub-blocks to `tile`, which has 64x64 pixels, also for
    /// smaller blocks at the edges of the frame. If `found.whole` is false the bytes are broken and the tile is partly
    /// written. `held` is the frame to which the differences will be added; the decoder only prefetches its bytes.
    Found decode(std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                 HostView<std::uint8_t> tile, HostView<const std::uint8_t> held);

private:
    Found decode_runs(std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                      HostView<std::uint8_t> tile, HostView<const std::uint8_t> held);

    StepBytes bytes_;
    ReadPixels pixels_;
    RunsReader runs_;
};

}  // namespace framewire::codec
