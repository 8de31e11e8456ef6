#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::session {

/// Which frames' steps are drawn. None at all stands for the first one's, without a folder of their own.
class StepFrames {
public:
    static constexpr std::int64_t most = 10'000;

    StepFrames() = default;
    /// Reads numbers, counted from 0, and ranges of them: "0,10,20-29". Throws Error{usage} on anything else, and on
    /// more than `most` frames.
    explicit StepFrames(std::string_view text);

    bool empty() const { return ranges_.empty(); }
    bool contains(std::int64_t frame) const;
    /// Calls take(frame) for each, in their order.
    template <class Take>
    void for_each(Take&& take) const {
        for (const auto& [first, last] : ranges_)
            for (auto frame = first; frame <= last; ++frame) take(frame);
    }

private:
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges_;  // first and last; no frame in two of them
};

}  // namespace framewire::session
