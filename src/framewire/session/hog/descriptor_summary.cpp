#include "framewire/session/hog/descriptor_summary.hpp"

#include <algorithm>
#include <iterator>

namespace framewire::session {

void DescriptorSummary::add(std::span<const float> values) {
    // Sixteen independent lanes let the compiler vectorise. A float sum takes only 32 values per lane before it is
    // added to a double, so the rounding error stays negligible.
    constexpr std::size_t lanes = 16, turn = 32 * lanes;
    float largest[lanes] = {};
    for (std::size_t begin = 0; begin < values.size(); begin += turn) {
        const auto end = std::min(begin + turn, values.size());
        float sums[lanes] = {};
        auto at = begin;
        for (; at + lanes <= end; at += lanes)
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                // Copied to a value, because the compiler does not vectorise the loop over references.
                const float value = values[at + lane];
                largest[lane] = std::max(largest[lane], value);
                sums[lane] += value;
            }
        for (; at < end; ++at) {
            largest[0] = std::max(largest[0], values[at]);
            sums[0] += values[at];
        }
        for (const float sum : sums) sum_ += sum;
    }
    for (const float one : largest) largest_ = std::max(largest_, one);
    values_ += std::ssize(values);
    ++frames_;
}

}  // namespace framewire::session
