#include "framewire/filters/binarize/gray_histogram.hpp"
#include "framewire/core/simd/simd.hpp"
#include "framewire/filters/gray/gray.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/binarize/gray_histogram.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Adds both values of every pair to a histogram. pairs[values * a + b] is the number of times a was followed by b in a
// pair.
void add_pairs(const std::uint32_t* pairs, std::size_t values, std::uint32_t* histogram) {
    const hn::ScalableTag<std::uint32_t> d32;
    const auto step = hn::Lanes(d32);
    for (std::size_t first = 0; first < values; ++first) {
        auto sum = hn::Zero(d32);
        for (std::size_t second = 0; second < values; second += step) {
            const auto counts = hn::LoadU(d32, pairs + values * first + second);
            sum = hn::Add(sum, counts);
            hn::StoreU(hn::Add(hn::LoadU(d32, histogram + second), counts), d32, histogram + second);
        }
        histogram[first] += hn::GetLane(hn::SumOfLanes(d32, sum));
    }
}

// The largest of `count` values; 0 if there are none.
std::uint8_t largest_of(const std::uint8_t* values, std::int64_t count) {
    const hn::ScalableTag<std::uint8_t> d;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d));
    auto most = hn::Zero(d);
    std::int64_t at = 0;
    for (; at + step <= count; at += step) most = hn::Max(most, hn::LoadU(d, values + at));
    HWY_ALIGN std::uint8_t lanes[HWY_MAX_BYTES];
    hn::Store(most, d, lanes);
    auto largest = *std::max_element(lanes, lanes + step);
    for (; at < count; ++at) largest = std::max(largest, values[at]);
    return largest;
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cstring>

namespace framewire {

HWY_EXPORT(add_pairs);
HWY_EXPORT(largest_of);

namespace {

constexpr std::int64_t piece_px = 4096;  // pixels converted and counted at a time; they fit a core's L1 cache

// Histogram of pairs of neighbouring values. A core stores at most one count per cycle, so counting pairs halves the
// time. Measured on a 1080p frame with one thread: 0.20 ms; eight histograms of single values take 0.5 ms, one takes
// 0.9 ms. Each pair is loaded separately; loading eight values at once and shifting takes 0.25 ms.
class PairHistogram {
public:
    // Clears the 256 KiB of pair counts, part of a call's fixed cost.
    PairHistogram() { std::memset(pairs_, 0, sizeof pairs_); }

    // Counts `values`. If `later` is given, prefetches three of its bytes per value, because counting leaves memory
    // bandwidth unused.
    void add(const std::uint8_t* values, std::int64_t count, const std::uint8_t* later = nullptr) {
        std::int64_t at = 0;
        for (; at + 16 <= count; at += 16) {
            if (later) hwy::Prefetch(later + 3 * at);
#pragma GCC unroll 8
            for (int pair = 0; pair < 8; ++pair) {
                std::uint16_t both;
                std::memcpy(&both, values + at + 2 * pair, sizeof both);
                ++pairs_[both];
            }
        }
        for (; at < count; ++at) ++singles_[values[at]];
    }

    // Sums the pairs and the unpaired values to an ordinary histogram.
    void sum(Histogram& out) const {
        out = singles_;
        HWY_DYNAMIC_DISPATCH(add_pairs)(pairs_, 256, out.data());
    }

private:
    std::uint32_t pairs_[256 * 256];
    Histogram singles_{};
};

// As PairHistogram, but for groups of four values, whose pairs fit the L1 cache. Neighbours are often equal, and a
// count has to wait for the previous one of the same pair; therefore four tables take turns.
class GroupHistogram {
public:
    // Clears the four tables.
    GroupHistogram() { std::memset(pairs_, 0, sizeof pairs_); }

    // Counts `values`, emptying the pair tables before their 16-bit counts can overflow.
    void add(const std::uint8_t* values, std::int64_t count, const std::uint8_t* later = nullptr) {
        for (std::int64_t at = 0; at < count; at += most_at_once) {
            const auto here = std::min(most_at_once, count - at);
            if (counted_ + here > most_at_once) empty_pairs();
            counted_ += here;
            add_some(values + at, here, later ? later + 3 * at : nullptr);
        }
        largest_ = std::max(largest_, HWY_DYNAMIC_DISPATCH(largest_of)(values, count));
    }

