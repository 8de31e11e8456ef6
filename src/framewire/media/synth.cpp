#include "framewire/media/synth.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/detect/objects.hpp"
#include "framewire/media/output_file.hpp"
#include "framewire/media/sources.hpp"
#include "framewire/media/synth_noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

// The moving figures of the synthetic camera. Each figure follows a closed route with constant speed, so its pose at a
// time is computed directly, without simulating the frames before. Figures are flat shapes (ellipses and limbs) drawn
// from back to front; `owner_` records for each pixel which figure it shows, and the true boxes are measured from it.

namespace framewire::synth {
namespace {

// Colours of people and objects, chosen by hash.
constexpr std::array<Colour, 8> clothes = {rgb(198, 70, 60),  rgb(52, 96, 150), rgb(226, 176, 70), rgb(70, 130, 96),
                                           rgb(150, 90, 150), rgb(44, 52, 70),  rgb(222, 120, 70), rgb(70, 150, 160)};
constexpr std::array<Colour, 4> skins = {rgb(236, 196, 164), rgb(206, 152, 112), rgb(150, 100, 70), rgb(104, 70, 52)};
constexpr std::array<Colour, 4> hairs = {rgb(52, 38, 30), rgb(110, 74, 44), rgb(190, 150, 90), rgb(60, 60, 64)};

// Returns one of the colours, chosen by a hash.
template <std::size_t count>
constexpr const Colour& one_of(const std::array<Colour, count>& colours, std::uint64_t key) {
    return colours[static_cast<std::size_t>(pick(key, count))];
}

// Depth range in which figures walk, in front of the furniture.
constexpr std::int64_t nearest_z = 3900 * mm;
constexpr std::int64_t furthest_z = 5150 * mm;
constexpr std::int64_t outside = 480 * mm;  // distance from the picture's edge at which the widest figure is invisible
constexpr std::int64_t pause_us = 400'000;

}  // namespace

Figures::Figures(const Camera& camera, std::uint64_t seed, int count)
    : camera_(camera), owner_(Shape{1, camera.height_px(), camera.width_px(), 1}) {
    std::memset(owner_.view().data(), 0, static_cast<std::size_t>(owner_.shape().bytes()));
    for (int number = 0; number < count; ++number) figures_.push_back(make_figure(number, seed));
    poses_.reserve(figures_.size());
    touched_.reserve(figures_.size());
    truth_.reserve(figures_.size());
}

// Chooses kind, speed and route of a figure from the seed.
Figures::Figure Figures::make_figure(int number, std::uint64_t seed) const {
    // The kinds repeat every five figures; every tenth figure is a robot.
    constexpr std::array<Kind, 5> cast = {Kind::person, Kind::cat, Kind::ball, Kind::person, Kind::balloon};
    const auto key = hash(seed, 20, static_cast<std::uint64_t>(number));
    Figure figure{number + 1, cast[static_cast<std::size_t>(number % 5)], key, 250'000 + number * 800'000, {}};
    if (number % 10 == 7) figure.kind = Kind::robot;

    std::int64_t speed = 0;  // distance per second
    switch (figure.kind) {
        case Kind::person: speed = 1150 * mm; break;
        case Kind::cat: speed = 900 * mm; break;
        case Kind::ball: speed = 1500 * mm; break;
        case Kind::balloon: speed = 620 * mm; break;
        case Kind::robot: speed = 450 * mm; break;
    }
    // Figures of one kind differ in speed by up to a quarter.
    speed = speed * (90 + pick(hash(key, 1), 25)) / 100;

    // The route crosses the picture through two points in the room and returns through two others.
    const auto depth = [&](std::uint64_t draw) { return nearest_z + pick(hash(key, 2, draw), furthest_z - nearest_z); };
    const std::int64_t side = number % 2 ? 1 : -1;
    const auto add = [&](std::int64_t x, std::int64_t z) {
        std::int64_t at = 0;
        if (!figure.route.empty()) {
            const auto& last = figure.route.back();
            const auto distance =
                square_root(((x - last.x) >> 4) * ((x - last.x) >> 4) + ((z - last.z) >> 4) * ((z - last.z) >> 4)) * mm;
            at = last.at_us + std::max<std::int64_t>(distance, mm) * 1'000'000 / speed;
        }
        figure.route.push_back({x, z, at});
    };
    const auto add_edge = [&](std::int64_t which, std::uint64_t draw) {
        const auto z = depth(draw);
        add(which * (camera_.half_width(z) + outside), z);
        figure.route.push_back({figure.route.back().x, z, figure.route.back().at_us + pause_us});
    };
    const auto add_inside = [&](std::int64_t towards, std::uint64_t draw) {
        add(towards * (200 * mm + pick(hash(key, 3, draw), 1300 * mm)), depth(draw));
    };
    add_edge(side, 0);
    add_inside(side, 1);
    add_inside(-side, 2);
    add_edge(-side, 3);
    add_inside(-side, 4);
    add_inside(side, 5);
    add(figure.route.front().x, figure.route.front().z);
    return figure;
}

// Interpolates the position between the stops of the route.
Figures::Pose Figures::pose_at(const Figure& figure, std::int64_t time_us) const {
    Pose pose{&figure, figure.route.front().x, figure.route.front().z, 1, 0};
    if (time_us < figure.start_us) return pose;
    const auto at = (time_us - figure.start_us) % figure.route.back().at_us;
    auto next = figure.route.begin() + 1;
    while (next->at_us <= at) ++next;
    const auto& last = *(next - 1);
    const auto share = (at - last.at_us) * 4096 / (next->at_us - last.at_us);
    pose.x = last.x + (next->x - last.x) * share / 4096;
    pose.z = last.z + (next->z - last.z) * share / 4096;
    pose.direction = next->x < last.x ? -1 : 1;
    pose.stride = at * 65536 / 1'050'000;
    return pose;
}

const std::vector<Component>& Figures::draw(std::int64_t time_us, HostView<const std::uint8_t> room,
                                            HostView<std::uint8_t> picture) {
    // The areas of the previous frame change because they are restored, those of this frame because they are drawn.
    changed_ = {camera_.height_px(), 0};
    add_changed_rows();
    restore(room, picture);
    picture_ = picture;
    poses_.clear();
    touched_.clear();
    for (const auto& figure : figures_) poses_.push_back(pose_at(figure, time_us));
    // Draw the furthest figure first (painter's algorithm). The id decides between equal depths, so that the order is
    // reproducible.
    std::sort(poses_.begin(), poses_.end(),
              [](const Pose& a, const Pose& b) { return a.z != b.z ? a.z > b.z : a.figure->id < b.figure->id; });
    for (const auto& pose : poses_) {
        touched_.push_back({camera_.width_px(), camera_.height_px(), 0, 0});
        draw_figure(pose, time_us);
    }
    add_changed_rows();
    measure();
    return truth_;
}

// Extends the changed rows by the areas that were drawn on.
void Figures::add_changed_rows() {
    for (const auto& area : touched_)
        if (area.left < area.right)
            changed_ = {std::min(changed_.begin, area.top), std::max(changed_.end, area.bottom)};
}

// Restores the background in the areas on which the previous frame was drawn.
void Figures::restore(HostView<const std::uint8_t> room, HostView<std::uint8_t> picture) {
    for (const auto& area : touched_) {
        if (area.left >= area.right) continue;
        const auto bytes = static_cast<std::size_t>(area.right - area.left);
        for (int y = area.top; y < area.bottom; ++y) {
            std::memcpy(picture.row(0, y) + std::ptrdiff_t{area.left} * 3,
                        room.row(0, y) + std::ptrdiff_t{area.left} * 3, bytes * 3);
            std::memset(owner_.view().row(0, y) + area.left, 0, bytes);
        }
    }
}

// Measures the visible pixels of each figure: bounding box, area and centroid sums.
void Figures::measure() {
    truth_.clear();
    for (std::size_t number = 0; number < poses_.size(); ++number) {
        const auto& area = touched_[number];
        const auto id = poses_[number].figure->id;
        Component truth{.id = id, .x = 0, .y = 0, .width = 0, .height = 0, .area = 0, .sum_x = 0, .sum_y = 0};
        int left = std::numeric_limits<int>::max(), top = left, right = -1, bottom = -1;
        for (int y = area.top; y < area.bottom; ++y) {
            const auto* owners = owner_.view().row(0, y);
            for (int x = area.left; x < area.right; ++x) {
                if (owners[x] != id) continue;
                ++truth.area;
                truth.sum_x += x;
                truth.sum_y += y;
                left = std::min(left, x);
                right = std::max(right, x);
                top = std::min(top, y);
                bottom = y;
            }
        }
        if (truth.area == 0) continue;
        truth.x = left;
        truth.y = top;
        truth.width = right - left + 1;
        truth.height = bottom - top + 1;
        truth_.push_back(truth);
    }
    std::sort(truth_.begin(), truth_.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
}

// Draws one figure; people and cats have their own functions.
void Figures::draw_figure(const Pose& pose, std::int64_t time_us) {
    pose_ = &pose;
    const auto key = pose.figure->key;
    const auto& colour = one_of(clothes, hash(key, 4));
    switch (pose.figure->kind) {
        case Kind::person: draw_person(pose); break;
        case Kind::cat: draw_cat(pose); break;
        case Kind::ball: {
            // The height over one bounce is a parabola.
            constexpr std::int64_t radius = 150 * mm, bounce_us = 760'000;
            const auto part = time_us % bounce_us * 1024 / bounce_us;
            const auto height = radius + 620 * mm * 4 * part * (1024 - part) / (1024 * 1024);
            draw_shadow(radius);
            ellipse(0, height, radius, radius, colour);
            ellipse(0, height, radius, radius * 30 / 100, rgb(240, 236, 228));
            ellipse(-radius * 35 / 100, height + radius * 42 / 100, radius * 22 / 100, radius * 18 / 100,
                    mix(colour, rgb(255, 255, 255), 170));
            break;
        }
        case Kind::balloon: {
            // The balloon floats up and down and sways slowly.
            const auto height = 1500 * mm + sine(time_us * 65536 / 4'100'000) * 140 * mm / 4096;
            const auto sway = sine(time_us * 65536 / 2'700'000) * 30 * mm / 4096;
            draw_shadow(140 * mm);
            // String, knot, balloon and its highlight.
            limb(sway, height - 200 * mm, 7 * mm, 0, height - 700 * mm, 7 * mm, rgb(236, 232, 226));
            limb(sway, height - 160 * mm, 8 * mm, sway, height - 225 * mm, 52 * mm, colour);
            ellipse(sway, height, 165 * mm, 205 * mm, colour);
            ellipse(sway - 62 * mm, height + 80 * mm, 32 * mm, 52 * mm, mix(colour, rgb(255, 255, 255), 150));
            break;
        }
        case Kind::robot:
            draw_shadow(200 * mm);
            // Base, cover and button.
            ellipse(0, 55 * mm, 190 * mm, 52 * mm, rgb(58, 60, 66));
            ellipse(0, 78 * mm, 184 * mm, 44 * mm, rgb(222, 222, 220));
            ellipse(0, 84 * mm, 60 * mm, 15 * mm, colour);
            break;
    }
}

// Draws a walking person. Sizes are in centimetres and scaled by the person's height. Parts further from the camera are
// drawn first and darker.
void Figures::draw_person(const Pose& pose) {
    const auto key = pose.figure->key;
    const auto& shirt = one_of(clothes, hash(key, 4));
    // The trousers never have the colour of the shirt.
    const auto& trousers = one_of(clothes, hash(key, 4) + (std::uint64_t{5} << 33));
    const auto& skin = one_of(skins, hash(key, 6));
    const auto& hair = one_of(hairs, hash(key, 7));
    const auto shoe = rgb(48, 42, 40);
    const auto scale = 92 + pick(hash(key, 8), 16);  // body size in per cent
    const auto cm = scale * 10 * mm / 100;
    // Legs and arms swing with the stride; the body rises twice per stride.
    const auto swing = sine(pose.stride) * 26 * cm / 4096;
    const auto lift = std::max<std::int64_t>(0, sine(pose.stride + 16384)) * 7 * cm / 4096;
    const auto lift_other = std::max<std::int64_t>(0, -sine(pose.stride + 16384)) * 7 * cm / 4096;
    const auto rise = std::abs(sine(pose.stride + 16384)) * 2 * cm / 4096;
    const auto hip = 82 * cm + rise, shoulder = 138 * cm + rise, d = std::int64_t{pose.direction};

    draw_shadow(30 * cm);
    // Far arm with its hand.
    limb(-3 * cm * d, shoulder - 2 * cm, 9 * cm, -swing * 8 / 10, 84 * cm + rise, 7 * cm, shirt.lit(200));
    ellipse(-swing * 8 / 10, 82 * cm + rise, 5 * cm, 5 * cm, skin.lit(220));
    // Far leg with its shoe.
    limb(0, hip, 15 * cm, -swing, 6 * cm + lift_other, 9 * cm, trousers.lit(208));
    ellipse(-swing + 4 * cm * d, 5 * cm + lift_other, 11 * cm, 5 * cm, shoe.lit(220));
    // Near leg with its shoe.
    limb(0, hip, 16 * cm, swing, 6 * cm + lift, 10 * cm, trousers);
    ellipse(swing + 4 * cm * d, 5 * cm + lift, 11 * cm, 5 * cm, shoe);
    // Hips, trunk and shoulders.
    ellipse(0, hip + 3 * cm, 16 * cm, 9 * cm, trousers);
    limb(0, shoulder, 36 * cm, 0, hip + 2 * cm, 31 * cm, shirt);
    ellipse(0, shoulder, 18 * cm, 7 * cm, shirt);
    // Neck, hair and face.
    limb(0, shoulder + 12 * cm, 10 * cm, 0, shoulder + 2 * cm, 11 * cm, skin.lit(225));
    ellipse(-1 * cm * d, shoulder + 23 * cm, 12 * cm, 14 * cm, hair);
    ellipse(2 * cm * d, shoulder + 20 * cm, 10 * cm, 12 * cm, skin);
    // Near arm with its hand.
    limb(2 * cm * d, shoulder - 2 * cm, 10 * cm, swing * 8 / 10, 86 * cm + rise, 8 * cm,
         mix(shirt, rgb(255, 255, 255), 26));
    ellipse(swing * 8 / 10, 83 * cm + rise, 5 * cm, 5 * cm, skin);
}

// Draws a walking cat; its legs move twice as fast as a person's.
void Figures::draw_cat(const Pose& pose) {
    const auto key = pose.figure->key;
    constexpr std::array<Colour, 4> furs = {rgb(214, 140, 70), rgb(70, 68, 72), rgb(190, 184, 176), rgb(128, 96, 68)};
    const auto& fur = one_of(furs, hash(key, 9));
    constexpr auto cm = 10 * mm;
    const auto d = std::int64_t{pose.direction};
    const auto swing = sine(pose.stride * 2) * 7 * cm / 4096;
    const auto wag = sine(pose.stride) * 6 * cm / 4096;

    draw_shadow(28 * cm);
    // Far legs and tail.
    for (const auto x : {-18 * cm, 16 * cm}) limb(x * d, 20 * cm, 7 * cm, x * d - swing, cm, 5 * cm, fur.lit(190));
    limb(-23 * cm * d, 28 * cm, 6 * cm, (-36 * cm + wag) * d, 52 * cm, 4 * cm, fur.lit(225));
    // Body and near legs.
    ellipse(0, 26 * cm, 26 * cm, 11 * cm, fur);
    for (const auto x : {-20 * cm, 18 * cm}) limb(x * d, 22 * cm, 8 * cm, x * d + swing, cm, 5 * cm, fur);
    // Ears, head and muzzle.
    limb(19 * cm * d, 51 * cm, cm, 20 * cm * d, 40 * cm, 8 * cm, fur.lit(225));
    limb(30 * cm * d, 51 * cm, cm, 29 * cm * d, 40 * cm, 8 * cm, fur.lit(225));
    ellipse(25 * cm * d, 37 * cm, 11 * cm, 10 * cm, fur);
    ellipse(33 * cm * d, 34 * cm, 4 * cm, 3 * cm, mix(fur, rgb(255, 255, 255), 150));
}

// Draws a soft shadow on the floor, weak enough that no detector takes it for a figure.
void Figures::draw_shadow(std::int64_t radius) {
    const auto& pose = *pose_;
    const auto middle_x = camera_.picture_x(pose.x, pose.z);
    const auto middle_y = camera_.picture_y(floor_y, pose.z);
    const auto radius_x = std::max<std::int64_t>(camera_.picture_x(pose.x + radius, pose.z) - middle_x, 1);
    const auto radius_y = std::max<std::int64_t>(
        (camera_.picture_y(floor_y, pose.z - radius / 2) - camera_.picture_y(floor_y, pose.z + radius / 2)) / 2, 1);
    const auto clip = [](std::int64_t value_16, int limit) {
        return static_cast<int>(std::clamp<std::int64_t>(floor_divide(value_16, 16), 0, limit));
    };
    auto& area = touched_.back();
    const int left = clip(middle_x - radius_x, camera_.width_px()),
              right = clip(middle_x + radius_x + 16, camera_.width_px());
    const int top = clip(middle_y - radius_y, camera_.height_px()),
              bottom = clip(middle_y + radius_y + 16, camera_.height_px());
    if (left >= right || top >= bottom) return;
    area = {std::min(area.left, left), std::min(area.top, top), std::max(area.right, right),
            std::max(area.bottom, bottom)};
    for (int y = top; y < bottom; ++y) {
        const auto dy = (std::int64_t{y} * 16 + 8 - middle_y) * 256 / radius_y;
        for (int x = left; x < right; ++x) {
            const auto dx = (std::int64_t{x} * 16 + 8 - middle_x) * 256 / radius_x;
            const auto squared = dx * dx + dy * dy;
            // Shadows fall only on the floor, not on other figures.
            if (squared >= 65536 || owner_.view().row(0, y)[x]) continue;
            const auto level = 256 - (65536 - squared) * 24 / 65536;
            auto* pixel = picture_.row(0, y) + std::ptrdiff_t{x} * 3;
            for (int channel = 0; channel < 3; ++channel) pixel[channel] = to_byte(pixel[channel] * level >> 8);
        }
    }
}

// Draws a filled ellipse: in each row, the half width follows from the ellipse equation in 1/16 pixel.
void Figures::ellipse(std::int64_t x, std::int64_t height, std::int64_t radius_x, std::int64_t radius_y,
                      const Colour& colour) {
    const auto& pose = *pose_;
    const auto middle_x = camera_.picture_x(pose.x + x, pose.z);
    const auto middle_y = camera_.picture_y(floor_y - height, pose.z);
    const auto across = camera_.picture_x(pose.x + x + radius_x, pose.z) - middle_x;
    const auto down = camera_.picture_y(floor_y - height + radius_y, pose.z) - middle_y;
    if (across < 1 || down < 1) return;
    const auto first = std::max<std::int64_t>(floor_divide(middle_y - down, 16), 0);
    const auto last = std::min<std::int64_t>(floor_divide(middle_y + down, 16), camera_.height_px() - 1);
    for (auto row = first; row <= last; ++row) {
        const auto dy = row * 16 + 8 - middle_y;
        if (std::abs(dy) > down) continue;
        const auto half = across * square_root((down * down - dy * dy) * 256) / (down * 16);
        span(static_cast<int>(row), middle_x - half, middle_x + half, colour);
    }
}

// Draws a tapered limb between two points, each with a width.
void Figures::limb(std::int64_t x0, std::int64_t height0, std::int64_t width0, std::int64_t x1, std::int64_t height1,
                   std::int64_t width1, const Colour& colour) {
    // Draw from the upper end to the lower one.
    if (height0 < height1) {
        limb(x1, height1, width1, x0, height0, width0, colour);
        return;
    }
    const auto& pose = *pose_;
    const auto top = camera_.picture_y(floor_y - height0, pose.z);
    const auto bottom = camera_.picture_y(floor_y - height1, pose.z);
    const auto first = std::max<std::int64_t>(floor_divide(top + 8, 16), 0);
    const auto last = std::min<std::int64_t>(floor_divide(bottom - 8, 16), camera_.height_px() - 1);
    for (auto row = first; row <= last; ++row) {
        const auto share = (row * 16 + 8 - top) * 4096 / std::max<std::int64_t>(bottom - top, 1);
        const auto x = pose.x + x0 + (x1 - x0) * share / 4096;
        const auto half = (width0 + (width1 - width0) * share / 4096) / 2;
        span(static_cast<int>(row), camera_.picture_x(x - half, pose.z), camera_.picture_x(x + half, pose.z), colour);
    }
}

// Draws one row of a shape between two positions in 1/16 pixel: lit from the window on the left, with antialiased ends.
void Figures::span(int row, std::int64_t left_16, std::int64_t right_16, const Colour& colour) {
    const int first = static_cast<int>(std::clamp<std::int64_t>(floor_divide(left_16, 16), 0, camera_.width_px()));
    const int end = static_cast<int>(std::clamp<std::int64_t>(floor_divide(right_16 + 15, 16), 0, camera_.width_px()));
    if (first >= end) return;
    auto& area = touched_.back();
    area = {std::min(area.left, first), std::min(area.top, row), std::max(area.right, end),
            std::max(area.bottom, row + 1)};
    auto* pixel = picture_.row(0, row) + std::ptrdiff_t{first} * 3;
    auto* owner = owner_.view().row(0, row);
    const auto width = std::max<std::int64_t>(right_16 - left_16, 1);
    const auto id = static_cast<std::uint8_t>(pose_->figure->id);
    for (int x = first; x < end; ++x, pixel += 3) {
        const auto begin_16 = std::int64_t{x} * 16;
        const auto covered =
            std::min(begin_16 + 16, right_16) - std::max(begin_16, left_16);  // covered part of the pixel, in 1/16
        const auto across = std::clamp<std::int64_t>((begin_16 + 8 - left_16) * 256 / width, 0, 256);
        // Brightness falls off from left to right.
        const auto level = 262 - across * across * 84 / 65536;
        pixel[0] = to_byte(pixel[0] + (((colour.b * level >> 8) - pixel[0]) * covered >> 4));
        pixel[1] = to_byte(pixel[1] + (((colour.g * level >> 8) - pixel[1]) * covered >> 4));
        pixel[2] = to_byte(pixel[2] + (((colour.r * level >> 8) - pixel[2]) * covered >> 4));
        // A pixel belongs to the figure that covers at least half of it.
        if (covered >= 8) owner[x] = id;
    }
}

}  // namespace framewire::synth

// Ray caster for the room of the synthetic camera, using only integers. A ray per pixel finds the nearest wall or
// solid, whose colour is lit by a window, a lamp and the sun. Pixels at the border between two things get 16 rays,
// which smooths the edges.

namespace framewire::synth {
namespace {

using Length = std::int64_t;

enum class Finish : std::uint8_t { plain, fabric, wood, books, leaf, glow };

// Part of the furniture: an axis-aligned box, or a flat ellipse that faces the camera.
struct Solid {
    Length x0, x1, y0, y1, z0, z1;  // an ellipse has z0 == z1
    Colour colour;
    Finish finish = Finish::plain;
    bool ellipse = false;
    // Bounding box in the picture, in pixels.
    std::int64_t left = 0, right = 0, top = 0, bottom = 0;
};

// Point in the room, in units of 1/16 mm.
struct Point {
    Length x, y, z;
};

// Visible face of a box.
enum class Face : std::uint8_t { front, side, top };

// Ray from the camera; at(z) is its point at depth z.
struct Ray {
    std::int64_t x, y;  // slopes, times 65536
    Point at(Length z) const { return {x * z >> 16, y * z >> 16, z}; }
};

// Colour that a ray finds, in 1/16 level, and the thing that it hit. A pixel whose neighbours show another thing needs
// smoothing.
struct Sample {
    Colour colour;
    std::uint32_t thing = 0;
};

// Window in the left wall.
constexpr Length window_z0 = 5000 * mm, window_z1 = 6350 * mm, window_y0 = -850 * mm, window_y1 = 500 * mm;
constexpr Point window_middle{left_x, -100 * mm, 5600 * mm};
constexpr Point lamp_bulb{-80 * mm, -250 * mm, 6600 * mm};
constexpr Length rug_x0 = -1750 * mm, rug_x1 = 1150 * mm, rug_z0 = 4350 * mm, rug_z1 = 6050 * mm;

// Colours of the side walls and of painted wood.
constexpr Colour cream = rgb(216, 208, 194);
constexpr Colour white_paint = rgb(232, 229, 222);

// Returns a box, from millimetres; heights are above the floor.
Solid box(int x0, int x1, int height0, int height1, int z0, int z1, Colour colour, Finish finish = Finish::plain) {
    return {x0 * mm, x1 * mm, floor_y - height1 * mm, floor_y - height0 * mm, z0 * mm, z1 * mm, colour, finish};
}

// Returns a flat ellipse, from millimetres.
Solid ellipse(int x, int height, int radius_x, int radius_y, int z, Colour colour, Finish finish) {
    auto solid = box(x - radius_x, x + radius_x, height - radius_y, height + radius_y, z, z, colour, finish);
    solid.ellipse = true;
    return solid;
}

// Returns all furniture, in order: sofa, table, shelves with books, lamp, plant.
std::vector<Solid> furniture(std::uint64_t seed) {
    std::vector<Solid> solids;
    const auto add = [&](const Solid& solid) { solids.push_back(solid); };

    // The sofa: seat, back, two arms, two cushions, two pillows, feet.
    const auto sofa = rgb(84, 106, 132);
    const auto sofa_light = rgb(98, 121, 148);
    add(box(-2250, -450, 90, 300, 6050, 6900, sofa, Finish::fabric));
    add(box(-2250, -450, 300, 860, 6640, 6900, sofa, Finish::fabric));
    add(box(-2250, -2050, 90, 600, 6030, 6900, sofa, Finish::fabric));
    add(box(-650, -450, 90, 600, 6030, 6900, sofa, Finish::fabric));
    add(box(-2045, -1355, 300, 440, 6060, 6640, sofa_light, Finish::fabric));
    add(box(-1345, -655, 300, 440, 6060, 6640, sofa_light, Finish::fabric));
    add(box(-2000, -1640, 440, 780, 6500, 6600, rgb(214, 168, 78), Finish::fabric));
    add(box(-1060, -700, 440, 780, 6500, 6600, rgb(176, 84, 66), Finish::fabric));
    for (const int x : {-2200, -560}) add(box(x, x + 60, 0, 90, 6080, 6140, rgb(70, 48, 34), Finish::wood));

    // The table with four legs, two books and a cup.
    const auto walnut = rgb(124, 82, 52);
    add(box(-1750, -750, 370, 415, 5250, 5780, walnut, Finish::wood));
    for (const int x : {-1720, -830})
        for (const int z : {5280, 5700}) add(box(x, x + 50, 0, 370, z, z + 50, walnut, Finish::wood));
    add(box(-1400, -1130, 415, 440, 5400, 5560, rgb(206, 198, 180)));
    add(box(-1380, -1150, 440, 462, 5410, 5550, rgb(60, 104, 110)));
    add(box(-980, -890, 415, 520, 5450, 5540, rgb(226, 222, 214)));

    // The shelf: back, sides, five boards, and books on four of them.
    const auto oak = rgb(142, 102, 66);
    add(box(1050, 2250, 0, 1900, 6960, 6990, rgb(92, 64, 42), Finish::wood));
    add(box(1050, 1085, 0, 1900, 6600, 6960, oak, Finish::wood));
    add(box(2215, 2250, 0, 1900, 6600, 6960, oak, Finish::wood));
    for (const int height : {60, 500, 940, 1380, 1865})
        add(box(1050, 2250, height, height + 35, 6600, 6960, oak, Finish::wood));
    for (const int height : {95, 535, 975, 1415}) {
        // Place a row of books with random length, widths, heights and colours.
        constexpr std::array<Colour, 8> covers = {rgb(150, 58, 50), rgb(52, 84, 120),   rgb(196, 156, 84),
                                                  rgb(72, 104, 76), rgb(208, 200, 184), rgb(88, 62, 92),
                                                  rgb(64, 64, 70),  rgb(186, 108, 60)};
        const auto key = hash(seed, 1, static_cast<std::uint64_t>(height));
        const int end = 1700 + static_cast<int>(pick(key, 480));
        int x = 1095;
        for (std::uint64_t book = 0; x < end; ++book) {
            const auto draw = hash(key, book);
            const int width = 26 + static_cast<int>(pick(draw, 40));
            const int tall = 230 + static_cast<int>(pick(hash(draw), 130));
            const auto cover = covers[static_cast<std::size_t>(pick(hash(draw, 2), 8))];
            add(box(x, x + width, height, height + tall, 6660 + static_cast<int>(pick(hash(draw, 3), 30)), 6950, cover,
                    Finish::books));
            x += width + 2;
        }
    }

    // The floor lamp: pole, foot and shade.
    add(box(-95, -65, 30, 1500, 6585, 6615, rgb(58, 54, 50)));
    add(ellipse(-80, 18, 170, 24, 6600, rgb(58, 54, 50), Finish::plain));
    add(box(-270, 110, 1500, 1830, 6500, 6640, rgb(246, 226, 186), Finish::glow));

    // The plant: pot, leaves at random positions, and stem.
    add(box(2130, 2470, 0, 330, 5550, 5890, rgb(178, 102, 70)));
    for (std::uint64_t leaf = 0; leaf < 26; ++leaf) {
        const auto draw = hash(seed, 2, leaf);
        const int height = 420 + static_cast<int>(pick(draw, 880));
        const int spread = 90 + (1300 - height) / 5;
        const int x = 2300 - spread + static_cast<int>(pick(hash(draw, 1), 2 * spread));
        const int green = 88 + static_cast<int>(pick(hash(draw, 2), 70));
        add(ellipse(x, height, 34 + static_cast<int>(pick(hash(draw, 3), 60)),
                    60 + static_cast<int>(pick(hash(draw, 4), 90)), 5600 + static_cast<int>(pick(hash(draw, 5), 240)),
                    rgb(green * 45 / 100, green, green * 50 / 100), Finish::leaf));
    }
    add(box(2290, 2310, 330, 900, 5715, 5725, rgb(84, 92, 56)));
    return solids;
}

// Room with its solids, prepared for a camera.
class Room {
public:
    Room(const Camera& camera, std::uint64_t seed) : seed_(seed), solids_(furniture(seed)) {
        for (auto& solid : solids_) {
            if (!solid.ellipse && floor_y - solid.y1 <= 380 * mm && solid.finish != Finish::books)
                standing_.push_back(solid);
            solid.left = std::numeric_limits<std::int64_t>::max();
            solid.top = solid.left;
            solid.right = solid.bottom = -solid.left;
            for (const auto z : {solid.z0, solid.z1}) {
                for (const auto x : {solid.x0, solid.x1}) {
                    const auto column = camera.picture_x(x, z);
                    solid.left = std::min(solid.left, floor_divide(column, 16) - 1);
                    solid.right = std::max(solid.right, floor_divide(column, 16) + 1);
                }
                for (const auto y : {solid.y0, solid.y1}) {
                    const auto row = camera.picture_y(y, z);
                    solid.top = std::min(solid.top, floor_divide(row, 16) - 1);
                    solid.bottom = std::max(solid.bottom, floor_divide(row, 16) + 1);
                }
            }
        }
    }

