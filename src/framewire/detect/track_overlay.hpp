#pragma once

#include "framewire/core/view.hpp"
#include "framewire/detect/tracker.hpp"
#include "framewire/filters/filter.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace framewire {

/// Returns the colour of a track: every id has its own, neighbouring ids have very different ones.
Pixel color_of_track(std::int64_t id);

/// Draws tracks into pictures for people: each has its own colour, a box, its id, and optionally the path of its centre
/// during the last `seconds`. Boxes of tracks without a component in the frame are not drawn. Keeps paths from frame to
/// frame; allocates only when constructed.
class TrackOverlay {
public:
    /// With `seconds` 0 there are no paths.
    explicit TrackOverlay(double seconds);

    /// Draws the tracks of the next frame, at `time_s` seconds. `image` has one frame of 1 or 3 channels and any
    /// strides.
    void draw(std::span<const Track> tracks, double time_s, HostView<std::uint8_t> image);

private:
    static constexpr std::size_t most_points = 128;

    // Centres of one track, the newest in a ring.
    struct Point {
        double time_s = 0;
        int x = 0, y = 0;
    };
    struct Path {
        std::int64_t id = 0;  // 0: unused
        std::size_t first = 0, count = 0;
        std::vector<Point> points;
    };

    Path& path_of(std::int64_t id);

    double seconds_;
    std::vector<Path> paths_;
};

}  // namespace framewire
