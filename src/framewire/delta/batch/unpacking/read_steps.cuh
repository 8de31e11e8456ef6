#pragma once

// Only for .cu files: blocks of steps read by a warp, as ChangesDecoder and PredictionDecoder do.

#include "framewire/delta/batch/near_parts.cuh"
#include "framewire/delta/batch/step_contexts.cuh"
#include "framewire/delta/batch/unpacking/decode_job.cuh"
#include "framewire/delta/blocks/runs.hpp"
#include "framewire/delta/entropy/warp_reader.cuh"
#include "framewire/delta/prediction/foretold_formulas.hpp"
#include "framewire/delta/prediction/quantization/quantizer.hpp"

#include <cstdint>

namespace framewire::delta {

/// What decoding steps needs: the steps so far, the samples or differences, and a part as it is foretold.
template <int channels>
struct StepsMemory {
    BlockSteps<channels> block;
    std::uint8_t samples[block_side * block_side * channels];
    std::uint8_t foretold[part_side * part_side * channels], slopes[part_side * part_side];
    CodedPart parts[parts_per_row * parts_per_row];
    // Of a block in runs: the rows of its parts, and of each channel of a part that changes where its magnitudes begin,
    // and their class. The magnitudes themselves lie in `samples` until all steps are made.
    RunRow rows[block_side][parts_per_row];
    std::uint16_t begins[channels * parts_per_row * parts_per_row];
    std::uint8_t classes[channels * parts_per_row * parts_per_row];
};

/// read_pixel(): reads a pixel that changes.
template <int channels>
__device__ void read_pixel(const DecodeImages& images, WarpReader& reader, BlockSteps<channels>& block,
                           const PixelNeighbours& near, int x, int y, bool fine, int (&steps)[channels]) {
    const int model = near.pattern_model();
    int pattern;
    if constexpr (channels == 1)
        pattern = reader.read_flag(first_symbol<step_models::sign>(model)) ? 26 : 13;
    else
        pattern = __ldg(images.tables.patterns + reader.read(first_symbol<step_models::pattern>(model), 26));
    int signs[channels];
#pragma unroll
    for (int channel = 0; channel < channels; ++channel, pattern /= 3)
        signs[channel] = pattern % 3 == 2 ? -1 : pattern % 3;
    const int at = BlockSteps<channels>::at(x, y);
    __syncwarp();
    if (threadIdx.x == 0) block.traits[at] = BlockSteps<channels>::traits_of(signs);
    int before = -1, steps_before = 0;
#pragma unroll
    for (int i = 0; i < channels; ++i) {
        const int channel = coded_channel(i, channels);
        steps[channel] = 0;
        if (!signs[channel]) continue;
        const auto context =
            magnitude_context([&](int right, int down, int of) { return block.step(x + right, y + down, of); }, channel,
                              signs[channel], before, steps_before, i == 0, fine);
        const int symbol = reader.read(first_symbol<step_models::magnitude>(context.model), 20);
        const int bits = token_bits(symbol);
        const int folded = folded_of(symbol, bits ? reader.bits(bits) : 0);
        steps[channel] = signs[channel] * unfold(folded, context.expected);
        if (threadIdx.x == 0) block.steps[channel][at] = static_cast<std::int16_t>(steps[channel]);
        before = channel;
        steps_before = steps[channel];
    }
    __syncwarp();
}

__device__ inline int read_distance(WarpReader& reader, int model) {
    const int bits = reader.read(model, 9);
    if (bits == 0) return 0;
    const int low = bits > 1 ? reader.bits(bits - 1) : 0;
    const int distance = 1 << (bits - 1) | low;
    return reader.bits(1) ? -distance : distance;
}
__device__ inline bool read_vector(WarpReader& reader, const NearParts& near, MotionVector& vector) {
    const int kind = reader.read(near.kind_model(), 3);
    if (kind == as_left || kind == as_above) {
        vector = kind == as_left ? near.left.vector : near.above.vector;
        return kind == as_left ? near.has_left() : near.has_above();
    }
    vector = near.vector();
    vector.x += read_distance(reader, near.bits_model(0));
    vector.y += read_distance(reader, near.bits_model(1));
    return abs(vector.x) <= max_motion && abs(vector.y) <= max_motion;
}

// Fills a part's foretold samples and slopes, from `vector` away in the picture before.
template <int channels>
__device__ void foretell(const DecodeImages& images, const CodedBlockBytes& block, StepsMemory<channels>& memory,
                         int left, int top, MotionVector vector) {
    const int qx = vector.x & (quarters - 1), qy = vector.y & (quarters - 1);
    const int from_x = block.place.x + left + (vector.x - qx) / quarters;
    const int from_y = block.place.y + top + (vector.y - qy) / quarters;
    const auto sample = [&](int x, int y, int channel) {
        const auto row = [&](int down) {
            return images.before.row(block.stream, min(max(from_y + y + down, 0), images.frame_height - 1)) + channel;
        };
        const auto at = [&](int right) {
            return std::int64_t{min(max(from_x + x + right, 0), images.frame_width - 1)} * channels;
        };
        const auto *upper = row(0), *lower = row(1);
        const int above = upper[at(0)] * (quarters - qx) + upper[at(1)] * qx;
        const int below = lower[at(0)] * (quarters - qx) + lower[at(1)] * qx;
        return (above * (quarters - qy) + below * qy + 8) / 16;
    };
    constexpr int slope_from = slope_channel(channels);
    for (int i = static_cast<int>(threadIdx.x); i < part_side * part_side; i += 32) {
        const int x = i % part_side, y = i / part_side;
#pragma unroll
        for (int channel = 0; channel < channels; ++channel)
            memory.foretold[i * channels + channel] = static_cast<std::uint8_t>(sample(x, y, channel));
        const int rise = max(abs(sample(x + 1, y, slope_from) - sample(x - 1, y, slope_from)),
                             abs(sample(x, y + 1, slope_from) - sample(x, y - 1, slope_from)));
        memory.slopes[i] = static_cast<std::uint8_t>(slope_of(rise, block.threshold));
    }
    __syncwarp();
}

// A pixel as its neighbours in the block foretell it; returns the rise.
template <int channels>
__device__ int foretell_inside(const StepsMemory<channels>& memory, int x, int y, int (&foretold)[channels]) {
    const auto sample = [&](int right, int down, int channel) -> int {
        return memory.samples[BlockSteps<channels>::at(x + right, y + down) * channels + channel];
    };
    int rise = 0;
#pragma unroll
    for (int channel = 0; channel < channels; ++channel) {
        foretold[channel] = 128;
        if (x && y) {
            const int left = sample(-1, 0, channel), above = sample(0, -1, channel), corner = sample(-1, -1, channel);
            foretold[channel] = min(max(left + above - corner, min(left, above)), max(left, above));
            if (channel == slope_channel(channels)) rise = max(abs(left - corner), abs(above - corner));
        } else if (x) {
            foretold[channel] = sample(-1, 0, channel);
        } else if (y) {
            foretold[channel] = sample(0, -1, channel);
        }
    }
    return rise;
}

// Reads a block of changes into `samples` as differences, or one that is foretold as it is then.
template <int channels>
__device__ bool read_steps(const DecodeImages& images, const CodedBlockBytes& of, StepsMemory<channels>& memory,
                           bool changes, bool fresh) {
    clear_memory(&memory, sizeof(memory));
    WarpWords words(of.bytes, of.size);
    WarpReader reader(words, images.tables.step_ranges);
    reader.use(images.tables.step_ranges + reader.bits(step_states::set_bits) * step_models::symbols);
    reader.use_turns(reader.read_states());
    const int size = changes ? 0 : reader.bits(Quantizer::size_bits);
    if (size >= Quantizer::sizes) return false;
    const Quantizer quantizer(of.threshold, size);
    for (int row = 0; row < of.place.part_rows(); ++row)
        for (int column = 0; column < of.place.part_columns(); ++column) {
            const int index = row * parts_per_row + column, left = column * part_side, top = row * part_side;
            const NearParts near(memory.parts, index);
            const auto mode = static_cast<PartMode>(reader.read(near.mode_model(), 5));
            if (changes ? mode != PartMode::stays && mode != PartMode::changes : fresh && mode != PartMode::inside)
                return false;
            MotionVector vector{};
            if ((mode == PartMode::moved || mode == PartMode::moved_changes) && !read_vector(reader, near, vector))
                return false;
            __syncwarp();
            if (threadIdx.x == 0) memory.parts[index] = {static_cast<std::uint8_t>(mode), vector};
            __syncwarp();
            const bool has_steps = mode != PartMode::stays && mode != PartMode::moved;
            if (changes && !has_steps) continue;
            const auto by = changes                           ? Foretold::differences
                            : mode == PartMode::inside        ? Foretold::inside
                            : mode == PartMode::moved_changes ? Foretold::moved
                                                              : Foretold::reference;
            const bool from_before = by == Foretold::moved || by == Foretold::reference;
            if (from_before) foretell(images, of, memory, left, top, vector);
            for (int y = top; y < min(top + part_side, of.place.height); ++y)
                for (int x = left; x < min(left + part_side, of.place.width); ++x) {
                    int foretold[channels] = {}, steps[channels] = {}, slope = 0;
                    if (from_before) {
                        const int at = (y - top) * part_side + x - left;
#pragma unroll
                        for (int channel = 0; channel < channels; ++channel)
                            foretold[channel] = memory.foretold[at * channels + channel];
                        slope = memory.slopes[at];
                    } else if (by == Foretold::inside) {
                        slope = slope_of(foretell_inside(memory, x, y, foretold), of.threshold);
                    }
                    if (has_steps) {
                        const auto beside = neighbours_of(memory.block, x, y);
                        const int model = changed_model(beside.left.extent(), beside.above.extent(), beside.corners(),
                                                        beside.second, by, slope);
                        if (reader.read_flag(first_symbol<step_models::changed>(model)))
                            read_pixel(images, reader, memory.block, beside, x, y, changes || quantizer.fine(), steps);
                    }
                    auto* const sample = memory.samples + BlockSteps<channels>::at(x, y) * channels;
                    bool too_far = false;
#pragma unroll
                    for (int channel = 0; channel < channels; ++channel) {
                        std::uint8_t value;
                        if (changes) {
                            const int far = abs(steps[channel]) + of.threshold;
                            too_far |= steps[channel] && far > 255;
                            value = static_cast<std::uint8_t>(steps[channel] == 0  ? 0
                                                              : steps[channel] > 0 ? far
                                                                                   : -far);
                        } else {
                            value = quantizer.sample(foretold[channel], steps[channel]);
                        }
                        if (threadIdx.x == 0) sample[channel] = value;
                    }
                    if (too_far) return false;
                    __syncwarp();
                }
        }
    return words.at_end() && reader.at_end();
}

}  // namespace framewire::delta