    // Selects the solids that are visible in a row of pixels.
    void enter_row(std::int64_t row) {
        row_.clear();
        for (const auto& solid : solids_)
            if (solid.top <= row && row <= solid.bottom) row_.push_back(&solid);
    }

    // Casts a ray in the selected row, at pixel `column`.
    Sample look(const Ray& ray, std::int64_t column) const {
        const Solid* nearest = nullptr;
        Face face = Face::front;
        Length z = wall_depth(ray);
        for (const auto* solid : row_)
            if (solid->left <= column && column <= solid->right && meet(*solid, ray, z, face)) nearest = solid;
        const auto point = ray.at(z);
        if (nearest) return solid_sample(*nearest, face, point);
        if (z == back_z) return back_wall(point);
        if (z == depth_of(ray.y, floor_y)) return floor(point);
        if (z == depth_of(ray.y, ceiling_y))
            return {light(white_paint, point, 232 - corner_shade(point.x - left_x) - corner_shade(back_z - z)), 2};
        return side_wall(point);
    }

private:
    // Returns the depth at which a ray crosses a plane of constant x or y.
    static Length depth_of(std::int64_t slope, Length plane) {
        return (slope > 0) == (plane > 0) && slope != 0 ? plane * 65536 / slope : std::numeric_limits<Length>::max();
    }

