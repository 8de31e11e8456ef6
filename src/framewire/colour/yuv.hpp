#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

namespace framewire {

/// Matrix coefficients of ITU-R BT.601, BT.709 and BT.2020 (non-constant luminance).
enum class YuvMatrix { bt601, bt709, bt2020 };

/// Meaning of the samples of a YUV or gray picture (ITU-T H.273: matrix coefficients and range).
struct YuvCoding {
    YuvMatrix matrix = YuvMatrix::bt601;
    /// If true, samples use all values. If false, luma uses 16 to 235 and chroma 16 to 240, at 8 bits.
    bool full_range = false;

    friend constexpr bool operator==(const YuvCoding&, const YuvCoding&) = default;
};

/// Returns "BT.709, limited range", for messages.
std::string to_string(const YuvCoding& coding);

/// Number of chroma samples: none (gray), one per 2x2 pixels, one per two pixels of a row, or one per pixel.
enum class ChromaSampling { none, s420, s422, s444 };

/// Position of the chroma samples of 4:2:0 and 4:2:2. The other samplings ignore it.
struct ChromaSiting {
    bool centred_x = false;  ///< true: samples between the two pixels of a row (JPEG, MPEG-1); false: on the left pixel
    bool centred_y = true;   ///< true: samples between the two rows of 4:2:0; false: on the upper row (BT.2020)
    /// True for samples that were mirrored by an odd number of pixels: on the right pixel or the lower row or, if they
    /// are centred, half a pixel before the left pixel or the upper row. Media have no such pictures, and the
    /// conversions do not accept them.
    bool mirrored_x = false, mirrored_y = false;

    /// Returns true if the samples of any axis were mirrored.
    constexpr bool mirrored() const { return mirrored_x || mirrored_y; }

    friend constexpr bool operator==(const ChromaSiting&, const ChromaSiting&) = default;
};

/// Returns "left", "centre", "top left", "bottom right" and so on, for messages.
std::string to_string(const ChromaSiting& siting);

inline constexpr ChromaSiting siting_left{false, true};       ///< siting of MPEG-2, and the default of H.264
inline constexpr ChromaSiting siting_centre{true, true};      ///< JPEG, MPEG-1
inline constexpr ChromaSiting siting_top_left{false, false};  ///< BT.2020

/// Memory layout of a YUV picture.
struct YuvFormat {
    ChromaSampling chroma = ChromaSampling::s420;
    bool interleaved = false;  ///< U and V alternate in one plane, as in NV12 and P010; 4:2:0 only
    /// Bits per sample: 8, or 10 in little-endian 16-bit words, in their lower bits or, if interleaved, in
    /// their upper bits.
    int bits = 8;

    friend constexpr bool operator==(const YuvFormat&, const YuvFormat&) = default;
};

/// One plane of Y, 8 bits.
inline constexpr YuvFormat yuv_gray{ChromaSampling::none, false, 8};
/// Planar 4:2:0, 8 bits.
inline constexpr YuvFormat yuv_420{ChromaSampling::s420, false, 8};
/// Planar 4:2:2, 8 bits.
inline constexpr YuvFormat yuv_422{ChromaSampling::s422, false, 8};
/// Planar 4:4:4, 8 bits.
inline constexpr YuvFormat yuv_444{ChromaSampling::s444, false, 8};
/// NV12: 4:2:0 with interleaved U and V, 8 bits.
inline constexpr YuvFormat yuv_nv12{ChromaSampling::s420, true, 8};
/// P010: 4:2:0 with interleaved U and V, 10 bits.
inline constexpr YuvFormat yuv_p010{ChromaSampling::s420, true, 10};

/// Returns "4:2:0", "4:2:2 of 10 bits", "NV12", "P010" or "gray", for messages.
std::string to_string(const YuvFormat& format);

/// Description of a batch of YUV pictures of one kind, independent of where they are in memory.
struct YuvInfo {
    YuvFormat format{};
    YuvCoding coding{};
    ChromaSiting siting{};
    int frames = 1;
    int height = 0;
    int width = 0;

