#include "framewire/core/simd/simd.hpp"
#include "framewire/detect/masks/median/mask_median.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/detect/masks/median/mask_median_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef FRAMEWIRE_MASK_MEDIAN_CPU_ONCE
#define FRAMEWIRE_MASK_MEDIAN_CPU_ONCE

namespace framewire {

// A tile of one frame's result, whose counts stay in L1. A row of it consists of 64-bit words: one word on
// either side, into which a window reaches by 31 bits, and a vector length after the last, which is read and
// written but never used.
inline constexpr int median_tile_rows = 64;
inline constexpr int median_tile_words_64 = 32;
inline constexpr int median_slack_words_64 = 8;
inline constexpr int median_row_words_64 = 2 + median_tile_words_64 + median_slack_words_64;
// Binary digits of the counts of a column and of a window.
inline constexpr int most_column_digits = std::bit_width(std::uint32_t{most_mask_median_px});
inline constexpr int most_window_digits = 2 * most_column_digits;

// Position of a tile in the batch.
struct MedianTile {
    int frame, y_begin, rows, first_word_64, words_64;
};

}  // namespace framewire

#endif

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using MedianTag = hn::ScalableTag<std::uint64_t>;
using MedianVector = hn::Vec<MedianTag>;
using MedianRow = std::uint64_t[median_row_words_64];

// Loads a row of the image as 64-bit words, from the word before the tile's first to the word after its last;
// edge pixels are replicated beyond the image. Returns true if any pixel is set.
bool load_median_row(HostBitMaskView<const std::uint32_t> in, const MedianTile& tile, int y, std::uint64_t* out) {
    const auto& shape = in.shape();
    const auto* row = in.row(tile.frame, std::clamp(y, 0, shape.height - 1));
    const int last = shape.width - 1, image_words_64 = last / 64 + 1;
    const auto first_pixel = (row[0] & 1u) != 0 ? ~std::uint64_t{0} : 0;
    const auto last_pixel = (row[last / 32] >> (last % 32) & 1u) != 0 ? ~std::uint64_t{0} : 0;
    const int before = tile.first_word_64 - 1, behind = before + tile.words_64 + 2;
    const int begin = std::max(before, 0), end = std::min(behind, image_words_64);
    static_assert(std::endian::native == std::endian::little);  // two words of 32 bits are one of 64
    // Copies the words of the image; the replicated words are added below.
    std::memcpy(out + begin - before, row + 2 * begin, static_cast<std::size_t>(end - begin) * sizeof *out);
    if (before < 0) out[0] = first_pixel;
    const int inside = shape.width - 64 * (image_words_64 - 1);
    if (end == image_words_64 && inside < 64) out[end - 1 - before] |= last_pixel << inside;
    for (int word = end; word < behind; ++word) out[word - before] = last_pixel;
    const MedianTag d;
    const auto step = static_cast<int>(hn::Lanes(d));
    auto any = hn::Zero(d);
    std::uint64_t any_behind = 0;
    int at = 0;
    for (; at + step <= tile.words_64 + 2; at += step) any = hn::Or(any, hn::LoadU(d, out + at));
    for (; at < tile.words_64 + 2; ++at) any_behind |= out[at];
    return any_behind != 0 || !hn::AllTrue(d, hn::Eq(any, hn::Zero(d)));
}

// Updates the counts of the columns with the row that enters the window and the row that leaves it.
HWY_INLINE void roll_columns(const MedianRow& comes, const MedianRow& goes, int digits, int words_64,
                             MedianRow* counts) {
    const MedianTag d;
    const auto step = static_cast<int>(hn::Lanes(d));
    for (int at = 0; at < words_64; at += step) {
        const auto in = hn::LoadU(d, comes + at), out = hn::LoadU(d, goes + at);
        // A pixel set in both rows, or in neither, leaves its count unchanged.
        auto carry = hn::AndNot(out, in), borrow = hn::AndNot(in, out);
        for (int digit = 0; digit < digits; ++digit) {
            const auto count = hn::LoadU(d, counts[digit] + at);
            const auto changed = hn::Xor(count, hn::Or(carry, borrow));
            carry = hn::And(carry, count);
            borrow = hn::AndNot(count, borrow);
            hn::StoreU(changed, d, counts[digit] + at);
        }
    }
}

