#pragma once

#include "framewire/core/view.hpp"
#include "framewire/detect/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace framewire {

/// Reference implementation: the mixture of Gaussians as in the papers, pixel by pixel. Tests and benchmarks
/// compare with it. It must be compiled without fused multiply-add (-ffp-contract=off).
class MixtureReference {
public:
    /// One Gaussian, in stored units.
    struct Mode {
        float weight = 0, variance = 0, mean[3] = {};
    };
    /// The Gaussians of a pixel, heaviest first; unused ones are not stored.
    struct Pixel {
        std::vector<Mode> modes;
    };
    /// Classification of a pixel in one frame.
    enum class Verdict : std::uint8_t { background, shadow, foreground };

    /// Makes a model that has seen no frame.
    MixtureReference(const MixtureTerms& terms, const Shape& shape)
        : terms_(terms),
          shape_(shape.with_frames(1)),
          pixels_(static_cast<std::size_t>(shape.height) * static_cast<std::size_t>(shape.width)) {}

    /// Writes 255 to `foreground` for foreground pixels and to `shadows` for shadow pixels, else 0; both have one
    /// channel.
    void run(HostView<const std::uint8_t> frames, HostView<std::uint8_t> foreground, HostView<std::uint8_t> shadows) {
        for (int frame = 0; frame < frames.shape().frames; ++frame, ++seen_) {
            const auto step = mixture_step(terms_, seen_);
            for (int y = 0; y < shape_.height; ++y)
                for (int x = 0; x < shape_.width; ++x) {
                    float values[3] = {};
                    for (int c = 0; c < shape_.channels; ++c)
                        values[c] = value_unit * static_cast<float>(frames.row(frame, y)[x * shape_.channels + c]);
                    const auto verdict = mixture_learns(terms_, step, y) ? update(pixel(x, y), values, step)
                                                                         : classify(pixel(x, y), values);
                    foreground.row(frame, y)[x] = verdict == Verdict::foreground ? 255 : 0;
                    shadows.row(frame, y)[x] = verdict == Verdict::shadow ? 255 : 0;
                }
        }
    }

    /// Draws the mean of the heaviest Gaussian of each pixel, rounded half up; 0 if it has none.
    void draw_background(HostView<std::uint8_t> picture) {
        for (int y = 0; y < shape_.height; ++y)
            for (int x = 0; x < shape_.width; ++x)
                for (int c = 0; c < shape_.channels; ++c) {
                    const auto& modes = pixel(x, y).modes;
                    const auto mean = modes.empty() ? 0 : static_cast<int>(modes[0].mean[c]);
                    picture.row(0, y)[x * shape_.channels + c] = static_cast<std::uint8_t>((mean + 128) / 256);
                }
    }

    /// Returns the model of a pixel, for tests that inspect it.
    Pixel& pixel(int x, int y) {
        return pixels_[static_cast<std::size_t>(y) * static_cast<std::size_t>(shape_.width) +
                       static_cast<std::size_t>(x)];
    }

private:
    // Adds the dithering offset and rounds to nearest, half to even.
    static float stored(float value, const MixtureStep& step) { return std::nearbyint(value + step.offset); }

    // Returns the dot product, with the same order of operations as the other implementations.
    float product(const float* a, const float* b) const {
        float sum = a[0] * b[0];
        for (int c = 1; c < shape_.channels; ++c) sum = sum + a[c] * b[c];
        return sum;
    }

