#include "framewire/detect/tracker.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/detect/assignment.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

// Tracking by detection. A blob is a component of the current frame. Each frame goes through these steps:
//
//     predict    a Kalman filter per track gives its box in this frame (SORT, Bewley et al. 2016)
//     assign     optimal assignment of blobs to tracks: by overlap, then by distance to tracks that were out of sight.
//                Unconfirmed tracks get only what is left over or fits them better (ByteTrack, Zhang et al. 2022)
//     adopt      a blob left over that lies within an assigned track's box begins a part of that track. Parts are
//     tracks
//                without a number: a part that moves away from its whole is another object, and gets one
//     share      a track left over whose box lies within an assigned blob shares it: the objects overlap in the picture
//     correct    the filters learn from the blobs. A track that was out of sight restarts with the even motion from its
//                last box to the new one (observation-centric re-update, OC-SORT, Cao et al. 2023)
//     begin      the remaining blobs begin tracks
//
// All arithmetic is in doubles without fused multiply-add, so every machine gets the same tracks.

namespace framewire {
namespace {

// Constants of the method. Lengths are in sizes, the square root of a box's area. Chosen on synthetic rooms with the
// seeds 101 to 104; the benchmark reports other seeds.
constexpr double acceleration = 2;       // standard deviation, sizes per second^2
constexpr double first_velocity = 2;     // standard deviation of a new track's velocity, sizes per second
constexpr double position_noise = 0.1;   // sizes
constexpr double shared_noise = 0.2;     // the same if several tracks share the blob
constexpr double length_noise = 0.15;    // share of a width or height: legs and arms move
constexpr double length_drift = 0.3;     // share of a width or height per square root of a second
constexpr double least_overlap = 0.1;    // of a predicted box and its blob
constexpr double confirmed_bonus = 0.1;  // added to the overlap with a confirmed track
constexpr double recent_s = 0.2;         // a track unseen for longer is out of sight
constexpr double reach = 2;              // sizes; distance from its predicted position at which a track is found again
constexpr double most_ratio = 3;         // ratio of areas at which a track is found again
constexpr double side_tolerance = 0.2;   // sizes; a side further from its prediction does not fit
constexpr double grow_s = 0.5, shrink_s = 0.3;  // time after which a side outside or inside the prediction is believed
constexpr double grow_age_s = 3;        // younger tracks believe it at once: many objects enter the picture in parts
constexpr double adopt_share = 0.5;     // share of a blob within the box that adopts it
constexpr double adopt_margin = 0.4;    // by which that box is larger on each side, as a share of its width or height
constexpr double adopt_age_s = 0.5;     // younger tracks grow by the blobs that they adopt
constexpr double part_drift = 0.35;     // sizes of the whole by which a part may drift from it; legs swing by a quarter
constexpr double shared_share = 0.7;    // share of a track's box within a blob that it shares
constexpr double part_s = 0.2;          // a track that does not move relative to the owner of its blob is a part of it
constexpr double part_shift = 0.2;      // sizes of the owner; the least movement
constexpr double part_alone_s = 1.5;    // parts have had a blob of their own for less than this
constexpr double least_visible = 0.35;  // a track whose box is in the picture with a smaller share has left it

constexpr std::size_t at(int index) { return static_cast<std::size_t>(index); }
constexpr double squared(double value) { return value * value; }

// Rectangle by its sides.
struct Box {
    double left = 0, top = 0, right = 0, bottom = 0;

