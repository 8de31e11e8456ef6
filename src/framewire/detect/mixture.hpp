#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/detect/masks.hpp"

#include <cstdint>
#include <vector>

namespace framewire {

/// Parameters of MixtureBackground, with the names of OpenCV's BackgroundSubtractorMOG2. The defaults are OpenCV's
/// too, except for the history, the number of Gaussians, the least variance, the shadows, and `learn_every`, which
/// OpenCV lacks: without tuning for a scene, these values find more of what moves, in half the time.
struct MixtureParameters {
    int history = 200;         ///< frames that the model remembers
    float var_threshold = 16;  ///< squared distance, in multiples of the variance, within which a pixel is background
    float var_threshold_gen =
        9;             ///< squared distance, in multiples of the variance, within which a Gaussian learns from a pixel
    int mixtures = 3;  ///< Gaussians per pixel, 1 to most_mixtures
    float var_init = 15;  ///< variance of a new Gaussian; variances are up to 255
    /// Limits that variances are clamped to.
    float var_min = 15;
    float var_max = 75;
    float complexity_reduction = 0.05f;  ///< share of the history that a Gaussian needs to be kept; 0 keeps all
    float background_ratio = 0.9f;       ///< the heaviest Gaussians up to this sum of weights are background
    bool shadows = false;                ///< detect shadows; in gray frames everything darker looks like one
    float shadow_threshold = 0.5f;       ///< how dark a shadow may be, as a share of the background
    float learning_rate = -1;            ///< 0 to 1; -1 is automatic: 1 / min(2 n, history) for the n-th frame
    int learn_every = 6;  ///< a row learns from one of this many frames, rows alternating; 1 to most_learn_every

