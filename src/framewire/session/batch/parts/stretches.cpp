// Splitting at key frames. Each range also decodes some frames before it (its lead), so that its results equal those of
// a run over the whole source.
#include "framewire/session/batch/parts/stretches.hpp"

#include "framewire/core/error.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/filters/fps/fps.hpp"
#include "framewire/pipeline/chain/chain.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <utility>
#include <variant>

namespace framewire::session {
namespace {

// Adds the dependencies of a background model: none for a picture, the first frame, or all frames.
void add_background(LookBack& back, const BackgroundModel& background) {
    if (std::holds_alternative<FirstFrame>(background))
        back.first_frame = true;
    else if (!std::holds_alternative<BackgroundImage>(background))
        back.learns = name_of_background(background);
}

// Returns how many earlier frames the filters of a chain need.
int add_calls(LookBack& back, const Chain& chain) {
    int previous = 0;
    for (const auto& call : chain.calls) {
        previous += call.filter->needs_previous ? 1 : 0;
        if (call.filter->name == "boxes") add_background(back, detector_parameters(call.values).background);
    }
    return previous;
}

// Returns the first frame that filters and detectors must see, so that results from `begin` on are the same as if they
// had seen all frames.
std::size_t lead_of(const FrameTimes& times, std::size_t begin, const InputOptions& input, const Cutting& cutting) {
    const auto& seconds = times.seconds;
    // one more, see stretches_of()
    const auto frames = static_cast<std::size_t>(cutting.look_back.frames) + 1;
    auto lead = begin;
    if (const auto rate = split_at_rate(parse_chain(input.filters)).rate) {
        const auto number_of = [&](std::size_t frame) {
            FpsSchedule schedule(*rate);
            schedule.begin(input.fps > 0 ? static_cast<double>(frame) / input.fps : seconds[frame]);
            return schedule.next();
        };
        const auto wanted = number_of(begin) - cutting.look_back.rated_frames;
        while (lead > 0 && number_of(lead) > wanted) --lead;
    }
    lead -= std::min(lead, frames);
    if (!cutting.warm_up_seconds) return lead;
    const auto warm = std::ranges::lower_bound(seconds, seconds[begin] - *cutting.warm_up_seconds) - seconds.begin();
    return std::min(lead, static_cast<std::size_t>(warm));
}

}  // namespace

LookBack look_back_of(const std::string& filters, const BackgroundModel* background) {
    LookBack back;
    const auto chain = split_at_rate(parse_chain(filters));
    const int before = add_calls(back, chain.before), after = add_calls(back, chain.after);
    (chain.rate ? back.rated_frames : back.frames) = after;
    if (chain.rate) back.frames = before;
    if (background) add_background(back, *background);
    return back;
}

void require_can_be_cut(const InputOptions& input, const Cutting& cutting) {
    if (input.start_seconds > 0 || input.duration_seconds)
        fail(ErrorCode::usage, "--start and --duration are of whole videos; they do not go with --segment");
    const auto& learns = cutting.look_back.learns;
    if (!learns.empty() && !cutting.warm_up_seconds)
        fail(
            ErrorCode::usage,
            "the background {} learns from all frames before, and pieces of a video (--segment) do not have them; "
            "--warm-up 30s lets each learn from so much before it, and what it finds differs from an uncut run's then. "
            "With first or a picture it is the same",
            learns);
}

std::vector<Stretch> stretches_of(const FrameTimes& times, const InputOptions& input, const Cutting& cutting) {
    const auto& seconds = times.seconds;
    std::vector<std::size_t> begins{0};
    for (const auto entry : times.entries)
        if (entry < seconds.size() && seconds[entry] >= seconds[begins.back()] + cutting.seconds)
            begins.push_back(entry);
    std::vector<Stretch> stretches;
    for (std::size_t number = 0; number < begins.size(); ++number) {
        const auto begin = begins[number];
        const bool last = number + 1 == begins.size();
        const auto end = last ? seconds.size() : begins[number + 1];
        Stretch stretch{.begin_frame = static_cast<std::int64_t>(begin),
                        .frames = static_cast<std::int64_t>(end - begin)};
        if (!last) stretch.end_seconds = seconds[end];
        if (begin > 0) {
            // The lead starts at the previous frame at least. Decoding then begins one key frame earlier, because the
            // frames after some key frames depend on earlier frames too (recovery points).
            const auto lead = lead_of(times, begin, input, cutting);
            stretch.begin_seconds = seconds[begin];
            stretch.lead_frame = static_cast<std::int64_t>(lead);
            stretch.lead_seconds = seconds[lead];
            stretch.first_frame = cutting.look_back.first_frame && lead > 0;
        }
        stretches.push_back(stretch);
    }
    return stretches;
}

}  // namespace framewire::session
