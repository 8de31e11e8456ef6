#pragma once

// Shared by the kernels of median networks: blocks of tiles, their way into shared memory, and back.

#include "framewire/filters/kernel/quads.cuh"
#include "framewire/filters/median/median_device.cuh"

#include <cstdint>

namespace framewire {

/// A block of threads covers two halves, one below the other:
///
///   upper half   tile of thread t -> lower 16 bits of its pairs
///   lower half   tile of thread t -> upper 16 bits of its pairs
///
/// so that every comparison handles two tiles. A row of threads has adjacent tiles, each of one channel; the two
/// threads that remain with three channels compute results that are discarded. Rows of the image, with their border and
/// `more_px` further columns on both sides, are stored as rows of pairs.
template <int size_, int tile_width_, int tile_height_, int channels_, int more_px = 0>
struct TileBlock {
    static constexpr int size = size_, tile_width = tile_width_, tile_height = tile_height_, channels = channels_;
    /// Threads per row of tiles: two warps.
    static constexpr int row_threads = 64;
    static constexpr int threads_x = row_threads / channels * channels;  // threads that have tiles
    static constexpr int out_bytes = threads_x * tile_width;             // per row
    /// Words per row of results.
    static constexpr int out_words = out_bytes / 4;
    /// Bytes to the left, and to the right, of the results that windows read.
    static constexpr int border_bytes = (size / 2 + more_px) * channels;
    static constexpr int words =
        (out_bytes + 2 * border_bytes + 3 + 3) / 4;  // of a row of pairs, rounded out to whole words
    static constexpr int row_pairs = 4 * words;      ///< pairs per row
    static_assert(out_bytes % 4 == 0, "blocks begin at whole words");
    static_assert(out_words <= row_threads, "a word of a row each");

    /// Rows of threads in the block.
    int threads_y;

    /// Threads in the block.
    FRAMEWIRE_HOST_DEVICE constexpr int threads() const { return row_threads * threads_y; }
    /// Rows of results in one half.
    FRAMEWIRE_HOST_DEVICE constexpr int half_height() const { return threads_y * tile_height; }
    /// Rows of pairs in shared memory.
    FRAMEWIRE_HOST_DEVICE constexpr int rows() const { return half_height() + size - 1; }
    /// Size of the pairs in shared memory.
    FRAMEWIRE_HOST_DEVICE constexpr int pairs_bytes() const { return rows() * words * 16; }
    /// Size of the results in shared memory.
    FRAMEWIRE_HOST_DEVICE constexpr int result_bytes() const { return 2 * half_height() * out_bytes; }
};

/// Combines words of two rows to pairs of their bytes. A value is stored in both bytes of its half.
__device__ inline uint4 pairs_of(std::uint32_t low, std::uint32_t high) {
    return {__byte_perm(low, high, 0x4400), __byte_perm(low, high, 0x5511), __byte_perm(low, high, 0x6622),
            __byte_perm(low, high, 0x7733)};
}

/// A block at its position in the image.
template <class Block>
class PlacedTiles {
public:
    /// Places the calling block by its index in the grid.
    __device__ PlacedTiles(const MedianImages& images, const Block& block)
        : images_(images),
          block_(block),
          column_(static_cast<int>(blockIdx.x) * Block::out_bytes),
          row_(static_cast<int>(blockIdx.y) * 2 * block.half_height()),
          first_column_((column_ - Block::border_bytes) & ~3) {}

    /// Column of a row of pairs at which the border of the block's first pixel starts.
    __device__ int border_column() const { return column_ - Block::size / 2 * Block::channels - first_column_; }

