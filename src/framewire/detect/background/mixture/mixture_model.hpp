#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/core/view.hpp"

#include <cstdint>

namespace framewire {

/// The settings of MixtureBackground, with the names of OpenCV's BackgroundSubtractorMOG2 and its defaults but for the
/// history, the number of Gaussians, the least variance and the shadows: with those here more of what moves is found on
/// scenes that nobody tuned for, and in half the time. OpenCV learns from every frame.
struct MixtureParameters {
    int history = 200;            ///< frames that the model remembers
    float var_threshold = 16;     ///< squared distance, in variances, within which a pixel is background
    float var_threshold_gen = 9;  ///< the same within which it belongs to a Gaussian, which then learns from it
    int mixtures = 3;             ///< Gaussians a pixel may have, 1 to most_mixtures
    float var_init = 15;          ///< variance of a new Gaussian; variances are up to 255
    float var_min = 15;
    float var_max = 75;
    float complexity_reduction = 0.05f;  ///< share of the history that proves a Gaussian; 0 keeps all
    float background_ratio = 0.9f;       ///< the weightiest Gaussians up to this sum of weights are background
    bool shadows = false;           ///< tell shadows from what moves; in gray frames all that is darker is like one
    float shadow_threshold = 0.5f;  ///< how dark a shadow may be, as a share of the background
    float learning_rate = -1;       ///< 0 to 1; -1 is automatic: 1 / min(2 n, history) for the n-th frame
    int learn_every = 6;            ///< a row learns from one of so many frames, rows by turns; 1 to most_learn_every

    friend bool operator==(const MixtureParameters&, const MixtureParameters&) = default;
};

/// As OpenCV has them.
inline constexpr MixtureParameters opencv_mixture{
    .history = 500, .mixtures = 5, .var_min = 4, .shadows = true, .learn_every = 1};

inline constexpr int most_mixtures = 5;
inline constexpr int most_learn_every = 32;

template <class Aggregate>
class ParameterFields;

/// Their ranges and what is said of them; `--background mixture:history=200` goes by them.
const ParameterFields<MixtureParameters>& mixture_fields();

/// Numbers of a pixel's model are stored as 16 bits: weights in units of 1/65536 (1 itself is 65535), variances and
/// means in units of 1/256. Float arithmetic works on the stored units.
inline constexpr float weight_unit = 65536;
inline constexpr float value_unit = 256;
inline constexpr float most_stored = 65535;

/// The parameters in the stored units, as the update uses them.
struct MixtureTerms {
    int mixtures;
    bool shadows;
    float history;
    float learning_rate;
    float complexity_reduction;
    float background_distance, near_distance;  ///< squared distance over variance
    float background_weight;
    float var_init, var_min, var_max;
    float shadow_threshold;
    int learn_every;
};

/// Throws Error{usage} on parameters that are not allowed.
MixtureTerms mixture_terms(const MixtureParameters& parameters);

/// What the update of one frame needs beside them.
struct MixtureStep {
    float keep;    ///< 1 - learning rate: what is left of a weight
    float gain;    ///< the learning rate as a weight
    float decay;   ///< what complexity reduction takes off every weight
    float offset;  ///< between -1/2 and 1/2, added before a number is rounded to nearest to be stored
    int turn;      ///< rows with this rest by learn_every learn, -1: all; of the others what moves is told
};

/// Whether row `y` learns from the step's frame.
FRAMEWIRE_HOST_DEVICE inline bool mixture_learns(const MixtureTerms& terms, const MixtureStep& step, int y) {
    return step.turn < 0 || y % terms.learn_every == step.turn;
}

/// How many frames there are of which every row learns from each; after them rows take turns.
FRAMEWIRE_HOST_DEVICE inline std::uint64_t mixture_first_frames(const MixtureTerms& terms) {
    return 4 * static_cast<std::uint64_t>(terms.learn_every);
}

/// A stored mean as a whole level, rounded to nearest.
FRAMEWIRE_HOST_DEVICE inline float mixture_level(float mean) {
    return static_cast<float>((static_cast<int>(mean) + 128) >> 8);
}

inline constexpr float most_reach = 65535;

/// A pixel of a row that does not learn is background where the squared distance of its levels from a Gaussian's is
/// below this, which need not be whole. `variance` is a stored one.
FRAMEWIRE_HOST_DEVICE inline float mixture_reach(const MixtureTerms& terms, float variance) {
    const float reach = terms.background_distance * variance * (1 / (value_unit * value_unit));
    return reach < most_reach ? reach : most_reach;
}

/// The step of frame `seen` for the rows that learn from it: where they take turns, one step has the rate of the frames
/// of a turn together. The offsets are multiples of the golden ratio: any few steps in a row spread them evenly, so
/// that what is smaller than a unit is stored that much more rarely.
FRAMEWIRE_HOST_DEVICE inline MixtureStep mixture_step(const MixtureTerms& terms, std::uint64_t seen) {
    const auto first_frames = mixture_first_frames(terms);
    const bool turns = seen >= first_frames;
    const auto count = static_cast<float>(seen + 1);
    const float window = 2 * count < terms.history ? 2 * count : terms.history;
    const float frame_rate = terms.learning_rate >= 0 && seen > 0 ? terms.learning_rate : 1 / window;
    const float turn_rate = frame_rate * static_cast<float>(turns ? terms.learn_every : 1);
    const float rate = turn_rate < 1 ? turn_rate : 1;
    const float gain = rate * weight_unit;
    // Of a row's steps, counted from 1.
    const auto step =
        1 + (turns ? first_frames + (seen - first_frames) / static_cast<std::uint32_t>(terms.learn_every) : seen);
    const auto turn = static_cast<std::uint32_t>(step) * 0x9E3779B9u >> 25;
    const float offset = (static_cast<float>(turn) - 63.5f) / 128;  // in 256ths, as large numbers have them
    const auto rest = static_cast<int>(seen % static_cast<std::uint32_t>(terms.learn_every));
    return {1 - rate, gain, gain * terms.complexity_reduction, offset, turns ? terms.learn_every - 1 - rest : -1};
}

/// Where a model's 16-bit numbers lie. Pixels go in blocks of 32 of one row; a block has 32 weights for each Gaussian,
/// and for each Gaussian 32 variances and then 32 means for each channel. Gaussians are in the order of their weights,
/// and those not in use have weight 0. The weights of all blocks' first Gaussians come first, then those of the second
/// ones, ..., then the variances and means in the same way: what is not in use is not touched.
struct MixtureLayout {
    static constexpr int block_px = 32;