    double width() const { return right - left; }
    double height() const { return bottom - top; }
    double area() const { return width() * height(); }
    double centre_x() const { return (left + right) / 2; }
    double centre_y() const { return (top + bottom) / 2; }
    // Returns the box with `share` of its width and height added on each side.
    Box grown(double share) const {
        const double x = share * width(), y = share * height();
        return {left - x, top - y, right + x, bottom + y};
    }
};

Box box_of(const Component& object) {
    const double left = object.x, top = object.y;
    return {left, top, left + object.width, top + object.height};
}

Box around(const Box& a, const Box& b) {
    return {std::min(a.left, b.left), std::min(a.top, b.top), std::max(a.right, b.right), std::max(a.bottom, b.bottom)};
}

// Returns the common part; its width or height is negative if there is none.
Box common(const Box& a, const Box& b) {
    return {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right), std::min(a.bottom, b.bottom)};
}

double common_area(const Box& a, const Box& b) {
    const auto both = common(a, b);
    return both.width() > 0 && both.height() > 0 ? both.area() : 0;
}

// Returns the intersection over the union.
double overlap(const Box& a, const Box& b) {
    const double both = common_area(a, b);
    return both > 0 ? both / (a.area() + b.area() - both) : 0;
}

// Returns the share of `a` that lies within `b`.
double share_within(const Box& a, const Box& b) {
    const double area = a.area();
    return area > 0 ? common_area(a, b) / area : 0;
}

double distance(double x, double y) { return std::sqrt(squared(x) + squared(y)); }

// Kalman filter of the position on one axis, with constant velocity and white-noise acceleration.
struct Motion {
    double position = 0, velocity = 0;
    double position_variance = 0, covariance = 0, velocity_variance = 0;

    void begin(double start, double speed, double position_sigma, double velocity_sigma) {
        *this = {start, speed, squared(position_sigma), 0, squared(velocity_sigma)};
    }
    void predict(double seconds, double acceleration_sigma) {
        const double noise = squared(acceleration_sigma), squared_s = squared(seconds);
        position += velocity * seconds;
        position_variance += 2 * seconds * covariance + squared_s * velocity_variance + noise * squared(squared_s) / 4;
        covariance += seconds * velocity_variance + noise * squared_s * seconds / 2;
        velocity_variance += noise * squared_s;
    }
    void correct(double measured, double sigma) {
        const double total = position_variance + squared(sigma), error = measured - position;
        const double position_gain = position_variance / total, velocity_gain = covariance / total;
        position += position_gain * error;
        velocity += velocity_gain * error;
        velocity_variance -= velocity_gain * covariance;
        covariance -= position_gain * covariance;
        position_variance -= position_gain * position_variance;
    }
};

// Kalman filter of a width or height, which drifts.
struct Length {
    double value = 0, variance = 0;

    void begin(double length) { *this = {length, squared(length_noise * length)}; }
    void predict(double seconds) { variance += squared(length_drift * value) * seconds; }
    void correct(double measured) {
        const double gain = variance / (variance + squared(length_noise * value));
        value += gain * (measured - value);
        variance -= gain * variance;
    }
};

// Extent of a track's box on one axis. A side that is far from its prediction is not believed at first: outside,
// because the blob also covers something else; inside, because a part of the object was not detected.
struct Extent {
    // Extent of a blob, and how much of it is the track's.
    struct Measured {
        double from = 0, to = 0;
        bool has_from = true, has_to = true;    // false: that side of the blob belongs to another track
        bool cut_from = false, cut_to = false;  // true: that side is on the picture's border
        double noise = position_noise;
    };

    static constexpr double fits = -1;

    Motion centre;
    Length length;
    double from_misfit_s = fits, to_misfit_s = fits;  // since when a side has not fitted, or `fits`

    double from() const { return centre.position - length.value / 2; }
    double to() const { return centre.position + length.value / 2; }

