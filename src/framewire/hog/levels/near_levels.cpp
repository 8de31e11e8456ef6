#include "framewire/hog/levels/near_levels.hpp"
#include "framewire/core/simd/simd.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/hog/levels/near_levels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using NearTag = hn::ScalableTag<std::uint8_t>;
using NearVector = hn::VFromD<NearTag>;

// Adds the sum of a vector's bytes.
HWY_INLINE void add_bytes(NearVector bytes, std::uint64_t& sum) {
    const hn::Repartition<std::uint64_t, NearTag> d64;
    sum += hn::GetLane(hn::SumOfLanes(d64, hn::SumsOf8(bytes)));
}

}  // namespace

// `edges`: gray values of HogNearCounts' edges.
void count_below(const std::uint8_t* gray, std::int64_t pixels, const std::uint8_t* edges, HogNearCounts& counts) {
    constexpr int count = HogNearCounts::edges;
    const NearTag d;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d));
    const auto whole = pixels / step * step, most_at_once = 255 * step;  // that bytes can count
    auto largest = hn::Zero(d);
    for (std::int64_t begin = 0; begin < whole; begin += most_at_once) {
        const auto end = std::min(begin + most_at_once, whole);
        NearVector below[count];
        for (auto& one : below) one = hn::Zero(d);
        for (auto x = begin; x < end; x += step) {
            const auto values = hn::LoadU(d, gray + x);
            largest = hn::Max(largest, values);
            for (int edge = 0; edge < count; ++edge)
                below[edge] = hn::Sub(below[edge], hn::VecFromMask(d, hn::Lt(values, hn::Set(d, edges[edge]))));
        }
        for (int edge = 0; edge < count; ++edge) add_bytes(below[edge], counts.below[edge]);
    }
    HWY_ALIGN std::uint8_t lanes[HWY_MAX_BYTES];
    hn::Store(largest, d, lanes);
    counts.largest = std::max(counts.largest, *std::max_element(lanes, lanes + step));
    for (auto x = whole; x < pixels; ++x) {
        counts.largest = std::max(counts.largest, gray[x]);
        for (int edge = 0; edge < count; ++edge) counts.below[edge] += gray[x] < edges[edge] ? 1 : 0;
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

HogNearLevels::HogNearLevels(const HogLevels& before) {
    const int levels[] = {before.low, before.mid, before.high};
    // A bin more on both sides. Nothing is below the first edge of all, and all is below the last.
    for (int i = 0; i < 3; ++i)
        firsts_[i] = std::clamp(levels[i] / hog_levels_per_bin - 1, 1, hog_gamma_bins - HogNearCounts::edges_each);
}

void HogNearLevels::count(const std::uint8_t* gray, std::int64_t pixels, HogNearCounts& counts) const {
    std::uint8_t edges[HogNearCounts::edges];
    for (int edge = 0; edge < HogNearCounts::edges; ++edge)
        edges[edge] = static_cast<std::uint8_t>(
            (firsts_[edge / HogNearCounts::edges_each] + edge % HogNearCounts::edges_each) * hog_levels_per_bin);
    HWY_DYNAMIC_DISPATCH(count_below)(gray, pixels, edges, counts);
}

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