    friend bool operator==(const MixtureParameters&, const MixtureParameters&) = default;
};

/// The default parameters of OpenCV.
inline constexpr MixtureParameters opencv_mixture{
    .history = 500, .mixtures = 5, .var_min = 4, .shadows = true, .learn_every = 1};

/// Maximum of MixtureParameters::mixtures.
inline constexpr int most_mixtures = 5;
/// Maximum of MixtureParameters::learn_every.
inline constexpr int most_learn_every = 32;

template <class Aggregate>
class ParameterFields;

/// Returns names, ranges and help of the parameters; `--background mixture:history=200` uses them.
const ParameterFields<MixtureParameters>& mixture_fields();

/// Units of the stored 16-bit numbers: weights are in 1/65536 (1 itself is 65535), variances and means in
/// 1/256. Float arithmetic works in the same units.
inline constexpr float weight_unit = 65536;
/// Unit of variances and means.
inline constexpr float value_unit = 256;
/// Largest stored number.
inline constexpr float most_stored = 65535;

/// The parameters converted to stored units, as the update uses them.
struct MixtureTerms {
    int mixtures;
    bool shadows;
    float history;
    float learning_rate;
    float complexity_reduction;
    float background_distance, near_distance;  ///< thresholds of squared distance over variance
    float background_weight;
    float var_init, var_min, var_max;
    float shadow_threshold;
    int learn_every;
};

/// Converts the parameters. Throws Error{usage} if they are not allowed.
MixtureTerms mixture_terms(const MixtureParameters& parameters);

/// Numbers that the update of one frame needs besides MixtureTerms.
struct MixtureStep {
    float keep;    ///< 1 - learning rate: the factor of every weight
    float gain;    ///< the learning rate as a weight
    float decay;   ///< what complexity reduction subtracts from every weight
    float offset;  ///< dithering offset from -1/2 to 1/2, added before rounding to nearest
    int turn;  ///< remainder modulo learn_every of the rows that learn; other rows are only classified; -1: all learn
};

/// Returns true if row `y` learns from the frame of `step`.
FRAMEWIRE_HOST_DEVICE inline bool mixture_learns(const MixtureTerms& terms, const MixtureStep& step, int y) {
    return step.turn < 0 || y % terms.learn_every == step.turn;
}

/// Returns the number of frames at the start from which every row learns; afterwards rows alternate.
FRAMEWIRE_HOST_DEVICE inline std::uint64_t mixture_first_frames(const MixtureTerms& terms) {
    return 4 * static_cast<std::uint64_t>(terms.learn_every);
}

/// Returns a stored mean as a whole level, rounded to nearest.
FRAMEWIRE_HOST_DEVICE inline float mixture_level(float mean) {
    return static_cast<float>((static_cast<int>(mean) + 128) >> 8);
}

/// Largest reach, which is stored in 16 bits.
inline constexpr float most_reach = 65535;

/// Returns the reach of a mode: the squared distance, in levels, below which a pixel of a row that does not learn is
/// background. It need not be whole. `variance` is in stored units.
FRAMEWIRE_HOST_DEVICE inline float mixture_reach(const MixtureTerms& terms, float variance) {
    const float reach = terms.background_distance * variance * (1 / (value_unit * value_unit));
    return reach < most_reach ? reach : most_reach;
}

/// Returns the step of frame `seen` for the rows that learn from it. When rows alternate, one step has the
/// learning rate of all frames of a turn together. The dithering offsets are multiples of the golden ratio: any
/// few consecutive steps spread them evenly, so a change smaller than a unit is stored proportionally less
/// often.
FRAMEWIRE_HOST_DEVICE inline MixtureStep mixture_step(const MixtureTerms& terms, std::uint64_t seen) {
    const auto first_frames = mixture_first_frames(terms);
    const bool turns = seen >= first_frames;
    const auto count = static_cast<float>(seen + 1);
    const float window = 2 * count < terms.history ? 2 * count : terms.history;
    const float frame_rate = terms.learning_rate >= 0 && seen > 0 ? terms.learning_rate : 1 / window;
    const float turn_rate = frame_rate * static_cast<float>(turns ? terms.learn_every : 1);
    const float rate = turn_rate < 1 ? turn_rate : 1;
    const float gain = rate * weight_unit;
    // Number of the row's learning step, from 1.
    const auto step =
        1 + (turns ? first_frames + (seen - first_frames) / static_cast<std::uint32_t>(terms.learn_every) : seen);
    const auto turn = static_cast<std::uint32_t>(step) * 0x9E3779B9u >> 25;
    // A multiple of 1/256, the resolution of floats as large as the stored numbers.
    const float offset = (static_cast<float>(turn) - 63.5f) / 128;
    const auto rest = static_cast<int>(seen % static_cast<std::uint32_t>(terms.learn_every));
    return {1 - rate, gain, gain * terms.complexity_reduction, offset, turns ? terms.learn_every - 1 - rest : -1};
}

/// Memory layout of a model's 16-bit numbers. Pixels form blocks of 32 of one row. "Modes" are the Gaussians of
/// a pixel in descending order of weight; unused ones have weight 0.
///
///     weights of mode 0, all blocks  | weights of mode 1, all blocks  | ...   32 weights per block
///     features of mode 0, all blocks | features of mode 1, all blocks | ...   32 variances and 32 means per channel
///
/// Ordering by mode first keeps the memory of unused modes untouched.
struct MixtureLayout {
    static constexpr int block_px = 32;

    int channels;
    int mixtures;
    int row_blocks;
    std::int64_t blocks;

    /// Describes the model for frames of `shape` with `mixtures_each` modes per pixel.
    MixtureLayout(const Shape& shape, int mixtures_each)
        : channels(shape.channels),
          mixtures(mixtures_each),
          row_blocks((shape.width + block_px - 1) / block_px),
          blocks(std::int64_t{row_blocks} * shape.height) {}