    void begin(double from, double to, double speed, double size) {
        centre.begin((from + to) / 2, speed, position_noise * size, first_velocity * size);
        length.begin(to - from);
        from_misfit_s = to_misfit_s = fits;
    }
    void predict(double seconds, double size) {
        centre.predict(seconds, acceleration * size);
        length.predict(seconds);
    }
    void correct(const Measured& measured, double size, double now_s, double age_s);

private:
    void correct_cut(const Measured& measured, double size, double age_s);
};

// If the picture's border cuts the object, only the inner side moves as the object does, and the length can only grow.
void Extent::correct_cut(const Measured& measured, double size, double age_s) {
    const double tolerance = side_tolerance * size, sign = measured.cut_from ? 1 : -1;
    const double inner = measured.cut_from ? measured.to : measured.from;
    const double outward = sign * (inner - (measured.cut_from ? to() : from()));
    const double growth = measured.to - measured.from - length.value;
    from_misfit_s = to_misfit_s = fits;
    if (age_s > grow_age_s && std::abs(outward) > tolerance && growth > tolerance) return;
    if (growth > 0) {
        length.value += growth;
        centre.position -= sign * growth / 2;  // the inner side stays
    }
    centre.correct(inner - sign * length.value / 2, measured.noise * size);
}

// Learns from both sides if they fit, otherwise from one, and keeps the length then.
void Extent::correct(const Measured& measured, double size, double now_s, double age_s) {
    const auto& [blob_from, blob_to, has_from, has_to, cut_from, cut_to, noise] = measured;
    const bool both = has_from && has_to;
    if (both && cut_from != cut_to) return correct_cut(measured, size, age_s);
    const double tolerance = side_tolerance * size;
    const bool moved = both && std::abs(blob_to - blob_from - length.value) <= tolerance;  // as a whole
    bool believed = false;
    const auto usable = [&](bool has, double outward, bool cut, double& misfit_s) {
        if (!has || cut || moved || std::abs(outward) <= tolerance) {
            misfit_s = fits;
            return has;
        }
        if (misfit_s == fits) misfit_s = now_s;
        const double wait_s = outward < 0 ? shrink_s : age_s < grow_age_s ? 0 : grow_s;
        if (now_s - misfit_s < wait_s) return false;
        misfit_s = fits;
        believed = true;
        return true;
    };
    const bool use_from = usable(has_from, from() - blob_from, cut_from, from_misfit_s);
    const bool use_to = usable(has_to, blob_to - to(), cut_to, to_misfit_s);
    if (believed) {
        const double new_from = use_from ? blob_from : from(), new_to = use_to ? blob_to : to();
        if (new_to <= new_from + 1) return;
        centre.position = (new_from + new_to) / 2;
        length.value = new_to - new_from;
    } else if (use_from && use_to) {
        centre.correct((blob_from + blob_to) / 2, noise * size);
        length.correct(blob_to - blob_from);
    } else if (use_from) {
        centre.correct(blob_from + length.value / 2, noise * size);
    } else if (use_to) {
        centre.correct(blob_to - length.value / 2, noise * size);
    } else {
        // The track stays within the blob, or around it.
        const double one = blob_from + length.value / 2, other = blob_to - length.value / 2;
        centre.position = std::clamp(centre.position, std::min(one, other), std::max(one, other));
    }
}

// A component of the current frame.
struct Blob {
    Box box{};
    int object = 0;  // index in the frame's components
    int area = 0;
    int track = -1;          // slot of the track that it was assigned to
    int sharing = 0;         // number of tracks that it was assigned to or that share it
    std::int64_t whole = 0;  // serial of the track that adopts it, if it was assigned to none
};

// A track with its filters.
struct Tracked {
    std::int64_t serial = 0;  // identifies the track before it has an id
    std::int64_t id = 0;      // 0: not confirmed
    Extent x, y;
    Box predicted{};
    Box shown{};  // in this frame
    double first_s = 0, last_s = 0;
    double alone_s = 0;  // last time that it had a blob of its own
    int blob = -1;       // in this frame
    Box parts{};         // around the blob and those of its parts
    // Serial of the track that this one is a part of, and how far they have moved apart since it was adopted.
    std::int64_t whole = 0;
    double drift_x = 0, drift_y = 0;
    // Since when it has not moved relative to the owner of the blob that it shares, and its position relative to it.
    std::int64_t owner = 0;
    double still_s = 0, still_x = 0, still_y = 0;
    bool is_part = false;

    bool confirmed() const { return id > 0; }
    bool is_adopted() const { return whole > 0; }
    double size() const { return std::sqrt(std::max(1.0, x.length.value * y.length.value)); }
    Box box() const { return {x.from(), y.from(), x.to(), y.to()}; }
};

}  // namespace

struct Tracker::State {
    State(const TrackerParameters& parameters_, int width, int height)
        : parameters((tracker_fields().check(parameters_, "tracking"), parameters_)),
          frame{0, 0, static_cast<double>(width), static_cast<double>(height)},
          assignment(most_tracks, max_tracked_objects) {
        tracks.reserve(most_tracks);
        listed.reserve(most_tracks);
        rows.reserve(most_tracks);
        blobs.reserve(max_tracked_objects);
        columns.reserve(max_tracked_objects);
    }