    int channels;
    int mixtures;
    int row_blocks;
    std::int64_t blocks;

    MixtureLayout(const Shape& shape, int mixtures_each)
        : channels(shape.channels),
          mixtures(mixtures_each),
          row_blocks((shape.width + block_px - 1) / block_px),
          blocks(std::int64_t{row_blocks} * shape.height) {}

    FRAMEWIRE_HOST_DEVICE std::int64_t weights(int mode, std::int64_t block) const {
        return (mode * blocks + block) * block_px;
    }
    /// Of the variances; the means of channel c follow (c + 1) * block_px later.
    FRAMEWIRE_HOST_DEVICE std::int64_t features(int mode, std::int64_t block) const {
        return (mixtures * blocks + (mode * blocks + block) * (1 + channels)) * block_px;
    }
    std::int64_t weight_bytes() const { return mixtures * blocks * block_px * std::int64_t{sizeof(std::uint16_t)}; }
    std::int64_t bytes() const { return weight_bytes() * (2 + channels); }
};

/// A model in the memory of the CPU, with what is known of its blocks between frames: what its pixels are compared with
/// where they do not learn, in whole levels.
struct MixtureBlocks {
    std::uint16_t* model;
    std::uint8_t* kinds;     ///< of each block: how many modes its pixels use
    std::uint8_t* compared;  ///< of each block: how many of them are any pixel's background
    std::uint8_t* means;     ///< of each mode, block and channel: 32 mixture_level()s
    std::uint16_t* reaches;  ///< of each mode and block: 32 mixture_reach()es; 0 where a mode is not background
    std::uint8_t* nearest;   ///< of each block: the least reach of its first modes, 255 at most
};

/// How many frames a model has seen, and on CUDA how many blocks of the running kernel are done: the last one counts
/// the frames of its batch.
struct MixtureClock {
    std::uint64_t frames_seen;
    std::uint32_t blocks_done;
};

}  // namespace framewire