    /// Returns the offset of the 32 weights of a block's mode.
    FRAMEWIRE_HOST_DEVICE std::int64_t weights(int mode, std::int64_t block) const {
        return (mode * blocks + block) * block_px;
    }
    /// Returns the offset of the variances; the means of channel c follow (c + 1) * block_px later.
    FRAMEWIRE_HOST_DEVICE std::int64_t features(int mode, std::int64_t block) const {
        return (mixtures * blocks + (mode * blocks + block) * (1 + channels)) * block_px;
    }
    /// Bytes of all weights.
    std::int64_t weight_bytes() const { return mixtures * blocks * block_px * std::int64_t{sizeof(std::uint16_t)}; }
    /// Bytes of the whole model.
    std::int64_t bytes() const { return weight_bytes() * (2 + channels); }
};

/// A model in host memory, and data of its blocks that is kept between frames: the whole levels that pixels are
/// compared with in frames that they do not learn from.
struct MixtureBlocks {
    std::uint16_t* model;
    std::uint8_t* kinds;     ///< number of modes that its pixels use, per block
    std::uint8_t* compared;  ///< number of modes that are background for any pixel, per block
    std::uint8_t* means;     ///< 32 results of mixture_level() per mode, block and channel
    std::uint16_t* reaches;  ///< 32 results of mixture_reach() per mode and block, 0 if a mode is not background
    std::uint8_t* nearest;   ///< smallest reach of the first modes, at most 255, per block
};

/// Number of frames that a model has processed and, on CUDA, the number of finished blocks of the running
/// kernel: the last block adds the frames of its batch.
struct MixtureClock {
    std::uint64_t frames_seen;
    std::uint32_t blocks_done;
};

/// Background subtraction for scenes with changing light and moving leaves: each pixel has a mixture of Gaussians
/// whose parameters and number adapt (Zivkovic, "Improved adaptive Gaussian mixture model for background
/// subtraction", ICPR 2004; Zivkovic and van der Heijden, "Efficient adaptive density estimation per image pixel",
/// Pattern Recognition Letters 27, 2006), with shadow detection (Prati et al., PAMI 25, 2003). The parameters are
/// those of OpenCV's BackgroundSubtractorMOG2, and so is the method, with these exceptions:
/// - The model of a pixel is stored in 16-bit numbers. A dithering offset that cycles with the frame number is added
///   before rounding, so that the small changes of a low learning rate are kept on average (MixtureStep).
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
    /// Queues the same operation on the executor's stream in one launch, which a CUDA graph may record and replay.
    void run(DeviceView<const std::uint8_t> frames, DeviceBitMaskView<std::uint32_t> foreground,
             DeviceBitMaskView<std::uint32_t> shadows = {});

    /// Draws the background as a picture with the frames' height, width and channels: the mean of each pixel's
    /// heaviest Gaussian, rounded half up; 0 before the first frame. `picture` may have any strides.
    void draw_background(HostView<std::uint8_t> picture) const;
    /// Queues the same operation on the executor's stream.
    void draw_background(DeviceView<std::uint8_t> picture) const;

private:
    // Throws Error{usage} if an image of a run does not match.
    template <MemorySpace space>
    void check(const View<const std::uint8_t, space>& frames, const BitMaskView<std::uint32_t, space>& foreground,
               const BitMaskView<std::uint32_t, space>& shadows) const {
        const auto shape = shape_.with_frames(frames.shape().frames);
        validate(frames, shape, "the mixture's frames");
        validate(foreground, shape.with_channels(1), "the mixture's foreground mask");
        if (shadows.data()) validate(shadows, shape.with_channels(1), "the mixture's mask of shadows");
    }

    // CPU: updates row `y` for one frame, whose pixels are `row`.
    void update_row(std::uint64_t seen, const std::uint8_t* row, int y, std::uint32_t* foreground,
                    std::uint32_t* shadows, int row_words);

    Shape shape_;  // shape of one frame
    MixtureTerms terms_;
    MixtureLayout layout_;
    Executor* executor_;
    BackendBuffer model_;
    // CPU only: data of blocks that is kept between frames (MixtureBlocks).
    std::vector<std::uint8_t> kinds_, compared_, nearest_;
    HostBuffer means_, reaches_;
    BackendBuffer clock_;  // a MixtureClock; on CUDA a replayed graph continues its count
};

}  // namespace framewire
