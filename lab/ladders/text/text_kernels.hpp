#pragma once

#include "framewire/cuda/stream.hpp"

#include <cstdint>

namespace framewire::bench {

/// The report's alphabet, 21 characters.
inline constexpr const char* text_alphabet = "0123456789BFPSWbkps :";
inline constexpr int text_characters = 21;

/// Picture of one character, BGR: a row is three chunks of 32 bytes, as the report's chunks require.
inline constexpr int text_cell_width = 32, text_cell_height = 28;
inline constexpr int text_cell_row_bytes = 3 * text_cell_width;
inline constexpr int text_cell_bytes = text_cell_row_bytes * text_cell_height;

/// The kernels of the text overlay (streaming and filters 2022, section 3.1).
enum class TextKernel {
    bytes,              ///< 3.1.1
    chunks_inner_loop,  ///< 3.1.2: 32 bytes at once, filled byte by byte
    chunks,             ///< 3.1.2: copied at once
    constant_memory     ///< 3.1.3, as the report intends it: read as constant memory
};

/// Position of one character.
struct TextPlaceOnFrame {
    std::uint8_t* frame;  ///< address in device memory; rows are a multiple of 32 bytes
    int row_bytes;        ///< bytes per row of the frame
    int offset;           ///< byte offset of the character in the frame, a multiple of 32
};

/// Queues a kernel for the character with this number, as one block. `atlas`: pictures of all characters in device
/// memory, one after the other; constant_memory ignores it and reads those of store_in_constant_memory().
void launch_text(TextKernel kernel, const TextPlaceOnFrame& place, const std::uint8_t* atlas, int character,
                 int threads, const cuda::Stream& stream);

/// Copies the atlas to constant memory, and returns its address there, which any kernel may read.
const std::uint8_t* store_in_constant_memory(const std::uint8_t* atlas, const cuda::Stream& stream);

}  // namespace framewire::bench
