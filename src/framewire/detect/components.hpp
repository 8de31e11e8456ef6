#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/detect/masks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

// CPU labelling: the division of a frame into bands, and the data of each band.

namespace framewire::labelling {

/// A run of set pixels in one row: [begin, end).
struct Run {
    std::uint16_t begin, end;
};

/// Provisional component of a band: statistics of the runs that have its number. United provisional components form a
/// tree, whose root is the first of them.
struct BandComponent {
    std::uint32_t parent;  ///< index in the frame's table; a root has its own index
    std::int32_t id;
    std::int32_t min_x, end_x, min_y, end_y;
    std::int32_t area;
    std::int64_t sum_x, sum_y;
};

/// Division of a frame into bands of whole rows. Every band has memory for the most runs and provisional components
/// that its rows can have.
struct BandCut {
    std::int64_t height, rows_each, bands;
    std::int64_t most_runs;  ///< maximum number of runs per row
    bool eight;

    /// Divides masks with the height and width of `shape`.
    BandCut(const Shape& shape, bool eight_neighbours)
        : height(shape.height),
          rows_each(std::max<std::int64_t>((shape.height + 31) / 32, 16)),
          bands((height + rows_each - 1) / rows_each),
          most_runs((shape.width + 1) / 2),
          eight(eight_neighbours) {}

    /// Returns the first row of a band.
    std::int64_t first_row(std::int64_t band) const { return std::min(band * rows_each, height); }
    /// Returns the index of a band's first run.
    std::int64_t first_run(std::int64_t band) const { return first_row(band) * most_runs; }
    /// Returns the index of a band's first provisional component. With 8 neighbours the first pixels of two of them
    /// never touch, so there is at most one per 2x2 pixels.
    std::int64_t first_component(std::int64_t band) const {
        return eight ? band * ((rows_each + 1) / 2) * most_runs : first_run(band);
    }
    /// Returns the number of provisional components for which memory is needed.
    std::int64_t components() const { return eight ? first_component(bands) : height * most_runs; }
};

/// Host memory of the CPU labelling, for one frame at a time. It may be uninitialised.
struct BandWorkspace {
    BandComponent* components;      ///< components of all bands; a band's begin at first_component()
    std::int64_t* row_ends;         ///< end of the runs of each row
    std::int64_t* band_counts;      ///< number of provisional components of each band
    std::uint32_t* run_components;  ///< index in `components`, per run
    Run* runs;                      ///< runs of all bands; a band's begin at first_run(), row by row

    /// Divides `memory`, which has bytes() bytes.
    BandWorkspace(std::uint8_t* memory, const BandCut& cut)
        : components(reinterpret_cast<BandComponent*>(memory)),
          row_ends(reinterpret_cast<std::int64_t*>(components + cut.components())),
          band_counts(row_ends + cut.height),
          run_components(reinterpret_cast<std::uint32_t*>(band_counts + cut.bands)),
          runs(reinterpret_cast<Run*>(run_components + cut.height * cut.most_runs)) {}

    /// Returns the bytes of memory for the constructor.
    static std::size_t bytes(const BandCut& cut) {
        return static_cast<std::size_t>(cut.components()) * sizeof(BandComponent) +
               static_cast<std::size_t>(cut.height + cut.bands) * sizeof(std::int64_t) +
               static_cast<std::size_t>(cut.height * cut.most_runs) * (sizeof(std::uint32_t) + sizeof(Run));
    }
};

}  // namespace framewire::labelling

// CUDA labelling: the division of masks into tiles, and the links between runs of set bits. A run is a maximal
// sequence of set bits within one word. Of two adjacent pixels x and x + 1 with x even, only one can begin a
// run, so a run is identified by half its first x: its slot. Slots in raster order are runs in raster order.

namespace framewire::labelling {

/// A tile has one row per lane of a warp and one word per row and warp of its block, so each thread has one word.
inline constexpr int tile_rows = 32;
inline constexpr int tile_words = 4;
inline constexpr int tile_width_px = tile_words * 32;
inline constexpr int word_slots = 16;
inline constexpr int tile_slots = tile_rows * tile_words * word_slots;

/// The tiles of one frame.
struct TileGrid {
    std::uint32_t row_words, columns, rows;

