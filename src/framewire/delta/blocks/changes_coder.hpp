#pragma once

#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/step_contexts.hpp"
#include "framewire/delta/entropy/symbols.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace framewire::delta {

/// A block's changes as differences, in the form "changes" of format.md. Knows nothing of the picture they belong to.
class ChangesEncoder {
public:
    /// `differences`: of the frame, rows without gaps, new minus old modulo 256; 0 where a byte stays. Changes are
    /// further than `threshold` from 0. Appends the block to `out`.
    void encode(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold,
                std::vector<std::uint8_t>& out);

private:
    void add_part(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold, int left, int top);

    CodedPixels coded_;
    Symbols symbols_;
};

/// Undoes it. Bytes that no encoder makes are refused, not all of them: those read as some changes within the block.
class ChangesDecoder {
public:
    /// Writes the differences of the block, whose bytes are 0 before. Returns how many there are; -1 when `bytes` are
    /// broken, with some differences written.
    int decode(std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
               HostView<std::uint8_t> differences);

private:
    CodedPixels coded_;
};

}  // namespace framewire::delta
