#include "framewire/filters/binarize/gray_histogram.hpp"
#include "framewire/core/simd/simd.hpp"
#include "framewire/filters/gray/gray.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/binarize/gray_histogram.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Adds both values of all pairs to a histogram; pairs[256 * a + b] counts how often a and b stood side by side.
void add_pairs(const std::uint32_t* pairs, std::uint32_t* histogram) {
    const hn::ScalableTag<std::uint32_t> d32;
    const auto step = hn::Lanes(d32);
    for (std::size_t first = 0; first < 256; ++first) {
        auto sum = hn::Zero(d32);
        for (std::size_t second = 0; second < 256; second += step) {
            const auto counts = hn::LoadU(d32, pairs + 256 * first + second);
            sum = hn::Add(sum, counts);
            hn::StoreU(hn::Add(hn::LoadU(d32, histogram + second), counts), d32, histogram + second);
        }
        histogram[first] += hn::GetLane(hn::SumOfLanes(d32, sum));
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <cstring>

namespace framewire {

HWY_EXPORT(add_pairs);

namespace {

constexpr std::int64_t piece_px = 4096;  // pixels made gray and counted at a time, in a core's L1

// Counts gray values two neighbours at a time: a core stores one count a cycle at best, so half as many counts take
// half the time. (1080p, one thread: 0.27 ms; eight histograms of single values 0.5 ms, one 0.9 ms.)
class PairHistogram {
public:
    PairHistogram() { std::memset(pairs_, 0, sizeof pairs_); }

    void add(const std::uint8_t* values, std::int64_t count) {
        std::int64_t at = 0;
        for (; at + 8 <= count; at += 8) {
            std::uint64_t eight;
            std::memcpy(&eight, values + at, sizeof eight);
            ++pairs_[eight & 65535];
            ++pairs_[eight >> 16 & 65535];
            ++pairs_[eight >> 32 & 65535];
            ++pairs_[eight >> 48];
        }
        for (; at < count; ++at) ++singles_[values[at]];
    }

    void sum(Histogram& out) const {
        out = singles_;
        HWY_DYNAMIC_DISPATCH(add_pairs)(pairs_, out.data());
    }

private:
    std::uint32_t pairs_[256 * 256];
    Histogram singles_{};
};

void add_rows(HostView<const std::uint8_t> image, int begin, int end, std::uint8_t* gray,
              std::int64_t gray_row_stride_bytes, PairHistogram& pairs) {
    const auto& shape = image.shape();
    const bool own_gray = shape.channels == 1;
    // Rows without gaps are one long row.
    const bool one_run = image.dense_rows() && (own_gray || gray_row_stride_bytes == shape.width);
    const std::int64_t run_px = one_run ? std::int64_t{end - begin} * shape.width : shape.width;
    for (int y = begin; y < end; y += one_run ? end - begin : 1) {
        const auto* in = image.row(0, y);
        if (own_gray) {
            pairs.add(in, run_px);
            continue;
        }
        auto* row = gray + (y - begin) * gray_row_stride_bytes;
        for (std::int64_t x = 0; x < run_px; x += piece_px) {
            const auto pixels = std::min(piece_px, run_px - x);
            gray_span(GrayMethod::weighted, in + 3 * x, 3, pixels, 1, row + x);
            pairs.add(row + x, pixels);
        }
    }
}

}  // namespace

void count_gray(HostView<const std::uint8_t> image, int begin, int end, std::uint8_t* gray,
                std::int64_t gray_row_stride_bytes, Histogram& out) {
    PairHistogram pairs;
    add_rows(image, begin, end, gray, gray_row_stride_bytes, pairs);
    pairs.sum(out);
}

void count_gray(const MakeRows& make, HostView<std::uint8_t> strip, const RowRange& rows, std::uint8_t* gray,
                std::int64_t gray_row_stride_bytes, Histogram& out) {
    const auto whole = ImageRows<std::uint8_t>(strip);
    PairHistogram pairs;
    for (int y = rows.begin; y < rows.end; y += strip.shape().height) {
        const int count = std::min(strip.shape().height, rows.end - y);
        const auto here = whole.part({0, count}).view;
        make({here, y});
        add_rows(here, 0, count, gray + (y - rows.begin) * gray_row_stride_bytes, gray_row_stride_bytes, pairs);
    }
    pairs.sum(out);
}

}  // namespace framewire

#endif
