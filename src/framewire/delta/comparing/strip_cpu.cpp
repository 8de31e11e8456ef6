// Comparison of a strip of blocks with R. Several blocks are compared as one area with long rows; the changes are
// recorded per block and sub-block.
//
//     step        0          1          2          3       ...   64 bytes each
//     1 channel   block 0  | block 1  | block 2  | block 3
//     3 channels  block 0 ...                    | block 1 ...

#include "framewire/core/simd/simd.hpp"
#include "framewire/delta/comparing/strip.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/delta/comparing/strip_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/delta/comparing/compare-inl.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace framewire::delta::HWY_NAMESPACE {
namespace {

using comparing::step_bytes;
static_assert(block_side == step_bytes);  // a row of a block has as many steps as a pixel has channels
constexpr int rows_at_once = block_side / 2;
static_assert(Strip::most_blocks * rows_at_once * block_side * 3 <= comparing::most_bytes);

// Masks of a step's bytes by column of sub-blocks. A step of 64 bytes covers a third of a block's row if there are 3
// channels, so its first column is `first`, and columns may begin or end within a sub-block.
template <int channels>
struct StepColumns {
    static constexpr int most = channels == 1 ? parts_per_row : step_bytes / (part_side * channels) + 2;

    int first = 0;
    std::array<std::uint64_t, most> bytes{};

    static constexpr auto of_steps() {
        constexpr int part_bytes = part_side * channels;
        std::array<StepColumns, channels> steps;
        for (int step = 0; step < channels; ++step) {
            auto& to = steps[static_cast<std::size_t>(step)];
            const int begin = step * static_cast<int>(step_bytes);
            to.first = begin / part_bytes;
            for (int byte = 0; byte < step_bytes; ++byte)
                to.bytes[static_cast<std::size_t>((begin + byte) / part_bytes - to.first)] |= std::uint64_t{1} << byte;
        }
        return steps;
    }
    // Returns the columns that contain a changed byte, as bits.
    unsigned changed(std::uint64_t bits) const {
        unsigned columns = 0;
        for (std::size_t i = 0; i < most; ++i) columns |= unsigned{(bits & bytes[i]) != 0} << i;
        return columns << first;
    }
};

// Callback for Comparison::add() that stores the differences of one row and records the changed sub-blocks of each
// block.
template <int channels>
class RowChanges {
public:
    RowChanges(std::uint8_t* differences, int row_of_parts, BlockChanges* blocks)
        : differences_(differences), first_bit_(parts_per_row * row_of_parts), blocks_(blocks) {}

    HWY_INLINE void operator()(std::int64_t i, std::uint64_t changed, const std::uint8_t* differences) {
        static constexpr auto steps = StepColumns<channels>::of_steps();
        std::memcpy(differences_ + i, differences, step_bytes);
        const auto step = static_cast<std::size_t>(i / step_bytes);
        auto& block = blocks_[step / channels];
        block.parts |= PartSet{steps[step % channels].changed(changed)} << first_bit_;
        block.count += static_cast<std::uint32_t>(std::popcount(changed));
    }

private:
    std::uint8_t* differences_;
    int first_bit_;
    BlockChanges* blocks_;
};

}  // namespace

template <int channels>
Summary compare_rows_of_strip(HostView<const std::uint8_t> current, HostView<std::uint8_t> reference,
                              const BlockPlace& strip, int threshold, HostView<std::uint8_t> differences,
                              BlockChanges* changes) {
    const auto begin = std::int64_t{strip.x} * channels, bytes = std::int64_t{strip.width} * channels;
    Summary found;
    for (int first = 0; first < strip.height; first += rows_at_once)
        add(found, comparing::compare(threshold, [&](auto& comparison) HWY_ATTR {
                for (int y = first; y < std::min(first + rows_at_once, strip.height); ++y) {
                    RowChanges<channels> row(differences.row(0, y), y / part_side, changes);
                    comparison.add(current.row(0, strip.y + y) + begin, reference.row(0, strip.y + y) + begin, bytes,
                                   row);
                }
            }));
    return found;
}

Summary compare_strip_rows(HostView<const std::uint8_t> current, HostView<std::uint8_t> reference,
                           const BlockPlace& strip, int threshold, HostView<std::uint8_t> differences,
                           BlockChanges* changes) {
    return current.shape().channels == 1
               ? compare_rows_of_strip<1>(current, reference, strip, threshold, differences, changes)
               : compare_rows_of_strip<3>(current, reference, strip, threshold, differences, changes);
}

}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::delta {

HWY_EXPORT(compare_strip_rows);

Summary compare_strip(HostView<const std::uint8_t> current, HostView<std::uint8_t> reference, const Strip& strip,
                      int threshold, HostView<std::uint8_t> differences, std::span<BlockChanges> changes) {
    auto summary = HWY_DYNAMIC_DISPATCH(compare_strip_rows)(current, reference, strip.place, threshold, differences,
                                                            changes.data());
    for (const auto& block : changes) summary.count += block.count;
    return summary;
}

}  // namespace framewire::delta

#endif
