#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/filters/morphology.hpp"
#include "framewire/filters/mosaic.hpp"

#include <cstdint>
#include <span>
#include <type_traits>

namespace framewire {

/// Returns the number of 32-pixel words in a row of a bit mask: a multiple of 4, so that every row starts at a
/// multiple of 16 bytes.
FRAMEWIRE_HOST_DEVICE constexpr int mask_row_words(int width_px) { return (width_px + 127) / 128 * 4; }

/// View of a batch of masks of one size with one bit per pixel: rows of mask_row_words() words, without gaps between
/// rows and frames. Bit 0 of a word is its leftmost pixel. Bits to the right of the image are 0, and every
/// writer of a mask must keep them 0. `Word` is std::uint32_t or const std::uint32_t. The data is aligned to 16
/// bytes. Does not own.
template <class Word, MemorySpace space>
class BitMaskView {
    static_assert(std::is_same_v<std::remove_const_t<Word>, std::uint32_t>);

public:
    constexpr BitMaskView() = default;
    /// `shape` must have one channel.
    constexpr BitMaskView(Word* data, Shape shape) : data_(data), shape_(shape) {}

    /// Converts a writable mask to a read-only one.
    template <class Const>
    requires(std::is_same_v<Const, const Word> && !std::is_const_v<Word>) constexpr operator BitMaskView<Const, space>()
        const {
        return {data_, shape_};
    }

    /// Returns a pointer to the first word.
    FRAMEWIRE_HOST_DEVICE constexpr Word* data() const { return data_; }
    /// Shape in pixels.
    FRAMEWIRE_HOST_DEVICE constexpr const Shape& shape() const { return shape_; }
    /// Returns the words per row.
    FRAMEWIRE_HOST_DEVICE constexpr int row_words() const { return mask_row_words(shape_.width); }
    /// Returns the words per frame.
    FRAMEWIRE_HOST_DEVICE constexpr std::int64_t frame_words() const {
        return std::int64_t{row_words()} * shape_.height;
    }
    /// Returns row `y` of frame `frame`. Indices are not checked.
    FRAMEWIRE_HOST_DEVICE constexpr Word* row(int frame, int y) const {
        return data_ + frame * frame_words() + std::int64_t{y} * row_words();
    }
    /// Returns a view of `count` frames, starting with frame `first`.
    constexpr BitMaskView frames(int first, int count) const {
        return {data_ + first * frame_words(), shape_.with_frames(count)};
    }

private:
    Word* data_ = nullptr;
    Shape shape_{};
};

/// View of masks in host memory.
template <class Word>
using HostBitMaskView = BitMaskView<Word, MemorySpace::host>;
/// View of masks in device memory.
template <class Word>
using DeviceBitMaskView = BitMaskView<Word, MemorySpace::device>;

namespace detail {
void validate_mask(const void* data, const Shape& have, const Shape& want, const char* what);
}

/// Throws Error{usage} unless `mask` has the shape `shape` and aligned memory. `what` names the mask in the
/// message.
template <class Word, MemorySpace space>
void validate(const BitMaskView<Word, space>& mask, const Shape& shape, const char* what) {
    detail::validate_mask(mask.data(), mask.shape(), shape, what);
}

/// Returns the size of a batch of masks of `shape`.
constexpr std::size_t bit_mask_bytes(const Shape& shape) {
    return static_cast<std::size_t>(shape.rows()) * static_cast<std::size_t>(mask_row_words(shape.width)) * 4;
}

/// Owns a batch of bit masks, uninitialised. Move-only.
template <MemorySpace space>
class BitMask {
public:
    BitMask() = default;
    /// Makes masks of `shape`; their number of channels becomes 1. `memory` is optional: the allocator of a
    /// mask on the host, as in HostBuffer. Throws Error{usage} if the shape is not allowed.
    template <class... Memory>
    explicit BitMask(Shape shape, Memory&... memory)
        : shape_((validate(shape, "the mask"), shape.with_channels(1))), buffer_(bit_mask_bytes(shape), memory...) {}

    /// Shape in pixels, with one channel.
    const Shape& shape() const { return shape_; }
    /// Returns a view of all masks; valid as long as the object.
    BitMaskView<std::uint32_t, space> view() { return {buffer_.template as<std::uint32_t>(), shape_}; }
    /// Returns a read-only view of all masks; valid as long as the object.
    BitMaskView<const std::uint32_t, space> view() const { return {buffer_.template as<std::uint32_t>(), shape_}; }

private:
    Shape shape_{};
    BufferIn<space> buffer_;
};

/// Owns a batch of bit masks in the memory of an executor's backend, uninitialised. Move-only.
class BackendMask {
public:
    BackendMask() = default;
    /// Makes masks of `shape`; their number of channels becomes 1. `executor` must outlive the object.
    BackendMask(const Shape& shape, const Executor& executor)
        : shape_((validate(shape, "the mask"), shape.with_channels(1))), buffer_(bit_mask_bytes(shape), executor) {}

