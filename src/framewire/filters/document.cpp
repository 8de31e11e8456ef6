#include "framewire/filters/document.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/simd.hpp"
#include "framewire/core/thread_pool.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/document.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd-inl.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Writes the largest value of each group of four columns of up to four rows. The last group may be narrower.
void shrink_rows(const std::uint8_t* const* rows, int width, std::uint8_t* blocks) {
    const hn::ScalableTag<std::uint8_t> d;
    const auto step = static_cast<int>(hn::Lanes(d)) * paper_block_px;
    int x = 0;
    for (; x + step <= width; x += step) {
        auto most = hn::Zero(d);
        for (int row = 0; row < paper_block_px; ++row) {
            decltype(most) a, b, c, e;
            hn::LoadInterleaved4(d, rows[row] + x, a, b, c, e);
            most = hn::Max(most, hn::Max(hn::Max(a, b), hn::Max(c, e)));
        }
        hn::StoreU(most, d, blocks + x / paper_block_px);
    }
    for (; x < width; x += paper_block_px) {
        std::uint8_t most = 0;
        for (int row = 0; row < paper_block_px; ++row)
            for (int at = x; at < std::min(x + paper_block_px, width); ++at) most = std::max(most, rows[row][at]);
        blocks[x / paper_block_px] = most;
    }
}

// Blocks of one piece of a row, which is interpolated at a time. Its arrays fit the L1 cache.
constexpr int piece_blocks = 256;

// Interpolates the paper between two rows of blocks, whose weights add up to 8, and divides a row of gray values.
void divide_row(const std::uint8_t* own, const std::uint8_t* other, int other_weight, int blocks,
                const std::uint8_t* gray, int width, std::uint8_t* left) {
    const hn::ScalableTag<std::uint16_t> d16;
    const hn::Rebind<std::uint8_t, decltype(d16)> d8_of_16;
    const auto lanes = static_cast<int>(hn::Lanes(d16));
    // between[i] is the sum of block first + i - 1; vectors may write and read past the piece.
    constexpr int spare = 64;
    std::uint16_t between[piece_blocks + 2 + 2 * spare] = {};
    std::uint8_t light[(piece_blocks + spare) * paper_block_px];
    for (int first = 0; first < blocks; first += piece_blocks) {
        const int count = std::min(piece_blocks, blocks - first);
        const auto sum_at = [&](int block) {
            const int at = std::clamp(block, 0, blocks - 1);
            return static_cast<std::uint16_t>((8 - other_weight) * own[at] + other_weight * other[at]);
        };
        between[0] = sum_at(first - 1);
        int at = 0;
        const auto own_weights = hn::Set(d16, static_cast<std::uint16_t>(8 - other_weight)),
                   other_weights = hn::Set(d16, static_cast<std::uint16_t>(other_weight));
        for (; at + lanes <= count; at += lanes) {
            const auto a = hn::PromoteTo(d16, hn::LoadU(d8_of_16, own + first + at)),
                       b = hn::PromoteTo(d16, hn::LoadU(d8_of_16, other + first + at));
            hn::StoreU(hn::Add(hn::Mul(a, own_weights), hn::Mul(b, other_weights)), d16, between + 1 + at);
        }
        for (; at <= count; ++at) between[1 + at] = sum_at(first + at);

        // The four pixels of a block: 3 before + 5 own, before + 7 own, 7 own + after, 5 own + 3 after.
        const auto rounding = hn::Set(d16, 1 << (paper_weights_shift - 1));
        for (at = 0; at < count; at += lanes) {
            const auto before = hn::LoadU(d16, between + at), middle = hn::LoadU(d16, between + 1 + at),
                       after = hn::LoadU(d16, between + 2 + at);
            const auto mixed = [&](auto neighbour, int weight) HWY_ATTR {
                const auto sum = hn::Add(hn::Mul(neighbour, hn::Set(d16, static_cast<std::uint16_t>(weight))),
                                         hn::Mul(middle, hn::Set(d16, static_cast<std::uint16_t>(8 - weight))));
                return hn::DemoteTo(d8_of_16, hn::BitCast(hn::RebindToSigned<decltype(d16)>(),
                                                          hn::ShiftRight<paper_weights_shift>(hn::Add(sum, rounding))));
            };
            hn::StoreInterleaved4(mixed(before, 3), mixed(before, 1), mixed(after, 1), mixed(after, 3), d8_of_16,
                                  light + at * paper_block_px);
        }

        // light_left() in floating point. The quotient is exact when rounded down: numerators are below 2^16 and
        // divisors below 2^8, so a quotient below an integer is too far from it to be rounded to it.
        const hn::ScalableTag<std::uint8_t> d8;
        const hn::Repartition<std::int32_t, decltype(d8)> d32;
        const hn::Repartition<float, decltype(d8)> df;
        const hn::Rebind<std::uint8_t, decltype(d32)> d8_of_32;
        const auto quarter = static_cast<int>(hn::Lanes(d32));
        const int begin = first * paper_block_px, pixels = std::min(count * paper_block_px, width - begin);
        const auto quotient = [&](int x) HWY_ATTR {
            const auto value = hn::PromoteTo(d32, hn::LoadU(d8_of_32, gray + begin + x));
            const auto paper = hn::PromoteTo(d32, hn::LoadU(d8_of_32, light + x));
            const auto divisor = hn::Max(paper, hn::Set(d32, static_cast<std::int32_t>(least_paper_light)));
            const auto share = hn::Add(hn::Sub(divisor, paper), value);
            const auto numerator = hn::Add(hn::Sub(hn::ShiftLeft<8>(share), share), hn::ShiftRight<1>(divisor));
            const auto exact = hn::Div(hn::ConvertTo(df, numerator), hn::ConvertTo(df, divisor));
            return hn::Min(hn::ConvertTo(d32, exact), hn::Set(d32, 255));
        };
        int x = 0;
        for (; x + 4 * quarter <= pixels; x += 4 * quarter)
            hn::StoreU(narrow_to_bytes(d8, quotient(x), quotient(x + quarter), quotient(x + 2 * quarter),
                                       quotient(x + 3 * quarter)),
                       d8, left + begin + x);
        for (; x < pixels; ++x) left[begin + x] = light_left(gray[begin + x], light[x]);
    }
}

