#include "framewire/detect/masks.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/simd.hpp"
#include "framewire/cuda/device.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/detect/masks.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>

#ifndef FRAMEWIRE_MASK_MORPHOLOGY_CPU_ONCE
#define FRAMEWIRE_MASK_MORPHOLOGY_CPU_ONCE

namespace framewire {

// Tile of one frame's result, so small that all of its data fits in L1. Its rows are stored consecutively as a single
// string of bits, each row between one word of the left and one word of the right neighbour. Elements reach at most
// 31 bits into these words, so bits that shifts bring in from other rows stay within the halo:
//
//     | halo | row 0 of the tile | halo | halo | row 1 of the tile | halo | ...

inline constexpr int mask_tile_rows = 32;
inline constexpr int mask_tile_words = 64;
inline constexpr int mask_tile_stride_words = mask_tile_words + 2;
// Vectors read and write up to one vector length after the last row, and read one 64-bit word before the first.
inline constexpr int mask_tile_slack_words = 32;

// Position of a tile in the batch.
struct MaskTile {
    int frame, y_begin, rows, first_word, words;
};

// One dilation or erosion of the whole batch.
struct MaskPhase {
    HostBitMaskView<const std::uint32_t> in;
    HostBitMaskView<std::uint32_t> out;
    bool erodes;
};

}  // namespace framewire

#endif

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D64 = hn::ScalableTag<std::uint64_t>;

// Copies words first to first + count - 1 of a row, complemented if `flip` is all ones; words outside of the
// image are 0.
void copy_words(const std::uint32_t* row, int first, int count, int width_px, std::uint32_t flip, std::uint32_t* out) {
    const int inside_end = std::clamp((width_px + 31) / 32 - first, 0, count);
    const hn::CappedTag<std::uint32_t, 4> d32;  // a row has few words
    const auto step = static_cast<int>(hn::Lanes(d32));
    const auto flips = hn::Set(d32, flip);
    int word = 0;
    for (; word + step <= inside_end; word += step)
        hn::StoreU(hn::Xor(hn::LoadU(d32, row + word), flips), d32, out + word);
    for (; word < inside_end; ++word) out[word] = row[word] ^ flip;
    std::fill(out + inside_end, out + count, 0u);
    const int last_px = width_px - 32 * (first + inside_end - 1);  // pixels of the last word that are inside the image
    if (inside_end > 0 && last_px < 32) out[inside_end - 1] &= (1u << last_px) - 1;
}

// Loads the tile's rows and the rows above and below that the element covers.
void load_tile(const MaskPhase& phase, const MaskTile& tile, int radius, int stride, std::uint32_t* out) {
    const auto& shape = phase.in.shape();
    // An erosion is a dilation of the complement.
    const std::uint32_t flip = phase.erodes ? ~0u : 0u;
    for (int y = tile.y_begin - radius; y < tile.y_begin + tile.rows + radius; ++y, out += stride) {
        if (y < 0 || y >= shape.height) {
            std::fill_n(out, stride, 0u);
            continue;
        }
        const auto* row = phase.in.row(tile.frame, y) + tile.first_word;
        const bool left = tile.first_word > 0;
        out[0] = left ? row[-1] ^ flip : 0;
        copy_words(row, tile.first_word, tile.words + 1, shape.width, flip, out + 1);
    }
}

// ORs words with those at equal distances above and below, for distances rows_begin to rows_end - 1.
template <class V>
HWY_INLINE V join_rows(V joined, const std::uint64_t* at, int rows_begin, int rows_end, std::int64_t stride_64) {
    const D64 d64;
    for (int row = rows_begin; row < rows_end; ++row)
        joined = hn::Or(joined, hn::Or(hn::LoadU(d64, at - row * stride_64), hn::LoadU(d64, at + row * stride_64)));
    return joined;
}