    /// Shape in pixels, with one channel.
    const Shape& shape() const { return shape_; }
    /// Returns the memory of the words, row by row.
    const BackendBuffer& memory() const { return buffer_; }
    /// Returns a view of the masks. `space` must be the backend's memory space.
    template <MemorySpace space>
    BitMaskView<std::uint32_t, space> view() {
        return {buffer_.as<std::uint32_t>(), shape_};
    }
    /// Returns a read-only view of the masks. `space` must be the backend's memory space.
    template <MemorySpace space>
    BitMaskView<const std::uint32_t, space> view() const {
        return {buffer_.as<std::uint32_t>(), shape_};
    }

private:
    Shape shape_{};
    BackendBuffer buffer_;
};

/// Masks in host memory.
using HostBitMask = BitMask<MemorySpace::host>;
/// Masks in device memory.
using DeviceBitMask = BitMask<MemorySpace::device>;

/// Sets the bit of every pixel that is not 0. `from` has one channel and any strides. Throws Error{usage} if
/// the shapes differ.
void pack_mask(HostView<const std::uint8_t> from, HostBitMaskView<std::uint32_t> to);
/// Writes 255 where the bit is set, else 0. `to` has one channel and any strides. Throws Error{usage} if the
/// shapes differ.
void unpack_mask(HostBitMaskView<const std::uint32_t> from, HostView<std::uint8_t> to);

/// Region of an image that is searched for objects. Masks are cleared outside of it.
class MaskRegion {
public:
    /// Makes a region from the pixels of `image` that are not 0, for masks of the same size. `image` has one channel
    /// and one frame.
    MaskRegion(HostView<const std::uint8_t> image, Executor& executor);
    /// Makes a region from the union of the zones, clipped to the image. Throws Error{usage} if a zone is completely
    /// outside.
    MaskRegion(std::span<const Zone> zones, const Shape& shape, Executor& executor);

    /// Clears the bits outside of the region in every frame. Throws Error{usage} if the masks have another
    /// size.
    void apply(HostBitMaskView<std::uint32_t> masks) const;
    /// Queues the same operation on the executor's stream.
    void apply(DeviceBitMaskView<std::uint32_t> masks) const;

private:
    MaskRegion(const HostBitMask& region, Executor& executor);
    void require_same_size(const Shape& masks) const;

    Executor* executor_;
    BackendMask region_;
};

/// Dilation, erosion, opening and closing of bit masks (moving-object report, step 6). Pixels outside of the
/// image are neutral in every phase: unset for a dilation, set for an erosion. Input and output have the same
/// shape and must not overlap. Whole words are shifted, as described at DilationSteps.
class MaskMorphology {
public:
    /// Prepares an operation on masks of `shape`; its channels are ignored. Throws Error{usage} if the shape is
    /// not allowed.
    MaskMorphology(MorphologyOperation operation, const StructuringElement& element, const Shape& shape,
                   Executor& executor);

    /// Returns the shape of the masks, with one channel.
    const Shape& shape() const { return shape_; }

    /// Runs on the executor's threads and returns when done. Throws Error{usage} if the masks have another
    /// shape.
    void run(HostBitMaskView<const std::uint32_t> in, HostBitMaskView<std::uint32_t> out);
    /// Queues the same operation on the executor's stream.
    void run(DeviceBitMaskView<const std::uint32_t> in, DeviceBitMaskView<std::uint32_t> out);

private:
    /// Division of the masks among the blocks of a launch, for CUDA.
    struct Bands {
        int strips = 0, bands = 0, band_rows = 0;
    };
    /// Chooses the bands for launches with one phase and with two.
    void plan_for_cuda();

    MorphologyPhases phases_;
    DilationSteps steps_;
    Shape shape_;
    Executor* executor_;
    BackendMask between_;  // result of one phase for the next
    Bands bands_[2];
};

inline constexpr int least_mask_median_px = 3,  ///< smallest window of MaskMedian
    most_mask_median_px = 63;                   ///< largest window of MaskMedian

/// Median filter of bit masks: a pixel is set if more than half of the pixels in a square window around it are
/// set; edge pixels are replicated beyond the image. Equals OpenCV's medianBlur() on images of 0 and 255. It
/// removes specks and closes pinholes while edges stay in place. Input and output have the same shape and must
/// not overlap.
///
/// Pixels are counted 32 or more at a time with bit-sliced adders: a count is stored as words that each hold
/// one binary digit of many pixels. The counts of the columns are updated from row to row, and those of a
/// window are made from the columns by doubling.
class MaskMedian {
public:
    /// `size_px` is the side of the window, odd, from least_mask_median_px to most_mask_median_px. Throws
    /// Error{usage} if the size or the shape is not allowed.
    MaskMedian(int size_px, const Shape& shape, Executor& executor);

    /// Returns the shape of the masks, with one channel.
    const Shape& shape() const { return shape_; }
    /// Returns the side of the window in pixels.
    int size_px() const { return size_px_; }

    /// Runs on the executor's threads and returns when done. Throws Error{usage} if the masks have another
    /// shape.
    void run(HostBitMaskView<const std::uint32_t> in, HostBitMaskView<std::uint32_t> out) const;
    /// Queues the same operation on the executor's stream.
    void run(DeviceBitMaskView<const std::uint32_t> in, DeviceBitMaskView<std::uint32_t> out) const;

private:
    int size_px_;
    Shape shape_;
    Executor* executor_;
};

}  // namespace framewire
