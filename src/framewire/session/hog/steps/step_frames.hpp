#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::session {

/// Set of frames whose steps are drawn. The empty set means the first frame, without its own subfolder.
class StepFrames {
public:
    /// Limit for the number of frames.
    static constexpr std::int64_t most = 10'000;

    /// The empty set.
    StepFrames() = default;
    /// Parses frame numbers, counted from 0, and ranges of them: "0,10,20-29". Throws Error{usage} for any other text,
    /// for repeated frames, and for more than `most` frames.
    explicit StepFrames(std::string_view text);

    /// Returns true if no frame was named.
    bool empty() const { return ranges_.empty(); }
    /// Returns true if the set has this frame.
    bool contains(std::int64_t frame) const;
    /// Calls take(frame) for each frame, in ascending order.
    template <class Take>
    void for_each(Take&& take) const {
        for (const auto& [first, last] : ranges_)
            for (auto frame = first; frame <= last; ++frame) take(frame);
    }

private:
    // first and last frame of each range, sorted; ranges do not overlap
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges_;
};

}  // namespace framewire::session
