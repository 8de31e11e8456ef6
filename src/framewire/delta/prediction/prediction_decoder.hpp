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

/// Reads blocks in the form "prediction" of format.md.
class PredictionDecoder {
public:
    /// Writes the block of `after`, of the frame's shape, from the whole picture `before`; they do not overlap. False
    /// when `bytes` are broken, or it is foretold by one of the blocks `avoided`: what the block is then nobody knows.
    bool decode(std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                HostView<const std::uint8_t> before, HostView<std::uint8_t> after,
                const AvoidedBlocks* avoided = nullptr);

    /// The same where there is no picture before: only parts foretold from inside the block are allowed.
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