    void advance(double to_s);
    void select(std::span<const Component> objects);
    void predict();
    template <class IsWanted, class Score>
    void assign(const IsWanted& is_wanted, const Score& score);
    void assign_all();
    void follow_parts();
    bool is_apart(Tracked& part, const Tracked& whole) const;
    void adopt();
    void add_part(Tracked& whole, const Box& blob) const;
    void share();
    void correct();
    void correct_alone(Tracked& track);
    void correct_shared(int blob);
    void watch_part(Tracked& track, const Tracked& owner) const;
    void end();
    void begin();
    void confirm();
    void list();

    double age_s(const Tracked& track) const { return time_s - track.first_s; }
    double unseen_s(const Tracked& track) const { return time_s - track.last_s; }
    bool is_recent(const Tracked& track) const { return unseen_s(track) <= recent_s + step_s; }
    Tracked* find(std::int64_t serial) {
        const auto found = std::ranges::find(tracks, serial, &Tracked::serial);
        return found == tracks.end() ? nullptr : &*found;
    }

    TrackerParameters parameters;
    Box frame;
    Assignment assignment;
    std::vector<Tracked> tracks;  // confirmed ones first, in the order of their ids
    std::vector<Blob> blobs;
    std::vector<Track> listed;
    std::vector<int> rows, columns;  // of the assignment: slots of tracks and indices of blobs
    std::int64_t last_id = 0, last_serial = 0;
    double time_s = 0, step_s = 0;
    bool started = false;
};

// Times that are not finite continue with the last step. After a step back, or one that no track outlives, everything
// starts again.
void Tracker::State::advance(double to_s) {
    if (!std::isfinite(to_s)) to_s = time_s + step_s;
    const double step = to_s - time_s;
    const bool continues = started && step >= 0 && step <= parameters.keep_s;
    if (!continues) tracks.clear();
    step_s = continues ? step : 0;
    time_s = to_s;
    started = true;
}

// Keeps the largest components, in the order of the frame.
void Tracker::State::select(std::span<const Component> objects) {
    blobs.clear();
    const auto is_larger = [](const Blob& a, const Blob& b) {
        return a.area != b.area ? a.area > b.area : a.object < b.object;
    };
    for (std::size_t index = 0; index < objects.size(); ++index) {
        const auto& object = objects[index];
        if (object.width <= 0 || object.height <= 0 || object.area <= 0) continue;
        const Blob blob{.box = box_of(object), .object = static_cast<int>(index), .area = object.area};
        if (blobs.size() < max_tracked_objects) {
            blobs.push_back(blob);
            if (blobs.size() == max_tracked_objects) std::make_heap(blobs.begin(), blobs.end(), is_larger);
        } else if (is_larger(blob, blobs.front())) {  // the first of this heap is the smallest
            std::pop_heap(blobs.begin(), blobs.end(), is_larger);
            blobs.back() = blob;
            std::push_heap(blobs.begin(), blobs.end(), is_larger);
        }
    }
    std::sort(blobs.begin(), blobs.end(), [](const Blob& a, const Blob& b) { return a.object < b.object; });
}

void Tracker::State::predict() {
    for (auto& track : tracks) {
        const double size = track.size();
        track.x.predict(step_s, size);
        track.y.predict(step_s, size);
        track.predicted = track.shown = track.box();
        track.blob = -1;
    }
}

// Assigns blobs that have no track to tracks that have no blob.
template <class IsWanted, class Score>
void Tracker::State::assign(const IsWanted& is_wanted, const Score& score) {
    rows.clear();
    columns.clear();
    for (int slot = 0; slot < std::ssize(tracks); ++slot)
        if (tracks[at(slot)].blob < 0 && is_wanted(tracks[at(slot)])) rows.push_back(slot);
    for (int index = 0; index < std::ssize(blobs); ++index)
        if (blobs[at(index)].track < 0) columns.push_back(index);
    if (rows.empty() || columns.empty()) return;
    assignment.begin(static_cast<int>(rows.size()), static_cast<int>(columns.size()));
    for (int row = 0; row < std::ssize(rows); ++row)
        for (int column = 0; column < std::ssize(columns); ++column)
            assignment.set(row, column, score(tracks[at(rows[at(row)])], blobs[at(columns[at(column)])]));
    const auto found = assignment.solve();
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (found[row] < 0) continue;
        auto& track = tracks[at(rows[row])];
        track.blob = columns[at(found[row])];
        auto& blob = blobs[at(track.blob)];
        blob.track = rows[row];
        blob.sharing = 1;
        track.parts = blob.box;
    }
}

