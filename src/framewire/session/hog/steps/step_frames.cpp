#include "framewire/session/hog/steps/step_frames.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/numbers.hpp"
#include "framewire/core/text/excerpt.hpp"

#include <algorithm>

namespace framewire::session {

StepFrames::StepFrames(std::string_view text) {
    const auto refuse = [&](std::string_view why) {
        fail(ErrorCode::usage,
             "frames {} {}; allowed are numbers from 0 and ranges of them, {} frames at most: 0,10,20-29",
             in_quotes(text), why, most);
    };
    // Counted before the ranges are stored, so that a huge range is rejected at once.
    std::int64_t count = 0;
    for (auto rest = text;;) {
        const auto one = rest.substr(0, rest.find(','));
        const auto dash = one.find('-');
        const auto first = number_in<std::int64_t>(one.substr(0, dash));
        const auto last = dash == one.npos ? first : number_in<std::int64_t>(one.substr(dash + 1));
        if (!first || !last || *first < 0 || *last < *first) refuse("are no list");
        if (*last - *first >= most || (count += *last - *first + 1) > most) refuse("are too many");
        ranges_.emplace_back(*first, *last);
        if (one.size() == rest.size()) break;
        rest.remove_prefix(one.size() + 1);
    }
    std::ranges::sort(ranges_);
    for (std::size_t next = 1; next < ranges_.size(); ++next)
        if (ranges_[next].first <= ranges_[next - 1].second) refuse("name one twice");
}

bool StepFrames::contains(std::int64_t frame) const {
    return std::ranges::any_of(ranges_,
                               [=](const auto& range) { return frame >= range.first && frame <= range.second; });
}

}  // namespace framewire::session
