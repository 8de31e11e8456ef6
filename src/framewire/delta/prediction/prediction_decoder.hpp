#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/avoided_blocks.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/step_contexts.hpp"
#include "framewire/delta/entropy/models/models.hpp"
#include "framewire/delta/entropy/step_reader.hpp"
#include "framewire/delta/prediction/foretold.hpp"
#include "framewire/delta/prediction/part_modes.hpp"
#include "framewire/delta/prediction/quantization/quantizer.hpp"

#include <cstdint>
#include <span>

namespace framewire::delta {

/// Decoder for the form "prediction" of format.md. Not thread-safe; keeps its memory between calls.
class PredictionDecoder {
public:
    /// Decodes a block from the complete previous picture `before` and writes it to `after`; both have the frame's
    /// shape and must not overlap. Returns false if `bytes` are broken, or if the block is predicted from one of the
    /// blocks `avoided`; the content of the block is then unspecified.
    bool decode(std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                HostView<const std::uint8_t> before, HostView<std::uint8_t> after,
                const AvoidedBlocks* avoided = nullptr);

    /// Variant for keyframes: allows only sub-blocks that are predicted from inside the block.
    bool decode_fresh(std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                      HostView<std::uint8_t> picture) {
        return decode(bytes, block, threshold, {}, picture);
    }

private:
    struct Job;
    template <class Reader>
    bool decode(Reader reader, const StepModels& models, const Job& job);

    StepBytes bytes_;
    CodedPixels coded_;
    CodedParts parts_;
    ForetoldPart foretold_;
};

}  // namespace framewire::delta
