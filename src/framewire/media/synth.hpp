#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/detect/components.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

// Integer arithmetic of the synthetic camera. Results are the same on every machine, independent of libm.

namespace framewire::synth {

/// Returns 64 well-mixed bits for a key (the finalizer of SplitMix64, Steele et al. 2014).
FRAMEWIRE_HOST_DEVICE constexpr std::uint64_t hash(std::uint64_t key) {
    key += 0x9e3779b97f4a7c15u;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
    return key ^ (key >> 31);
}

/// Returns the hash of several keys.
template <class... Keys>
FRAMEWIRE_HOST_DEVICE constexpr std::uint64_t hash(std::uint64_t first, std::uint64_t second, Keys... others) {
    return hash(hash(first) ^ second, static_cast<std::uint64_t>(others)...);
}

/// Returns a pseudo-random number from 0 to count - 1, derived from a hash.
constexpr std::int64_t pick(std::uint64_t key, std::int64_t count) {
    return static_cast<std::int64_t>((key >> 33) % static_cast<std::uint64_t>(count));
}

/// Returns the quotient rounded towards negative infinity; the divisor must be positive.
constexpr std::int64_t floor_divide(std::int64_t numerator, std::int64_t divisor) {
    const auto quotient = numerator / divisor;
    return numerator % divisor < 0 ? quotient - 1 : quotient;
}

/// Returns the integer square root, rounded down; 0 for negative values. Exact below 2^62.
constexpr std::int64_t square_root(std::int64_t value) {
    if (value <= 0) return 0;
    std::int64_t root = 0;
    for (std::int64_t bit = std::int64_t{1} << 30; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= value) root += bit;
    return root;
}

/// Returns 4096 * sin(turn), where a full turn is 65536, within 0.2 % (Bhaskara I's rational approximation).
constexpr std::int64_t sine(std::int64_t turn) {
    const std::int64_t phase = turn & 0xffff;
    const std::int64_t half = phase & 0x7fff;
    const std::int64_t product = half * (0x8000 - half);  // 0 to 2^28
    const std::int64_t value = 4096 * 4 * product / ((std::int64_t{5} << 28) - product);
    return phase & 0x8000 ? -value : value;
}

/// Returns value noise from 0 to 255: random values on a grid of cell_x by cell_y, smoothly interpolated.
inline std::int64_t smooth_noise(std::uint64_t seed, std::int64_t x, std::int64_t y, std::int64_t cell_x,
                                 std::int64_t cell_y) {
    const auto column = floor_divide(x, cell_x);
    const auto row = floor_divide(y, cell_y);
    const auto ease = [](std::int64_t part, std::int64_t whole) {
        const auto t = part * 256 / whole;
        return t * t * (768 - 2 * t) >> 16;  // 3 t^2 - 2 t^3
    };
    const auto across = ease(x - column * cell_x, cell_x);
    const auto down = ease(y - row * cell_y, cell_y);
    const auto corner = [&](std::int64_t dx, std::int64_t dy) {
        return static_cast<std::int64_t>(
            hash(seed, static_cast<std::uint64_t>(column + dx), static_cast<std::uint64_t>(row + dy)) >> 56);
    };
    const auto upper = corner(0, 0) * (256 - across) + corner(1, 0) * across;
    const auto lower = corner(0, 1) * (256 - across) + corner(1, 1) * across;
    return (upper * (256 - down) + lower * down) >> 16;
}

/// Colour with 8-bit B, G, R and headroom for intermediate values.
struct Colour {
    std::int64_t b = 0;
    std::int64_t g = 0;
    std::int64_t r = 0;

    /// Returns the colour scaled by `level` / 256.
    constexpr Colour lit(std::int64_t level) const { return {b * level >> 8, g * level >> 8, r * level >> 8}; }
    constexpr Colour operator+(const Colour& other) const { return {b + other.b, g + other.g, r + other.r}; }
};

/// Interpolates linearly from `from` (share 0) to `to` (share 256).
constexpr Colour mix(const Colour& from, const Colour& to, std::int64_t share) {
    return {from.b + ((to.b - from.b) * share >> 8), from.g + ((to.g - from.g) * share >> 8),
            from.r + ((to.r - from.r) * share >> 8)};
}

constexpr Colour rgb(int r, int g, int b) { return {b, g, r}; }

/// Clamps a value to 0..255.
constexpr std::uint8_t to_byte(std::int64_t value) {
    return static_cast<std::uint8_t>(std::clamp<std::int64_t>(value, 0, 255));
}

/// One millimetre: lengths in the room are in units of 1/16 mm.
inline constexpr std::int64_t mm = 16;

/// Bounds of the room: x to the right, y down, z away from the camera, which is at the origin and looks along z.
inline constexpr std::int64_t floor_y = 1500 * mm;
inline constexpr std::int64_t ceiling_y = -1250 * mm;
inline constexpr std::int64_t left_x = -2900 * mm;
inline constexpr std::int64_t right_x = 2700 * mm;
inline constexpr std::int64_t back_z = 7000 * mm;

/// Pinhole camera with the horizon at 2/5 of the height and a horizontal field of view of 64 degrees at 16:9.
class Camera {
public:
    Camera(int width_px, int height_px)
        : width_px_(width_px),
          height_px_(height_px),
          focal_(std::max<std::int64_t>(
              {std::int64_t{width_px} * 16 * 4 / 5, std::int64_t{height_px} * 16 * 64 / 45, 1})) {}