    /// Returns the number of planes: 1, 2 or 3.
    constexpr int planes() const { return format.chroma == ChromaSampling::none ? 1 : format.interleaved ? 2 : 3; }
    /// Returns the bytes per sample: 1 or 2.
    constexpr int sample_bytes() const { return format.bits > 8 ? 2 : 1; }
    /// Returns the width of the chroma planes: half the picture's width, rounded up, or all of it for 4:4:4.
    constexpr int chroma_width() const { return format.chroma == ChromaSampling::s444 ? width : (width + 1) / 2; }
    /// Returns the height of the chroma planes: half the picture's height, rounded up, for 4:2:0; otherwise all of it.
    constexpr int chroma_height() const { return format.chroma == ChromaSampling::s420 ? (height + 1) / 2 : height; }
    /// Returns the number of rows of plane `plane`.
    constexpr int plane_rows(int plane) const { return plane == 0 ? height : chroma_height(); }
    /// Returns the bytes per row of plane `plane`, without padding.
    constexpr std::int64_t plane_row_bytes(int plane) const {
        const auto samples = plane == 0 ? width : chroma_width() * (format.interleaved ? 2 : 1);
        return std::int64_t{samples} * sample_bytes();
    }
    /// Returns the bytes of plane `plane` of one picture, without padding.
    constexpr std::int64_t plane_bytes(int plane) const { return plane_row_bytes(plane) * plane_rows(plane); }
    /// Returns the bytes of one picture, without padding.
    constexpr std::int64_t frame_bytes() const {
        std::int64_t bytes = 0;
        for (int plane = 0; plane < planes(); ++plane) bytes += plane_bytes(plane);
        return bytes;
    }
    /// Returns the same description for `count` pictures.
    constexpr YuvInfo with_frames(int count) const {
        auto other = *this;
        other.frames = count;
        return other;
    }

    friend constexpr bool operator==(const YuvInfo&, const YuvInfo&) = default;
};

/// Returns "1920x1080 4:2:0, BT.709, limited range", with " x 32" appended for a batch, for messages.
std::string to_string(const YuvInfo& info);

/// Throws Error{usage} unless both sides are 1 to max_side_px, frames are at least 1, samples have 8 or 10
/// bits, and an interleaved format is 4:2:0. `what` names the picture in the message.
void validate(const YuvInfo& info, const char* what);

/// One plane of a batch. Strides are in bytes, also for 16-bit samples.
template <class T>
struct YuvPlane {
    T* data = nullptr;
    std::int64_t row_stride_bytes = 0;
    std::int64_t frame_stride_bytes = 0;

    /// Returns row `y` of picture `frame`. Indices are not checked.
    constexpr T* row(int frame, int y) const { return data + frame * frame_stride_bytes + y * row_stride_bytes; }
};

/// Non-owning view of a batch of YUV pictures in memory: their description and up to three planes. T is std::uint8_t or
/// const std::uint8_t even for 16-bit words, which must be at even addresses.
template <class T, MemorySpace space>
struct YuvView {
    static_assert(sizeof(T) == 1);

    YuvInfo info{};
    std::array<YuvPlane<T>, 3> planes{};

    constexpr YuvView() = default;
    /// Makes a view of planes with any strides; see validate().
    constexpr YuvView(YuvInfo what, std::array<YuvPlane<T>, 3> where) : info(what), planes(where) {}

    /// Makes a view of frames that start at `data`; frames, planes and rows follow each other without gaps.
    constexpr YuvView(T* data, YuvInfo what) : info(what) {
        for (int plane = 0; plane < what.planes(); ++plane) {
            planes[static_cast<std::size_t>(plane)] = {data, what.plane_row_bytes(plane), what.frame_bytes()};
            data += what.plane_bytes(plane);
        }
    }

    /// Converts a writable view to a read-only view.
    template <class Const>
    requires(std::is_same_v<Const, const T> && !std::is_const_v<T>) constexpr operator YuvView<Const, space>() const {
        YuvView<Const, space> view;
        view.info = info;
        for (std::size_t plane = 0; plane < 3; ++plane)
            view.planes[plane] = {planes[plane].data, planes[plane].row_stride_bytes, planes[plane].frame_stride_bytes};
        return view;
    }

