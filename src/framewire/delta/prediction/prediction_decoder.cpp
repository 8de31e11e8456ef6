// Decoder for the form "prediction". It works pixel by pixel: a pixel's models depend on the pixels before it and, in
// sub-blocks of mode `inside`, its prediction as well. Every value from the stream is checked before it is used as an
// index or an offset.

#include "framewire/delta/prediction/prediction_decoder.hpp"

#include "framewire/delta/blocks/step_pixels.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace framewire::delta {
namespace {

// Reads a component of a vector difference.
template <class Reader>
int read_distance(const StepModels& models, Reader& reader, int model) {
    const int bits = models.read(reader, model, step_models::vector_bits.symbols);
    if (bits == 0) return 0;
    const int low = bits > 1 ? static_cast<int>(reader.bits(bits - 1)) : 0;
    const int distance = 1 << (bits - 1) | low;
    return reader.bits(1) ? -distance : distance;
}

// Reads a vector. Returns nothing if it refers to a neighbour without one, or is too long.
template <class Reader>
std::optional<MotionVector> read_vector(const StepModels& models, Reader& reader, const CodedParts::Motion& motion) {
    const int kind = models.read(reader, motion.kind_model(), step_models::vector_kind.symbols);
    if (kind == as_left) return motion.has_left ? std::optional(motion.left) : std::nullopt;
    if (kind == as_above) return motion.has_above ? std::optional(motion.above) : std::nullopt;
    auto vector = motion.near();
    vector.x += read_distance(models, reader, motion.bits_model(0));
    vector.y += read_distance(models, reader, motion.bits_model(1));
    if (std::abs(vector.x) > max_motion || std::abs(vector.y) > max_motion) return std::nullopt;
    return vector;
}

// Returns true if the prediction of a sub-block from the previous picture reads samples of avoided blocks. Sub-blocks
// with steps read one pixel more on each side, for slopes.
bool needs(const AvoidedBlocks& avoided, const BlockPlace& block, int left, int top, MotionVector vector,
           bool has_steps) {
    const auto from = [&](int at, int moved) { return at + (moved - (moved & (quarters - 1))) / quarters - has_steps; };
    const auto side = [&](int most, int moved) {
        return std::min(part_side, most) - 1 + 2 * has_steps + (moved & (quarters - 1) ? 1 : 0);
    };
    const int x = from(block.x + left, vector.x), y = from(block.y + top, vector.y);
    return avoided.has(x, y, x + side(block.width - left, vector.x), y + side(block.height - top, vector.y));
}

}  // namespace

struct PredictionDecoder::Job {
    const BlockPlace& block;
    int threshold;
    HostView<const std::uint8_t> before;
    HostView<std::uint8_t> after;
    const AvoidedBlocks* avoided;
};

bool PredictionDecoder::decode(std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                               HostView<const std::uint8_t> before, HostView<std::uint8_t> after,
                               const AvoidedBlocks* avoided) {
    return bytes_.read(bytes, [&](const auto& reader, const StepModels& models) {
        return decode(reader, models, {block, threshold, before, after, avoided});
    });
}

template <class Reader>
bool PredictionDecoder::decode(Reader reader, const StepModels& models, const Job& job) {
    const auto& [block, threshold, before, after, avoided] = job;
    coded_.clear();
    const auto size = static_cast<int>(reader.bits(Quantizer::size_bits));
    if (size >= Quantizer::sizes) return false;
    const Quantizer quantizer(threshold, size);
    const int channels = after.shape().channels;
    const HostView<const std::uint8_t> done = after;
    for (int row = 0; row < block.part_rows(); ++row)
        for (int column = 0; column < block.part_columns(); ++column) {
            const auto mode =
                static_cast<PartMode>(models.read(reader, parts_.mode_model(column, row), step_models::mode.symbols));
            // Checked once per sub-block: a reader beyond the end returns zeros and cannot do harm until then.
            if (bytes_.behind_end(reader) || (mode != PartMode::inside && !before.data())) return false;
            const int left = column * part_side, top = row * part_side;
            MotionVector vector{};
            if (mode == PartMode::moved || mode == PartMode::moved_changes) {
                const auto read = read_vector(models, reader, parts_.motion(column, row));
                if (!read) return false;
                vector = *read;
            }
            parts_.set(column, row, mode, vector);
            const bool has_steps = mode != PartMode::stays && mode != PartMode::moved;
            const auto by = mode == PartMode::inside          ? Foretold::inside
                            : mode == PartMode::moved_changes ? Foretold::moved
                                                              : Foretold::reference;
            // Damaged blocks must not spread: a block that would be predicted from one is not decoded.
            if (avoided && by != Foretold::inside && needs(*avoided, block, left, top, vector, has_steps)) return false;
            if (by != Foretold::inside) foretold_.move(before, block.x + left, block.y + top, vector);
            for (int y = top; y < std::min(top + part_side, block.height); ++y) {
                auto* pixel = after.row(0, block.y + y) + std::int64_t{block.x + left} * channels;
                for (int x = left; x < std::min(left + part_side, block.width); ++x, pixel += channels) {
                    // Prediction, then the steps if there are any, then the sample.
                    ForetoldInside foretold;
                    if (by == Foretold::inside) {
                        foretold = foretell_inside(done, block, x, y);
                    } else {
                        for (int channel = 0; channel < channels; ++channel)
                            foretold.samples[channel] = foretold_.at(x - left, y - top, channel);
                        foretold.rise = foretold_.rise(x - left, y - top, slope_channel(channels));
                    }
                    int steps[3] = {};
                    if (has_steps) {
                        const auto near = coded_.neighbours(x, y);
                        const int model = changed_model(near, by, slope_of(foretold.rise, threshold));
                        if (models.read_flag(reader, step_models::changed.at(model)))
                            read_pixel(models, reader, coded_, near, x, y, channels, quantizer.fine(), steps);
                    }
                    for (int channel = 0; channel < channels; ++channel)
                        pixel[channel] = quantizer.sample(foretold.samples[channel], steps[channel]);
                }
            }
        }
    return bytes_.at_end(reader);
}

}  // namespace framewire::delta
