#pragma once

// Only for .cu files: blocks in runs read by a warp, as RunsReader does.

#include "framewire/cuda/kernel/scan.cuh"
#include "framewire/delta/batch/near_parts.cuh"
#include "framewire/delta/batch/unpacking/read_residuals.cuh"
#include "framewire/delta/batch/unpacking/read_steps.cuh"
#include "framewire/delta/blocks/runs.hpp"

#include <cstdint>

namespace framewire::delta {

/// Reads the pattern of a pixel of a mixed row: 0 if it stays. Lanes hold the same.
template <int channels>
__device__ int read_pattern(const DecodeImages& images, WarpReader& reader, const BlockSteps<channels>& block, int x,
                            int y) {
    const auto near = neighbours_of(block, x, y);
    const int changed =
        changed_model(near.left.extent(), near.above.extent(), near.corners(), near.second, Foretold::differences, 0);
    if (!reader.read_flag(first_symbol<step_models::changed>(changed))) return 0;
    const int model = near.pattern_model();
    if constexpr (channels == 1)
        return reader.read_flag(first_symbol<step_models::sign>(model)) ? 26 : 13;
    else
        return __ldg(images.tables.patterns + reader.read(first_symbol<step_models::pattern>(model), 26));
}

// Reads which pixels of a part change and how: leaves 1 or -1 as their steps, and their traits.
template <int channels>
__device__ bool read_run_rows(const DecodeImages& images, WarpReader& reader, StepsMemory<channels>& memory,
                              const BlockPlace& place, int left, int top) {
    auto& block = memory.block;
    const int lane = static_cast<int>(threadIdx.x), column = left / part_side;
    const int width = min(part_side, place.width - left);
    for (int y = top; y < min(top + part_side, place.height); ++y) {
        const auto above = y > 0 ? memory.rows[y - 1][column] : RunRow{};
        const int model = RunRow::model(above, block.traits_at(left - 1, y).direction());
        RunRow row{static_cast<RowKind>(reader.read(first_symbol<step_models::row>(model), 8)), 0};
        if (RunRow::has_edge(row.kind)) {
            row.edge =
                static_cast<std::uint8_t>(reader.read(first_symbol<step_models::edge>(row.edge_model(above)), 8));
            if (row.edge == 0 || row.edge >= width) return false;
        }
        const auto set = [&](int x, int pattern) {
            int signs[channels];
#pragma unroll
            for (int channel = 0; channel < channels; ++channel, pattern /= 3) {
                signs[channel] = pattern % 3 == 2 ? -1 : pattern % 3;
                block.steps[channel][BlockSteps<channels>::at(left + x, y)] = static_cast<std::int16_t>(signs[channel]);
            }
            block.traits[BlockSteps<channels>::at(left + x, y)] = BlockSteps<channels>::traits_of(signs);
        };
        __syncwarp();
        if (lane == 0) memory.rows[y][column] = row;
        if (row.kind == RowKind::mixed) {
            for (int x = 0; x < width; ++x) {
                const int pattern = read_pattern(images, reader, block, left + x, y);
                __syncwarp();
                if (lane == 0) set(x, pattern);
                __syncwarp();
            }
        } else {
            const auto pixels = row.pixels(width);
            if (lane < width && pixels >> lane & 1) set(lane, row.goes_down() ? 26 : 13);
            __syncwarp();
        }
    }
    return true;
}

// Makes the steps of a part from its folded magnitudes: a lane for each row of each channel. A row is one pixel behind
// the one above it, a channel one behind the one before. `list`: the first one of the part.
template <int channels>
__device__ void make_run_part(StepsMemory<channels>& memory, int left, int top, int list) {
    auto& block = memory.block;
    const int lane = static_cast<int>(threadIdx.x), i = lane / part_side, y = top + lane % part_side;
    const bool has_row = i < channels;
    const int channel = coded_channel(i, channels);
    // Which pixels of the row change in this channel; nothing outside the block does.
    unsigned changed = 0;
    int sign[part_side];
#pragma unroll
    for (int x = 0; x < part_side; ++x) {
        sign[x] = has_row ? block.steps[channel][BlockSteps<channels>::at(left + x, y)] : 0;
        changed |= static_cast<unsigned>(sign[x] != 0) << x;
    }
    const int count = __popc(changed);
    int up_to = count;
#pragma unroll
    for (int step = 1; step < part_side; step *= 2) {
        const int other = __shfl_up_sync(~0u, up_to, step, part_side);
        if (lane % part_side >= step) up_to += other;
    }
    // Lists of channels without magnitudes are not there.
    const auto of_channel = static_cast<unsigned>(__ballot_sync(~0u, count != 0));
    for (int before = 0; before < i && has_row; ++before) list += (of_channel >> (part_side * before) & 0xFFu) != 0;
    const std::uint8_t* const folded = memory.samples + (changed ? memory.begins[list] : 0) + up_to - count;
    for (int turn = 0; turn < 2 * part_side - 1 + channels - 1; ++turn) {
        const int x = turn - lane % part_side - i;
        int steps = 0;
        const bool changes = x >= 0 && x < part_side && (changed >> x & 1);
        const int at = BlockSteps<channels>::at(left + x, y);
        if (changes) {
            const int own = block.steps[channel][at] > 0 ? 1 : -1;
            int before = -1;
            for (int other = 0; other < i; ++other)
                if (const int of = coded_channel(other, channels); block.steps[of][at]) before = of;
            const auto context = magnitude_context(
                [&](int right, int down, int of) { return block.step(left + x + right, y + down, of); }, channel, own,
                before, before >= 0 ? block.steps[before][at] : 0, i == 0, true);
            steps = own * unfold_within(folded[__popc(changed & ((1u << x) - 1))], context.expected);
        }
        __syncwarp();
        if (changes) block.steps[channel][at] = static_cast<std::int16_t>(steps);
        __syncwarp();
    }
}

// Reads a block in runs, behind what says that it is one, into `samples` as differences.
template <int channels>
__device__ bool read_runs(const DecodeImages& images, const CodedBlockBytes& of, StepsMemory<channels>& memory) {
    clear_memory(&memory, sizeof(memory));
    const int lane = static_cast<int>(threadIdx.x);
    const auto* const bytes = of.bytes + step_states::form_bytes;
    const auto size = of.size - static_cast<std::uint32_t>(step_states::form_bytes);
    WarpWords words(bytes, size);
    WarpReader reader(words, images.tables.step_ranges);
    reader.use(images.tables.step_ranges + reader.bits(step_states::set_bits) * step_models::symbols);
    reader.use_turns(reader.read_states());
    int lists = 0, magnitudes = 0, classes[channels] = {};
    for (int row = 0; row < of.place.part_rows(); ++row)
        for (int column = 0; column < of.place.part_columns(); ++column) {
            const int index = row * parts_per_row + column, left = column * part_side, top = row * part_side;
            const NearParts near(memory.parts, index);
            const auto mode = static_cast<PartMode>(reader.read(near.mode_model(), 5));
            if (mode != PartMode::stays && mode != PartMode::changes) return false;
            __syncwarp();
            if (lane == 0) memory.parts[index] = {static_cast<std::uint8_t>(mode), {}};
            __syncwarp();
            if (mode == PartMode::stays) continue;
            if (!read_run_rows(images, reader, memory, of.place, left, top)) return false;
#pragma unroll
            for (int i = 0; i < channels; ++i) {
                int count = 0;
                for (int pixel = lane; pixel < part_side * part_side; pixel += 32) {
                    const int at = BlockSteps<channels>::at(left + pixel % part_side, top + pixel / part_side);
                    count += __popc(__ballot_sync(~0u, memory.block.steps[coded_channel(i, channels)][at] != 0));
                }
                if (!count) continue;
                classes[i] = reader.read(first_symbol<step_models::part_class>(part_class_model(classes[i], i == 0)),
                                         picture_models::classes);
                __syncwarp();
                if (lane == 0) {
                    memory.begins[lists] = static_cast<std::uint16_t>(magnitudes);
                    memory.classes[lists] = static_cast<std::uint8_t>(classes[i]);
                }
                ++lists;
                magnitudes += count;
            }
        }
    __syncwarp();
    if (words.overrun() || !reader.at_end()) return false;
    if (!read_residuals(images.tables, {memory.begins, memory.classes, lists, magnitudes}, memory.samples,
                        {bytes, size, words.words_read()}))
        return false;
    bool broken = false;
    for (int i = lane; i < magnitudes; i += 32) broken |= memory.samples[i] == max_steps;
    if (__any_sync(~0u, broken)) return false;

    int list = 0;
    for (int row = 0; row < of.place.part_rows(); ++row)
        for (int column = 0; column < of.place.part_columns(); ++column) {
            if (memory.parts[row * parts_per_row + column].mode == static_cast<std::uint8_t>(PartMode::stays)) continue;
            const int left = column * part_side, top = row * part_side;
            make_run_part(memory, left, top, list);
#pragma unroll
            for (int channel = 0; channel < channels; ++channel) {
                bool any = false;
                for (int pixel = lane; pixel < part_side * part_side; pixel += 32)
                    any |= memory.block.steps[channel][BlockSteps<channels>::at(left + pixel % part_side,
                                                                                top + pixel / part_side)] != 0;
                list += __any_sync(~0u, any);
            }
        }
    __syncwarp();
    bool too_far = false;
    for (int at = lane; at < block_side * block_side; at += 32)
#pragma unroll
        for (int channel = 0; channel < channels; ++channel) {
            const int steps = memory.block.steps[channel][at], far = abs(steps) + of.threshold;
            too_far |= steps && far > 255;
            memory.samples[at * channels + channel] = static_cast<std::uint8_t>(steps == 0  ? 0
                                                                                : steps > 0 ? far
                                                                                            : -far);
        }
    __syncwarp();
    return !__any_sync(~0u, too_far);
}

}  // namespace framewire::delta
