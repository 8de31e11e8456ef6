#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/rows/channel_rows.hpp"
#include "framewire/core/rows/row_strips.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/detect/background/mixture/mixture_model.hpp"
#include "framewire/detect/masks/bit_mask.hpp"

#include <cstdint>
#include <vector>

namespace framewire {

/// What moves before a background whose light changes and whose leaves stir: an adaptive mixture of Gaussians for each
/// pixel, whose number adapts too (Zivkovic, "Improved adaptive Gaussian mixture model for background subtraction",
/// ICPR 2004; Zivkovic and van der Heijden, "Efficient adaptive density estimation per image pixel", Pattern
/// Recognition Letters 27, 2006), with detection of shadows (Prati et al., PAMI 25, 2003). Parameters are those of
/// OpenCV's BackgroundSubtractorMOG2, and so is the method but for this:
/// - a pixel's model is 16-bit numbers, rounded by an offset that goes around with the frames' number, so that even
/// what
///   a low learning rate changes is kept on average (mixture_model.hpp);
/// - a pixel that has no Gaussian yet is background: on the first frame nothing moves;
/// - after the first frames a row learns from one of `learn_every` frames, rows by turns, as much as from all of them.
///   Otherwise its pixels are only compared with their background Gaussians, in whole levels;
/// - a pixel is no shadow of the Gaussian that it has just begun itself, which hides what moves in OpenCV's frames 2
/// to 5.
///
/// The model belongs to the plan, on CUDA in device memory: 10 bytes (gray: 6) a pixel and Gaussian, of which only
/// those in use are touched. All arithmetic is single operations of IEEE floats in one order: the same masks and models
/// on every backend and instruction set, whether frames come one by one or in batches.
class MixtureBackground {
public:
    /// `shape`: height, width and channels (BGR or gray) of the frames; how many there are does not matter. Throws
    /// Error{usage} on a shape or parameters that are not allowed, Error{config} when there is no memory on the GPU.
    MixtureBackground(const MixtureParameters& parameters, const Shape& shape, Executor& executor);

    /// Forgets all it has seen. On CUDA queued on the executor's stream.
    void reset();

    /// Takes a batch of any number of frames in their order, each of which changes the model for the next one.
    /// `foreground` gets one mask a frame: what is neither background nor shadow; `shadows`, where given, what is
    /// shadow. Frames: any strides, any alignment. On the executor's threads; returns when done.
    void run(HostView<const std::uint8_t> frames, HostBitMaskView<std::uint32_t> foreground,
             HostBitMaskView<std::uint32_t> shadows = {});
    /// The same for one frame whose rows `make` makes, each once, on the executor's threads. Of the CPU backend.
    void run(const MakeChannelRows& make, HostBitMaskView<std::uint32_t> foreground);
    /// Queued on the executor's stream in one launch, which a CUDA graph may hold and repeat.
    void run(DeviceView<const std::uint8_t> frames, DeviceBitMaskView<std::uint32_t> foreground,
             DeviceBitMaskView<std::uint32_t> shadows = {});

    /// The background as a picture of the frames' height, width and channels: the mean of each pixel's weightiest
    /// Gaussian, rounded to nearest, half up; 0 before the first frame. Any strides.
    void draw_background(HostView<std::uint8_t> picture) const;
    void draw_background(DeviceView<std::uint8_t> picture) const;

private:
    template <MemorySpace space>
    void check(const View<const std::uint8_t, space>& frames, const BitMaskView<std::uint32_t, space>& foreground,
               const BitMaskView<std::uint32_t, space>& shadows) const {
        const auto shape = shape_.with_frames(frames.shape().frames);
        validate(frames, shape, "the mixture's frames");
        validate(foreground, shape.with_channels(1), "the mixture's mask of what moves");
        if (shadows.data()) validate(shadows, shape.with_channels(1), "the mixture's mask of shadows");
    }

    RowStrips make_strips() const;
    ChannelRows rows_in(const ImageRows<std::uint8_t>& strip) const;
    void update_row(std::uint64_t seen, const ChannelRows& rows, int y, std::uint32_t* foreground,
                    std::uint32_t* shadows, int row_words);

    Shape shape_;  // of one frame
    MixtureTerms terms_;
    MixtureLayout layout_;
    Executor* executor_;
    BackendBuffer model_;
    // On the CPU, what is known of blocks between frames (MixtureBlocks).
    std::vector<std::uint8_t> kinds_, compared_, nearest_;
    HostBuffer means_, reaches_;
    RowStrips strips_;     // likewise, for rows whose channels lie apart
    BackendBuffer clock_;  // a MixtureClock: on CUDA a graph's replay counts on
};

}  // namespace framewire
