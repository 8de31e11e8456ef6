#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/detect/adaptive.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace framewire {

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
        std::vector<std::uint8_t> luma(pixels), u(pixels), v(pixels);
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
                                      nullptr,
                                      nullptr,
                                      shape_.width,
                                      shape_.width,
                                      shape_.height};
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
        HostImage clean(shape_.with_channels(1)), near(shape_.with_channels(1));
        window(out, 5, 13, clean.view());
        window(clean.view(), 7, 1, near.view());
        pack_mask(out, foreground_.view());
        pack_mask(clean.view(), clean_.view());
        pack_mask(near.view(), near_.view());
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
