#pragma once

#include "framewire/core/view.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace framewire {

template <class Aggregate>
class ParameterFields;

/// Position of a tracked object in one frame.
struct Track {
    std::int64_t id = 0;    ///< positive; not used again until Tracker::reset()
    double x = 0, y = 0;    ///< left and top edge of the box, in pixels
    double width = 0;       ///< width of the box, in pixels
    double height = 0;      ///< height of the box, in pixels
    double velocity_x = 0;  ///< of the centre, in pixels per second
    double velocity_y = 0;  ///< of the centre, in pixels per second
    double age_s = 0;       ///< seconds since the track's first box
    double unseen_s = 0;    ///< seconds since its last box; 0 if it has one in this frame
    int object = -1;        ///< index of its component in the frame, or -1 if it has none

    friend bool operator==(const Track&, const Track&) = default;
};

/// Parameters of Tracker. Times are in seconds, so the same values suit every frame rate.
struct TrackerParameters {
    double confirm_s = 0.2;  ///< a track is reported after it has been seen for this time
    double keep_s = 1.5;     ///< a track without a component ends after this time

    friend bool operator==(const TrackerParameters&, const TrackerParameters&) = default;
};

/// Returns names, ranges and help of the parameters; `--track confirm=0.2:keep=1.5` uses them.
const ParameterFields<TrackerParameters>& tracker_fields();

/// Parses the parameters as "confirm=0.2:keep=1.5"; an empty text gives the defaults. Throws Error{usage} if a name or
/// a value is not allowed.
TrackerParameters parse_tracker(std::string_view text);

/// Maximum number of components of a frame that a Tracker considers: the largest ones. The assignment takes cubic time.
inline constexpr int max_tracked_objects = 256;

/// Maximum number of tracks at a time, and so of those that Tracker::update() returns.
inline constexpr int most_tracks = 2 * max_tracked_objects;

/// Gives the components of successive frames an identity: a Kalman filter per object and optimal assignment (SORT,
/// Bewley et al. 2016), with a second chance for weak candidates (ByteTrack, Zhang et al. 2022) and a re-update after
/// an occlusion (OC-SORT, Cao et al. 2023). Parts of one object are joined until they move apart. Objects whose blobs
/// merge share a component, and each keeps its own predicted box until they part. Results are equal on every machine.
/// Allocates only when constructed.
class Tracker {
public:
    /// Allocates everything that update() needs. `width` and `height` are those of the frames, in pixels. Throws
    /// Error{usage} if a parameter is out of range.
    Tracker(const TrackerParameters& parameters, int width, int height);
    ~Tracker();
    Tracker(Tracker&&) noexcept;
    Tracker& operator=(Tracker&&) noexcept;

    /// Associates the components of the next frame with tracks. Returns the confirmed tracks in ascending order of
    /// their ids; valid until the next call. `time_s` is the frame's time.
    std::span<const Track> update(std::span<const Component> objects, double time_s);

    /// Forgets all tracks. Ids start again from 1.
    void reset();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire
