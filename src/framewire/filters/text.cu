#include "framewire/cuda/check.hpp"
#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/filters/text.hpp"

#include <algorithm>
#include <cstdint>

// Draws text on the GPU. store_kernel() copies a layout, passed as arguments, to device memory; text_kernel() draws the
// layout. The stream orders both, so every frame shows the layout that was set before it.

namespace framewire {
namespace {

constexpr int tile_width = 32, tile_height = 8;
constexpr int threads_per_block = tile_width * tile_height;

// The part of a layout that one launch transfers to the GPU as kernel arguments. The driver copies arguments
// immediately, so the CPU may change its layout at once, and there is no buffer to wait for. Every driver accepts 4 KiB
// of arguments.
struct LayoutPiece {
    // Number of glyphs that fit the arguments of a launch.
    static constexpr int most_glyphs = 250;
    TextPlace place;
    // The glyphs in this launch: first index and number.
    int first, count;
    PlacedGlyph glyphs[most_glyphs];
};
static_assert(sizeof(LayoutPiece) + 2 * sizeof(void*) <= 4096);

// Stores a piece, with a single block. The first launch of a layout also stores its extent.
__global__ void __launch_bounds__(threads_per_block)
    store_kernel(LayoutPiece piece, TextPlace* place, PlacedGlyph* glyphs) {
    const auto thread = static_cast<int>(threadIdx.x);
    if (thread < piece.count) glyphs[piece.first + thread] = piece.glyphs[thread];
    if (thread == 0 && piece.first == 0) *place = piece.place;
}

// Images of a launch.
struct Picture {
    cuda::KernelImage<const std::uint8_t> in;
    cuda::KernelImage<std::uint8_t> out;
    int channels, first_frame;
};

// Layout in device memory, and the coverage of its glyphs.
struct Layout {
    const TextPlace* place;
    const PlacedGlyph* glyphs;
    const std::uint8_t* coverage;
};

// Returns true if the area contains the pixel.
__device__ bool holds(const Area& area, int x, int y) {
    return x >= area.x_begin && x < area.x_end && y >= area.y_begin && y < area.y_end;
}

// Returns the largest coverage of pixel (x, y) of the block's tile by any glyph. All threads of the block must call it.
__device__ std::uint32_t cover(const Layout& layout, int glyphs, int tile_x, int tile_y, int x, int y) {
    __shared__ PlacedGlyph near[threads_per_block];
    __shared__ int near_count;
    const auto thread = static_cast<int>(threadIdx.y) * tile_width + static_cast<int>(threadIdx.x);
    std::uint32_t most = 0;
    for (int first = 0; first < glyphs; first += threads_per_block) {
        if (thread == 0) near_count = 0;
        __syncthreads();
        // Collect the glyphs that reach the tile, in any order, because the largest coverage does not depend on it.
        if (first + thread < glyphs) {
            const auto glyph = layout.glyphs[first + thread];
            if (glyph.x < tile_x + tile_width && glyph.x + glyph.width > tile_x && glyph.y < tile_y + tile_height &&
                glyph.y + glyph.height > tile_y)
                near[atomicAdd(&near_count, 1)] = glyph;
        }
        __syncthreads();
        for (int index = 0; index < near_count; ++index) {
            const auto& glyph = near[index];
            const int column = x - glyph.x, row = y - glyph.y;
            if (column >= 0 && column < glyph.width && row >= 0 && row < glyph.height)
                most = max(most,
                           std::uint32_t{
                               layout.coverage[glyph.offset + static_cast<std::uint32_t>(row * glyph.width + column)]});
        }
        __syncthreads();
    }
    return most;
}

// Draws the text. The grid does not depend on the text, so that a CUDA graph can be replayed for every text. The blocks
// share the tiles of the area that the text currently covers.
__global__ void __launch_bounds__(threads_per_block, 4) text_kernel(Picture picture, Layout layout, TextStyle style) {
    const auto place = *layout.place;
    const auto& covered = place.covered;
    if (covered.empty()) return;
    // Number of tiles in the area that the text covers.
    const int tiles_across = (covered.x_end - covered.x_begin + tile_width - 1) / tile_width;
    const int tiles_down = (covered.y_end - covered.y_begin + tile_height - 1) / tile_height;
    const auto frame = static_cast<std::int64_t>(picture.first_frame) + blockIdx.y;
    for (auto tile = static_cast<int>(blockIdx.x); tile < tiles_across * tiles_down;
         tile += static_cast<int>(gridDim.x)) {
        const int tile_x = covered.x_begin + tile % tiles_across * tile_width;
        const int tile_y = covered.y_begin + tile / tiles_across * tile_height;
        const int x = tile_x + static_cast<int>(threadIdx.x), y = tile_y + static_cast<int>(threadIdx.y);
        // The text's alpha at this pixel.
        const auto share = divide_by_255(cover(layout, place.glyphs, tile_x, tile_y, x, y) *
                                         static_cast<std::uint32_t>(style.color.alpha));
        const bool in_box = holds(place.box, x, y);
        if (!holds(covered, x, y) || (share == 0 && !in_box)) continue;
        const auto* in = picture.in.data + frame * picture.in.frame_stride + y * picture.in.row_stride +
                         std::int64_t{x} * picture.channels;
        auto* out = picture.out.data + frame * picture.out.frame_stride + y * picture.out.row_stride +
                    std::int64_t{x} * picture.channels;
        for (int channel = 0; channel < picture.channels; ++channel) {
            std::uint32_t value = in[channel];
            if (in_box)
                value = blend(value, static_cast<std::uint32_t>(channel_of(style.box.pixel, channel)),
                              static_cast<std::uint32_t>(style.box.alpha));
            out[channel] = static_cast<std::uint8_t>(
                blend(value, static_cast<std::uint32_t>(channel_of(style.color.pixel, channel)), share));
        }
    }
}

}  // namespace

// Makes as many launches as the glyphs need.
void Text::store_layout() const {
    LayoutPiece piece;
    piece.place = layout_.place();
    auto* place = device_layout_.as<TextPlace>();
    auto* glyphs = reinterpret_cast<PlacedGlyph*>(place + 1);
    piece.first = 0;
    do {
        piece.count = std::min(LayoutPiece::most_glyphs, piece.place.glyphs - piece.first);
        std::copy_n(layout_.glyphs().data() + piece.first, piece.count, piece.glyphs);
        cuda::Launch(executor_->stream(), 1, threads_per_block)(store_kernel, piece, place, glyphs);
        piece.first += piece.count;
    } while (piece.first < piece.place.glyphs);
}

// Copies the image and draws the text over it.
void Text::run(const FilterImages<MemorySpace::device>& images) const {
    validate(images.in, shape_, "text's image");
    validate(images.out, shape_, "text's result");
    const auto& in = images.in;
    const auto& out = images.out;
    cuda::copy(in, out, executor_->stream());
    const auto* place = device_layout_.as<TextPlace>();
    const Layout layout{place, reinterpret_cast<const PlacedGlyph*>(place + 1), device_coverage_.data()};
    constexpr std::int64_t most_blocks = 264;  // at most two per multiprocessor of a large GPU
    const auto tiles = cuda::parts(shape_.width, tile_width) * std::int64_t{cuda::parts(shape_.height, tile_height)};
    cuda::for_frames(shape_.frames, 1, [&](int frame, int frames) {
        const dim3 grid(static_cast<unsigned>(std::min(tiles, most_blocks)), static_cast<unsigned>(frames));
        cuda::Launch(executor_->stream(), grid, dim3(tile_width, tile_height))(
            text_kernel, {cuda::KernelImage(in), cuda::KernelImage(out), shape_.channels, frame}, layout, style_);
    });
}

}  // namespace framewire