    // Returns the depth of the wall, floor or ceiling that a ray hits.
    static Length wall_depth(const Ray& ray) {
        return std::min({back_z, depth_of(ray.x, left_x), depth_of(ray.x, right_x), depth_of(ray.y, floor_y),
                         depth_of(ray.y, ceiling_y)});
    }

    // Returns true if the ray hits the solid before depth z, and then sets z and the face.
    static bool meet(const Solid& solid, const Ray& ray, Length& z, Face& face) {
        const auto within = [](Length value, Length from, Length to) { return from <= value && value <= to; };
        const auto front = ray.at(solid.z0);
        if (solid.z0 < z && within(front.x, solid.x0, solid.x1) && within(front.y, solid.y0, solid.y1)) {
            // The point must satisfy the ellipse equation, scaled to 1024.
            if (solid.ellipse) {
                const auto dx = (2 * front.x - solid.x0 - solid.x1) * 1024 / (solid.x1 - solid.x0);
                const auto dy = (2 * front.y - solid.y0 - solid.y1) * 1024 / (solid.y1 - solid.y0);
                if (dx * dx + dy * dy > 1024 * 1024) return false;
            }
            z = solid.z0;
            face = Face::front;
            return true;
        }
        if (solid.ellipse) return false;
        const auto try_face = [&](Length depth, Face which) {
            if (depth >= z || !within(depth, solid.z0, solid.z1)) return false;
            const auto point = ray.at(depth);
            const bool inside =
                which == Face::side ? within(point.y, solid.y0, solid.y1) : within(point.x, solid.x0, solid.x1);
            if (!inside) return false;
            z = depth;
            face = which;
            return true;
        };
        // Only the faces that point to the centre of the view are visible.
        bool met = false;
        if (solid.x0 > 0) met |= try_face(depth_of(ray.x, solid.x0), Face::side);
        if (solid.x1 < 0) met |= try_face(depth_of(ray.x, solid.x1), Face::side);
        if (solid.y0 > 0) met |= try_face(depth_of(ray.y, solid.y0), Face::top);
        if (solid.y1 < 0) met |= try_face(depth_of(ray.y, solid.y1), Face::top);
        return met;
    }