// The functions below take rows of a mask with white margins of speck_margin_px columns on both sides, so that squares
// may overlap the image's edges. Squares start up to speck_before_px columns before the image.
constexpr int speck_before_px = speck_margin_px / 2;

// white[x] = all of row[x - 1 .. x + side] are white, for all x from -speck_before_px to width - 1.
void white_runs(const std::uint8_t* row, int side, int width, std::uint8_t* white) {
    const hn::ScalableTag<std::uint8_t> d;
    for (int x = -speck_before_px; x < width; x += static_cast<int>(hn::Lanes(d))) {
        auto all = hn::LoadU(d, row + x - 1);
        for (int i = 0; i <= side; ++i) all = hn::And(all, hn::LoadU(d, row + x + i));
        hn::StoreU(all, d, white + x);
    }
}

// Finds the squares of `side` pixels whose upper row is rows[0] and whose ring is white. Writes white for all columns
// that any of them covers. `above` and `below` are the white runs of the rows around the square.
void speck_columns(const std::uint8_t* const* rows, const std::uint8_t* above, const std::uint8_t* below, int side,
                   int width, std::uint8_t* rings, std::uint8_t* covered) {
    const hn::ScalableTag<std::uint8_t> d;
    const auto step = static_cast<int>(hn::Lanes(d));
    for (int x = -speck_before_px; x < width; x += step) {
        auto all = hn::And(hn::LoadU(d, above + x), hn::LoadU(d, below + x));
        for (int row = 0; row < side; ++row)
            all = hn::And(all, hn::And(hn::LoadU(d, rows[row] + x - 1), hn::LoadU(d, rows[row] + x + side)));
        hn::StoreU(all, d, rings + x);
    }
    for (int x = 0; x < width; x += step) {
        auto any = hn::LoadU(d, rings + x);
        for (int i = 1; i < side; ++i) any = hn::Or(any, hn::LoadU(d, rings + x - i));
        hn::StoreU(any, d, covered + x);
    }
}

// Makes pixels white that any of the `count` rows covers.
void whiten(const std::uint8_t* const* covered, int count, int width, std::uint8_t* row) {
    const hn::ScalableTag<std::uint8_t> d;
    for (int x = 0; x < width; x += static_cast<int>(hn::Lanes(d))) {
        auto white = hn::LoadU(d, row + x);
        for (int i = 0; i < count; ++i) white = hn::Or(white, hn::LoadU(d, covered[i] + x));
        hn::StoreU(white, d, row + x);
    }
}

