#pragma once

#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/part_steps.hpp"
#include "framewire/delta/blocks/step_contexts.hpp"
#include "framewire/delta/entropy/step_reader.hpp"
#include "framewire/delta/entropy/symbols.hpp"
#include "framewire/delta/prediction/part_modes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire::delta {

/// Which parts of a block change: bit column + 8 * row.
using PartSet = std::uint64_t;

/// Sets the differences of parts of a block to 0.
void clear_parts(HostView<std::uint8_t> differences, const BlockPlace& block, PartSet parts);
/// Adds the differences of parts of a block to `held`, modulo 256.
void add_parts(HostView<const std::uint8_t> differences, const BlockPlace& block, PartSet parts,
               HostView<std::uint8_t> held);

/// A block's changes as differences, in the form "changes" of format.md. Knows nothing of the picture they belong to.
class ChangesEncoder {
public:
    /// `differences`: of the frame, rows without gaps, new minus old modulo 256; 0 where a byte stays. Changes are
    /// further than `threshold` from 0. Appends the blocks to `out`, each with `sizes` bytes, and sets their
    /// differences to 0.
    void encode(HostView<std::uint8_t> differences, std::span<const BlockPlace> blocks, int threshold,
                std::vector<std::uint8_t>& out, std::span<std::size_t> sizes);

    /// Blocks are best coded so many at once.
    static constexpr std::size_t at_once = 8;

private:
    void add_block(HostView<std::uint8_t> differences, const BlockPlace& block, int threshold, Symbols& symbols);
    template <int channels>
    void add_part(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold, int left, int top,
                  Symbols& symbols);

    StepPlanes planes_;
    std::array<Symbols, at_once> symbols_;
};

/// Undoes it. Bytes that no encoder makes are refused, not all of them: those read as some changes within the block.
class ChangesDecoder {
public:
    struct Found {
        bool whole;           ///< whether `bytes` are not broken
        std::uint32_t count;  ///< how many differences there are
        PartSet parts;        ///< the only ones with differences, broken or not
    };
    /// Writes the differences of the block, whose bytes are 0 before. When `bytes` are broken some are written.
    Found decode(std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                 HostView<std::uint8_t> differences);

private:
    template <int channels, class Reader>
    Found decode_channels(Reader reader, const StepModels& models, const BlockPlace& block, int threshold,
                          HostView<std::uint8_t> differences);

    StepBytes bytes_;
    CodedPixels coded_;
};

}  // namespace framewire::delta
