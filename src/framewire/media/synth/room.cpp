// Ray caster for the room of the synthetic camera, in integers only. A ray per pixel finds the nearest wall or solid,
// whose colour is lit by a window, a lamp and the sun. Pixels at the border between two things get 16 rays, which
// smooths the edges.

#include "framewire/media/synth/room.hpp"

#include "framewire/media/synth/arithmetic.hpp"

#include <array>
#include <limits>
#include <vector>

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

// A point of the room, in units of 1/16 mm.
struct Point {
    Length x, y, z;
};

// Visible face of a box.
enum class Face : std::uint8_t { front, side, top };

// A ray from the camera; at(z) is its point at depth z.
struct Ray {
    std::int64_t x, y;  // slopes, times 65536
    Point at(Length z) const { return {x * z >> 16, y * z >> 16, z}; }
};

// Colour of a ray, in 1/16 level, and the thing that it hit: pixels whose neighbours show another thing need
// smoothing.
struct Sample {
    Colour colour;
    std::uint32_t thing = 0;
};

// The window in the left wall.
constexpr Length window_z0 = 5000 * mm, window_z1 = 6350 * mm, window_y0 = -850 * mm, window_y1 = 500 * mm;
constexpr Point window_middle{left_x, -100 * mm, 5600 * mm};
constexpr Point lamp_bulb{-80 * mm, -250 * mm, 6600 * mm};
constexpr Length rug_x0 = -1750 * mm, rug_x1 = 1150 * mm, rug_z0 = 4350 * mm, rug_z1 = 6050 * mm;

// Colours of the side walls and of painted wood.
constexpr Colour cream = rgb(216, 208, 194);
constexpr Colour white_paint = rgb(232, 229, 222);

// A box in millimetres; heights are above the floor.
Solid box(int x0, int x1, int height0, int height1, int z0, int z1, Colour colour, Finish finish = Finish::plain) {
    return {x0 * mm, x1 * mm, floor_y - height1 * mm, floor_y - height0 * mm, z0 * mm, z1 * mm, colour, finish};
}

// A flat ellipse in millimetres.
Solid ellipse(int x, int height, int radius_x, int radius_y, int z, Colour colour, Finish finish) {
    auto solid = box(x - radius_x, x + radius_x, height - radius_y, height + radius_y, z, z, colour, finish);
    solid.ellipse = true;
    return solid;
}

// All furniture, in order: sofa, table, shelves with books, lamp, plant.
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
        // A row of books with random length, widths, heights and colours.
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

