#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/detect/adaptive.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace framewire {

/// Result of comparing a pixel with its samples.
struct AdaptiveVerdict {
    bool foreground;
    int distance;  ///< from the nearest of the samples compared, 0 to 255
};

/// Compares a pixel with its samples, in order, until adaptive_matches of them match. A sample matches if neither the
/// colour nor the texture differs by more than the radius allows, nor the chroma by more than most_adaptive_chroma, or
/// if the pixel looks like a shadow on it: darker by up to 60 %, with nearly the same chroma and texture.
inline AdaptiveVerdict compare_adaptive(const AdaptiveTerms& terms, const AdaptivePixel& pixel,
                                        const AdaptiveFeatures& now) {
    const auto difference = [](int a, int b) { return a < b ? b - a : a - b; };
    const auto limited = [](int value) { return value < 255 ? value : 255; };
    const int radius = pixel.radius();
    const int colour_limit = limited(terms.threshold * radius >> 8), texture_limit = terms.texture + (radius >> 8) - 1;
    int matches = 0, nearest = 255;
    for (int slot = 0; slot < adaptive_samples && matches < adaptive_matches; ++slot) {
        const int y = pixel.sample(slot, 0);
        int chroma = 0;
        if (pixel.layout.features == 5)
            chroma = limited(difference(now.u, pixel.sample(slot, 3)) + difference(now.v, pixel.sample(slot, 4)));
        const int colour = limited(difference(now.y, y) + chroma - (chroma >> 2));
        const auto near_bits = static_cast<unsigned>(now.near_texture ^ pixel.sample(slot, 1));
        const auto far_bits = static_cast<unsigned>(now.far_texture ^ pixel.sample(slot, 2));
        const int texture = std::popcount(near_bits << 8 | far_bits);
        const bool alike = colour <= colour_limit && texture <= texture_limit && chroma <= most_adaptive_chroma;
        const bool shadow = terms.shadows && now.y < y && now.y >= (y >> 2) + (y >> 3) + (y >> 5) && y > 40 &&
                            chroma <= 12 && texture <= 4;
        if (alike || shadow) ++matches;
        const int distance = limited(colour + 4 * texture);
        if (distance < nearest) nearest = distance;
    }
    return {matches < adaptive_matches, nearest};
}

/// Updates the state of a pixel other than its samples.
inline void adapt(const AdaptivePixel& pixel, const AdaptiveStep& step, AdaptiveVerdict verdict, bool was_foreground,
                  bool in_object, bool near_object) {
    const int distance =
        next_adaptive_distance(step, pixel.distance(), verdict.distance, pixel.age(), in_object, near_object);
    pixel.distance() = static_cast<std::uint16_t>(distance);

    int flicker = pixel.flicker();
    if (verdict.foreground != was_foreground && !near_object)
        flicker = std::min(flicker + 10, most_flicker);
    else
        flicker = std::max(flicker - 1, least_flicker);
    pixel.flicker() = static_cast<std::uint8_t>(flicker);
    pixel.radius() = static_cast<std::uint16_t>(next_adaptive_radius(pixel.radius(), distance, flicker));

    const int age = pixel.age();
    if (!verdict.foreground)
        pixel.age() = static_cast<std::uint8_t>(std::max(age - 2, 0));
    else if (age < adaptive_frame_ages || step.tick)
        pixel.age() = static_cast<std::uint8_t>(std::min(age + 1, 255));
}

