#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/detect/labelling/components.hpp"
#include "framewire/media/synth/arithmetic.hpp"
#include "framewire/media/synth/camera.hpp"

#include <cstdint>
#include <vector>

namespace framewire::synth {

inline constexpr int most_figures = 64;

/// The things that move through the room: people, cats, balls, balloons and cleaning robots, on routes that the seed
/// decides. All start outside the picture, so that its first frame is the empty room.
class Figures {
public:
    Figures(const Camera& camera, std::uint64_t seed, int count);

    /// Draws the figures as they are at a time onto `picture`, which holds `room` but for what the call before drew.
    /// What of each figure is seen, by its number from 1, the same in all frames; valid until the next call.
    const std::vector<Component>& draw(std::int64_t time_us, HostView<const std::uint8_t> room,
                                       HostView<std::uint8_t> picture);

    /// The rows from `begin` up to `end`.
    struct Rows {
        int begin = 0, end = 0;
    };
    /// Those that the last call changed, as far as there are such; they hold all that did.
    const Rows& changed_rows() const { return changed_; }

private:
    enum class Kind { person, cat, ball, balloon, robot };
    struct Stop {
        std::int64_t x, z;
        std::int64_t at_us;  // since the route's beginning
    };
    struct Figure {
        int id = 0;
        Kind kind = Kind::person;
        std::uint64_t key = 0;
        std::int64_t start_us = 0;
        std::vector<Stop> route;  // ends where it begins
    };
    struct Pose {
        const Figure* figure = nullptr;
        std::int64_t x = 0, z = 0;
        int direction = 1;        // 1 to the right
        std::int64_t stride = 0;  // a full turn of 65536 each two steps
    };
    struct Rectangle {
        int left = 0, top = 0, right = 0, bottom = 0;  // right and bottom are outside
    };

    Figure make_figure(int number, std::uint64_t seed) const;
    Pose pose_at(const Figure& figure, std::int64_t time_us) const;
    void restore(HostView<const std::uint8_t> room, HostView<std::uint8_t> picture);
    void measure();
    void add_changed_rows();

    void draw_figure(const Pose& pose, std::int64_t time_us);
    void draw_person(const Pose& pose);
    void draw_cat(const Pose& pose);
    void draw_shadow(std::int64_t radius);
    // Lengths in the room, x from the figure's middle, heights above the floor.
    void ellipse(std::int64_t x, std::int64_t height, std::int64_t radius_x, std::int64_t radius_y,
                 const Colour& colour);
    void limb(std::int64_t x0, std::int64_t height0, std::int64_t width0, std::int64_t x1, std::int64_t height1,
              std::int64_t width1, const Colour& colour);
    void span(int row, std::int64_t left_16, std::int64_t right_16, const Colour& colour);

    Camera camera_;
    std::vector<Figure> figures_;
    std::vector<Pose> poses_;         // of this frame, the furthest first
    std::vector<Rectangle> touched_;  // for each pose, what was drawn on
    Rows changed_;
    std::vector<Component> truth_;
    HostImage owner_;                 // for each pixel the id of the figure it shows, or 0
    HostView<std::uint8_t> picture_;  // while drawing
    const Pose* pose_ = nullptr;      // while drawing
};

}  // namespace framewire::synth