    // Returns the inverse-square falloff of a light: 256 at the source, half of that at distance `half`.
    static std::int64_t falloff(const Point& from, const Point& to, Length half) {
        const auto x = (from.x - to.x) >> 4, y = (from.y - to.y) >> 4, z = (from.z - to.z) >> 4;
        const auto squared = x * x + y * y + z * z;
        const auto scale = (half >> 4) * (half >> 4);
        return 256 * scale / (scale + squared);
    }

    // Returns the darkening of a surface near a corner, by the distance to the corner.
    static std::int64_t corner_shade(Length distance) {
        constexpr Length reach = 700 * mm;
        if (distance >= reach) return 0;
        const auto near = (reach - distance) * 256 / reach;
        return near * near * 34 >> 16;
    }

    // Returns the colour of a surface with brightness `level` (256 is full) under daylight, the lamp and ambient light.
    static Colour light(const Colour& colour, const Point& point, std::int64_t level) {
        const auto day = falloff(window_middle, point, 3900 * mm);
        const auto lamp = falloff(lamp_bulb, point, 900 * mm);
        const Colour strength{150 + day * 166 / 256 + lamp * 36 / 256, 150 + day * 160 / 256 + lamp * 76 / 256,
                              148 + day * 154 / 256 + lamp * 104 / 256};
        return {colour.b * strength.b * level >> 12, colour.g * strength.g * level >> 12,
                colour.r * strength.r * level >> 12};
    }

