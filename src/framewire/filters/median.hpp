#pragma once

#include "framewire/cuda/kernel_image.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/median_histogram.hpp"
#include "framewire/filters/window.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace framewire {

/// Largest side of the window.
inline constexpr int max_median_size = 255;

/// Parameters of Median.
struct MedianParameters {
    int size = 3;                        ///< side of the window; odd, 1..255
    Border border = Border::reflect101;  ///< pixels outside the image
};

/// Exact median of the size x size pixels around each pixel, separately for each channel (streaming report, section 9).
/// The backends choose a method by size: sorting in registers, sorting networks, or sliding histograms, whose time does
/// not grow with the size.
///
/// `in` and `out` have the same shape, frames x height x width with 1 or 3 channels, any strides and alignment. They
/// must not overlap. One run at a time per plan.
class Median {
public:
    /// Prepares the filter. Throws Error{usage} if the size or the shape is not allowed. Throws Error{config} if the
    /// GPU has too little shared memory for the size; this happens only above 231 with 64 KiB per block (sm_75).
    Median(MedianParameters parameters, const Shape& shape, Executor& executor);

    /// Returns the shape of the result, which is that of the image.
    Shape output_shape() const { return shape_; }

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queues the filter on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images);

private:
    struct CpuPlan;  // for the CPU backend only
    struct CpuPlanDeleter {
        void operator()(CpuPlan* plan) const;
    };
    void plan_for_cpu();
    void plan_for_cuda();

    MedianParameters parameters_;
    Shape shape_;
    Executor* executor_;
    std::unique_ptr<CpuPlan, CpuPlanDeleter> cpu_plan_;
    std::optional<MedianHistogramBlocks> histograms_;  // CUDA only: blocks, for sizes that use histograms
    int strip_bytes_ = 0;                              // CUDA only: largest shared memory of a strip kernel's block
};

/// Returns the registry entry of `median`.
FilterInfo median_info();

// The CPU's three methods. Small windows use sorting networks for one pixel, directly on the image. Middle windows use
// networks for square tiles, which share more comparisons. Large windows use histograms, whose time does not grow with
// the size.
/// Largest size that small_median() supports.
inline constexpr int largest_small_median = 5;
/// Largest size that middle_median() supports.
inline constexpr int largest_middle_median = 15;

/// A block of a batch, which one thread processes: some rows and columns of one frame.
struct MedianBlock {
    /// The batch that contains the block.
    HostView<const std::uint8_t> in;
    /// The result of the batch.
    HostView<std::uint8_t> out;
    int frame = 0, channel = 0;  ///< only the histograms use the channel
    int x = 0, y = 0;            ///< first pixel of the block
    int width = 0, height = 0;   ///< size of the block, in pixels
};

/// Division of an image into blocks by a method.
struct MedianBlocking {
    int width = 0, height = 0;
    /// If true, each block has one channel only.
    bool channel_by_channel = false;
    std::int64_t scratch_bytes = 0;  ///< bytes of scratch memory per block; a multiple of 64
};

/// Computes medians of sizes 3 and 5. Blocks consist of whole rows.
void small_median(const MedianBlock& block, int size, Border border);

/// Layout of a block of middle sizes in scratch memory. There is one line per image row, including the border. A line
/// is split into planes: first the first pixels of all tiles, then the second ones, and so on, so that neighbouring
/// bytes of a vector belong to neighbouring tiles. The strips of a row of tiles are stored after the lines, one plane
/// per value.
struct MiddleBlock {
    /// Side of a tile, in pixels.
    static constexpr int tile_side = 4;
    /// Rows of results per block.
    static constexpr int height = 64;
    /// Bytes per row of results; the remainder of a line holds the border and the end of its last vector.
    static constexpr int output_bytes = 1920;
    /// Bytes per plane, and per line of four planes.
    static constexpr int plane_bytes = 576, line_bytes = tile_side * plane_bytes;
    /// Lines of a block, including the border.
    static constexpr int lines = height + largest_middle_median - 1;
    /// Maximum number of values of one strip: its sorted columns, and all of its values sorted.
    static constexpr int most_strip_values = 2 * tile_side * (largest_middle_median - tile_side + 1);
    /// Scratch memory of a block: lines, results of one row of tiles, a row of pixels, and strips, in bytes.
    static constexpr int scratch_bytes = (lines + tile_side + 1) * line_bytes + most_strip_values * plane_bytes;
    static_assert(height % tile_side == 0);
    static_assert(plane_bytes >=
                  output_bytes / tile_side + ((largest_middle_median + tile_side - 1) / tile_side + 1) * 3 + 64);
};

/// Computes medians of sizes 7 to largest_middle_median. `scratch` has MiddleBlock::scratch_bytes bytes.
void middle_median(const MedianBlock& block, int size, Border border, std::uint8_t* scratch);

/// Returns how histogram_median() divides images of `shape` among `threads` threads.
MedianBlocking histogram_blocking(int size, const Shape& shape, int threads);
/// Computes medians of any odd size for one channel. `scratch` has MedianBlocking::scratch_bytes bytes.
void histogram_median(const MedianBlock& block, int size, Border border, std::uint8_t* scratch);

/// Returns row `y` of a frame. Outside the image, returns the row that the border supplies, or null for black.
inline const std::uint8_t* row_or_border(HostView<const std::uint8_t> image, int frame, int y, Border border) {
    const int from = border_index(y, image.shape().height, border);
    return from < 0 ? nullptr : image.row(frame, from);
}

/// A batch in the form in which the CUDA kernels take it. `in` and `out` have the same shape.
struct MedianImages {
    /// Input, starting with the first frame of the launch.
    cuda::KernelImage<const std::uint8_t> in;
    cuda::KernelImage<std::uint8_t> out;
    /// Shape of the images.
    int width, height, channels;
    int frames;  ///< number of frames of the launch, at most as many as fit a grid
};

/// Queues medians of size 3, which sort rows in registers.
void median_of_nine_on_device(const MedianImages& images, Border border, const cuda::Stream& stream);

/// Queues medians of sizes 5 and 7, which use sorting networks.
void network_median_on_device(const MedianImages& images, int size, Border border, const cuda::Stream& stream);

/// Allows the kernel for an odd size from 9 to 15 to use the shared memory that it needs. Call it when planning, before
/// strip_median_on_device().
void allow_strip_median(int size, int channels);
/// Queues medians of odd sizes 9 to 15, which use sorting networks whose tiles share strips. Blocks use at most
/// `shared_bytes` of shared memory.
void strip_median_on_device(const MedianImages& images, int size, Border border, int shared_bytes,
                            const cuda::Stream& stream);

/// Allows the histogram kernels to use the shared memory that they need. Call it when planning.
void allow_histogram_median();
/// Queues medians of odd sizes 3 to 255, which use sliding histograms, with the image divided into `blocks`.
void histogram_median_on_device(const MedianImages& images, int size, Border border,
                                const MedianHistogramBlocks& blocks, const cuda::Stream& stream);

}  // namespace framewire
