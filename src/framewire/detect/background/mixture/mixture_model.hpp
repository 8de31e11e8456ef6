#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/core/view.hpp"

#include <cstdint>

namespace framewire {

/// The settings of MixtureBackground, with the names of OpenCV's BackgroundSubtractorMOG2 and its defaults but for the
/// history, the number of Gaussians, the least variance and the shadows: with those here more of what moves is found on
/// scenes that nobody tuned for, and in half the time.
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

    friend bool operator==(const MixtureParameters&, const MixtureParameters&) = default;
};

/// As OpenCV has them.
inline constexpr MixtureParameters opencv_mixture{.history = 500, .mixtures = 5, .var_min = 4, .shadows = true};

inline constexpr int most_mixtures = 5;

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
};

/// Throws Error{usage} on parameters that are not allowed.
MixtureTerms mixture_terms(const MixtureParameters& parameters);

/// What the update of one frame needs beside them.
struct MixtureStep {
    float keep;    ///< 1 - learning rate: what is left of a weight
    float gain;    ///< the learning rate as a weight
    float decay;   ///< what complexity reduction takes off every weight
    float offset;  ///< between -1/2 and 1/2, added before a number is rounded to nearest to be stored
};

/// The step of frame `seen` of those since the start, counted from 0. The offsets are multiples of the golden ratio:
/// any few frames in a row spread them evenly, so that what is smaller than a unit is stored that much more rarely.
FRAMEWIRE_HOST_DEVICE inline MixtureStep mixture_step(const MixtureTerms& terms, std::uint64_t seen) {
    const auto count = static_cast<float>(seen + 1);
    const float window = 2 * count < terms.history ? 2 * count : terms.history;
    const float rate = terms.learning_rate >= 0 && seen > 0 ? terms.learning_rate : 1 / window;
    const float gain = rate * weight_unit;
    const auto turn = static_cast<std::uint32_t>(seen + 1) * 0x9E3779B9u >> 25;
    const float offset = (static_cast<float>(turn) - 63.5f) / 128;  // in 256ths, as large numbers have them
    return {1 - rate, gain, gain * terms.complexity_reduction, offset};
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

/// How many frames a model has seen, and on CUDA how many blocks of the running kernel are done: the last one counts
/// the frames of its batch.
struct MixtureClock {
    std::uint64_t frames_seen;
    std::uint32_t blocks_done;
};

}  // namespace framewire
