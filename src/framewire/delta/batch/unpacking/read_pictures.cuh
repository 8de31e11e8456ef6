#pragma once

// Only for .cu files: blocks of pictures read by a warp, as PictureDecoder does.

#include "framewire/delta/batch/unpacking/decode_job.cuh"
#include "framewire/delta/batch/unpacking/read_residuals.cuh"
#include "framewire/delta/entropy/warp_reader.cuh"
#include "framewire/delta/pictures/picture_forms.hpp"

#include <cstdint>

namespace framewire::delta {

/// What decoding a picture needs.
template <int channels>
struct PictureMemory {
    std::uint8_t planes[channels][block_side + 1][block_side + 8];  // a row of zeros above and a column before
    std::uint8_t residuals[block_side * block_side * channels];
    std::uint8_t by[channels * parts_per_row * parts_per_row], part_class[channels * parts_per_row * parts_per_row];
    std::uint16_t first[channels * parts_per_row * parts_per_row];

    static constexpr int column = 4;
};

// Adds the residuals up: eight lanes are the columns of a part, and each plane has eight of its own.
template <int channels>
__device__ void add_residuals(const CodedBlockBytes& of, PictureMemory<channels>& memory) {
    const int lane = static_cast<int>(threadIdx.x), plane = lane / part_side, column = lane % part_side;
    const int columns = of.place.part_columns(), per_plane = columns * of.place.part_rows();
    for (int part = 0; part < per_plane; ++part) {
        const int left = part % columns * part_side, top = part / columns * part_side;
        const int width = min(part_side, of.place.width - left), height = min(part_side, of.place.height - top);
        for (int y = 0; y < height; ++y) {
            int residual = 0;
            auto by = Predictor::slope;
            std::uint8_t* here = nullptr;
            bool active = plane < channels && column < width;
            if (active) {
                const int index = plane * per_plane + part;
                by = static_cast<Predictor>(memory.by[index]);
                const int folded = memory.residuals[memory.first[index] + y * width + column];
                residual = folded & 1 ? ~(folded >> 1) : folded >> 1;
                here = &memory.planes[plane][top + y + 1][PictureMemory<channels>::column + left];
            }
            int along = residual;
#pragma unroll
            for (int step = 1; step < part_side; step *= 2) {
                const int other = __shfl_up_sync(~0u, along, step, part_side);
                if (column >= step) along += other;
            }
            if (active) {
                constexpr int stride = block_side + 8;
                const auto* const above = here - stride;
                const int value = by == Predictor::left    ? here[-1] + along
                                  : by == Predictor::above ? above[column] + residual
                                                           : above[column] + along + here[-1] - above[-1];
                here[column] = static_cast<std::uint8_t>(value);
            }
            __syncwarp();
        }
    }
}

// Reads a block of a picture and writes it.
template <int channels>
__device__ bool read_picture(const DecodeImages& images, const CodedBlockBytes& of, PictureMemory<channels>& memory) {
    const int lane = static_cast<int>(threadIdx.x), samples = channels * of.place.pixels();
    const int row_bytes = of.place.width * channels;
    if (of.size < form_bytes) return false;
    std::uint32_t form = 0;
    for (int i = 0; i < form_bytes; ++i) form |= std::uint32_t{of.bytes[i]} << (8 * i);
    const auto row = [&](int y) {
        return images.after.row(of.stream, of.place.y + y) + std::int64_t{of.place.x} * channels;
    };
    if (form == form_plain) {
        if (of.size != static_cast<std::uint32_t>(form_bytes + samples + samples % 2)) return false;
        for (int i = lane; i < samples; i += 32) row(i / row_bytes)[i % row_bytes] = of.bytes[form_bytes + i];
        return true;
    }
    if (form != form_whole) return false;
    clear_memory(&memory, sizeof(memory));

    WarpWords words(of.bytes + form_bytes, of.size - form_bytes);
    WarpReader reader(words, images.tables.picture_ranges);
    const int columns = of.place.part_columns(), per_plane = columns * of.place.part_rows();
    int before = 0;
    for (int plane = 0, index = 0; plane < channels; ++plane)
        for (int part = 0; part < per_plane; ++part, ++index) {
            const int symbol = reader.read(first_symbol<picture_models::part>(before),
                                           picture_models::predictors * picture_models::classes);
            before = symbol % picture_models::classes;
            const int left = part % columns * part_side, top = part / columns * part_side;
            const int height = min(part_side, of.place.height - top);
            if (lane > 0) continue;
            memory.by[index] = static_cast<std::uint8_t>(symbol / picture_models::classes);
            memory.part_class[index] = static_cast<std::uint8_t>(before);
            memory.first[index] =
                static_cast<std::uint16_t>(plane * of.place.pixels() + top * of.place.width + left * height);
        }
    __syncwarp();
    if (!reader.at_end() || words.overrun()) return false;
    const ReadLists parts{memory.first, memory.part_class, channels * per_plane, samples};
    if (!read_residuals(images.tables, parts, memory.residuals,
                        {of.bytes + form_bytes, of.size - form_bytes, words.words_read()}))
        return false;
    add_residuals(of, memory);
    for (int i = lane; i < of.place.pixels(); i += 32) {
        const int x = i % of.place.width, y = i / of.place.width;
        const auto sample = [&](int plane) { return memory.planes[plane][y + 1][PictureMemory<channels>::column + x]; };
        auto* const pixel = row(y) + x * channels;
        const auto green = sample(0);
        if constexpr (channels == 1) {
            pixel[0] = green;
        } else {
            pixel[0] = static_cast<std::uint8_t>(sample(1) + green);
            pixel[1] = green;
            pixel[2] = static_cast<std::uint8_t>(sample(2) + green);
        }
    }
    __syncwarp();
    return true;
}

}  // namespace framewire::delta