    // Writes each group's count to its first value. One pixel of the largest group moves to the largest value, so that
    // the caller can still see which one that is.
    void sum(Histogram& out) {
        empty_pairs();
        out = {};
        for (std::size_t group = 0; group < group_count; ++group) out[4 * group] = groups_[group];
        if (out[largest_ / 4u * 4u] == 0) return;  // nothing was counted
        --out[largest_ / 4u * 4u];
        ++out[largest_];
    }

private:
    // Counts eight values at a time. Each value is reduced to its group by a shift; two groups form the index of a
    // pair.
    void add_some(const std::uint8_t* values, std::int64_t count, const std::uint8_t* later) {
        std::int64_t at = 0;
        for (; at + 8 <= count; at += 8) {
            if (later) hwy::Prefetch(later + 3 * at);
            std::uint64_t eight;
            std::memcpy(&eight, values + at, sizeof eight);
            // Two 6-bit groups next to each other in every 16 bits: the index of a pair.
            const auto groups = (eight >> 2 & 0x003F003F003F003F) | (eight >> 4 & 0x0FC00FC00FC00FC0);
            ++pairs_[0][groups & 65535];
            ++pairs_[1][groups >> 16 & 65535];
            ++pairs_[2][groups >> 32 & 65535];
            ++pairs_[3][groups >> 48];
        }
        for (; at < count; ++at) ++groups_[values[at] / 4u];
    }

    // Adds the pair tables to the groups and clears them.
    void empty_pairs() {
        std::uint32_t all[group_count * group_count];
        for (std::size_t pair = 0; pair < std::size(all); ++pair)
            all[pair] = std::uint32_t{pairs_[0][pair]} + pairs_[1][pair] + pairs_[2][pair] + pairs_[3][pair];
        HWY_DYNAMIC_DISPATCH(add_pairs)(all, group_count, groups_.data());
        std::memset(pairs_, 0, sizeof pairs_);
        counted_ = 0;
    }

    static constexpr std::size_t group_count = 64;
    // Values that can be counted before a pair's 16-bit count may overflow.
    static constexpr std::int64_t most_at_once = 8 * 65535;
    std::uint16_t pairs_[4][group_count * group_count];
    std::int64_t counted_ = 0;  // values counted since the pairs were emptied
    std::array<std::uint32_t, group_count> groups_{};
    std::uint8_t largest_ = 0;
};

// Counts rows begin..end-1 of the image, converting BGR rows to gray first, in chunks that stay in the L1 cache.
template <class Counts>
void add_rows(HostView<const std::uint8_t> image, int begin, int end, std::uint8_t* gray,
              std::int64_t gray_row_stride_bytes, Counts& counts) {
    const auto& shape = image.shape();
    const bool own_gray = shape.channels == 1;
    // Rows without gaps count as one long row.
    const bool one_run = image.dense_rows() && (own_gray || gray_row_stride_bytes == shape.width);
    const std::int64_t run_px = one_run ? std::int64_t{end - begin} * shape.width : shape.width;
    for (int y = begin; y < end; y += one_run ? end - begin : 1) {
        const auto* in = image.row(0, y);
        if (own_gray) {
            counts.add(in, run_px);
            continue;
        }
        auto* row = gray + (y - begin) * gray_row_stride_bytes;
        for (std::int64_t x = 0; x < run_px; x += piece_px) {
            const auto pixels = std::min(piece_px, run_px - x);
            gray_span(GrayMethod::weighted, in + 3 * x, 3, pixels, 1, row + x);
            counts.add(row + x, pixels, x + pixels < run_px ? in + 3 * (x + pixels) : nullptr);
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

void count_gray_groups(HostView<const std::uint8_t> image, int begin, int end, std::uint8_t* gray,
                       std::int64_t gray_row_stride_bytes, Histogram& out) {
    GroupHistogram groups;
    add_rows(image, begin, end, gray, gray_row_stride_bytes, groups);
    groups.sum(out);
}

void count_gray_groups(const MakeRows& make, int width, const RowRange& rows, std::uint8_t* gray,
                       std::int64_t gray_row_stride_bytes, Histogram& out) {
    // Rows per call of `make`, about piece_px pixels.
    const auto each = static_cast<int>(piece_px / width + 1);
    GroupHistogram groups;
    for (int y = rows.begin; y < rows.end; y += each) {
        const int count = std::min(each, rows.end - y);
        auto* const first = gray + (y - rows.begin) * gray_row_stride_bytes;
        make({{first, {1, count, width, 1}, gray_row_stride_bytes, count * gray_row_stride_bytes}, y});
        for (int row = 0; row < count; ++row) groups.add(first + row * gray_row_stride_bytes, width);
    }
    groups.sum(out);
}

}  // namespace framewire

#endif