    /// Loads the pairs of the block. A thread has `at_once` words of both halves in flight together.
    template <int at_once>
    __device__ void load(Border border, bool aligned, uint4* pairs) const {
        const auto* frame = images_.in.data + blockIdx.z * images_.in.frame_stride;
        const int first_row = row_ - Block::size / 2, count = block_.rows() * Block::words;
        // Most blocks lie inside the image and need no border.
        const bool inside = aligned && first_row >= 0 &&
                            first_row + block_.half_height() + block_.rows() <= images_.height && first_column_ >= 0 &&
                            first_column_ + Block::row_pairs <= images_.width * Block::channels;
        if (inside) {
            const auto* words = frame + first_row * images_.in.row_stride + first_column_;
            const auto half_stride = block_.half_height() * images_.in.row_stride;
#pragma unroll 1
            for (int first = static_cast<int>(threadIdx.x); first < count; first += at_once * block_.threads()) {
                std::uint32_t low[at_once], high[at_once];
#pragma unroll
                for (int turn = 0; turn < at_once; ++turn) {
                    const auto i = static_cast<unsigned>(min(first + turn * block_.threads(), count - 1));
                    const auto* at = words + i / Block::words * images_.in.row_stride + i % Block::words * 4;
                    low[turn] = __ldg(reinterpret_cast<const std::uint32_t*>(at));
                    high[turn] = __ldg(reinterpret_cast<const std::uint32_t*>(at + half_stride));
                }
#pragma unroll
                for (int turn = 0; turn < at_once; ++turn) {
                    const int i = first + turn * block_.threads();
                    if (i < count) pairs[i] = pairs_of(low[turn], high[turn]);
                }
            }
        } else {
            const auto word = [&](int y, int column) {
                const int from = border_index(y, images_.height, border);
                const auto* row = from < 0 ? nullptr : frame + from * images_.in.row_stride;
                return load_word(row, column, images_.width, Block::channels, border, aligned);
            };
#pragma unroll 1
            for (int i = static_cast<int>(threadIdx.x); i < count; i += block_.threads()) {
                const int y = first_row + i / Block::words, column = first_column_ + i % Block::words * 4;
                pairs[i] = pairs_of(word(y, column), word(y + block_.half_height(), column));
            }
        }
    }

    /// Stores the block's results to the image.
    __device__ void store(const std::uint32_t* result, bool aligned) const {
        auto* frame = images_.out.data + blockIdx.z * images_.out.frame_stride;
        const int word = static_cast<int>(threadIdx.x) % Block::row_threads, x = column_ + 4 * word;
        const int row_bytes = images_.width * Block::channels;
        if (word >= Block::out_words || x >= row_bytes) return;
        const int rows = min(2 * block_.half_height(), images_.height - row_);
        for (int y = static_cast<int>(threadIdx.x) / Block::row_threads; y < rows; y += block_.threads_y) {
            auto* out = frame + (row_ + y) * images_.out.row_stride + x;
            const auto medians = result[y * Block::out_words + word];
            if (aligned && x + 4 <= row_bytes) {
                *reinterpret_cast<std::uint32_t*>(out) = medians;
            } else {
                for (int byte = 0; byte < min(4, row_bytes - x); ++byte)
                    out[byte] = static_cast<std::uint8_t>(medians >> (8 * byte));
            }
        }
    }

private:
    const MedianImages& images_;
    const Block& block_;
    int column_, row_;  // of the result; the column is in bytes
    int first_column_;  // of the pairs
};

/// A thread's tile in its block: reads the pairs of its footprint and stores its medians.
template <class Block>
class Tile {
public:
    /// `pairs` starts at the column where the border of the block's first pixel starts.
    __device__ Tile(const Block& block, const Pair* pairs, std::uint8_t* result)
        : index_(min(static_cast<int>(threadIdx.x) % Block::row_threads, Block::threads_x - 1)),
          row_(static_cast<int>(threadIdx.x) / Block::row_threads),
          pairs_(pairs + row_ * Block::tile_height * Block::row_pairs + column()),
          result_(result + row_ * Block::tile_height * Block::out_bytes + column()),
          half_bytes_(block.half_height() * Block::out_bytes) {}

    /// Index of the tile in its row.
    __device__ int index() const { return index_; }
    /// Row of tiles.
    __device__ int row() const { return row_; }

    /// The pair at (x, y) of the footprint.
    __device__ Pair load(int x, int y) const { return pairs_[y * Block::row_pairs + x * Block::channels]; }
    /// Stores the medians at (x, y) of both tiles.
    __device__ void store(int x, int y, Pair median) const {
        auto* at = result_ + y * Block::out_bytes + x * Block::channels;
        at[0] = static_cast<std::uint8_t>(median);
        at[half_bytes_] = static_cast<std::uint8_t>(median >> 16);
    }

private:
    // Byte of the tile's first pixel in a row of the block.
    __device__ int column() const {
        return index_ / Block::channels * Block::tile_width * Block::channels + index_ % Block::channels;
    }

    int index_, row_;  // position of the tile in the block
    const Pair* pairs_;
    std::uint8_t* result_;
    int half_bytes_;
};

/// Grid that covers the images with blocks.
template <class Block>
dim3 grid_of(const MedianImages& images, const Block& block) {
    return {cuda::blocks(images.width * Block::channels, Block::out_bytes),
            cuda::blocks(images.height, 2 * block.half_height()), static_cast<unsigned>(images.frames)};
}

}  // namespace framewire