/// Replaces samples of a pixel, depending on its random bits and the choices of its block:
/// - by the pixel itself, if it is background, or has been foreground for longer than objects are kept;
/// - by a neighbour that was background (Barnich and Van Droogenbroeck, ViBe, IEEE TIP 20, 2011);
/// - by the pixel itself, if it has been foreground for about a second and continues a neighbour that was background:
///   an object that leaves uncovers a background without an edge, a "ghost", while one that stops keeps its edge.
inline void learn_adaptive(const AdaptiveTerms& terms, const AdaptiveStep& step, const AdaptivePicture& picture,
                           const AdaptiveMasks& masks, int x, int y, const AdaptiveChoice& choice, std::uint32_t random,
                           bool foreground, const AdaptivePixel& pixel, const AdaptiveFeatures& now) {
    const bool retires =
        adaptive_event(random, step.retire) && (step.young || (terms.keep_age > 0 && pixel.age() > terms.keep_age));
    if (foreground ? retires : adaptive_event(random, step.learn)) pixel.learn(choice.learn_slot, now);

    const auto inside_x = [&](int at) { return at < 0 ? 0 : at < picture.width ? at : picture.width - 1; };
    const auto inside_y = [&](int at) { return at < 0 ? 0 : at < picture.height ? at : picture.height - 1; };
    if (adaptive_event(random, step.spread)) {
        const int from_x = inside_x(x + choice.spread_dx), from_y = inside_y(y + choice.spread_dy);
        if (!masks.bit(masks.foreground, from_x, from_y))
            pixel.learn(choice.spread_slot, picture.features(from_x, from_y));
    }
    if (foreground && pixel.age() > adaptive_ghost_age && adaptive_event(random, adaptive_ghost_mask)) {
        const int from_x = inside_x(x + choice.ghost_dx), from_y = inside_y(y + choice.ghost_dy);
        if (masks.bit(masks.foreground, from_x, from_y) || masks.bit(masks.clean, from_x, from_y)) return;
        const auto difference = [](int a, int b) { return a < b ? b - a : a - b; };
        const auto there = picture.at(from_x, from_y);
        const int colour = difference(now.y, picture.luma[there]) +
                           (picture.u ? difference(now.u, picture.u[there]) + difference(now.v, picture.v[there]) : 0);
        if (colour > most_ghost_difference) return;
        for (const int slot : choice.ghost_slots) pixel.learn(slot, now);
    }
}

/// Classifies a pixel and updates its model. Returns true if it is foreground.
inline bool update_adaptive(const AdaptiveTerms& terms, const AdaptiveStep& step, const AdaptivePicture& picture,
                            const AdaptiveMasks& masks, int x, int y, const AdaptiveChoice& choice,
                            const AdaptivePixel& pixel) {
    if (step.frame == 0) begin_adaptive(pixel, picture, x, y);
    const auto now = picture.features(x, y);
    const auto verdict = compare_adaptive(terms, pixel, now);
    adapt(pixel, step, verdict, masks.bit(masks.foreground, x, y), masks.bit(masks.clean, x, y),
          masks.bit(masks.near, x, y));
    const auto number =
        static_cast<std::uint32_t>(y) * static_cast<std::uint32_t>(picture.width) + static_cast<std::uint32_t>(x);
    learn_adaptive(terms, step, picture, masks, x, y, choice, adaptive_random(number, step.frame + 1),
                   verdict.foreground, pixel, now);
    return verdict.foreground;
}

/// Reference implementation: update_adaptive() for one pixel after the other, with masks of one byte per pixel that are
/// counted window by window.
class AdaptiveReference {
public:
    /// Makes a model that has seen no frame.
    AdaptiveReference(const AdaptiveTerms& terms, const Shape& shape)
        : terms_(terms),
          shape_(shape.with_frames(1)),
          layout_(shape),
          model_(static_cast<std::size_t>(layout_.bytes() / 2)),
          foreground_(shape_),
          clean_(shape_),
          near_(shape_) {
        for (auto* mask : {&foreground_, &clean_, &near_})
            std::fill_n(mask->view().data(), bit_mask_bytes(shape_) / 4, 0u);
    }

