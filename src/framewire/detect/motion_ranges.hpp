#pragma once

#include "framewire/core/view.hpp"
#include "framewire/filters/mosaic.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace framewire {

/// When frames with objects form a motion range.
struct MotionRangeRules {
    int after_frames = 3;    ///< a range begins with at least this many consecutive frames with objects
    double gap_seconds = 2;  ///< frames with objects that are at most this far apart belong to one range
    double min_seconds = 0;  ///< shorter ranges are dropped
};

/// A time range in which something moved.
struct MotionRange {
    double begin_seconds = 0, end_seconds = 0;        ///< times of the first and the last frame with objects
    std::int64_t begin_frame = 0, end_frame = 0;      ///< numbers of these frames in their source
    std::int64_t frames = 0;                          ///< number of frames with objects
    Zone box{};                                       ///< smallest rectangle around all objects
    std::int64_t most_objects = 0, largest_area = 0;  ///< in one frame; of one object, in pixels

    friend bool operator==(const MotionRange&, const MotionRange&) = default;
};

/// Joins the frames in which a detector found objects to motion ranges.
class MotionRanges {
public:
    /// Starts without any frame. Throws Error{usage} unless `after_frames` is at least 1 and both times are at least 0.
    explicit MotionRanges(const MotionRangeRules& rules);

    /// Adds the next frame, in chronological order, with its number in the source and its time.
    void add(std::int64_t frame, double seconds, std::span<const Component> objects);
    /// Notes that frames without objects follow, instead of adding each of them.
    void skip() {
        run_ = {};
        continues_ = false;
    }

    /// Ends the range in progress and returns all ranges in chronological order. Call it once.
    std::vector<MotionRange> finish();

private:
    void close();

    MotionRangeRules rules_;
    MotionRange run_{};       // consecutive frames with objects that do not form a range yet; no frames: none
    MotionRange open_{};      // the range in progress; no frames: none
    bool continues_ = false;  // the frame before the next one had objects
    std::vector<MotionRange> ranges_;
};

}  // namespace framewire