// ORs each pixel with the pixels `shift_px` to its left and right.
HWY_INLINE hn::Vec<D64> dilate_along(const std::uint64_t* at, int shift_px) {
    const D64 d64;
    const auto words = hn::LoadU(d64, at);
    // Shifts 64-bit words, with the bits that cross from the neighbouring words.
    const auto from_left =
        hn::Or(hn::ShiftLeftSame(words, shift_px), hn::ShiftRightSame(hn::LoadU(d64, at - 1), 64 - shift_px));
    const auto from_right =
        hn::Or(hn::ShiftRightSame(words, shift_px), hn::ShiftLeftSame(hn::LoadU(d64, at + 1), 64 - shift_px));
    return hn::Or(words, hn::Or(from_left, from_right));
}

}  // namespace

// Computes one tile: complement if eroding, dilate in steps between two buffers, complement back, store.
void mask_tile(const DilationSteps& steps, const MaskPhase& phase, const MaskTile& tile) {
    HWY_ALIGN std::uint32_t
        source[(mask_tile_rows + max_element_px - 1) * mask_tile_stride_words + mask_tile_slack_words];
    HWY_ALIGN std::uint32_t buffers[2][mask_tile_rows * mask_tile_stride_words + 2 * mask_tile_slack_words];

    const int stride = tile.words + 2;  // even, like the number of words of every row
    const std::int64_t stride_64 = stride / 2, words_64 = stride_64 * tile.rows;
    load_tile(phase, tile, steps.radius, stride, source);
    const D64 d64;
    const auto step_64 = static_cast<std::int64_t>(hn::Lanes(d64));
    // Bits read after the last row do not reach the result, but they must be initialised.
    std::fill_n(source + (tile.rows + 2 * steps.radius) * stride, mask_tile_slack_words, 0u);
    for (auto& buffer : buffers) {
        std::fill_n(buffer, mask_tile_slack_words, 0u);
        std::fill_n(buffer + mask_tile_slack_words + tile.rows * stride, mask_tile_slack_words, 0u);
    }

    // The element is built in steps: join nearby rows, widen by a number of pixels, join rows further away, ...
    const auto* middle = reinterpret_cast<const std::uint64_t*>(source) + steps.radius * stride_64;
    auto* from = reinterpret_cast<std::uint64_t*>(buffers[0] + mask_tile_slack_words);
    auto* to = reinterpret_cast<std::uint64_t*>(buffers[1] + mask_tile_slack_words);
    int rows_end = steps.steps[0].rows_end;
    for (std::int64_t at = 0; at < words_64; at += step_64)
        hn::StoreU(join_rows(hn::LoadU(d64, middle + at), middle + at, 1, rows_end, stride_64), d64, from + at);
    for (int index = 0; index < steps.count; ++index) {
        const int shift = steps.steps[index].shift_px;
        if (shift == 0) break;  // the last step of an element that ends in a point
        const int next_rows_end = index + 1 < steps.count ? steps.steps[index + 1].rows_end : rows_end;
        for (std::int64_t at = 0; at < words_64; at += step_64)
            hn::StoreU(join_rows(dilate_along(from + at, shift), middle + at, rows_end, next_rows_end, stride_64), d64,
                       to + at);
        std::swap(from, to);
        rows_end = next_rows_end;
    }

    const auto* result = reinterpret_cast<const std::uint32_t*>(from) + 1;
    for (int row = 0; row < tile.rows; ++row, result += stride)
        copy_words(result, tile.first_word, tile.words, phase.out.shape().width, phase.erodes ? ~0u : 0u,
                   phase.out.row(tile.frame, tile.y_begin + row) + tile.first_word);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {
namespace {

HWY_EXPORT(mask_tile);

// Runs one phase, a tile at a time, on the threads of the pool.
void run_phase(const DilationSteps& steps, const MaskPhase& phase, const ThreadPool& pool) {
    const auto& shape = phase.in.shape();
    const int row_words = phase.in.row_words();
    const std::int64_t strips = (row_words + mask_tile_words - 1) / mask_tile_words;
    const std::int64_t bands = (shape.height + mask_tile_rows - 1) / mask_tile_rows;
    pool.for_chunks(shape.frames * bands * strips, 1, [&](std::int64_t index, std::int64_t, std::int64_t) {
        const int first_word = static_cast<int>(index % strips) * mask_tile_words;
        const int y_begin = static_cast<int>(index / strips % bands) * mask_tile_rows;
        HWY_DYNAMIC_DISPATCH(mask_tile)
        (steps, phase,
         {.frame = static_cast<int>(index / strips / bands),
          .y_begin = y_begin,
          .rows = std::min(mask_tile_rows, shape.height - y_begin),
          .first_word = first_word,
          .words = std::min(mask_tile_words, row_words - first_word)});
    });
}

}  // namespace

void MaskMorphology::run(HostBitMaskView<const std::uint32_t> in, HostBitMaskView<std::uint32_t> out) {
    validate(in, shape_, "the input of the mask morphology");
    validate(out, shape_, "the output of the mask morphology");
    if (phases_.count == 0) std::memcpy(out.data(), in.data(), bit_mask_bytes(shape_));
    // The last phase writes the result. The phases before it alternate between the intermediate mask and the
    // result's memory.
    for (int index = 0; index < phases_.count; ++index) {
        const auto to = (phases_.count - 1 - index) % 2 == 0 ? out : between_.view<MemorySpace::host>();
        run_phase(steps_, {in, to, phases_.erodes(index)}, executor_->pool());
        in = to;
    }
}

}  // namespace framewire

#endif

#ifndef FRAMEWIRE_MASK_MEDIAN_CPU_ONCE
#define FRAMEWIRE_MASK_MEDIAN_CPU_ONCE

namespace framewire {

// Tile of one frame's result, so small that its counts stay in L1. A row consists of 64-bit words, with one more word
// on either side, into which windows reach by up to 31 bits, and one vector length at the end, which is read and
// written but never used.
inline constexpr int median_tile_rows = 64;
inline constexpr int median_tile_words_64 = 32;
inline constexpr int median_slack_words_64 = 8;
inline constexpr int median_row_words_64 = 2 + median_tile_words_64 + median_slack_words_64;
// Maximum number of binary digits of the count of a column and of a window.
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

// Returns the pixels that are `shift_px` (below 64) to the right of those in the words at `at`.
HWY_INLINE MedianVector words_right(const std::uint64_t* at, int shift_px) {
    const MedianTag d;
    return hn::Or(hn::ShiftRightSame(hn::LoadU(d, at), shift_px),
                  hn::ShiftLeftSame(hn::LoadU(d, at + 1), 64 - shift_px));
}

// Computes sums(x) + more(x + shift) for numbers of `digits` and `more_digits` (at most `digits`) binary digits; the
// sum has one more digit. Works in place, because words are processed from the left and read only words to their
// right.
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

    // Rows whose windows are empty are not counted; most rows of a quiet camera are.
    int empty_rows = 0;  // number of empty rows since the last row that was not empty
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
        // Adds up columns from the window's left column on: starts with one column and doubles, adding one more for
        // each binary 1 of the size.
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
    validate(in, shape_, "the input of the mask median");
    validate(out, shape_, "the output of the mask median");
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

#if HWY_ONCE

namespace framewire {

void detail::validate_mask(const void* data, const Shape& have, const Shape& want, const char* what) {
    if (have != want) fail(ErrorCode::usage, "{} is {}; {} is needed", what, to_string(have), to_string(want));
    if (!data || reinterpret_cast<std::uintptr_t>(data) % 16 != 0)
        fail(ErrorCode::usage, "{} is null or not aligned to 16 bytes", what);
}

// Bits to the right of the image become 0, as every mask requires.
void pack_mask(HostView<const std::uint8_t> from, HostBitMaskView<std::uint32_t> to) {
    validate(from, to.shape(), "the mask to pack");
    const auto& shape = to.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y) {
            const auto* pixels = from.row(frame, y);
            auto* words = to.row(frame, y);
            for (int word = 0; word < to.row_words(); ++word) {
                const int pixels_here = std::clamp(shape.width - word * 32, 0, 32);
                std::uint32_t bits = 0;
                for (int bit = 0; bit < pixels_here; ++bit)
                    bits |= static_cast<std::uint32_t>(pixels[word * 32 + bit] != 0) << bit;
                words[word] = bits;
            }
        }
}

void unpack_mask(HostBitMaskView<const std::uint32_t> from, HostView<std::uint8_t> to) {
    validate(to, from.shape(), "the unpacked mask");
    const auto& shape = from.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y) {
            const auto* words = from.row(frame, y);
            auto* pixels = to.row(frame, y);
            for (int x = 0; x < shape.width; ++x) pixels[x] = words[x / 32] >> (x % 32) & 1 ? 255 : 0;
        }
}

namespace {

// Packs an image into a mask of one frame.
HostBitMask packed(HostView<const std::uint8_t> image) {
    HostBitMask mask(image.shape().with_frames(1));
    pack_mask(image, mask.view());
    return mask;
}

// Draws the zones into a mask. A zone that is partly outside is clipped, one that is completely outside is an
// error.
HostBitMask mask_of(std::span<const Zone> zones, const Shape& shape) {
    HostBitMask mask(shape.with_frames(1));
    const auto region = mask.view();
    std::memset(region.data(), 0, bit_mask_bytes(region.shape()));
    for (const auto& zone : zones) {
        if (zone.x >= shape.width || zone.y >= shape.height)
            fail(ErrorCode::usage, "the region at {},{} lies outside the image of {}", zone.x, zone.y,
                 to_string(shape));
        const int right = zone.x + std::min(zone.width, shape.width - zone.x);
        const int bottom = zone.y + std::min(zone.height, shape.height - zone.y);
        for (int y = zone.y; y < bottom; ++y)
            for (int x = zone.x; x < right; ++x) region.row(0, y)[x / 32] |= 1u << (x % 32);
    }
    return mask;
}

}  // namespace

MaskRegion::MaskRegion(const HostBitMask& region, Executor& executor)
    : executor_(&executor), region_(region.shape(), executor) {
    region_.memory().put(region.view().data(), bit_mask_bytes(region.shape()));
}

MaskRegion::MaskRegion(HostView<const std::uint8_t> image, Executor& executor) : MaskRegion(packed(image), executor) {}

MaskRegion::MaskRegion(std::span<const Zone> zones, const Shape& shape, Executor& executor)
    : MaskRegion(mask_of(zones, shape), executor) {}

void MaskRegion::require_same_size(const Shape& masks) const {
    if (masks.with_frames(1) != region_.shape())
        fail(ErrorCode::usage, "the region is {}, but the masks are {}", to_string(region_.shape()), to_string(masks));
}

void MaskRegion::apply(HostBitMaskView<std::uint32_t> masks) const {
    require_same_size(masks.shape());
    const auto* region = region_.view<MemorySpace::host>().data();
    for (int frame = 0; frame < masks.shape().frames; ++frame)
        std::transform(region, region + masks.frame_words(), masks.row(frame, 0), masks.row(frame, 0),
                       [](std::uint32_t a, std::uint32_t b) { return a & b; });
}

MaskMorphology::MaskMorphology(MorphologyOperation operation, const StructuringElement& element, const Shape& shape,
                               Executor& executor)
    : phases_(phases_of(operation)), steps_(element), shape_(shape.with_channels(1)), executor_(&executor) {
    validate(shape_, "the mask");
    if constexpr (cuda::compiled)
        if (executor.backend() == Backend::cuda) plan_for_cuda();
    if (phases_.count > 1) between_ = BackendMask(shape_, executor);
}

MaskMedian::MaskMedian(int size_px, const Shape& shape, Executor& executor)
    : size_px_(size_px), shape_(shape.with_channels(1)), executor_(&executor) {
    validate(shape_, "the mask");
    if (size_px % 2 == 0 || size_px < least_mask_median_px || size_px > most_mask_median_px)
        fail(ErrorCode::usage, "the size of the mask median is {} pixels; allowed: odd numbers from {} to {}", size_px,
             least_mask_median_px, most_mask_median_px);
}

}  // namespace framewire

#endif  // HWY_ONCE