    // Learns from a frame and classifies the pixel: all weights decay, the first near Gaussian learns, weights are
    // normalised, and a pixel without a near Gaussian starts one.
    Verdict update(Pixel& pixel, const float* values, const MixtureStep& step) const {
        auto& modes = pixel.modes;
        bool background = modes.empty(), matched = false;
        float total = 0;
        for (std::size_t index = 0; index < modes.size(); ++index) {
            auto& mode = modes[index];
            mode.weight = step.keep * mode.weight - step.decay;
            float difference[3] = {};
            for (int c = 0; c < shape_.channels; ++c) difference[c] = mode.mean[c] - values[c];
            const float distance = product(difference, difference);
            if (!matched && total < terms_.background_weight && distance < terms_.background_distance * mode.variance)
                background = true;
            const bool near = !matched && distance < terms_.near_distance * mode.variance;
            if (near) {
                matched = true;
                mode.weight += step.gain;
                const float share = std::min(step.gain / mode.weight, 1.0f);
                for (int c = 0; c < shape_.channels; ++c)
                    mode.mean[c] = stored(mode.mean[c] - share * difference[c], step);
                const float variance = mode.variance + share * (distance / value_unit - mode.variance);
                mode.variance = stored(std::clamp(variance, terms_.var_min, terms_.var_max), step);
            }
            if (mode.weight < step.decay) mode.weight = 0;
            total += mode.weight;
            if (near)
                for (auto place = index; place > 0 && modes[place].weight >= modes[place - 1].weight; --place)
                    std::swap(modes[place], modes[place - 1]);
        }
        const float factor = weight_unit / (total > 0 ? total : 1);
        for (auto& mode : modes) mode.weight = std::min(mode.weight * factor, most_stored);
        std::erase_if(modes, [](const Mode& mode) { return mode.weight == 0; });

        auto verdict = background ? Verdict::background : Verdict::foreground;
        if (!background && terms_.shadows && is_shadow(modes, values)) verdict = Verdict::shadow;
        if (!matched && step.gain > 0) begin_mode(modes, values, step);
        for (auto& mode : modes) mode.weight = stored(mode.weight, step);
        std::erase_if(modes, [](const Mode& mode) { return mode.weight == 0; });
        return verdict;
    }

    // Classifies a pixel of a row that does not learn: compares it with the background modes in whole levels.
    Verdict classify(const Pixel& pixel, const float* values) const {
        const auto& modes = pixel.modes;
        float total = 0;
        for (const auto& mode : modes) {
            if (!(total < terms_.background_weight)) break;
            float levels[3] = {};
            for (int c = 0; c < shape_.channels; ++c) levels[c] = mixture_level(mode.mean[c]) - values[c] / value_unit;
            if (product(levels, levels) < mixture_reach(terms_, mode.variance)) return Verdict::background;
            total += mode.weight;
        }
        return terms_.shadows && is_shadow(modes, values) ? Verdict::shadow : Verdict::foreground;
    }

    // Returns true if the pixel is a shadow: a scaled-down background colour is near it (Prati et al. 2003).
    bool is_shadow(const std::vector<Mode>& modes, const float* values) const {
        float total = 0;
        for (const auto& mode : modes) {
            const float dot = product(values, mode.mean), square = product(mode.mean, mode.mean);
            if (square == 0) return false;
            if (dot <= square && dot >= terms_.shadow_threshold * square) {
                const float ratio = dot / square;
                float rest[3] = {};
                for (int c = 0; c < shape_.channels; ++c) rest[c] = ratio * mode.mean[c] - values[c];
                if (product(rest, rest) < terms_.background_distance * mode.variance * ratio * ratio) return true;
            }
            total += mode.weight;
            if (total > terms_.background_weight) return false;
        }
        return false;
    }

    // Starts a Gaussian, which replaces the lightest one if all are in use, and keeps the list sorted.
    void begin_mode(std::vector<Mode>& modes, const float* values, const MixtureStep& step) const {
        if (modes.size() == static_cast<std::size_t>(terms_.mixtures)) modes.pop_back();
        for (auto& mode : modes) mode.weight *= step.keep;
        Mode fresh{modes.empty() || modes[0].weight == 0 ? most_stored : step.gain, terms_.var_init, {}};
        std::copy_n(values, shape_.channels, fresh.mean);
        auto place = modes.end();
        while (place != modes.begin() && !(place[-1].weight > fresh.weight)) --place;
        modes.insert(place, fresh);
    }

    MixtureTerms terms_;
    Shape shape_;
    std::vector<Pixel> pixels_;
    std::uint64_t seen_ = 0;
};

}  // namespace framewire
