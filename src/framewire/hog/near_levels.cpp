#include "framewire/hog/near_levels.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/hog/near_levels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {

// Counts the pixels below a few edges in narrow fields, which are widened before they overflow:
//
//     2-bit fields, up to 3 vectors -> 4-bit fields, up to 15 -> 8-bit fields, up to 255 -> 64-bit sums
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using NearTag = hn::ScalableTag<std::uint8_t>;
using NearVector = hn::VFromD<NearTag>;

// Adds the bytes of a vector to `sum`.
HWY_INLINE void add_bytes(NearVector bytes, std::uint64_t& sum) {
    const hn::Repartition<std::uint64_t, NearTag> d64;
    sum += hn::GetLane(hn::SumOfLanes(d64, hn::SumsOf8(bytes)));
}

// Returns the amounts that a pixel adds to the counts of the four edges around a level, two bits each. The first edge
// is that of bin `first`.
class NearEdges {
public:
    explicit HWY_INLINE NearEdges(int first) : before_(hn::Set(NearTag(), static_cast<std::uint8_t>(first - 1))) {}

    // Looks up the four fields for each byte of a vector, by the number of bins from the first edge.
    HWY_INLINE NearVector operator()(NearVector gray) const {
        const NearTag d;
        const hn::Repartition<std::uint16_t, NearTag> d16;
        // The bin of a gray value is its upper six bits.
        static_assert(hog_levels_per_bin == 4);
        const auto bin = hn::And(hn::BitCast(d, hn::ShiftRight<2>(hn::BitCast(d16, gray))), hn::Set(d, 63));
        const auto above = hn::Min(hn::SaturatedSub(bin, before_), hn::Set(d, HogNearCounts::edges_each));
        return hn::TableLookupBytes(hn::LoadDup128(d, added), above);
    }

private:
    // Indexed by the number of bins above the bin before the first edge. The pixel is below all edges from that number
    // on.
    HWY_ALIGN static constexpr std::uint8_t added[16] = {0x55, 0x54, 0x50, 0x40};

    NearVector before_;
};

// Adds fields of `bits` bits each to two counts: the even fields to one, the odd fields to the other.
template <int bits>
HWY_INLINE void add_fields(NearVector fields, NearVector& even, NearVector& odd) {
    const NearTag d;
    const hn::Repartition<std::uint16_t, NearTag> d16;
    const auto mask = hn::Set(d, bits == 2 ? 0x33 : 0x0F);
    even = hn::Add(even, hn::And(fields, mask));
    odd = hn::Add(odd, hn::And(hn::BitCast(d, hn::ShiftRight<bits>(hn::BitCast(d16, fields))), mask));
}

}  // namespace

// Counts the pixels of a row below each edge. `firsts` are the bins of the first edges around each level.
void count_below(const std::uint8_t* gray, std::int64_t pixels, const int* firsts, HogNearCounts& counts) {
    constexpr int levels = 3, each = HogNearCounts::edges_each;
    static_assert(each == 4);
    // Numbers of vectors that fields of 2, 4 and 8 bits can count.
    constexpr int of_pairs = 3, of_nibbles = 15, of_bytes = 255;
    const NearTag d;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d));
    const auto whole = pixels / step * step;
    const NearEdges edges[levels] = {NearEdges(firsts[0]), NearEdges(firsts[1]), NearEdges(firsts[2])};
    auto largest = hn::Zero(d);
    for (std::int64_t x = 0; x < whole;) {
        NearVector below[levels][each];
        for (auto& of_level : below)
            for (auto& one : of_level) one = hn::Zero(d);
        const auto bytes_end = std::min(x + of_bytes * step, whole);
        while (x < bytes_end) {
            NearVector nibbles[levels][2];
            for (auto& of_level : nibbles)
                for (auto& one : of_level) one = hn::Zero(d);
            const auto nibbles_end = std::min(x + of_nibbles * step, bytes_end);
            while (x < nibbles_end) {
                NearVector pairs[levels];
                for (auto& one : pairs) one = hn::Zero(d);
                for (const auto end = std::min(x + of_pairs * step, nibbles_end); x < end; x += step) {
                    const auto values = hn::LoadU(d, gray + x);
                    largest = hn::Max(largest, values);
                    for (int level = 0; level < levels; ++level)
                        pairs[level] = hn::Add(pairs[level], edges[level](values));
                }
                for (int level = 0; level < levels; ++level)
                    add_fields<2>(pairs[level], nibbles[level][0], nibbles[level][1]);
            }
            for (int level = 0; level < levels; ++level)
                for (int odd = 0; odd < 2; ++odd)
                    add_fields<4>(nibbles[level][odd], below[level][odd], below[level][2 + odd]);
        }
        for (int level = 0; level < levels; ++level)
            for (int edge = 0; edge < each; ++edge) add_bytes(below[level][edge], counts.below[level * each + edge]);
    }
    HWY_ALIGN std::uint8_t lanes[HWY_MAX_BYTES];
    hn::Store(largest, d, lanes);
    counts.largest = std::max(counts.largest, *std::max_element(lanes, lanes + step));
    // Processes the remainder of a row pixel by pixel.
    for (auto x = whole; x < pixels; ++x) {
        counts.largest = std::max(counts.largest, gray[x]);
        for (int edge = 0; edge < HogNearCounts::edges; ++edge)
            counts.below[edge] += gray[x] / hog_levels_per_bin < firsts[edge / each] + edge % each ? 1 : 0;
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(count_below);

void HogNearCounts::add(const HogNearCounts& other) {
    for (int edge = 0; edge < edges; ++edge) below[edge] += other.below[edge];
    largest = std::max(largest, other.largest);
}

// Chooses the first edges of the three levels. Each level may move by one bin in either direction.
HogNearLevels::HogNearLevels(const HogLevels& before) {
    const int levels[] = {before.low, before.mid, before.high};
    // Includes one more bin on each side. No pixel is below edge 0, and all pixels are below the last edge.
    for (int i = 0; i < 3; ++i)
        firsts_[i] = std::clamp(levels[i] / hog_levels_per_bin - 1, 1, hog_gamma_bins - HogNearCounts::edges_each);
}

void HogNearLevels::count(const std::uint8_t* gray, std::int64_t pixels, HogNearCounts& counts) const {
    HWY_DYNAMIC_DISPATCH(count_below)(gray, pixels, firsts_, counts);
}

// A level is found if the cumulative count reaches its percentage between two of its edges; see hog_reaches().
std::optional<HogLevels> HogNearLevels::found(const HogNearCounts& counts, std::uint64_t pixels) const {
    constexpr int each = HogNearCounts::edges_each;
    HogLevels levels{};
    levels.largest = counts.largest;
    int* const places[] = {&levels.low, &levels.mid, &levels.high};
    for (int i = 0; i < 3; ++i) {
        const auto* const below = counts.below + i * each;
        const int first = firsts_[i], last = first + each - 1;
        int bin = -1;
        for (int at = first; at < last && bin < 0; ++at)
            if (hog_reaches(below[at - first], below[at - first + 1], pixels, hog_level_percents[i])) bin = at;
        // Bin 0 and the last bin have an edge on one side only.
        if (first == 1 && hog_reaches(0, below[0], pixels, hog_level_percents[i])) bin = 0;
        if (last == hog_gamma_bins - 1 && hog_reaches(below[each - 1], pixels, pixels, hog_level_percents[i]))
            bin = last;
        if (bin < 0) return std::nullopt;
        *places[i] = bin * hog_levels_per_bin;
    }
    return levels;
}

}  // namespace framewire

#endif