    /// Writes 255 to `foreground` for foreground pixels, else 0; it has one channel.
    void run(HostView<const std::uint8_t> frames, HostView<std::uint8_t> foreground) {
        for (int frame = 0; frame < frames.shape().frames; ++frame)
            update(frames.frames(frame, 1), foreground.frames(frame, 1));
    }

private:
    void update(HostView<const std::uint8_t> frame, HostView<std::uint8_t> out) {
        const auto pixels = static_cast<std::size_t>(shape_.height) * static_cast<std::size_t>(shape_.width);
        std::vector<std::uint8_t> luma(pixels), u(pixels), v(pixels), near(pixels), far(pixels);
        for (int y = 0; y < shape_.height; ++y)
            for (int x = 0; x < shape_.width; ++x) {
                const auto* pixel = frame.row(0, y) + x * shape_.channels;
                const auto at = static_cast<std::size_t>(y * shape_.width + x);
                luma[at] = shape_.channels == 1 ? pixel[0] : adaptive_luma(pixel[0], pixel[1], pixel[2]);
                if (shape_.channels == 1) continue;
                u[at] = adaptive_u(pixel[0], pixel[1], pixel[2]);
                v[at] = adaptive_v(pixel[0], pixel[1], pixel[2]);
            }
        const bool gray = shape_.channels == 1;
        const AdaptivePicture picture{luma.data(),
                                      gray ? nullptr : u.data(),
                                      gray ? nullptr : v.data(),
                                      near.data(),
                                      far.data(),
                                      shape_.width,
                                      shape_.width,
                                      shape_.height};
        for (int y = 0; y < shape_.height; ++y)
            for (int x = 0; x < shape_.width; ++x) {
                near[static_cast<std::size_t>(picture.at(x, y))] = texture(picture, x, y, 1);
                far[static_cast<std::size_t>(picture.at(x, y))] = texture(picture, x, y, 2);
            }
        const AdaptiveMasks masks{foreground_.view().data(), clean_.view().data(), near_.view().data(),
                                  foreground_.view().row_words()};
        const auto step = adaptive_step(terms_, seen_++);
        for (int y = 0; y < shape_.height; ++y)
            for (int x = 0; x < shape_.width; ++x) {
                const auto block = std::int64_t{y} * layout_.row_blocks + x / AdaptiveLayout::block_px;
                auto* bytes = reinterpret_cast<std::uint8_t*>(model_.data()) + block * layout_.block_bytes();
                const bool moves =
                    update_adaptive(terms_, step, picture, masks, x, y, adaptive_choice(block, step.frame),
                                    {layout_, bytes, x % AdaptiveLayout::block_px});
                out.row(0, y)[x] = moves ? 255 : 0;
            }
        HostImage clean(shape_.with_channels(1)), around(shape_.with_channels(1));
        window(out, 5, 13, clean.view());
        window(clean.view(), 7, 1, around.view());
        pack_mask(out, foreground_.view());
        pack_mask(clean.view(), clean_.view());
        pack_mask(around.view(), near_.view());
    }

    // Returns the texture of a pixel: which of eight pixels at a distance differ in luma.
    static std::uint8_t texture(const AdaptivePicture& picture, int x, int y, int distance) {
        const int centre = picture.luma[picture.at(x, y)];
        int bits = 0, bit = 1;
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
                if (dx == 0 && dy == 0) continue;
                const int neighbour = picture.luma[picture.at(x + dx * distance, y + dy * distance)];
                if (std::abs(neighbour - centre) > texture_threshold(centre)) bits |= bit;
                bit *= 2;
            }
        return static_cast<std::uint8_t>(bits);
    }

    // Sets the pixels of which at least `least` in a window of `side` pixels are set; edges are replicated.
    void window(HostView<const std::uint8_t> in, int side, int least, HostView<std::uint8_t> out) const {
        for (int y = 0; y < shape_.height; ++y)
            for (int x = 0; x < shape_.width; ++x) {
                int count = 0;
                for (int dy = -side / 2; dy <= side / 2; ++dy)
                    for (int dx = -side / 2; dx <= side / 2; ++dx)
                        count += in.row(0, std::clamp(y + dy, 0,
                                                      shape_.height - 1))[std::clamp(x + dx, 0, shape_.width - 1)] != 0;
                out.row(0, y)[x] = count >= least ? 255 : 0;
            }
    }

    AdaptiveTerms terms_;
    Shape shape_;
    AdaptiveLayout layout_;
    std::vector<std::uint16_t> model_;
    HostBitMask foreground_, clean_, near_;
    std::uint32_t seen_ = 0;
};

}  // namespace framewire