    // Returns the colour of a light source.
    static Colour bright(const Colour& colour) { return colour.lit(16 * 256); }

    // Returns the contribution of direct sunlight.
    static Colour sunlit(const Colour& colour, std::int64_t strength) { return colour.lit(strength >> 12); }

    // Returns the strength of the sun at a point, 0 to 256: follows the sun's ray back to the window in the left wall.
    static std::int64_t sun(const Point& point) {
        const auto travelled = point.x - left_x;
        const auto y = point.y - travelled * 62 / 100;
        const auto z = point.z + travelled * 12 / 100;
        const auto edge = std::min({y - window_y0, window_y1 - y, z - window_z0, window_z1 - z});
        const auto bar =
            std::min(std::abs(2 * z - window_z0 - window_z1), std::abs(2 * y - window_y0 - window_y1)) / 2 - 25 * mm;
        return std::clamp<std::int64_t>(std::min(edge, bar) * 256 / (36 * mm), 0, 256);
    }

    // Samples the wooden floor with the rug, the shadows of the furniture and the sun.
    Sample floor(const Point& point) const {
        // Planks run along z, each row shifted by its own offset.
        constexpr Length plank_width = 150 * mm, plank_length = 1300 * mm;
        const auto row = floor_divide(point.x, plank_width);
        const auto shifted = point.z + pick(hash(seed_, 3, static_cast<std::uint64_t>(row)), plank_length);
        const auto plank =
            hash(seed_, 4, static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(shifted / plank_length));
        const auto grain = smooth_noise(plank, point.x, point.z, 9 * mm, 260 * mm) +
                           smooth_noise(plank + 1, point.x, point.z, 31 * mm, 520 * mm);
        // Wood grain in two scales; the gaps between planks are darker.
        auto level = 208 + pick(plank, 34) + (grain - 255) * 26 / 256;
        const auto across = point.x - row * plank_width;
        if (across < 3 * mm || shifted % plank_length < 4 * mm) level = level * 170 / 256;
        auto colour = rgb(186, 138, 94);
        auto thing = 16 + static_cast<std::uint32_t>(plank & 0xffff);

        // The rug, with a border and a pattern of diamonds.
        if (point.x > rug_x0 && point.x < rug_x1 && point.z > rug_z0 && point.z < rug_z1) {
            const auto inside = std::min({point.x - rug_x0, rug_x1 - point.x, point.z - rug_z0, rug_z1 - point.z});
            const auto diamond = (std::abs((point.x - rug_x0) % (360 * mm) - 180 * mm) +
                                  std::abs((point.z - rug_z0) % (360 * mm) - 180 * mm)) /
                                 (60 * mm);
            const bool light_band = (inside > 60 * mm && inside < 110 * mm) || (inside > 220 * mm && diamond == 2);
            colour = light_band ? rgb(206, 190, 166) : inside < 160 * mm ? rgb(118, 62, 62) : rgb(146, 80, 76);
            level = 222 + (smooth_noise(seed_ + 5, point.x, point.z, 7 * mm, 7 * mm) - 128) * 22 / 256;
            thing = light_band ? 3 : inside < 160 * mm ? 4 : 5;
        }
        level -= corner_shade(back_z - point.z) + corner_shade(point.x - left_x) + corner_shade(right_x - point.x);
        level = level * (256 - contact_shadow(point)) >> 8;
        const auto sunlight = sun(point);
        return {light(colour, point, level) + sunlit(colour, level * sunlight * 120), thing};
    }