// Writes three equal channels.
void repeat_channels(const std::uint8_t* row, int width, std::uint8_t* out) {
    const hn::ScalableTag<std::uint8_t> d;
    const auto step = static_cast<int>(hn::Lanes(d));
    int x = 0;
    for (; x + step <= width; x += step) {
        const auto value = hn::LoadU(d, row + x);
        hn::StoreInterleaved3(value, value, value, d, out + 3 * x);
    }
    for (; x < width; ++x) std::fill_n(out + 3 * x, 3, row[x]);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(shrink_rows);
HWY_EXPORT(divide_row);
HWY_EXPORT(white_runs);
HWY_EXPORT(speck_columns);
HWY_EXPORT(whiten);
HWY_EXPORT(repeat_channels);

namespace {

// Throws Error{usage} on a shape or window that is not allowed; otherwise returns the shape of the image of blocks.
Shape blocks_shape(const DocumentParameters& parameters, const Shape& shape) {
    validate(shape, "binarize's image");
    if (parameters.window % 2 == 0 || parameters.window < 3 || parameters.window > max_document_window)
        fail(ErrorCode::usage, "the window for method=document is {}; allowed: odd numbers from 3 to {}",
             parameters.window, max_document_window);
    const auto blocks = [](int px) { return (px + paper_block_px - 1) / paper_block_px; };
    return {shape.frames, blocks(shape.height), blocks(shape.width), 1};
}

// Returns the largest odd number up to `size`, at least 1.
constexpr int odd(int size) { return std::max(1, size - (size % 2 == 0)); }

// Rows per band of drop_specks(). The scratch rows of a band of 1080p fit a core's L2 cache.
constexpr int speck_band_rows = 32;

// Scratch memory of one band. The mask, its white runs, the columns that squares cover and the results take as many
// rows each: those of the band and largest_speck above and below. One more row holds rings.
constexpr int speck_rows = speck_band_rows + 2 * largest_speck;
constexpr int speck_scratch_rows = 4 * speck_rows + 1;

// Returns the number of bands of an image.
int speck_bands(const Shape& shape) { return (shape.height + speck_band_rows - 1) / speck_band_rows; }

// Returns the bytes of a scratch row: margins on both sides, and room for the last vector.
std::int64_t speck_row_bytes(int width) {
    return (width / speck_margin_px + 1ll) * speck_margin_px + 3 * speck_margin_px;
}

}  // namespace

Document::Document(DocumentParameters parameters, const Shape& shape, Executor& executor)
    : shape_(shape),
      executor_(&executor),
      blocks_shape_(blocks_shape(parameters, shape)),
      close_({.operation = MorphologyOperation::close, .size = odd(parameters.window / 8), .shape = ElementShape::rect},
             blocks_shape_, executor),
      median_({.size = odd(parameters.window / 4), .border = Border::replicate}, blocks_shape_, executor),
      binarize_({.method = ThresholdMethod::ink}, shape.with_channels(1), executor),
      blocks_(blocks_shape_, executor),
      closed_(blocks_shape_, executor),
      paper_(blocks_shape_, executor),
      left_(shape.with_channels(1), executor),
      mask_(shape.with_channels(1), executor) {
    if (executor.backend() == Backend::cpu) {
        // Two chunks per thread, so that none waits long for another.
        const int bands = speck_bands(shape), most_chunks = 2 * executor.pool().threads();
        chunk_bands_ = (bands + most_chunks - 1) / most_chunks;
        const int chunks = (bands + chunk_bands_ - 1) / chunk_bands_;
        const auto bytes = static_cast<std::size_t>(chunks * speck_scratch_rows * speck_row_bytes(shape.width));
        speck_scratch_ = HostBuffer(bytes);
        std::memset(speck_scratch_.data(), 255, bytes);
    }
    if (shape.channels == 1) return;
    gray_.emplace(GrayParameters{.channels = 1}, shape, executor);
    gray_image_ = BackendImage(shape.with_channels(1), executor);
}

// Runs the steps on either backend, which also holds the intermediate images.
template <MemorySpace space>
void Document::run_steps(const FilterImages<space>& images) {
    validate(images.in, shape_, "binarize's image");
    validate(images.out, shape_, "binarize's result");
    auto gray = images.in;
    if (gray_) {
        gray_->run(FilterImages<space>{images.in, {}, gray_image_.view<space>()});
        gray = std::as_const(gray_image_).view<space>();
    }
    shrink(gray, blocks_.view<space>());
    close_.run(FilterImages<space>{std::as_const(blocks_).view<space>(), {}, closed_.view<space>()});
    median_.run(FilterImages<space>{std::as_const(closed_).view<space>(), {}, paper_.view<space>()});
    divide(gray, std::as_const(paper_).view<space>(), left_.view<space>());
    binarize_.run(FilterImages<space>{std::as_const(left_).view<space>(), {}, mask_.view<space>()});
    drop_specks(std::as_const(mask_).view<space>(), images.out);
}

void Document::run(const FilterImages<MemorySpace::host>& images) { run_steps(images); }

void Document::run(const FilterImages<MemorySpace::device>& images) {
    if constexpr (cuda::compiled) run_steps(images);
}

// The rows below the image repeat its last row, which changes no maximum.
void Document::shrink(HostView<const std::uint8_t> gray, HostView<std::uint8_t> blocks) const {
    constexpr std::int64_t rows_at_once = 8;
    const auto& pool = executor_->pool();
    pool.for_chunks(blocks_shape_.rows(), rows_at_once, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            const auto frame = static_cast<int>(row / blocks_shape_.height),
                       y = static_cast<int>(row % blocks_shape_.height);
            const std::uint8_t* rows[paper_block_px];
            for (int i = 0; i < paper_block_px; ++i)
                rows[i] = gray.row(frame, std::min(y * paper_block_px + i, shape_.height - 1));
            HWY_DYNAMIC_DISPATCH(shrink_rows)(rows, shape_.width, blocks.row(frame, y));
        }
    });
}

