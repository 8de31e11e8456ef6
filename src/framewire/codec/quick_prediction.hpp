#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/models.hpp"
#include "framewire/codec/prediction.hpp"
#include "framewire/codec/sub_block_contexts.hpp"
#include "framewire/codec/symbols.hpp"
#include "framewire/core/view.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire::codec {

/// Samples of a block that are beyond the threshold of the previous picture's.
struct BeyondThreshold {
    PartSet parts = 0;          ///< sub-blocks with such samples
    std::uint32_t samples = 0;  ///< number of such samples
    std::uint32_t excess = 0;   ///< sum of the amounts by which their distances exceed the threshold
    int furthest = 0;           ///< largest of these amounts
};
/// Compares a block in two pictures of the same shape. Thread-safe.
BeyondThreshold find_beyond(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before,
                            const BlockPlace& block, int threshold);

/// Encoder of delta frames at effort 0. Writes the form "prediction" of format.md like PredictionEncoder, but predicts
/// each sub-block from the same position of the previous picture and chooses the step size by quick_step_size(), so
/// that each sample is quantized and coded once. Not thread-safe; keeps its memory between calls.
class QuickPredictionEncoder {
public:
    /// Maximum number of blocks per call of encode(), which interleaves their rANS states.
    static constexpr std::size_t at_once = 8;

    /// Codes at most `at_once` blocks of `camera`, predicted from `before`, appends them to `out` one after the other,
    /// and stores their sizes. Writes their reconstruction to `after`. All views have the same shape; `after` must not
    /// overlap the others.
    void encode(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before,
                std::span<const BlockPlace> blocks, int threshold, HostView<std::uint8_t> after,
                std::vector<std::uint8_t>& out, std::span<std::size_t> sizes);

private:
    void add_block(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before, const BlockPlace& block,
                   int threshold, HostView<std::uint8_t> after, Symbols& symbols);

    CodedParts modes_;
    StepPlanes planes_;
    PredictedPart predicted_;
    MaskedPart camera_;
    QuantizedPart quantized_;
    std::array<Symbols, at_once> symbols_;
};

}  // namespace framewire::codec