// Adds a row to the counts of the columns, for the first window of a tile.
HWY_INLINE void add_row_to_columns(const MedianRow& comes, int digits, int words_64, MedianRow* counts) {
    for (int at = 0; at < words_64; ++at) {
        auto carry = comes[at];
        for (int digit = 0; digit < digits; ++digit) {
            const auto count = counts[digit][at];
            counts[digit][at] = count ^ carry;
            carry &= count;
        }
    }
}

// Returns the words `shift_px` (below 64) to the right of those at `at`.
HWY_INLINE MedianVector words_right(const std::uint64_t* at, int shift_px) {
    const MedianTag d;
    return hn::Or(hn::ShiftRightSame(hn::LoadU(d, at), shift_px),
                  hn::ShiftLeftSame(hn::LoadU(d, at + 1), 64 - shift_px));
}

// Computes sums(x) + more(x + shift) for numbers of `digits` and at most as many digits; the sum has one more
// digit. In-place is possible because words are processed from the left and read only words to their right.
HWY_INLINE void add_shifted(MedianRow* sums, int digits, const MedianRow* more, int more_digits, int shift_px,
                            int words_64) {
    const MedianTag d;
    const auto step = static_cast<int>(hn::Lanes(d));
    for (int at = 0; at < words_64; at += step) {
        auto carry = hn::Zero(d);
        for (int digit = 0; digit < digits; ++digit) {
            const auto a = hn::LoadU(d, sums[digit] + at);
            const auto b = digit < more_digits ? words_right(more[digit] + at, shift_px) : hn::Zero(d);
            const auto either = hn::Xor(a, b);
            hn::StoreU(hn::Xor(either, carry), d, sums[digit] + at);
            carry = hn::Or(hn::And(a, b), hn::And(either, carry));
        }
        hn::StoreU(carry, d, sums[digits] + at);
    }
}

}  // namespace