void Document::divide(HostView<const std::uint8_t> gray, HostView<const std::uint8_t> paper,
                      HostView<std::uint8_t> left) const {
    constexpr std::int64_t rows_at_once = 16;
    executor_->pool().for_chunks(shape_.rows(), rows_at_once, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            const auto frame = static_cast<int>(row / shape_.height), y = static_cast<int>(row % shape_.height);
            const auto neighbour = paper_neighbour(y);
            const int own = y / paper_block_px, other = std::clamp(own + neighbour.step, 0, blocks_shape_.height - 1);
            HWY_DYNAMIC_DISPATCH(divide_row)
            (paper.row(frame, own), paper.row(frame, other), neighbour.weight, blocks_shape_.width, gray.row(frame, y),
             shape_.width, left.row(frame, y));
        }
    });
}

// Works in bands of rows. Every band finds all squares that overlap it, from its own copy of the rows around it. Bands
// without black are copied.
void Document::drop_specks(HostView<const std::uint8_t> mask, HostView<std::uint8_t> out) {
    const auto row_bytes = speck_row_bytes(shape_.width);
    const auto pixels = static_cast<std::size_t>(shape_.width);
    const auto drop = [&](int frame, std::uint8_t* scratch, int begin, int end) {
        // Rows of scratch memory, by the row of the image; results and covered rows start in the band.
        const auto row_at = [&](int first, int y) {
            return scratch + (first + y - begin + largest_speck) * row_bytes + speck_margin_px;
        };
        const auto source = [&](int y) { return row_at(0, y); };
        const auto runs = [&](int y) { return row_at(speck_rows, y); };
        const auto covered = [&](int y) { return row_at(2 * speck_rows, y); };
        const auto result = [&](int y) { return row_at(3 * speck_rows, y); };
        auto* const rings = row_at(4 * speck_rows, begin - largest_speck);

        bool black = false;
        for (int y = begin - largest_speck; y < end + largest_speck; ++y) {
            if (y < 0 || y >= shape_.height) {
                std::memset(source(y), 255, pixels);
                continue;
            }
            std::memcpy(source(y), mask.row(frame, y), pixels);
            if (y < begin || y >= end) continue;
            black = black || std::memchr(source(y), 0, pixels) != nullptr;
            std::memcpy(result(y), source(y), pixels);
        }
        for (const int side : speck_sides) {
            if (!black) break;
            for (int y = begin - side; y < end + side; ++y)
                HWY_DYNAMIC_DISPATCH(white_runs)(source(y), side, shape_.width, runs(y));
            for (int y = begin - side + 1; y < end; ++y) {
                const std::uint8_t* rows[largest_speck];
                for (int i = 0; i < side; ++i) rows[i] = source(y + i);
                HWY_DYNAMIC_DISPATCH(speck_columns)
                (rows, runs(y - 1), runs(y + side), side, shape_.width, rings, covered(y));
            }
            for (int y = begin; y < end; ++y) {
                const std::uint8_t* rows[largest_speck];
                for (int i = 0; i < side; ++i) rows[i] = covered(y - i);
                HWY_DYNAMIC_DISPATCH(whiten)(rows, side, shape_.width, result(y));
            }
        }
        for (int y = begin; y < end; ++y) {
            if (shape_.channels == 1)
                std::memcpy(out.row(frame, y), result(y), pixels);
            else
                HWY_DYNAMIC_DISPATCH(repeat_channels)(result(y), shape_.width, out.row(frame, y));
        }
    };
    // Each chunk of bands has scratch memory of its own, which stays in its core's cache from band to band.
    for (int frame = 0; frame < shape_.frames; ++frame)
        executor_->pool().for_chunks(
            speck_bands(shape_), chunk_bands_, [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
                auto* scratch = speck_scratch_.data() + chunk * speck_scratch_rows * row_bytes;
                for (auto band = begin; band < end; ++band) {
                    const auto first = static_cast<int>(band) * speck_band_rows;
                    drop(frame, scratch, first, std::min(first + speck_band_rows, shape_.height));
                }
            });
}

}  // namespace framewire

#endif