    // Returns the darkness of the floor below and around furniture, 0 to 256.
    std::int64_t contact_shadow(const Point& point) const {
        constexpr Length reach = 260 * mm;
        std::int64_t shadow = 0;
        for (const auto& solid : standing_) {
            const auto dx = std::max({Length{0}, solid.x0 - point.x, point.x - solid.x1});
            const auto dz = std::max({Length{0}, solid.z0 - point.z, point.z - solid.z1});
            const auto distance = dx + dz;
            if (distance >= reach) continue;
            const auto near = (reach - distance) * 256 / reach;
            // The higher a solid is above the floor, the weaker its shadow.
            const auto strength = 110 - (floor_y - solid.y1) / mm * 60 / 380;
            shadow = std::max(shadow, near * near * strength >> 16);
        }
        return shadow;
    }

    static bool inside(Length value, Length from, Length to) { return value > from && value < to; }

    // Samples the back wall with a skirting board and two pictures.
    Sample back_wall(const Point& point) const {
        const auto height = floor_y - point.y;
        auto level = 236 - corner_shade(height) - corner_shade(point.y - ceiling_y) - corner_shade(point.x - left_x) -
                     corner_shade(right_x - point.x);
        // The skirting board.
        if (height < 110 * mm) return {light(white_paint, point, height > 104 * mm ? level * 200 / 256 : level), 6};
        if (const auto art = picture(point, -1980, -1330, 1240, 1790, 7); art.thing) return art;
        if (const auto art = picture(point, -1180, -700, 1290, 1740, 8); art.thing) return art;
        level += (smooth_noise(seed_ + 6, point.x, point.y, 40 * mm, 40 * mm) - 128) * 5 / 256;
        return {light(rgb(170, 188, 182), point, level), 9};
    }

    // Samples a framed picture on the back wall; returns thing 0 outside of it.
    Sample picture(const Point& point, int x0, int x1, int height0, int height1, std::uint32_t thing) const {
        const auto left = x0 * mm, right = x1 * mm, bottom = floor_y - height0 * mm, top = floor_y - height1 * mm;
        if (!inside(point.x, left, right) || !inside(point.y, top, bottom)) return {};
        const auto edge = std::min({point.x - left, right - point.x, point.y - top, bottom - point.y});
        // The frame, then the mount.
        if (edge < 22 * mm) return {light(rgb(56, 46, 40), point, 230), thing};
        if (edge < 80 * mm) return {light(rgb(236, 232, 224), point, 230), thing + 16};
        // Hills under an evening sky, one range in front of the other.
        const auto down = (point.y - top) * 256 / (bottom - top);
        auto colour = mix(rgb(120, 150, 190), rgb(244, 196, 150), std::min<std::int64_t>(256, down * 3 / 2));
        auto part = thing + 32;
        for (int range = 0; range < 3; ++range) {
            const auto ridge = 96 + range * 40 +
                               smooth_noise(seed_ + thing * 8 + static_cast<std::uint64_t>(range), point.x, 0,
                                            (190 - range * 40) * mm, mm) /
                                   4;
            if (down <= ridge) continue;
            colour = mix(rgb(150, 130, 150), rgb(38, 66, 70), range * 110);
            part = thing + 48 + static_cast<std::uint32_t>(range) * 16;
        }
        return {light(colour, point, 236), part};
    }