void Tracker::State::assign_all() {
    const auto fit = [](const Tracked& track, const Blob& blob) {
        const double value = overlap(track.predicted, blob.box);
        return value < least_overlap ? 0 : track.confirmed() ? value + confirmed_bonus : value;
    };
    assign([&](const Tracked& track) { return !track.is_adopted() && (!track.confirmed() || is_recent(track)); }, fit);
    // Parts get what their wholes leave over, so that a whole whose own blob vanishes continues with that of a part.
    assign([](const Tracked& track) { return track.is_adopted(); }, fit);
    assign([&](const Tracked& track) { return track.confirmed(); },
           [&](const Tracked& track, const Blob& blob) {
               const double ratio = track.x.length.value * track.y.length.value / blob.box.area();
               if (ratio > most_ratio || ratio * most_ratio < 1) return 0.0;
               const double away = distance(track.predicted.centre_x() - blob.box.centre_x(),
                                            track.predicted.centre_y() - blob.box.centre_y());
               return std::max(0.0, 1 - away / (reach * track.size()));
           });
}

void Tracker::State::follow_parts() {
    for (auto& part : tracks) {
        if (!part.is_adopted()) continue;
        auto* const whole = find(part.whole);
        if (!whole)
            part.whole = 0;
        else if (part.blob >= 0 && is_apart(part, *whole))
            part.whole = 0;
        else if (part.blob >= 0 && whole->blob >= 0)
            add_part(*whole, blobs[at(part.blob)].box);
    }
}

// Velocities are those of the filters, which do not jump when a box grows or shrinks as positions do.
bool Tracker::State::is_apart(Tracked& part, const Tracked& whole) const {
    part.drift_x += (part.x.centre.velocity - whole.x.centre.velocity) * step_s;
    part.drift_y += (part.y.centre.velocity - whole.y.centre.velocity) * step_s;
    return distance(part.drift_x, part.drift_y) > part_drift * whole.size() ||
           share_within(blobs[at(part.blob)].box, whole.predicted.grown(adopt_margin)) < adopt_share;
}

void Tracker::State::adopt() {
    for (auto& blob : blobs) {
        if (blob.track >= 0) continue;
        double best = adopt_share;
        Tracked* whole = nullptr;
        for (auto& track : tracks) {
            if (track.blob < 0 || track.is_adopted()) continue;
            const double share = share_within(blob.box, track.predicted.grown(adopt_margin));
            if (share < best || (share == best && whole)) continue;
            best = share;
            whole = &track;
        }
        if (!whole) continue;
        blob.whole = whole->serial;
        add_part(*whole, blob.box);
    }
}

// An older track does not grow by its parts; otherwise it would swallow its neighbours one by one.
void Tracker::State::add_part(Tracked& whole, const Box& blob) const {
    const Box part = age_s(whole) < adopt_age_s ? blob : common(blob, whole.predicted);
    if (part.width() > 0 && part.height() > 0) whole.parts = around(whole.parts, part);
}

void Tracker::State::share() {
    for (auto& track : tracks) {
        if (track.blob >= 0 || !track.confirmed() || !is_recent(track)) continue;
        double best = shared_share;
        for (int index = 0; index < std::ssize(blobs); ++index) {
            const auto& blob = blobs[at(index)];
            if (blob.sharing == 0) continue;
            const double share = share_within(track.predicted, tracks[at(blob.track)].parts);
            if (share <= best) continue;
            best = share;
            track.blob = index;
        }
        if (track.blob >= 0) ++blobs[at(track.blob)].sharing;
    }
}

