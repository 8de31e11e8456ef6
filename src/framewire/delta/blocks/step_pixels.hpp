#pragma once

#include "framewire/delta/blocks/step_contexts.hpp"
#include "framewire/delta/entropy/symbols.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>

namespace framewire::delta {

/// Patterns in descending order of frequency, which is the order of the pattern model's symbols: a linear search in the
/// decoder ends early.
inline constexpr std::array<Pattern, patterns - 1> patterns_by_frequency = {
    13, 26, 2, 18, 1, 9, 6, 3, 24, 8, 12, 4, 16, 23, 17, 22, 25, 14, 20, 10, 15, 21, 7, 5, 19, 11};
/// Inverse of patterns_by_frequency: the symbol of each pattern.
inline constexpr auto pattern_ranks = [] {
    std::array<std::uint8_t, patterns> ranks{};
    for (std::size_t rank = 0; rank < patterns_by_frequency.size(); ++rank)
        ranks[patterns_by_frequency[rank]] = static_cast<std::uint8_t>(rank);
    return ranks;
}();

/// Direction of each channel per pattern: 1 up, -1 down, 0 unchanged.
inline constexpr auto pattern_signs = [] {
    std::array<std::array<std::int8_t, 3>, patterns> signs{};
    for (std::size_t pattern = 0; pattern < patterns; ++pattern) {
        auto rest = pattern;
        for (auto& sign : signs[pattern]) {
            sign = static_cast<std::int8_t>(rest % 3 == 2 ? -1 : static_cast<int>(rest % 3));
            rest /= 3;
        }
    }
    return signs;
}();

/// Adds the symbols of a changed pixel to `symbols`: its pattern, then the magnitude of each changed channel. `coded`
/// must already contain the pixel.
template <class Sink>
void add_pixel(Sink& symbols, const CodedPixels& coded, const CodedPixels::Neighbours& near, int x, int y, int channels,
               int pattern, const int* steps, bool fine) {
    const int model = pattern_model(near);
    symbols.add(channels == 1 ? step_models::sign.at(model) + (steps[0] < 0)
                              : step_models::pattern.at(model) + pattern_ranks[static_cast<std::size_t>(pattern)]);
    int before = -1, steps_before = 0;
    for (int i = 0; i < channels; ++i) {
        const int channel = channels == 1 ? 0 : channel_order[i];
        if (!steps[channel]) continue;
        const int sign = steps[channel] > 0 ? 1 : -1;
        const auto context = magnitude_context(coded, x, y, channel, sign, before, steps_before, i == 0, fine);
        const auto token = token_of(fold(std::abs(steps[channel]), context.expected));
        symbols.add(step_models::magnitude.at(context.model) + token.symbol);
        symbols.add_bits(token.value, token.bits);
        before = channel;
        steps_before = steps[channel];
    }
}

/// Reads what add_pixel() wrote: fills `steps` for all channels and updates `coded`. Inlined by force, so that the
/// reader stays in registers.
template <class Reader>
[[gnu::always_inline]] inline void read_pixel(const StepModels& models, Reader& reader, CodedPixels& coded,
                                              const CodedPixels::Neighbours& near, int x, int y, int channels,
                                              bool fine, int* steps) {
    const int model = pattern_model(near);
    const int pattern = channels == 1 ? models.read_flag(reader, step_models::sign.at(model)) ? all_down : all_up
                                      : patterns_by_frequency[static_cast<std::size_t>(models.read(
                                            reader, step_models::pattern.at(model), step_models::pattern.symbols))];
    coded.set_pattern(x, y, static_cast<Pattern>(pattern));
    const auto& signs = pattern_signs[static_cast<std::size_t>(pattern)];
    int before = -1, steps_before = 0;
    for (int i = 0; i < channels; ++i) {
        const int channel = channels == 1 ? 0 : channel_order[i];
        const int sign = signs[static_cast<std::size_t>(channel)];
        steps[channel] = 0;
        if (!sign) continue;
        const auto context = magnitude_context(coded, x, y, channel, sign, before, steps_before, i == 0, fine);
        const int symbol =
            models.read(reader, step_models::magnitude.at(context.model), step_models::magnitude.symbols);
        const int bits = token_bits(symbol);
        const int folded = folded_of(symbol, bits ? static_cast<int>(reader.bits(bits)) : 0);
        // A magnitude that is too large for a byte is rejected where the byte is reconstructed.
        steps[channel] = sign * unfold(folded, context.expected);
        coded.set_steps(x, y, channel, steps[channel]);
        before = channel;
        steps_before = steps[channel];
    }
}

}  // namespace framewire::delta