    /// Returns a view of `count` frames, starting with frame `first`.
    constexpr YuvView frames(int first, int count) const {
        auto part = *this;
        part.info.frames = count;
        for (auto& plane : part.planes)
            if (plane.data) plane.data += first * plane.frame_stride_bytes;
        return part;
    }
};

/// View of planes in host memory.
template <class T>
using HostYuv = YuvView<T, MemorySpace::host>;
/// View of planes in device memory.
template <class T>
using DeviceYuv = YuvView<T, MemorySpace::device>;

namespace detail {
void validate_plane(const void* data, std::int64_t row_stride_bytes, std::int64_t frame_stride_bytes,
                    const YuvInfo& info, int plane, const char* what);
void validate_same(const YuvInfo& have, const YuvInfo& want, const char* what);
}  // namespace detail

/// Throws Error{usage} unless `view` is described by `info` and each of its planes has memory and large enough strides.
/// `what` names the picture in the message.
template <class T, MemorySpace space>
void validate(const YuvView<T, space>& view, const YuvInfo& info, const char* what) {
    detail::validate_same(view.info, info, what);
    for (int plane = 0; plane < info.planes(); ++plane) {
        const auto& have = view.planes[static_cast<std::size_t>(plane)];
        detail::validate_plane(have.data, have.row_stride_bytes, have.frame_stride_bytes, info, plane, what);
    }
}

/// An uninitialised YUV picture in host memory. Rows start at multiples of 64 bytes, and 64 bytes after the last sample
/// may be read. Move-only.
class YuvPicture {
public:
    /// Allocates a picture. Throws Error{usage} if `info` is not allowed, Error{config} if there is not enough
    /// memory.
    explicit YuvPicture(const YuvInfo& info, HostMemory& memory = heap_memory());

    /// Returns the description passed to the constructor.
    const YuvInfo& info() const { return info_; }
    /// Returns the bytes of memory from the start of the first plane.
    std::int64_t bytes() const { return static_cast<std::int64_t>(buffer_.bytes()); }
    /// Returns a view of all planes; valid as long as the picture.
    HostYuv<std::uint8_t> view() { return view_; }
    /// Returns a read-only view of all planes; valid as long as the picture.
    HostYuv<const std::uint8_t> view() const { return view_; }

private:
    YuvInfo info_;
    HostBuffer buffer_;
    HostYuv<std::uint8_t> view_;
};

/// Pool that reuses pictures of one kind. A picture returns to the pool when its last owner releases it, from any
/// thread, even after the pool itself has been destroyed. Thread-safe.
class YuvPicturePool {
public:
    /// Makes an empty pool, whose pictures are in `memory`.
    explicit YuvPicturePool(HostMemory& memory = heap_memory()) : memory_(&memory), free_(std::make_shared<Free>()) {}