    /// Covers masks of the width and height of `shape`.
    FRAMEWIRE_HOST_DEVICE constexpr explicit TileGrid(const Shape& shape)
        : row_words(static_cast<std::uint32_t>(mask_row_words(shape.width))),
          columns(row_words / tile_words),
          rows(static_cast<std::uint32_t>((shape.height + tile_rows - 1) / tile_rows)) {}
    /// Returns the number of tiles per frame.
    FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t tiles() const { return columns * rows; }
};

/// Returns the most components that a tile can have: with 8 neighbours each needs 2x2 pixels of its own, with 4
/// neighbours two pixels.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t most_in_tile(bool eight) { return eight ? tile_slots / 2 : tile_slots; }

// Lowest and highest set bit; `bits` must not be 0.
#ifdef __CUDA_ARCH__
__device__ inline int lowest_bit(std::uint32_t bits) { return __ffs(static_cast<int>(bits)) - 1; }
__device__ inline int highest_bit(std::uint32_t bits) { return 31 - __clz(static_cast<int>(bits)); }
#else
constexpr int lowest_bit(std::uint32_t bits) { return __builtin_ctz(bits); }
constexpr int highest_bit(std::uint32_t bits) { return 31 - __builtin_clz(bits); }
#endif

/// Returns the lowest run of `bits` as a mask, or 0 if there is none.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t lowest_run(std::uint32_t bits) {
    return bits & ~(bits + (bits & (0u - bits)));  // adding the lowest bit carries through the run
}

/// Returns the first bit of the run of `word` that contains bit `bit`.
FRAMEWIRE_HOST_DEVICE constexpr int run_begin(std::uint32_t word, int bit) {
    const auto begins = word & ~(word << 1);
    return highest_bit(begins & (0xFFFFFFFFu >> (31 - bit)));
}

/// A word of a row and its neighbours in the same row; 0 beyond the tile or the image.
struct WordTriple {
    std::uint32_t left, word, right;
};

/// Pixels of a word that must be united with a pixel of the row above: straight up or, with 8 neighbours,
/// diagonally. The pixels of a run are united already, so redundant links are removed (as in Playne and Hawick
/// 2018): two runs that touch have one link.
struct Links {
    std::uint32_t up, up_left, up_right;

    /// Returns the pixels with any link.
    FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t any() const { return up | up_left | up_right; }
    /// Returns the column offset, -1 to 1, of the pixel above that pixel `bit` is linked to. The pixel must have a
    /// link.
    FRAMEWIRE_HOST_DEVICE constexpr int shift_at(int bit) const {
        return up >> bit & 1 ? 0 : up_left >> bit & 1 ? -1 : 1;
    }
    /// Removes the link that shift_at() returned.
    FRAMEWIRE_HOST_DEVICE constexpr void remove(int bit, int shift) {
        const auto others = ~(1u << bit);
        if (shift == 0) up &= others;
        if (shift < 0) up_left &= others;
        if (shift > 0) up_right &= others;
    }
};

/// Returns the links of a word to the row above, given both rows.
template <bool eight>
FRAMEWIRE_HOST_DEVICE constexpr Links links_up(const WordTriple& own, const WordTriple& above) {
    const auto both = own.word & above.word;
    Links links{both & ~(both << 1), 0, 0};
    if constexpr (eight) {
        const auto corners = own.word & ~above.word;
        links.up_left = corners & (above.word << 1 | above.left >> 31) & ~(own.word << 1 | own.left >> 31);
        links.up_right = corners & (above.word >> 1 | above.right << 31) & ~(own.word >> 1 | own.right << 31);
    }
    return links;
}

/// Returns true if the runs on both sides of a word's left edge must be united because links to the row above
/// do not unite them already.
FRAMEWIRE_HOST_DEVICE constexpr bool joins_left(const WordTriple& own, const WordTriple& above) {
    return (own.word & 1) && own.left >> 31 && !((above.word & 1) && above.left >> 31);
}