void Tracker::State::correct() {
    for (int index = 0; index < std::ssize(blobs); ++index) {
        const auto& blob = blobs[at(index)];
        if (blob.sharing == 1)
            correct_alone(tracks[at(blob.track)]);
        else if (blob.sharing > 1)
            correct_shared(index);
    }
    for (auto& track : tracks)
        if (track.blob >= 0) track.last_s = time_s;
}

// Sides that fit are shown as measured, the others as predicted.
void Tracker::State::correct_alone(Tracked& track) {
    const Box& box = track.parts;
    const double gap_s = unseen_s(track), size = track.size();
    if (gap_s > recent_s + step_s) {
        const auto restart = [&](Extent& extent, double from, double to, double last) {
            const auto length = extent.length;
            extent.begin(from, to, ((from + to) / 2 - last) / gap_s, size);
            extent.length = length;
            extent.length.correct(to - from);
        };
        // `shown` is the prediction until the track is corrected, so the last position follows from the velocity.
        restart(track.x, box.left, box.right, track.predicted.centre_x() - track.x.centre.velocity * gap_s);
        restart(track.y, box.top, box.bottom, track.predicted.centre_y() - track.y.centre.velocity * gap_s);
    } else {
        track.x.correct({.from = box.left,
                         .to = box.right,
                         .cut_from = box.left <= frame.left + 1,
                         .cut_to = box.right >= frame.right - 1},
                        size, time_s, age_s(track));
        track.y.correct({.from = box.top,
                         .to = box.bottom,
                         .cut_from = box.top <= frame.top + 1,
                         .cut_to = box.bottom >= frame.bottom - 1},
                        track.size(), time_s, age_s(track));
    }
    const auto side = [](double misfit_s, double measured, double predicted) {
        return misfit_s == Extent::fits ? measured : predicted;
    };
    track.shown = {
        side(track.x.from_misfit_s, box.left, track.x.from()), side(track.y.from_misfit_s, box.top, track.y.from()),
        side(track.x.to_misfit_s, box.right, track.x.to()), side(track.y.to_misfit_s, box.bottom, track.y.to())};
    track.alone_s = time_s;
    track.owner = 0;
}

// Each side of the blob belongs to the track that is predicted to reach furthest in that direction.
void Tracker::State::correct_shared(int index) {
    const auto& blob = blobs[at(index)];
    const auto& owner = tracks[at(blob.track)];
    const Box all = owner.parts;
    constexpr double far = std::numeric_limits<double>::infinity();
    Box reached{far, far, -far, -far};
    for (const auto& track : tracks)
        if (track.blob == index) reached = around(reached, track.predicted);
    for (auto& track : tracks) {
        if (track.blob != index) continue;
        const auto& box = track.predicted;
        track.x.correct({.from = all.left,
                         .to = all.right,
                         .has_from = box.left == reached.left,
                         .has_to = box.right == reached.right,
                         .noise = shared_noise},
                        track.size(), time_s, age_s(track));
        track.y.correct({.from = all.top,
                         .to = all.bottom,
                         .has_from = box.top == reached.top,
                         .has_to = box.bottom == reached.bottom,
                         .noise = shared_noise},
                        track.size(), time_s, age_s(track));
        const Box shown = common(track.box(), all);
        track.shown = shown.width() > 0 && shown.height() > 0 ? shown : track.box();
    }
    for (auto& track : tracks)
        if (track.blob == index && &track != &owner) watch_part(track, owner);
}

// Objects that were detected in parts begin several tracks. When their blobs unite, a part does not move relative to
// the whole, unlike another object that passes.
void Tracker::State::watch_part(Tracked& track, const Tracked& owner) const {
    const double x = track.x.centre.position - owner.x.centre.position;
    const double y = track.y.centre.position - owner.y.centre.position;
    if (track.owner != owner.serial || distance(x - track.still_x, y - track.still_y) > part_shift * owner.size()) {
        track.owner = owner.serial;
        track.still_s = time_s;
        track.still_x = x;
        track.still_y = y;
    }
    track.is_part = time_s - track.still_s > part_s && track.alone_s - track.first_s < part_alone_s;
}