    /// Returns a picture of `info` with unspecified samples. If `info` differs from that of the previous call, the
    /// unused pictures are discarded. Throws the errors of YuvPicture's constructor.
    std::shared_ptr<YuvPicture> take(const YuvInfo& info);

private:
    // Unused pictures, shared with the deleters of the pictures in use.
    struct Free {
        std::mutex mutex;
        std::vector<std::unique_ptr<YuvPicture>> pictures;
    };
    HostMemory* memory_;
    std::shared_ptr<Free> free_;
};

// Integer arithmetic of both conversions; docs/colour.md derives it. Samples and coefficients are signed 16-bit
// numbers. A product is (a * b) / 2^15, rounded, which is one instruction in every SIMD instruction set.
//
//     YUV to BGR:  samples at 15/16 bits  * coefficients -> 1/64 of a byte  -> shift, clamp
//     BGR to YUV:  bytes at 15 bits       * coefficients -> 1/128 of a byte -> shift, clamp

/// Returns (a * b + 2^14) >> 15.
FRAMEWIRE_HOST_DEVICE constexpr int rounded_product(int a, int b) { return (a * b + (1 << 14)) >> 15; }

/// Coefficients of the conversion from YUV. Results are in 1/64 of a byte.
struct FromYuvCoefficients {
    std::int16_t y;                   ///< factor of the luma sample, which is scaled to 15 bits
    std::int16_t y_offset;            ///< black level, plus one half of a byte's step for rounding
    std::int16_t b_u, g_u, g_v, r_v;  ///< factors of the signed chroma samples, which are scaled to 16 bits
};

/// Number of fractional bits in results of the conversion from YUV.
inline constexpr int from_yuv_shift = 6;

/// Returns the coefficients for pictures with the given coding and 8 or 10 `bits` per sample.
FromYuvCoefficients from_yuv_coefficients(const YuvCoding& coding, int bits);

/// Coefficients of the conversion to YUV. Results are in 1/128 of a byte.
struct ToYuvCoefficients {
    std::int16_t y_b, y_g, y_r;  ///< their sum is `y_gray`
    std::int16_t u_b, u_g, u_r;  ///< their sum is 0
    std::int16_t v_b, v_g, v_r;  ///< their sum is 0
    std::int16_t y_offset;       ///< black level, plus one half of a byte's step for rounding
    std::int32_t y_gray;         ///< factor for images of one channel; 2^15, the identity, for full range
};

/// Number of fractional bits in results of the conversion to YUV.
inline constexpr int to_yuv_shift = 7;
/// Rounding term of chroma: one half of a byte's step. 128 is added after the shift.
inline constexpr int chroma_rounding = 1 << (to_yuv_shift - 1);

/// Returns the coefficients for pictures of 8 bits with the given coding.
ToYuvCoefficients to_yuv_coefficients(const YuvCoding& coding);

/// Scales a luma sample of `bits` bits to 15 bits.
FRAMEWIRE_HOST_DEVICE constexpr int luma_15(int value, int bits) { return value << (15 - bits); }

/// Returns the sample in a 16-bit word: its upper 10 bits if `upper_bits` is set, else its lower 10. Words
/// above 1023, which no decoder produces, count as 1023.
FRAMEWIRE_HOST_DEVICE constexpr int word_value(int word, bool upper_bits) {
    return upper_bits ? word >> 6 : word < 1023 ? word : 1023;
}

/// The two chroma samples (rows or columns) around a row or column of pixels, and their weights in quarters.
struct ChromaTaps {
    int first, second;  ///< indices, not yet clamped to the plane
    int first_weight, second_weight;
};

/// Returns the taps of pixel row or column `at`. If `halved`, there is one chroma sample per two pixels: between them
/// if `centred`, otherwise on the first one.
FRAMEWIRE_HOST_DEVICE constexpr ChromaTaps chroma_taps(int at, bool halved, bool centred) {
    if (!halved) return {at, at, 4, 0};
    const int sample = at / 2;
    if (centred) return at % 2 ? ChromaTaps{sample, sample + 1, 3, 1} : ChromaTaps{sample - 1, sample, 1, 3};
    return at % 2 ? ChromaTaps{sample, sample + 1, 2, 2} : ChromaTaps{sample - 1, sample, 0, 4};
}

/// The pixels (rows or columns) that a chroma sample averages, and their weights in quarters: pixel `first`,
/// which may lie outside the picture, and the two after it.
struct PixelTaps {
    int first;
    int weights[3];
};

/// Returns the taps of chroma sample `sample`; the flags are those of chroma_taps().
FRAMEWIRE_HOST_DEVICE constexpr PixelTaps pixel_taps(int sample, bool halved, bool centred) {
    if (!halved) return {sample, {4, 0, 0}};
    if (centred) return {2 * sample, {2, 2, 0}};
    return {2 * sample - 1, {1, 2, 1}};
}

/// Returns `index` clamped to 0..count-1, which replicates the border.
FRAMEWIRE_HOST_DEVICE constexpr int held_index(int index, int count) {
    return index < 0 ? 0 : index < count ? index : count - 1;
}

/// Returns `value` clamped to 0..255.
FRAMEWIRE_HOST_DEVICE constexpr std::uint8_t held_byte(int value) {
    return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

/// Bytes of an image that a thread processes at a time: small compared to a core's L2 cache, large enough to make the
/// cost of scheduling a chunk negligible.
inline constexpr std::int64_t chunk_bytes = 128 * 1024;

/// Returns the number of rows of `row_bytes` bytes in one chunk, at least 1.
inline std::int64_t rows_each(std::int64_t row_bytes) { return std::max<std::int64_t>(chunk_bytes / row_bytes, 1); }

/// Converts pixels of four bytes (B, G, R and one unused byte) to a BGR image of one frame. `from` has as many rows and
/// pixels as the image; its rows are `stride_bytes` apart. Runs on `threads` and returns when done. The memory of
/// `from` and `image` must not overlap.
void bgr0_to_bgr(const std::uint8_t* from, std::int64_t stride_bytes, HostView<std::uint8_t> image,
                 const ThreadPool& threads);

/// Converts a BGR image of one frame to pixels of four bytes: B, G, R and 255. Strides, threads and overlap are as in
/// bgr0_to_bgr().
void bgr_to_bgr0(HostView<const std::uint8_t> image, std::uint8_t* to, std::int64_t stride_bytes,
                 const ThreadPool& threads);

}  // namespace framewire
