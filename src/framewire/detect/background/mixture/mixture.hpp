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

/// Background subtraction for scenes whose light changes and whose leaves move: an adaptive mixture of
/// Gaussians per pixel, whose number adapts too (Zivkovic, "Improved adaptive Gaussian mixture model for
/// background subtraction", ICPR 2004; Zivkovic and van der Heijden, "Efficient adaptive density estimation per
/// image pixel", Pattern Recognition Letters 27, 2006), with shadow detection (Prati et al., PAMI 25, 2003).
/// The parameters are those of OpenCV's BackgroundSubtractorMOG2, and so is the method, with these exceptions:
/// - The model of a pixel is stored in 16-bit numbers. A dithering offset that cycles with the frame number is added
///   before rounding, so that the small changes of a low learning rate are kept on average (mixture_model.hpp).
/// - A pixel that has no Gaussian yet is background: nothing moves in the first frame.
/// - After the first frames a row learns from one of `learn_every` frames, rows alternating, with the weight of all of
///   them. In the other frames its pixels are only compared with their background Gaussians, in whole levels.
/// - A pixel is never a shadow of the Gaussian that it has just started itself. In OpenCV this hides moving objects in
///   frames 2 to 5.
///
/// The plan owns the model, in device memory on CUDA: 10 bytes (gray: 6) per pixel and Gaussian, of which only
/// those in use are touched. All arithmetic consists of single IEEE float operations in a fixed order, so masks
/// and models are equal on every backend and instruction set, whether frames come one by one or in batches.
class MixtureBackground {
public:
    /// `shape` gives height, width and channels (BGR or gray) of the frames; its number of frames is ignored.
    /// Throws Error{usage} if the shape or the parameters are not allowed, Error{config} if there is not enough
    /// GPU memory.
    MixtureBackground(const MixtureParameters& parameters, const Shape& shape, Executor& executor);

    /// Forgets all frames. On CUDA the call is queued on the executor's stream.
    void reset();

    /// Processes a batch of any number of frames in order; each frame updates the model for the next one.
    /// `foreground` receives one mask per frame, with a bit set where a pixel is neither background nor shadow;
    /// `shadows`, if given, has the bits of shadow pixels. Frames may have any strides and alignment. Runs on
    /// the executor's threads and returns when done.
    void run(HostView<const std::uint8_t> frames, HostBitMaskView<std::uint32_t> foreground,
             HostBitMaskView<std::uint32_t> shadows = {});
    /// The same for one frame whose rows `make` writes, each exactly once, on the executor's threads. CPU
    /// backend only.
    void run(const MakeChannelRows& make, HostBitMaskView<std::uint32_t> foreground);
    /// The same, queued on the executor's stream in one launch, which a CUDA graph may hold and replay.
    void run(DeviceView<const std::uint8_t> frames, DeviceBitMaskView<std::uint32_t> foreground,
             DeviceBitMaskView<std::uint32_t> shadows = {});

    /// Draws the background as a picture with the frames' height, width and channels: the mean of each pixel's
    /// heaviest Gaussian, rounded half up; 0 before the first frame. Any strides. On CUDA the call is queued on
    /// the executor's stream.
    void draw_background(HostView<std::uint8_t> picture) const;
    void draw_background(DeviceView<std::uint8_t> picture) const;

private:
    // Throws Error{usage} if an image of a run does not match.
    template <MemorySpace space>
    void check(const View<const std::uint8_t, space>& frames, const BitMaskView<std::uint32_t, space>& foreground,
               const BitMaskView<std::uint32_t, space>& shadows) const {
        const auto shape = shape_.with_frames(frames.shape().frames);
        validate(frames, shape, "the mixture's frames");
        validate(foreground, shape.with_channels(1), "the mixture's mask of what moves");
        if (shadows.data()) validate(shadows, shape.with_channels(1), "the mixture's mask of shadows");
    }

    // CPU: memory for rows in planar order, their layout in a strip, and the update of one row.
    RowStrips make_strips() const;
    ChannelRows rows_in(const ImageRows<std::uint8_t>& strip) const;
    void update_row(std::uint64_t seen, const ChannelRows& rows, int y, std::uint32_t* foreground,
                    std::uint32_t* shadows, int row_words);

    Shape shape_;  // of one frame
    MixtureTerms terms_;
    MixtureLayout layout_;
    Executor* executor_;
    BackendBuffer model_;
    // CPU only: what is known about blocks between frames (MixtureBlocks).
    std::vector<std::uint8_t> kinds_, compared_, nearest_;
    HostBuffer means_, reaches_;
    RowStrips strips_;     // CPU only: rows with planar channels
    BackendBuffer clock_;  // a MixtureClock; on CUDA a replayed graph continues its count
};

}  // namespace framewire