// Computes one tile: counts per column, sums per window, comparison with the half.
void median_tile(int size_px, HostBitMaskView<const std::uint32_t> in, HostBitMaskView<std::uint32_t> out,
                 const MedianTile& tile) {
    HWY_ALIGN MedianRow comes, goes, counts[most_column_digits] = {}, sums[most_window_digits + 1], majority, middles;
    const int radius = size_px / 2;
    const int digits = static_cast<int>(std::bit_width(static_cast<unsigned>(size_px)));
    const int words_64 = tile.words_64 + 2;
    const MedianTag d;
    const auto step = static_cast<int>(hn::Lanes(d));
    std::fill(std::begin(comes), std::end(comes), 0);
    std::fill(std::begin(goes), std::end(goes), 0);
    for (auto& row : sums) std::fill(std::begin(row), std::end(row), 0);
    std::fill(std::begin(majority), std::end(majority), 0);

    // Rows whose windows are empty, as most are with a quiet camera, are not counted.
    int empty_rows = 0;  // number of empty rows since the last row that was not
    for (int y = tile.y_begin - radius; y <= tile.y_begin + radius; ++y) {
        empty_rows = load_median_row(in, tile, y, comes) ? 0 : empty_rows + 1;
        add_row_to_columns(comes, digits, words_64, counts);
    }
    for (int y = tile.y_begin; y < tile.y_begin + tile.rows; ++y) {
        if (y > tile.y_begin) {
            const bool empty_before = empty_rows >= size_px;
            empty_rows = load_median_row(in, tile, y + radius, comes) ? 0 : empty_rows + 1;
            if (empty_before && empty_rows > 0) {
                std::fill_n(out.row(tile.frame, y) + 2 * tile.first_word_64, 2 * tile.words_64, 0u);
                continue;
            }
            load_median_row(in, tile, y - radius - 1, goes);
            roll_columns(comes, goes, digits, words_64, counts);
        }
        // From the window's left column on: start with one column and double, adding one more where the size
        // has a binary 1.
        for (int digit = 0; digit < digits; ++digit) std::copy_n(counts[digit], words_64, sums[digit]);
        int columns = 1, sum_digits = digits;
        // Adds the sums of `more_columns` columns to the right.
        const auto take = [&](const MedianRow* more, int more_digits, int more_columns) {
            add_shifted(sums, sum_digits, more, more_digits, columns, words_64);
            columns += more_columns;
            sum_digits = static_cast<int>(std::bit_width(static_cast<unsigned>(columns * size_px)));
        };
        for (int bit = digits - 2; bit >= 0; --bit) {
            take(sums, sum_digits, columns);
            if ((size_px >> bit & 1) != 0) take(counts, digits, 1);
        }
        // Compares the count with the half, digit by digit from the lowest; the higher digit decides.
        const int half = size_px * size_px / 2;
        for (int at = 0; at < words_64; at += step) {
            auto above = hn::Zero(d);
            for (int digit = 0; digit < sum_digits; ++digit) {
                const auto count = hn::LoadU(d, sums[digit] + at);
                above = (half >> digit & 1) != 0 ? hn::And(above, count) : hn::Or(above, count);
            }
            hn::StoreU(above, d, majority + at);
        }
        auto* row = out.row(tile.frame, y) + 2 * tile.first_word_64;
        // The result was computed at the left column of each window; move it to the middle.
        for (int at = 0; at < tile.words_64; at += step) {
            const auto here = hn::LoadU(d, majority + at), next = hn::LoadU(d, majority + at + 1);
            hn::StoreU(hn::Or(hn::ShiftLeftSame(next, radius), hn::ShiftRightSame(here, 64 - radius)), d, middles + at);
        }
        // Bits to the right of the image must be 0.
        const int whole = std::clamp(in.shape().width / 64 - tile.first_word_64, 0, tile.words_64);
        if (whole < tile.words_64) {
            const int inside = std::max(in.shape().width - 64 * (tile.first_word_64 + whole), 0);
            middles[whole] &= (std::uint64_t{1} << inside) - 1;
            std::fill(middles + whole + 1, middles + tile.words_64, 0u);
        }
        std::memcpy(row, middles, static_cast<std::size_t>(tile.words_64) * sizeof *middles);
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {
namespace {

HWY_EXPORT(median_tile);

}  // namespace

void MaskMedian::run(HostBitMaskView<const std::uint32_t> in, HostBitMaskView<std::uint32_t> out) const {
    validate(in, shape_, "the median's mask");
    validate(out, shape_, "the median's result");
    const int row_words_64 = in.row_words() / 2;
    const std::int64_t strips = (row_words_64 + median_tile_words_64 - 1) / median_tile_words_64;
    const std::int64_t bands = (shape_.height + median_tile_rows - 1) / median_tile_rows;
    executor_->pool().for_chunks(shape_.frames * bands * strips, 1,
                                 [&](std::int64_t index, std::int64_t, std::int64_t) {
                                     const int first_word_64 = static_cast<int>(index % strips) * median_tile_words_64;
                                     const int y_begin = static_cast<int>(index / strips % bands) * median_tile_rows;
                                     HWY_DYNAMIC_DISPATCH(median_tile)
                                     (size_px_, in, out,
                                      {.frame = static_cast<int>(index / strips / bands),
                                       .y_begin = y_begin,
                                       .rows = std::min(median_tile_rows, shape_.height - y_begin),
                                       .first_word_64 = first_word_64,
                                       .words_64 = std::min(median_tile_words_64, row_words_64 - first_word_64)});
                                 });
}

}  // namespace framewire

#endif