    int width_px() const { return static_cast<int>(width_px_); }
    int height_px() const { return static_cast<int>(height_px_); }

    /// Returns the slopes (times 65536) of the ray through a point of the picture, whose coordinates are in 1/16 pixel.
    std::int64_t slope_x(std::int64_t x_16) const { return (x_16 - std::int64_t{8} * width_px_) * 65536 / focal_; }
    std::int64_t slope_y(std::int64_t y_16) const {
        return (y_16 - std::int64_t{16} * height_px_ * 2 / 5) * 65536 / focal_;
    }

    /// Projects a point in the room to the picture, in 1/16 pixel.
    std::int64_t picture_x(std::int64_t x, std::int64_t z) const {
        return x * focal_ / z + std::int64_t{8} * width_px_;
    }
    std::int64_t picture_y(std::int64_t y, std::int64_t z) const {
        return y * focal_ / z + std::int64_t{16} * height_px_ * 2 / 5;
    }

    /// Returns half the width of the room that is visible at depth z.
    std::int64_t half_width(std::int64_t z) const { return z * 8 * width_px_ / focal_; }

private:
    std::int64_t width_px_;
    std::int64_t height_px_;
    std::int64_t focal_;  // focal length in 1/16 pixel
};

/// Largest number of figures.
inline constexpr int most_figures = 64;

/// Moving objects in the room: people, cats, balls, balloons and cleaning robots, on routes that depend on the seed.
/// All figures start outside the picture, so that the first frame shows the empty room. Use an object from one thread.
class Figures {
public:
    Figures(const Camera& camera, std::uint64_t seed, int count);

    /// Draws the figures at a given time onto `picture`, which must hold `room` except for what the previous call
    /// drew. Returns the visible part of each figure, identified by its number from 1, which is the same in all
    /// frames; valid until the next call.
    const std::vector<Component>& draw(std::int64_t time_us, HostView<const std::uint8_t> room,
                                       HostView<std::uint8_t> picture);

    /// Range of rows, `end` exclusive.
    struct Rows {
        int begin = 0, end = 0;
    };
    /// Returns the rows that contain all changes of the last call; empty if nothing changed.
    const Rows& changed_rows() const { return changed_; }

private:
    enum class Kind { person, cat, ball, balloon, robot };
    // Point of a route and the time of arrival.
    struct Stop {
        std::int64_t x, z;
        std::int64_t at_us;  // time from the start of the route
    };
    // Properties of a figure that do not change.
    struct Figure {
        int id = 0;
        Kind kind = Kind::person;
        std::uint64_t key = 0;
        std::int64_t start_us = 0;
        std::vector<Stop> route;  // closed route: ends where it begins
    };
    // Position and stride of a figure at one time.
    struct Pose {
        const Figure* figure = nullptr;
        std::int64_t x = 0, z = 0;
        int direction = 1;        // 1: to the right, -1: to the left
        std::int64_t stride = 0;  // phase of the walk: a full turn of 65536 every two steps
    };
    // Area of the picture in pixels.
    struct Rectangle {
        int left = 0, top = 0, right = 0, bottom = 0;  // right and bottom are exclusive
    };

    // Derives a figure from the seed.
    Figure make_figure(int number, std::uint64_t seed) const;
    // Returns position and stride at a time.
    Pose pose_at(const Figure& figure, std::int64_t time_us) const;
    // Erases the figures of the previous frame.
    void restore(HostView<const std::uint8_t> room, HostView<std::uint8_t> picture);
    // Computes the visible part of each figure.
    void measure();
    void add_changed_rows();

    // Draws a figure of any kind.
    void draw_figure(const Pose& pose, std::int64_t time_us);
    void draw_person(const Pose& pose);
    void draw_cat(const Pose& pose);
    // Darkens the floor below the figure.
    void draw_shadow(std::int64_t radius);
    // These take lengths in the room: x from the centre of the figure, heights above the floor.
    void ellipse(std::int64_t x, std::int64_t height, std::int64_t radius_x, std::int64_t radius_y,
                 const Colour& colour);
    void limb(std::int64_t x0, std::int64_t height0, std::int64_t width0, std::int64_t x1, std::int64_t height1,
              std::int64_t width1, const Colour& colour);
    // Draws one row of a shape.
    void span(int row, std::int64_t left_16, std::int64_t right_16, const Colour& colour);

    Camera camera_;
    std::vector<Figure> figures_;
    std::vector<Pose> poses_;         // poses of this frame, furthest first
    std::vector<Rectangle> touched_;  // area that was drawn on, for each pose
    Rows changed_;
    std::vector<Component> truth_;
    HostImage owner_;                 // id of the visible figure for each pixel, or 0
    HostView<std::uint8_t> picture_;  // picture that is being drawn
    const Pose* pose_ = nullptr;      // pose that is being drawn
};

/// Paints the static room: walls, wooden floor, furniture, light from a window and a lamp. `seed` varies the wood
/// grain, the books and the pictures. `image` has 3 channels and the camera's size.
void paint_room(const Camera& camera, std::uint64_t seed, HostView<std::uint8_t> image);

}  // namespace framewire::synth