/// Statistics of the part of a component that is in one tile. The parts of a component form a tree, and the root adds
/// up their statistics.
struct TileComponent {
    std::uint32_t parent;  ///< index in the frame; a root has its own index
    std::uint32_t first;   ///< slot, in the frame, of the first pixel
    std::uint32_t min_x, max_x, max_y;
    std::uint32_t area;  ///< in pixels; for label images, number_roots() replaces a root's area with its id
    unsigned long long sum_x, sum_y;
};

/// Number of components in a tile, and its outer columns: bit y of `left` is pixel (0, y).
struct TileSummary {
    std::uint32_t components, left, right;
};

/// Words of shared memory per band. Components are numbered band by band, with one block per band and one bit per slot.
inline constexpr std::uint32_t band_words = 1024;
/// Returns the words of bits per row: a 32-pixel word has 16 slots, with one bit each.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t band_row_words(const TileGrid& grid) { return grid.row_words / 2; }

/// Returns the rows per band: as many as fit band_words, and a divisor of tile_rows.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t rows_in_band(const TileGrid& grid) {
    std::uint32_t rows = tile_rows;
    while (rows * band_row_words(grid) > band_words) rows /= 2;
    return rows;
}

/// Returns the number of bands per frame.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t bands_in_frame(const TileGrid& grid) {
    return grid.rows * (tile_rows / rows_in_band(grid));
}
static_assert(band_words * 2 >= max_side_px / 32 && band_words * 32 < 1 << 16);

/// Device memory of the CUDA labelling. It may be uninitialised.
struct TileWorkspace {
    TileComponent* components;        ///< most_in_tile() entries per tile
    unsigned long long* band_counts;  ///< bands_in_frame() look-back words per frame
    TileSummary* summaries;           ///< one entry per tile
    /// Number of each slot's component in its tile; stored only where tiles meet, or for label images.
    std::uint16_t* slots;

    /// Divides `memory`, which has bytes() bytes.
    TileWorkspace(std::uint8_t* memory, const Shape& shape, bool eight) {
        const TileGrid grid(shape);
        const auto frames = static_cast<std::size_t>(shape.frames), tiles = frames * grid.tiles();
        components = reinterpret_cast<TileComponent*>(memory);
        band_counts = reinterpret_cast<unsigned long long*>(components + tiles * most_in_tile(eight));
        slots = reinterpret_cast<std::uint16_t*>(band_counts + frames * bands_in_frame(grid));
        summaries = reinterpret_cast<TileSummary*>(slots + tiles * tile_slots);
    }
    /// Returns the bytes of memory for the constructor.
    static std::size_t bytes(const Shape& shape, bool eight) {
        const TileGrid grid(shape);
        const auto frames = static_cast<std::size_t>(shape.frames), tiles = frames * grid.tiles();
        return tiles * (most_in_tile(eight) * sizeof(TileComponent) + tile_slots * sizeof(std::uint16_t) +
                        sizeof(TileSummary)) +
               frames * bands_in_frame(grid) * sizeof(unsigned long long);
    }
};

}  // namespace framewire::labelling

namespace framewire {

/// The components of a batch of masks in one memory space: `capacity` entries per frame, of which frame f uses
/// the first min(found[f], capacity). found[f] is the number of components of allowed area in the frame,
/// total[f] the number of all components.
template <MemorySpace space>
struct ComponentLists {
    Component* components;
    std::int32_t* found;
    std::int32_t* total;
    int capacity;

    /// Returns the entries of one frame.
    constexpr Component* of_frame(int frame) const { return components + std::int64_t{frame} * capacity; }
};

/// Owns memory for the components of a batch, uninitialised. Move-only.
template <MemorySpace space>
class ComponentBuffer {
public:
    ComponentBuffer() = default;
    template <class... Memory>
    /// Makes lists for `frames` frames with `capacity` entries each. `memory` is optional: the allocator of a
    /// host buffer.
    explicit ComponentBuffer(int frames, int capacity, Memory&... memory)
        : frames_(frames),
          capacity_(capacity),
          components_(static_cast<std::size_t>(frames) * static_cast<std::size_t>(capacity) * sizeof(Component),
                      memory...),
          counts_(static_cast<std::size_t>(frames) * 2 * sizeof(std::int32_t), memory...) {}

