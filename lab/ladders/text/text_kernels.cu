#include "framewire/cuda/check.hpp"
#include "framewire/cuda/kernel.cuh"
#include "ladders/pictures/chunk_loop.cuh"
#include "ladders/text/text_kernels.hpp"

namespace framewire::bench {
namespace {

constexpr int chunk_bytes = sizeof(Chunk32);
constexpr int cell_chunks = text_cell_bytes / chunk_bytes;

// Takes 55 of the available 64 KiB.
__constant__ Chunk32 constant_atlas[text_characters * cell_chunks];

// Calls body(i, byte of the frame) for each of a thread's units of `unit_bytes` of a character's picture.
template <class Body>
__device__ void for_units(int unit_bytes, int each, int row_bytes, int offset, Body&& body) {
    const int begin = static_cast<int>(threadIdx.x) * each;
    const int end = min(begin + each, text_cell_bytes / unit_bytes);
    for (int i = begin; i < end; ++i) {
        const int at = i * unit_bytes;
        body(i, at / text_cell_row_bytes * row_bytes + offset + at % text_cell_row_bytes);
    }
}

__global__ void text_bytes(TextPlaceOnFrame place, const std::uint8_t* cell, int each) {
    for_units(1, each, place.row_bytes, place.offset, [&](int i, int at) { place.frame[at] = cell[i]; });
}

__global__ void text_chunks_inner_loop(TextPlaceOnFrame place, const std::uint8_t* cell, int each) {
    for_units(chunk_bytes, each, place.row_bytes, place.offset, [&](int i, int at) {
        auto& on_frame = *reinterpret_cast<Chunk32*>(place.frame + at);
        auto chunk = on_frame;
#pragma unroll
        for (int j = 0; j < chunk_bytes; ++j) reinterpret_cast<std::uint8_t*>(&chunk)[j] = cell[i * chunk_bytes + j];
        on_frame = chunk;
    });
}

__global__ void text_chunks(TextPlaceOnFrame place, const std::uint8_t* cell, int each) {
    for_units(chunk_bytes, each, place.row_bytes, place.offset, [&](int i, int at) {
        *reinterpret_cast<Chunk32*>(place.frame + at) = reinterpret_cast<const Chunk32*>(cell)[i];
    });
}

// The report passes the address of constant memory to the kernel above, which reads it like any memory. This kernel
// reads through the constant cache, which serves a warp one address after the other.
__global__ void text_constant_memory(TextPlaceOnFrame place, int character, int each) {
    for_units(chunk_bytes, each, place.row_bytes, place.offset, [&](int i, int at) {
        *reinterpret_cast<Chunk32*>(place.frame + at) = constant_atlas[character * cell_chunks + i];
    });
}

}  // namespace

void launch_text(TextKernel kernel, const TextPlaceOnFrame& place, const std::uint8_t* atlas, int character,
                 int threads, const cuda::Stream& stream) {
    const auto block = static_cast<unsigned>(threads);
    const auto each = [&](int units) { return (units + threads - 1) / threads; };
    const auto* cell = atlas + character * text_cell_bytes;
    switch (kernel) {
        case TextKernel::bytes: cuda::Launch(stream, 1, block)(text_bytes, place, cell, each(text_cell_bytes)); break;
        case TextKernel::chunks_inner_loop:
            cuda::Launch(stream, 1, block)(text_chunks_inner_loop, place, cell, each(cell_chunks));
            break;
        case TextKernel::chunks: cuda::Launch(stream, 1, block)(text_chunks, place, cell, each(cell_chunks)); break;
        case TextKernel::constant_memory:
            cuda::Launch(stream, 1, block)(text_constant_memory, place, character, each(cell_chunks));
    }
}

const std::uint8_t* store_in_constant_memory(const std::uint8_t* atlas, const cuda::Stream& stream) {
    stream.queue([&](cudaStream_t handle) {
        cuda::check(
            cudaMemcpyToSymbolAsync(constant_atlas, atlas, sizeof(constant_atlas), 0, cudaMemcpyHostToDevice, handle));
    });
    stream.synchronize();
    void* address = nullptr;
    cuda::check(cudaGetSymbolAddress(&address, constant_atlas));
    return static_cast<const std::uint8_t*>(address);
}

}  // namespace framewire::bench
