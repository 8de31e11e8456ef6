#include "framewire/delta/blocks/changes_coder.hpp"

#include "framewire/delta/blocks/step_pixels.hpp"

#include <algorithm>
#include <cstring>

namespace framewire::delta {
namespace {

/// What a part of a block in this form is. The other modes belong to the form "prediction".
constexpr int part_stays = 0, part_changes_mode = 1, no_part = 5;

/// The model of a part's mode, by those to its left and above it.
int mode_model(int left, int above) { return left * 6 + above; }

/// The modes of a block's parts coded so far.
struct PartModes {
    std::uint8_t of[parts_per_row][parts_per_row];
    int model(int column, int row) const {
        return mode_model(column ? of[row][column - 1] : no_part, row ? of[row - 1][column] : no_part);
    }
};

bool part_changes(HostView<const std::uint8_t> differences, int x, int y, int width, int height) {
    const auto channels = differences.shape().channels;
    std::uint8_t any = 0;
    for (int row = y; row < y + height; ++row) {
        const auto* byte = differences.row(0, row) + std::int64_t{x} * channels;
        for (int i = 0; i < width * channels; ++i) any |= byte[i];
    }
    return any != 0;
}

/// The steps of a difference other than 0: how far beyond the threshold, with its sign. Differences count modulo 256,
/// so each stands for two numbers, at least one of them beyond the threshold. The one nearer to `like`, what neighbours
/// changed by, is most often the one that was before the modulus.
int steps_of(std::uint8_t difference, int threshold, int like) {
    const int positive = difference, negative = difference - 256;
    const bool up =
        -negative <= threshold || (positive > threshold && std::abs(positive - like) < std::abs(negative - like));
    return up ? positive - threshold : negative + threshold;
}

}  // namespace

void ChangesEncoder::encode(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold,
                            std::vector<std::uint8_t>& out) {
    coded_.clear();
    symbols_.clear();
    PartModes modes;
    for (int row = 0; row < block.part_rows(); ++row)
        for (int column = 0; column < block.part_columns(); ++column) {
            const int left = column * part_side, top = row * part_side;
            const bool any =
                part_changes(differences, block.x + left, block.y + top, std::min(part_side, block.width - left),
                             std::min(part_side, block.height - top));
            const int mode = any ? part_changes_mode : part_stays;
            symbols_.add(step_models::mode.at(modes.model(column, row)) + mode);
            modes.of[row][column] = static_cast<std::uint8_t>(mode);
            if (any) add_part(differences, block, threshold, left, top);
        }
    symbols_.write(out);
}

void ChangesEncoder::add_part(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold,
                              int left, int top) {
    const int channels = differences.shape().channels;
    for (int y = top; y < std::min(top + part_side, block.height); ++y) {
        const auto* pixel = differences.row(0, block.y + y) + std::int64_t{block.x + left} * channels;
        for (int x = left; x < std::min(left + part_side, block.width); ++x, pixel += channels) {
            const auto near = coded_.neighbours(x, y);
            const auto changed = step_models::changed.at(changed_model(near, Foretold::differences, 0));
            int steps[3], pattern = 0;
            constexpr int gray_weight[] = {all_up}, weights[] = {1, 3, 9};
            int like_before = 0;
            for (int i = 0; i < channels; ++i) {
                const int channel = channels == 1 ? 0 : channel_order[i];
                steps[channel] = 0;
                if (pixel[channel]) {
                    int like = like_before;
                    if (!like) like = coded_.steps(x - 1, y, channel) + coded_.steps(x, y - 1, channel);
                    steps[channel] = steps_of(pixel[channel], threshold, like);
                    like_before = steps[channel];
                    pattern += (channels == 1 ? gray_weight : weights)[channel] * (steps[channel] > 0 ? 1 : 2);
                }
                coded_.set_steps(x, y, channel, steps[channel]);
            }
            symbols_.add(changed + (pattern != 0));
            if (!pattern) continue;
            coded_.set_pattern(x, y, static_cast<Pattern>(pattern));
            add_pixel(symbols_, coded_, near, x, y, channels, pattern, steps, true);
        }
    }
}

int ChangesDecoder::decode(std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                           HostView<std::uint8_t> differences) {
    coded_.clear();
    rans::Words words(bytes);
    rans::Reader reader(words);
    const auto& models = read_set(reader);
    const int channels = differences.shape().channels;
    PartModes modes;
    int count = 0;
    for (int row = 0; row < block.part_rows(); ++row)
        for (int column = 0; column < block.part_columns(); ++column) {
            const auto mode =
                models.read(reader, step_models::mode.at(modes.model(column, row)), step_models::mode.symbols);
            if (mode > part_changes_mode) return -1;
            modes.of[row][column] = static_cast<std::uint8_t>(mode);
            if (mode == part_stays) continue;
            const int left = column * part_side, top = row * part_side;
            for (int y = top; y < std::min(top + part_side, block.height); ++y) {
                auto* pixel = differences.row(0, block.y + y) + std::int64_t{block.x + left} * channels;
                for (int x = left; x < std::min(left + part_side, block.width); ++x, pixel += channels) {
                    const auto near = coded_.neighbours(x, y);
                    if (!models.read_flag(reader,
                                          step_models::changed.at(changed_model(near, Foretold::differences, 0))))
                        continue;
                    int steps[3];
                    read_pixel(models, reader, coded_, near, x, y, channels, true, steps);
                    for (int channel = 0; channel < channels; ++channel) {
                        if (!steps[channel]) continue;
                        const int far = std::abs(steps[channel]) + threshold;
                        if (far > 255) return -1;
                        pixel[channel] = static_cast<std::uint8_t>(steps[channel] > 0 ? far : -far);
                        ++count;
                    }
                }
            }
        }
    return words.at_end() && reader.at_end() ? count : -1;
}

}  // namespace framewire::delta