    // Samples the left wall with the window, or the right wall with the door.
    Sample side_wall(const Point& point) const {
        const bool left = point.x < 0;
        const auto height = floor_y - point.y;
        auto level = (left ? 206 : 228) - corner_shade(height) - corner_shade(point.y - ceiling_y) -
                     corner_shade(back_z - point.z);
        if (left) {
            const auto edge =
                std::min({point.z - window_z0, window_z1 - point.z, point.y - window_y0, window_y1 - point.y});
            if (edge > 0) {
                const auto bar = std::min(std::abs(2 * point.z - window_z0 - window_z1),
                                          std::abs(2 * point.y - window_y0 - window_y1)) /
                                 2;
                if (bar < 22 * mm) return {bright(rgb(222, 226, 230)), 10};
                const auto up = (window_y1 - point.y) * 256 / (window_y1 - window_y0);
                // Outside: hills under a bright sky.
                const auto hill = 60 + smooth_noise(seed_ + 7, point.z, 0, 500 * mm, mm) / 5;
                if (up < hill) return {bright(mix(rgb(150, 176, 140), rgb(186, 206, 190), up * 2)), 11};
                return {bright(mix(rgb(232, 240, 248), rgb(172, 208, 244), up)), 12};
            }
            // The frame of the window.
            if (edge > -70 * mm) return {light(white_paint, point, 250), 13};
        } else {
            const auto edge = std::min({point.z - 5000 * mm, 5900 * mm - point.z, 2050 * mm - height});
            if (edge > 0) {
                // Two panels with grooves around them, and a door knob.
                const auto panel_z = std::abs(point.z - 5450 * mm);
                const auto panel_y = std::min(std::abs(height - 560 * mm), std::abs(height - 1460 * mm));
                const bool groove = std::abs(std::max(panel_z - 280 * mm, panel_y - 340 * mm)) < 14 * mm;
                const bool knob = std::abs(point.z - 5080 * mm) < 26 * mm && std::abs(height - 1010 * mm) < 26 * mm;
                if (knob) return {light(rgb(196, 168, 110), point, 256), 14};
                return {light(rgb(224, 219, 208), point, groove ? 196 : 236), groove ? 15U : 70'000U};
            }
            // The frame of the door.
            if (edge > -75 * mm) return {light(white_paint, point, 246), 70'001};
        }
        if (height < 110 * mm)
            return {light(white_paint, point, height > 104 * mm ? level * 200 / 256 : level), 70'002};
        level += (smooth_noise(seed_ + 8, point.z, point.y, 40 * mm, 40 * mm) - 128) * 5 / 256;
        const auto sunlight = left ? 0 : sun(point);
        return {light(cream, point, level) + sunlit(cream, level * sunlight * 60), left ? 70'003U : 70'004U};
    }

    // Samples a solid, with a colour that depends on its finish.
    Sample solid_sample(const Solid& solid, Face face, const Point& point) const {
        const auto number = static_cast<std::uint32_t>(&solid - solids_.data());
        const auto thing = 80'000 + number * 4 + static_cast<std::uint32_t>(face);
        std::int64_t level = face == Face::front ? 214 : face == Face::top ? 250 : point.x < 0 ? 176 : 234;
        // Coordinates on the visible face.
        const auto u = face == Face::side ? point.z : point.x;
        const auto v = face == Face::top ? point.z : point.y;
        switch (solid.finish) {
            case Finish::plain: break;
            case Finish::fabric:
                level += (smooth_noise(seed_ + 9, u, v, 6 * mm, 6 * mm) - 128) * 18 / 256;
                if (face == Face::front) level -= (point.y - solid.y0) * 30 / (solid.y1 - solid.y0);
                break;
            case Finish::wood: {
                const bool upright = solid.y1 - solid.y0 > solid.x1 - solid.x0;
                level +=
                    (smooth_noise(seed_ + number, u, v, (upright ? 8 : 160) * mm, (upright ? 160 : 8) * mm) - 128) *
                    36 / 256;
                break;
            }
            case Finish::books: {
                // A book has a band of lettering on a rounded spine.
                const auto height = (solid.y1 - point.y) * 256 / (solid.y1 - solid.y0);
                const auto across = (point.x - solid.x0) * 256 / (solid.x1 - solid.x0);
                level -= std::abs(across - 110) * 50 / 128;
                if (face == Face::front && inside(height, 150, 196)) level += 34;
                break;
            }
            case Finish::leaf: {
                const auto across = (point.x - solid.x0) * 256 / (solid.x1 - solid.x0);
                const auto down = (point.y - solid.y0) * 256 / (solid.y1 - solid.y0);
                level += 60 - down * 70 / 256 - across * 40 / 256 - (std::abs(across - 128) < 10 ? 24 : 0);
                break;
            }
            case Finish::glow: {
                const auto across = std::abs(2 * point.x - solid.x0 - solid.x1) * 256 / (solid.x1 - solid.x0);
                const auto from_bulb = std::abs((point.y - solid.y0) * 256 / (solid.y1 - solid.y0) - 150);
                return {bright(mix(rgb(255, 240, 206), rgb(232, 184, 122), across * across / 512 + from_bulb / 2)),
                        thing};
            }
        }
        const auto sunlight = face == Face::top ? sun(point) : 0;
        return {light(solid.colour, point, level) + sunlit(solid.colour, level * sunlight * 80), thing};
    }

    std::uint64_t seed_;
    std::vector<Solid> solids_;
    std::vector<Solid> standing_;    // solids that stand on the floor or slightly above it
    std::vector<const Solid*> row_;  // solids that are visible in the current row; see enter_row()
};

}  // namespace

void paint_room(const Camera& camera, std::uint64_t seed, HostView<std::uint8_t> image) {
    Room room(camera, seed);
    const int width = camera.width_px();
    const int height = camera.height_px();
    const auto ray = [&](int x, int y, int x_16, int y_16) {
        return Ray{camera.slope_x(std::int64_t{x} * 16 + x_16), camera.slope_y(std::int64_t{y} * 16 + y_16)};
    };
    // Cast one ray per pixel, then 16 for pixels with a neighbour that shows another thing.
    std::vector<std::uint32_t> things(static_cast<std::size_t>(width) * 3);
    const auto things_of = [&](int y) { return things.data() + static_cast<std::ptrdiff_t>(y % 3) * width; };
    const auto paint = [&](int x, int y, const Colour& colour) {
        auto* pixel = image.row(0, y) + std::ptrdiff_t{x} * 3;
        // Dither by less than a level, so that soft gradients have no visible steps.
        const auto grain = static_cast<std::int64_t>(
            hash(seed, 11, static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y)) >> 60);
        pixel[0] = to_byte((colour.b + grain) >> 4);
        pixel[1] = to_byte((colour.g + grain) >> 4);
        pixel[2] = to_byte((colour.r + grain) >> 4);
    };
    const auto smooth_row = [&](int y) {
        room.enter_row(y);
        const auto* here = things_of(y);
        const auto* above = things_of(std::max(y - 1, 0));
        const auto* below = things_of(std::min(y + 1, height - 1));
        for (int x = 0; x < width; ++x) {
            const auto thing = here[x];
            const bool same = thing == above[x] && thing == below[x] && thing == here[std::max(x - 1, 0)] &&
                              thing == here[std::min(x + 1, width - 1)];
            if (same) continue;
            Colour sum;
            for (int part = 0; part < 16; ++part)
                sum = sum + room.look(ray(x, y, part % 4 * 4 + 2, part / 4 * 4 + 2), x).colour;
            paint(x, y, sum.lit(16));
        }
    };
    for (int y = 0; y < height; ++y) {
        room.enter_row(y);
        for (int x = 0; x < width; ++x) {
            const auto sample = room.look(ray(x, y, 8, 8), x);
            things_of(y)[x] = sample.thing;
            paint(x, y, sample.colour);
        }
        if (y > 0) smooth_row(y - 1);
    }
    smooth_row(height - 1);
}

}  // namespace framewire::synth

// The synthetic camera as a Source: a static room, moving figures and sensor noise. All arithmetic is in integers, so a
// source text gives the same bytes on every machine, on the CPU and on a GPU.
//
//    room (once) + figures (per frame, on the CPU) = picture;  picture + noise (CPU or GPU) = frame

namespace framewire {
namespace {

constexpr double noise_unit = 1000;  // noise is configured in 1/1000 of a level

// Source that draws the picture (room and figures) on the CPU for each frame. Noise is added on the GPU if the frame
// has one, otherwise on the CPU.
class SynthSource final : public Source {
public:
    SynthSource(SourceInfo info, std::uint64_t seed, std::int64_t noise_thousandths, int objects,
                const std::optional<std::string>& truth, const SourceOptions& options)
        : info_(std::move(info)),
          stop_(options.stop),
          room_(info_.shape),
          picture_(info_.shape),
          figures_({info_.shape.width, info_.shape.height}, seed, objects),
          noise_(seed, noise_thousandths),
          nothing_{info_.shape.height, 0},
          changed_{0, info_.shape.height} {
        if (truth) truth_.emplace(*truth, OutputFileOptions{options.stop, options.replace_truth});
        synth::paint_room({info_.shape.width, info_.shape.height}, seed, room_.view());
        copy(std::as_const(room_).view(), picture_.view());
    }

