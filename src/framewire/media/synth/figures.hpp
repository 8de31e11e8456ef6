#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/detect/labelling/components.hpp"
#include "framewire/media/synth/arithmetic.hpp"
#include "framewire/media/synth/camera.hpp"

#include <cstdint>
#include <vector>

namespace framewire::synth {

/// Largest number of figures.
inline constexpr int most_figures = 64;

/// Moving objects in the room: people, cats, balls, balloons and cleaning robots, on routes that depend on the seed.
/// All start outside the picture, so that the first frame shows the empty room. Use an object from one thread.
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
    /// Rows that contain all changes of the last call; empty if nothing changed.
    const Rows& changed_rows() const { return changed_; }

private:
    enum class Kind { person, cat, ball, balloon, robot };
    // A point of a route and the time of arrival.
    struct Stop {
        std::int64_t x, z;
        std::int64_t at_us;  // from the start of the route
    };
    // Properties of a figure that do not change.
    struct Figure {
        int id = 0;
        Kind kind = Kind::person;
        std::uint64_t key = 0;
        std::int64_t start_us = 0;
        std::vector<Stop> route;  // closed: ends where it begins
    };
    // A figure at one time.
    struct Pose {
        const Figure* figure = nullptr;
        std::int64_t x = 0, z = 0;
        int direction = 1;        // 1: to the right, -1: to the left
        std::int64_t stride = 0;  // a full turn of 65536 every two steps
    };
    // Area of the picture in pixels.
    struct Rectangle {
        int left = 0, top = 0, right = 0, bottom = 0;  // right and bottom are exclusive
    };

    // Derives a figure from the seed.
    Figure make_figure(int number, std::uint64_t seed) const;
    // Position and stride at a time.
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
    // Lengths in the room: x from the centre of the figure, heights above the floor.
    void ellipse(std::int64_t x, std::int64_t height, std::int64_t radius_x, std::int64_t radius_y,
                 const Colour& colour);
    void limb(std::int64_t x0, std::int64_t height0, std::int64_t width0, std::int64_t x1, std::int64_t height1,
              std::int64_t width1, const Colour& colour);
    // Draws one row of a shape.
    void span(int row, std::int64_t left_16, std::int64_t right_16, const Colour& colour);

    Camera camera_;
    std::vector<Figure> figures_;
    std::vector<Pose> poses_;         // of this frame, furthest first
    std::vector<Rectangle> touched_;  // for each pose, the area that was drawn on
    Rows changed_;
    std::vector<Component> truth_;
    HostImage owner_;                 // for each pixel the id of the visible figure, or 0
    HostView<std::uint8_t> picture_;  // while drawing
    const Pose* pose_ = nullptr;      // while drawing
};

}  // namespace framewire::synth
