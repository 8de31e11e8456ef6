#include "framewire/delta/blocks/step_pixels.hpp"

namespace framewire::delta {
void read_pixel(const StepModels& models, rans::Reader& reader, CodedPixels& coded, const CodedPixels::Neighbours& near,
                int x, int y, int channels, bool fine, int* steps) {
    const int model = pattern_model(near);
    const int pattern = channels == 1 ? models.read_flag(reader, step_models::sign.at(model)) ? all_down : all_up
                                      : patterns_by_frequency[static_cast<std::size_t>(models.read(
                                            reader, step_models::pattern.at(model), step_models::pattern.symbols))];
    coded.set_pattern(x, y, static_cast<Pattern>(pattern));
    constexpr int weights[3] = {1, 3, 9};
    int before = -1, steps_before = 0;
    for (int channel = 0; channel < channels; ++channel) steps[channel] = 0;
    for (int i = 0; i < channels; ++i) {
        const int channel = channels == 1 ? 0 : channel_order[i];
        const int digit = pattern / weights[channel] % 3;
        if (!digit) continue;
        const int sign = digit == 1 ? 1 : -1;
        const auto context = magnitude_context(coded, x, y, channel, sign, before, steps_before, i == 0, fine);
        const int symbol =
            models.read(reader, step_models::magnitude.at(context.model), step_models::magnitude.symbols);
        const int bits = token_bits(symbol);
        const int folded = folded_of(symbol, bits ? static_cast<int>(reader.bits(bits)) : 0);
        // Too large a number is refused by whoever makes a byte of it.
        steps[channel] = sign * unfold(folded, context.expected);
        coded.set_steps(x, y, channel, steps[channel]);
        before = channel;
        steps_before = steps[channel];
    }
}

}  // namespace framewire::delta