    /// Returns the number of lists, one per frame.
    int frames() const { return frames_; }
    /// Returns the number of entries per list.
    int capacity() const { return capacity_; }
    /// Returns a view of all lists; valid as long as the buffer.
    ComponentLists<space> lists() const {
        auto* counts = counts_.template as<std::int32_t>();
        return {components_.template as<Component>(), counts, counts + frames_, capacity_};
    }

private:
    int frames_ = 0, capacity_ = 0;
    BufferIn<space> components_, counts_;
};

/// Component lists in host memory.
using HostComponents = ComponentBuffer<MemorySpace::host>;
/// Component lists in device memory.
using DeviceComponents = ComponentBuffer<MemorySpace::device>;

/// Queues copies of all counts and of the first `first` components of every frame, in two copies, whatever the size
/// of the batch. Throws Error{usage} unless both buffers have the same number of frames and the same capacity. Choose
/// `first` so that it is usually enough; if found[f] is larger, call again with a larger value.
void download(const DeviceComponents& from, HostComponents& to, int first, const cuda::Stream& stream);

/// Parameters of ComponentLabelling.
struct ComponentLabellingParameters {
    int connectivity = 8;  ///< 8, or 4: only pixels that share an edge belong together
    int min_area = 1;      ///< components of fewer pixels are counted and numbered but not listed; 0 and up
    int max_area = std::numeric_limits<std::int32_t>::max();  ///< components of more pixels are not listed either
    int capacity = 4096;                                      ///< components listed per frame, 1 and up
    bool label_images = false;                                ///< run() also writes label images
};

/// A batch of label images in one memory space, 32 bits per pixel without gaps: 0 where the mask is 0, else the
/// id of the pixel's component, whatever its area.
template <MemorySpace space>
struct LabelImages {
    std::int32_t* labels = nullptr;
};

/// Finds the connected components of bit masks, numbered from 1 in raster order of their first pixels. Numbers,
/// boxes and sums are the same on every backend and in every run.
///
/// CPU: union-find of runs, row by row in bands of rows, then across bands (He, Chao, Suzuki, "A run-based two-scan
/// labeling algorithm", 2008). CUDA: union-find of runs in shared memory per tile, then between tiles with atomic
/// minima (after Komura 2015 and Playne and Hawick 2018); statistics are added up within each tile first.
class ComponentLabelling {
public:
    /// Prepares labelling of batches of `shape`; its channels are ignored. Throws Error{usage} if the
    /// parameters or the shape are not allowed, Error{config} if there is not enough memory for the worst mask:
    /// on the CPU up to 18 bytes per pixel of one frame, on CUDA 12 bytes per pixel of all frames, and twice as
    /// much with 4 neighbours.
    ComponentLabelling(ComponentLabellingParameters parameters, const Shape& shape, Executor& executor);

    /// Returns the parameters that the plan was made for.
    const ComponentLabellingParameters& parameters() const { return parameters_; }
    /// Returns the shape of the masks.
    const Shape& shape() const { return shape_; }

    /// Fills `lists`, whose capacity must be the plan's, and, if the plan is for label images, `images`. On the
    /// host the call returns when done. On the device it is queued on the executor's stream: four launches, or
    /// five with label images. Throws Error{usage} if the shape of the mask or the capacity differs, or if
    /// label images are missing or unexpected.
    void run(HostBitMaskView<const std::uint32_t> mask, const ComponentLists<MemorySpace::host>& lists,
             LabelImages<MemorySpace::host> images = {});
    /// Queues the same operation on the executor's stream, with all data in device memory.
    void run(DeviceBitMaskView<const std::uint32_t> mask, const ComponentLists<MemorySpace::device>& lists,
             LabelImages<MemorySpace::device> images = {});

private:
    void require(const void* mask, const Shape& mask_shape, int capacity, const void* labels) const;

    ComponentLabellingParameters parameters_;
    Shape shape_;
    Executor* executor_;
    BackendBuffer workspace_;  // results of bands of rows or, on CUDA, of tiles
};

}  // namespace framewire
