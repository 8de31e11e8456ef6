#include "framewire/filters/scale/scale_blocks.hpp"

#include <algorithm>

// Arrangement of an axis's weights for vectors of blocks; see scale_blocks.hpp for the layout.

namespace framewire {
namespace {

// Number of 16-bit source pixels among which the taps of a block can lie: one 16-byte shuffle.
constexpr int block_reach = 8;
// Limit on the taps of a pixel; a single pixel may read a whole image, which would not fit a tile.
constexpr int most_taps = 32;

}  // namespace

int ScaleBlocks::group_begin(int group) const {
    const auto* of_group = first.data() + group * group_blocks;
    return *std::min_element(of_group, of_group + group_blocks);
}

// The last pair of taps of a block reads block_reach pixels from its first one.
int ScaleBlocks::group_end(int group) const {
    const auto* of_group = first.data() + group * group_blocks;
    return *std::max_element(of_group, of_group + group_blocks) + 2 * (pairs - 1) + block_reach;
}

// First finds each block's first source pixel and gives up if a block spans too many; then stores shuffles and weights.
ScaleBlocks scale_blocks(const ScaleAxis& axis) {
    constexpr int group_px = ScaleBlocks::group_px, block_px = ScaleBlocks::block_px;
    if (axis.taps > most_taps) return {};
    const int groups = (axis.to + group_px - 1) / group_px;
    ScaleBlocks blocks{.pairs = (axis.taps + 1) / 2};
    const auto first_of = [&](int x) { return axis.first[static_cast<std::size_t>(std::min(x, axis.to - 1))]; };
    for (int x = 0; x < groups * group_px; x += block_px) {
        int least = first_of(x), most = least;
        for (int pixel = 1; pixel < block_px; ++pixel) {
            least = std::min(least, first_of(x + pixel));
            most = std::max(most, first_of(x + pixel));
        }
        if (most - least + 2 > block_reach) return {};
        blocks.first.push_back(least);
    }
    // For every vector: the shuffles of both blocks, then their weights pair by pair.
    for (int group = 0; group < groups; ++group)
        for (int two = 0; two < ScaleBlocks::group_blocks / 2; ++two) {
            // Calls body(x, first source pixel of its block) for the eight pixels of a vector.
            const auto each_pixel = [&](auto&& body) {
                for (const int block : {two, two + ScaleBlocks::group_blocks / 2})
                    for (int pixel = 0; pixel < block_px; ++pixel)
                        body(group * group_px + block * block_px + pixel,
                             blocks.first[static_cast<std::size_t>(group * ScaleBlocks::group_blocks + block)]);
            };
            each_pixel([&](int x, int first) {
                const int at = 2 * (first_of(x) - first);
                for (int byte = 0; byte < 4; ++byte) blocks.order.push_back(static_cast<std::uint8_t>(at + byte));
            });
            for (int tap = 0; tap < 2 * blocks.pairs; tap += 2)
                each_pixel([&](int x, int) {
                    const auto* weights = axis.weights_of(std::min(x, axis.to - 1));
                    for (const int one : {tap, tap + 1})
                        blocks.weights.push_back(one < axis.stride ? weights[one] : std::int16_t{0});
                });
        }
    return blocks;
}

}  // namespace framewire