    // Completes the file of true boxes, even if the source is destroyed before its end.
    ~SynthSource() override {
        try {
            finish_truth();
        } catch (const Error& error) {
            log_error("{}", error.what());
        }
    }

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override {
        validate(image, info_.shape, "the image to read into");
        return next(time, [&](HostView<const std::uint8_t> picture) { noise_.add(picture, index_, image); });
    }

    // Draws the figures on the CPU, uploads the rows that changed, and adds noise on the GPU.
    bool capture(Frame& frame, FrameTime& time) override {
        if (!frame.has_gpu()) return Source::capture(frame, time);
        return next(time, [&](HostView<const std::uint8_t> picture) {
            if constexpr (cuda::compiled)
                frame.fill_on_gpu([&](DeviceView<std::uint8_t> image, const cuda::Stream& stream) {
                    if (!on_gpu_ || gpu_ != stream.device()) begin_on(stream.device());
                    on_gpu_->render(picture, changed_.begin, changed_.end, index_, image, stream);
                    changed_ = nothing_;
                });
        });
    }

private:
    // Prepares for frames on a GPU. They move to another one if theirs fails.
    void begin_on(int gpu) {
        on_gpu_.emplace(noise_, info_.shape);
        gpu_ = gpu;
        changed_ = {0, info_.shape.height};
    }

    // Draws the next picture; add_noise(picture) turns it into the frame.
    template <class AddNoise>
    bool next(FrameTime& time, AddNoise&& add_noise) {
        if (stop_.stop_requested()) return false;
        if (info_.frames && index_ >= *info_.frames) {
            finish_truth();
            return false;
        }
        const double seconds = static_cast<double>(index_) * static_cast<double>(info_.rate.denominator) /
                               static_cast<double>(info_.rate.numerator);
        const auto time_us = static_cast<std::int64_t>(static_cast<__int128>(index_) * info_.rate.denominator *
                                                       1'000'000 / info_.rate.numerator);
        const auto& seen = figures_.draw(time_us, std::as_const(room_).view(), picture_.view());
        const auto& rows = figures_.changed_rows();
        changed_ = {std::min(changed_.begin, rows.begin), std::max(changed_.end, rows.end)};
        add_noise(std::as_const(picture_).view());
        if (truth_) write_truth(seen, seconds);
        time = {index_++, seconds, Clock::now()};
        return true;
    }

    // Writes the visible figures of a frame as one JSON line.
    void write_truth(const std::vector<Component>& seen, double seconds) {
        const auto line = to_json_line({index_, seconds, info_.shape.width, info_.shape.height, seen});
        try {
            truth_->write(line.data(), line.size());
        } catch (const Error&) {
            truth_.reset();  // the file ends inside a line, so it must not get its name
            throw;
        }
        truth_->mark_whole();
    }

    // Completes the file of true boxes. The file consists of lines, so it is complete wherever the source ends.
    void finish_truth() {
        if (!truth_) return;
        truth_->finish(stop_.stop_requested() ? Ending::broken_off : Ending::complete);
        truth_.reset();
    }

    SourceInfo info_;
    std::stop_token stop_;
    HostImage room_;
    HostImage picture_;  // room with the figures
    synth::Figures figures_;
    synth::SensorNoise noise_;
    std::optional<synth::NoisyOnGpu> on_gpu_;  // set by begin_on()
    int gpu_ = 0;                              // that of on_gpu_
    const synth::Figures::Rows nothing_;
    synth::Figures::Rows changed_;  // rows that changed since the last upload; initially all
    std::optional<OutputFile> truth_;
    std::int64_t index_ = 0;
};

// Opens the synthetic camera. All parameters have defaults, so "synth" alone is a valid source.
std::unique_ptr<Source> open_synth_source(const SourceCall& call, const SourceOptions& options) {
    const auto& values = call.values;
    const auto [width, height] = values.size("size");
    SourceInfo info;
    info.name = call.text;
    info.shape = {1, height, width, 3};
    info.rate = values.rate("fps");
    if (values.has("frames")) info.frames = values.integer("frames");
    if (std::int64_t{width} * height > options.max_pixels)
        fail(ErrorCode::usage, "synth: size={}x{} exceeds the limit of {} pixels", width, height, options.max_pixels);
    return std::make_unique<SynthSource>(
        std::move(info), static_cast<std::uint64_t>(values.integer("seed")),
        std::llround(values.real("noise") * noise_unit), static_cast<int>(values.integer("objects")),
        values.has("truth") ? std::optional(values.text("truth")) : std::nullopt, options);
}

}  // namespace

// Returns the table entry for the synthetic camera.
SourceKind synth_source() {
    using Type = ParameterInfo::Type;
    return {
        .name = "synth",
        .form = "synth:KEY=VALUE...",
        .summary =
            "the synthetic camera: a still room with moving objects and sensor noise; the same text gives the "
            "same bytes on every machine",
        .prefix = "synth:",
        .parameters = {{.name = "size",
                        .help = "frame size",
                        .type = Type::size,
                        .default_value = "1280x720",
                        .minimum = 1,
                        .maximum = max_side_px},
                       {.name = "fps", .help = "frame rate", .type = Type::rate, .default_value = "30"},
                       {.name = "noise",
                        .help = "standard deviation of the sensor noise in 8-bit levels",
                        .type = Type::real,
                        .default_value = "6",
                        .maximum = 50,
                        .decimals = 3},
                       {.name = "objects",
                        .help = "number of moving objects",
                        .default_value = "5",
                        .maximum = synth::most_figures},
                       {.name = "seed", .help = "seed of the random numbers", .default_value = "1", .maximum = 0x1p62},
                       {.name = "frames",
                        .help = "stop after this many frames; default: never",
                        .minimum = 1,
                        .maximum = 0x1p40,
                        .optional = true},
                       {.name = "truth",
                        .help = "file for the ground-truth boxes of its objects, one JSON line per frame",
                        .type = Type::text,
                        .optional = true}},
        .examples = {"synth", "synth:size=640x360:fps=30:objects=3:seed=7:truth=truth.jsonl"},
        .open = open_synth_source,
        .writes = [](const SourceCall& call) { return call.values.texts("truth"); }};
}

}  // namespace framewire
