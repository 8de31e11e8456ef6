// The moving figures of the synthetic camera. Each figure follows a closed route with constant speed, so its pose at a
// time is computed directly, without simulating the frames before. Figures are flat shapes (ellipses and limbs) drawn
// from back to front; `owner_` records for each pixel which figure it shows, from which the true boxes are measured.

#include "framewire/media/synth/figures.hpp"

#include <array>
#include <cstring>
#include <limits>

namespace framewire::synth {
namespace {

// Colours of people and things, chosen by hash.
constexpr std::array<Colour, 8> clothes = {rgb(198, 70, 60),  rgb(52, 96, 150), rgb(226, 176, 70), rgb(70, 130, 96),
                                           rgb(150, 90, 150), rgb(44, 52, 70),  rgb(222, 120, 70), rgb(70, 150, 160)};
constexpr std::array<Colour, 4> skins = {rgb(236, 196, 164), rgb(206, 152, 112), rgb(150, 100, 70), rgb(104, 70, 52)};
constexpr std::array<Colour, 4> hairs = {rgb(52, 38, 30), rgb(110, 74, 44), rgb(190, 150, 90), rgb(60, 60, 64)};

// One of the colours, by a hash.
template <std::size_t count>
constexpr const Colour& one_of(const std::array<Colour, count>& colours, std::uint64_t key) {
    return colours[static_cast<std::size_t>(pick(key, count))];
}

// Depth range in front of the furniture, in which figures walk.
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

    std::int64_t speed = 0;  // per second
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

// Interpolates the position at a time between the stops of the route.
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
    // The areas of the previous frame change because they are restored, those of this one because they are drawn.
    changed_ = {camera_.height_px(), 0};
    add_changed_rows();
    restore(room, picture);
    picture_ = picture;
    poses_.clear();
    touched_.clear();
    for (const auto& figure : figures_) poses_.push_back(pose_at(figure, time_us));
    // Painter's algorithm: furthest first. The id decides between equal depths, so that the order is reproducible.
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

// Restores the background where the previous frame was drawn on.
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

// Draws one figure: the two that walk have their own functions.
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

// A walking person; sizes in centimetres, scaled by the person's height. Parts further from the camera are drawn first
// and darker.
void Figures::draw_person(const Pose& pose) {
    const auto key = pose.figure->key;
    const auto& shirt = one_of(clothes, hash(key, 4));
    // Never the same colour as the shirt.
    const auto& trousers = one_of(clothes, hash(key, 4) + (std::uint64_t{5} << 33));
    const auto& skin = one_of(skins, hash(key, 6));
    const auto& hair = one_of(hairs, hash(key, 7));
    const auto shoe = rgb(48, 42, 40);
    const auto scale = 92 + pick(hash(key, 8), 16);  // per cent
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

// A walking cat; its legs move twice as fast as a person's.
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

// A soft shadow on the floor, weak enough that no detector takes it for a figure.
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
            // Shadows fall on the floor only, not on other figures.
            if (squared >= 65536 || owner_.view().row(0, y)[x]) continue;
            const auto level = 256 - (65536 - squared) * 24 / 65536;
            auto* pixel = picture_.row(0, y) + std::ptrdiff_t{x} * 3;
            for (int channel = 0; channel < 3; ++channel) pixel[channel] = to_byte(pixel[channel] * level >> 8);
        }
    }
}

// A filled ellipse: for each row, the half width follows from the ellipse equation in 1/16 pixel.
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

// A tapered limb between two points, each with a width.
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

// One row of a shape between two positions in 1/16 pixel: lit from the window on the left, with antialiased ends.
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
        const auto covered = std::min(begin_16 + 16, right_16) - std::max(begin_16, left_16);  // of 16
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
