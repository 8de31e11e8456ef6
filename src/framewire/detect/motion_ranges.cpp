#include "framewire/detect/motion_ranges.hpp"
#include "framewire/core/error.hpp"

#include <algorithm>
#include <utility>

namespace framewire {
namespace {

// Extends a box, which may be empty, to contain another one.
void extend(Zone& box, const Zone& by) {
    if (box.width == 0) {
        box = by;
        return;
    }
    const int right = std::max(box.x + box.width, by.x + by.width);
    const int bottom = std::max(box.y + box.height, by.y + by.height);
    box.x = std::min(box.x, by.x);
    box.y = std::min(box.y, by.y);
    box.width = right - box.x;
    box.height = bottom - box.y;
}

void extend(MotionRange& range, std::int64_t frame, double seconds, std::span<const Component> objects) {
    if (range.frames == 0) {
        range.begin_frame = frame;
        range.begin_seconds = seconds;
    }
    range.end_frame = frame;
    range.end_seconds = seconds;
    ++range.frames;
    range.most_objects = std::max<std::int64_t>(range.most_objects, std::ssize(objects));
    for (const auto& object : objects) {
        range.largest_area = std::max<std::int64_t>(range.largest_area, object.area);
        extend(range.box, Zone{object.x, object.y, object.width, object.height});
    }
}

}  // namespace

MotionRanges::MotionRanges(const MotionRangeRules& rules) : rules_(rules) {
    if (rules.after_frames < 1 || !(rules.gap_seconds >= 0) || !(rules.min_seconds >= 0))
        fail(ErrorCode::usage, "motion begins after {} frames, gap {} s, shortest {} s; allowed: at least 1, 0 and 0",
             rules.after_frames, rules.gap_seconds, rules.min_seconds);
}

// Within the gap after a range, a single frame with objects continues it, as it keeps `serve`'s motion ON.
void MotionRanges::add(std::int64_t frame, double seconds, std::span<const Component> objects) {
    if (objects.empty()) return skip();
    const bool continues = std::exchange(continues_, true);
    if (open_.frames > 0 && ((continues && run_.frames == 0) || seconds - open_.end_seconds <= rules_.gap_seconds))
        return extend(open_, frame, seconds, objects);
    extend(run_, frame, seconds, objects);
    if (run_.frames < rules_.after_frames) return;
    close();
    open_ = std::exchange(run_, {});
}

void MotionRanges::close() {
    if (open_.frames > 0 && open_.end_seconds - open_.begin_seconds >= rules_.min_seconds) ranges_.push_back(open_);
    open_ = {};
}

std::vector<MotionRange> MotionRanges::finish() {
    close();
    return std::move(ranges_);
}

}  // namespace framewire
