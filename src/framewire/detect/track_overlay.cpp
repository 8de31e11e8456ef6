#include "framewire/detect/track_overlay.hpp"
#include "framewire/detect/box_overlay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>

namespace framewire {
namespace {

constexpr int line_px = 2;
constexpr std::size_t most_paths = 2 * max_tracked_objects;

// Digits of 3 x 5 pixels, one octal digit per row from the top, so that labels need no font.
constexpr std::array<unsigned, 10> digits = {075557, 026227, 071747, 071717, 055711,
                                             074717, 074757, 071111, 075757, 075717};
constexpr int digit_width = 3, digit_height = 5, digit_scale = 2;

// Draws a rectangle, clipped to the picture, as a filled box.
void fill(HostView<std::uint8_t> image, int x, int y, int width, int height, Pixel color) {
    const int left = std::max(x, 0), top = std::max(y, 0);
    const int right = std::min(x + width, image.shape().width), bottom = std::min(y + height, image.shape().height);
    if (right <= left || bottom <= top) return;
    const Component box{
        .id = 1, .x = left, .y = top, .width = right - left, .height = bottom - top, .area = 0, .sum_x = 0, .sum_y = 0};
    draw_outlines({&box, 1}, {.color = color, .line_px = max_outline_px}, image);
}

// Draws a number with its lower left corner at a position, on a box of the colour.
void draw_number(HostView<std::uint8_t> image, std::int64_t number, int x, int y, Pixel color) {
    std::array<char, 24> text{};
    const auto end = fmt::format_to_n(text.data(), text.size(), "{}", number).out;
    const int count = static_cast<int>(end - text.data()), step = (digit_width + 1) * digit_scale;
    const int height = (digit_height + 2) * digit_scale;
    y = std::max(y, height);
    fill(image, x, y - height, count * step + digit_scale, height, color);
    for (int index = 0; index < count; ++index) {
        const auto shape = digits[static_cast<std::size_t>(text[static_cast<std::size_t>(index)] - '0')];
        for (int row = 0; row < digit_height; ++row)
            for (int column = 0; column < digit_width; ++column)
                if (shape >> (3 * (digit_height - 1 - row) + digit_width - 1 - column) & 1)
                    fill(image, x + digit_scale + index * step + column * digit_scale,
                         y - height + digit_scale + row * digit_scale, digit_scale, digit_scale,
                         pixel_of(255, 255, 255));
    }
}

// Draws a line of line_px pixels.
void draw_line(HostView<std::uint8_t> image, int x0, int y0, int x1, int y1, Pixel color) {
    const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
    for (int step = 0; step <= steps; ++step)
        fill(image, x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps, line_px, line_px, color);
}

}  // namespace

// Hues at the golden angle, of full saturation.
Pixel color_of_track(std::int64_t id) {
    const auto hue = static_cast<std::uint64_t>(id) * 949 % 1536;  // 1536 * 0.618
    const auto ramp = static_cast<int>(hue % 256);
    switch (hue / 256) {
        case 0: return pixel_of(0, ramp, 230);
        case 1: return pixel_of(0, 200, 255 - ramp);
        case 2: return pixel_of(ramp, 200, 0);
        case 3: return pixel_of(255, 200 - ramp * 3 / 4, 0);
        case 4: return pixel_of(255, 0, ramp);
        default: return pixel_of(255 - ramp, 0, 230);
    }
}

TrackOverlay::TrackOverlay(double seconds) : seconds_(seconds), paths_(seconds > 0 ? most_paths : 0) {
    for (auto& path : paths_) path.points.resize(most_points);
}

// Returns the track's path, or reuses the one whose newest point is the oldest.
TrackOverlay::Path& TrackOverlay::path_of(std::int64_t id) {
    const auto newest = [](const Path& path) {
        return path.count == 0 ? -1e300 : path.points[(path.first + path.count - 1) % most_points].time_s;
    };
    auto* oldest = &paths_.front();
    for (auto& path : paths_) {
        if (path.id == id) return path;
        if (newest(path) < newest(*oldest)) oldest = &path;
    }
    oldest->id = id;
    oldest->count = 0;
    return *oldest;
}

void TrackOverlay::draw(std::span<const Track> tracks, double time_s, HostView<std::uint8_t> image) {
    for (const auto& track : tracks) {
        if (track.object < 0) continue;
        const auto color = color_of_track(track.id);
        const int left = std::clamp(static_cast<int>(std::lround(track.x)), 0, image.shape().width - 1);
        const int top = std::clamp(static_cast<int>(std::lround(track.y)), 0, image.shape().height - 1);
        const int right =
            std::clamp(static_cast<int>(std::lround(track.x + track.width)), left + 1, image.shape().width);
        const int bottom =
            std::clamp(static_cast<int>(std::lround(track.y + track.height)), top + 1, image.shape().height);
        if (seconds_ > 0) {
            auto& path = path_of(track.id);
            if (path.count > 0) {
                // Points are seconds_ / most_points apart, so that the ring holds the whole path at any frame rate.
                const auto& last = path.points[(path.first + path.count - 1) % most_points];
                if (time_s < last.time_s) path.count = 0;
            }
            const bool add =
                path.count == 0 || time_s - path.points[(path.first + path.count - 1) % most_points].time_s >=
                                       seconds_ / static_cast<double>(most_points);
            if (add) {
                if (path.count == most_points) {
                    path.first = (path.first + 1) % most_points;
                    --path.count;
                }
                path.points[(path.first + path.count++) % most_points] = {time_s, (left + right) / 2,
                                                                          (top + bottom) / 2};
            }
            while (path.count > 0 && time_s - path.points[path.first].time_s > seconds_) {
                path.first = (path.first + 1) % most_points;
                --path.count;
            }
            for (std::size_t index = 1; index < path.count; ++index) {
                const auto& from = path.points[(path.first + index - 1) % most_points];
                const auto& to = path.points[(path.first + index) % most_points];
                draw_line(image, from.x, from.y, to.x, to.y, color);
            }
        }
        const Component box{.id = 1,
                            .x = left,
                            .y = top,
                            .width = right - left,
                            .height = bottom - top,
                            .area = 0,
                            .sum_x = 0,
                            .sum_y = 0};
        draw_outlines({&box, 1}, {.color = color, .line_px = line_px}, image);
        draw_number(image, track.id, left, top, color);
    }
}

}  // namespace framewire