void Tracker::State::end() {
    std::erase_if(tracks, [&](const Tracked& track) {
        if (track.is_part) return true;
        if (track.blob >= 0) return false;
        return unseen_s(track) > (track.confirmed() ? parameters.keep_s : parameters.confirm_s / 2) ||
               share_within(track.predicted, frame) < least_visible;
    });
}

void Tracker::State::begin() {
    for (int index = 0; index < std::ssize(blobs); ++index) {
        const auto& blob = blobs[at(index)];
        if (blob.track >= 0 || tracks.size() == most_tracks) continue;
        Tracked track;
        track.serial = ++last_serial;
        const double size = std::sqrt(blob.box.area());
        track.x.begin(blob.box.left, blob.box.right, 0, size);
        track.y.begin(blob.box.top, blob.box.bottom, 0, size);
        track.predicted = track.shown = blob.box;
        track.first_s = track.last_s = track.alone_s = time_s;
        track.blob = index;
        if (const auto* const whole = blob.whole ? find(blob.whole) : nullptr) {
            track.whole = whole->serial;
            track.x.centre.velocity = whole->x.centre.velocity;
            track.y.centre.velocity = whole->y.centre.velocity;
        }
        tracks.push_back(track);
    }
}

// Numbers tracks as they are confirmed and keeps the confirmed ones first.
void Tracker::State::confirm() {
    constexpr double rounding_s = 1e-9;
    for (auto& track : tracks)
        if (!track.confirmed() && !track.is_adopted() && track.blob >= 0 &&
            age_s(track) >= parameters.confirm_s - rounding_s)
            track.id = ++last_id;
    std::sort(tracks.begin(), tracks.end(), [](const Tracked& a, const Tracked& b) {
        if (a.confirmed() != b.confirmed()) return a.confirmed();
        return a.confirmed() ? a.id < b.id : a.serial < b.serial;
    });
}

void Tracker::State::list() {
    listed.clear();
    for (const auto& track : tracks) {
        if (!track.confirmed()) break;
        listed.push_back({.id = track.id,
                          .x = track.shown.left,
                          .y = track.shown.top,
                          .width = track.shown.width(),
                          .height = track.shown.height(),
                          .velocity_x = track.x.centre.velocity,
                          .velocity_y = track.y.centre.velocity,
                          .age_s = age_s(track),
                          .unseen_s = unseen_s(track),
                          .object = track.blob < 0 ? -1 : blobs[at(track.blob)].object});
    }
}

Tracker::Tracker(const TrackerParameters& parameters, int width, int height)
    : state_(std::make_unique<State>(parameters, width, height)) {}
Tracker::~Tracker() = default;
Tracker::Tracker(Tracker&&) noexcept = default;
Tracker& Tracker::operator=(Tracker&&) noexcept = default;

std::span<const Track> Tracker::update(std::span<const Component> objects, double time_s) {
    auto& state = *state_;
    state.advance(time_s);
    state.select(objects);
    state.predict();
    state.assign_all();
    state.follow_parts();
    state.adopt();
    state.share();
    state.correct();
    state.end();
    state.begin();
    state.confirm();
    state.list();
    return state.listed;
}

void Tracker::reset() {
    auto& state = *state_;
    state.tracks.clear();
    state.last_id = state.last_serial = 0;
    state.started = false;
}

const ParameterFields<TrackerParameters>& tracker_fields() {
    using P = TrackerParameters;
    static const ParameterFields<P> fields = {
        parameter_field(&P::confirm_s, {.name = "confirm",
                                        .help = "seconds for which an object must be seen before it counts",
                                        .maximum = 60,
                                        .unit = "SECONDS"}),
        parameter_field(&P::keep_s, {.name = "keep",
                                     .help = "seconds for which an object that is out of sight keeps its identity",
                                     .minimum = 0,
                                     .maximum = 60,
                                     .unit = "SECONDS"}),
    };
    return fields;
}

TrackerParameters parse_tracker(std::string_view text) {
    return tracker_fields().from(parse_parameters(text, {.who = "tracking", .parameters = tracker_fields().infos()}));
}

}  // namespace framewire