// The room with its solids, prepared for a camera.
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

    // Casts a ray of the selected row, at pixel `column`.
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
    // Depth at which a ray crosses a plane of constant x or y.
    static Length depth_of(std::int64_t slope, Length plane) {
        return (slope > 0) == (plane > 0) && slope != 0 ? plane * 65536 / slope : std::numeric_limits<Length>::max();
    }

    // Depth of the wall, floor or ceiling that a ray hits.
    static Length wall_depth(const Ray& ray) {
        return std::min({back_z, depth_of(ray.x, left_x), depth_of(ray.x, right_x), depth_of(ray.y, floor_y),
                         depth_of(ray.y, ceiling_y)});
    }

    // Returns true if the ray hits the solid before depth z, and then sets z and the face.
    static bool meet(const Solid& solid, const Ray& ray, Length& z, Face& face) {
        const auto within = [](Length value, Length from, Length to) { return from <= value && value <= to; };
        const auto front = ray.at(solid.z0);
        if (solid.z0 < z && within(front.x, solid.x0, solid.x1) && within(front.y, solid.y0, solid.y1)) {
            // Inside the ellipse equation, scaled to 1024.
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
        // Only the faces towards the centre of the view are visible.
        bool met = false;
        if (solid.x0 > 0) met |= try_face(depth_of(ray.x, solid.x0), Face::side);
        if (solid.x1 < 0) met |= try_face(depth_of(ray.x, solid.x1), Face::side);
        if (solid.y0 > 0) met |= try_face(depth_of(ray.y, solid.y0), Face::top);
        if (solid.y1 < 0) met |= try_face(depth_of(ray.y, solid.y1), Face::top);
        return met;
    }

    // Inverse-square falloff: 256 at the source, half of that at distance `half`.
    static std::int64_t falloff(const Point& from, const Point& to, Length half) {
        const auto x = (from.x - to.x) >> 4, y = (from.y - to.y) >> 4, z = (from.z - to.z) >> 4;
        const auto squared = x * x + y * y + z * z;
        const auto scale = (half >> 4) * (half >> 4);
        return 256 * scale / (scale + squared);
    }

    // Darkening of a surface near a corner, by the distance to it.
    static std::int64_t corner_shade(Length distance) {
        constexpr Length reach = 700 * mm;
        if (distance >= reach) return 0;
        const auto near = (reach - distance) * 256 / reach;
        return near * near * 34 >> 16;
    }

    // Colour of a surface with brightness `level` (256 is full) under daylight, the lamp and ambient light.
    static Colour light(const Colour& colour, const Point& point, std::int64_t level) {
        const auto day = falloff(window_middle, point, 3900 * mm);
        const auto lamp = falloff(lamp_bulb, point, 900 * mm);
        const Colour strength{150 + day * 166 / 256 + lamp * 36 / 256, 150 + day * 160 / 256 + lamp * 76 / 256,
                              148 + day * 154 / 256 + lamp * 104 / 256};
        return {colour.b * strength.b * level >> 12, colour.g * strength.g * level >> 12,
                colour.r * strength.r * level >> 12};
    }

    // Colour of a light source.
    static Colour bright(const Colour& colour) { return colour.lit(16 * 256); }

    // Contribution of direct sunlight.
    static Colour sunlit(const Colour& colour, std::int64_t strength) { return colour.lit(strength >> 12); }

    // Strength of the sun at a point, 0 to 256: follows the sun's ray back to the window in the left wall.
    static std::int64_t sun(const Point& point) {
        const auto travelled = point.x - left_x;
        const auto y = point.y - travelled * 62 / 100;
        const auto z = point.z + travelled * 12 / 100;
        const auto edge = std::min({y - window_y0, window_y1 - y, z - window_z0, window_z1 - z});
        const auto bar =
            std::min(std::abs(2 * z - window_z0 - window_z1), std::abs(2 * y - window_y0 - window_y1)) / 2 - 25 * mm;
        return std::clamp<std::int64_t>(std::min(edge, bar) * 256 / (36 * mm), 0, 256);
    }

    // Wooden floor with the rug, shadows of the furniture and the sun.
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

    // Darkness below and around furniture on the floor, 0 to 256.
    std::int64_t contact_shadow(const Point& point) const {
        constexpr Length reach = 260 * mm;
        std::int64_t shadow = 0;
        for (const auto& solid : standing_) {
            const auto dx = std::max({Length{0}, solid.x0 - point.x, point.x - solid.x1});
            const auto dz = std::max({Length{0}, solid.z0 - point.z, point.z - solid.z1});
            const auto distance = dx + dz;
            if (distance >= reach) continue;
            const auto near = (reach - distance) * 256 / reach;
            // A solid higher above the floor casts a weaker shadow.
            const auto strength = 110 - (floor_y - solid.y1) / mm * 60 / 380;
            shadow = std::max(shadow, near * near * strength >> 16);
        }
        return shadow;
    }

    static bool inside(Length value, Length from, Length to) { return value > from && value < to; }

    // Back wall with a skirting board and two pictures.
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

    // A framed picture on the back wall; thing 0 outside of it.
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

    // Left wall with the window, or right wall with the door.
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

    // Colour of a solid by its finish.
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
                // A band of lettering on a rounded spine.
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
    std::vector<Solid> standing_;    // on the floor or slightly above it
    std::vector<const Solid*> row_;  // see enter_row()
};

}  // namespace

void paint_room(const Camera& camera, std::uint64_t seed, HostView<std::uint8_t> image) {
    Room room(camera, seed);
    const int width = camera.width_px();
    const int height = camera.height_px();
    const auto ray = [&](int x, int y, int x_16, int y_16) {
        return Ray{camera.slope_x(std::int64_t{x} * 16 + x_16), camera.slope_y(std::int64_t{y} * 16 + y_16)};
    };
    // One ray per pixel, then 16 for pixels with a neighbour that shows another thing.
    std::vector<std::uint32_t> things(static_cast<std::size_t>(width) * 3);
    const auto things_of = [&](int y) { return things.data() + static_cast<std::ptrdiff_t>(y % 3) * width; };
    const auto paint = [&](int x, int y, const Colour& colour) {
        auto* pixel = image.row(0, y) + std::ptrdiff_t{x} * 3;
        // Dither by less than a level, so that soft gradients show no steps.
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
