#pragma once

#include "framewire/core/view.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

namespace framewire {

/// Matrix coefficients of ITU-R BT.601, BT.709 and BT.2020 (non-constant luminance).
enum class YuvMatrix { bt601, bt709, bt2020 };

/// Meaning of the numbers of a YUV or gray picture (ITU-T H.273: matrix coefficients and range).
struct YuvCoding {
    YuvMatrix matrix = YuvMatrix::bt601;
    /// True: samples use all values. False: 16 to 235 for luma and 16 to 240 for chroma, at 8 bits.
    bool full_range = false;

    friend constexpr bool operator==(const YuvCoding&, const YuvCoding&) = default;
};

/// Returns "BT.709, limited range", for messages.
std::string to_string(const YuvCoding& coding);

/// Number of chroma samples: none (gray), one per 2x2 pixels, one per two pixels of a row, or one per pixel.
enum class ChromaSampling { none, s420, s422, s444 };

/// Position of the chroma samples of 4:2:0 and 4:2:2. The other samplings ignore it.
struct ChromaSiting {
    bool centred_x = false;  ///< between the two pixels of a row (JPEG, MPEG-1), else on the left pixel
    bool centred_y = true;   ///< between the two rows of 4:2:0, else on the upper row (BT.2020)

    friend constexpr bool operator==(const ChromaSiting&, const ChromaSiting&) = default;
};

inline constexpr ChromaSiting siting_left{false, true};       ///< MPEG-2, and the default of H.264
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

inline constexpr YuvFormat yuv_gray{ChromaSampling::none, false, 8};
inline constexpr YuvFormat yuv_420{ChromaSampling::s420, false, 8};
inline constexpr YuvFormat yuv_422{ChromaSampling::s422, false, 8};
inline constexpr YuvFormat yuv_444{ChromaSampling::s444, false, 8};
inline constexpr YuvFormat yuv_nv12{ChromaSampling::s420, true, 8};
inline constexpr YuvFormat yuv_p010{ChromaSampling::s420, true, 10};

/// Returns "4:2:0", "4:2:2 of 10 bits", "NV12", "P010" or "gray", for messages.
std::string to_string(const YuvFormat& format);

/// Description of a batch of equal YUV pictures, independent of where they are in memory.
struct YuvInfo {
    YuvFormat format{};
    YuvCoding coding{};
    ChromaSiting siting{};
    int frames = 1;
    int height = 0;
    int width = 0;

    /// Number of planes: 1, 2 or 3.
    constexpr int planes() const { return format.chroma == ChromaSampling::none ? 1 : format.interleaved ? 2 : 3; }
    /// Bytes per sample: 1 or 2.
    constexpr int sample_bytes() const { return format.bits > 8 ? 2 : 1; }
    /// Width and height of the chroma planes; odd sides are rounded up.
    constexpr int chroma_width() const { return format.chroma == ChromaSampling::s444 ? width : (width + 1) / 2; }
    /// Height of the chroma planes; odd heights are rounded up.
    constexpr int chroma_height() const { return format.chroma == ChromaSampling::s420 ? (height + 1) / 2 : height; }
    /// Number of rows of plane `plane`.
    constexpr int plane_rows(int plane) const { return plane == 0 ? height : chroma_height(); }
    /// Bytes per row of plane `plane`, without a gap.
    constexpr std::int64_t plane_row_bytes(int plane) const {
        const auto samples = plane == 0 ? width : chroma_width() * (format.interleaved ? 2 : 1);
        return std::int64_t{samples} * sample_bytes();
    }
    /// Bytes of plane `plane` of one picture, without gaps.
    constexpr std::int64_t plane_bytes(int plane) const { return plane_row_bytes(plane) * plane_rows(plane); }
    /// Bytes of one picture without gaps.
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

/// One plane of a batch. Strides are in bytes, whatever the size of a sample.
template <class T>
struct YuvPlane {
    T* data = nullptr;
    std::int64_t row_stride_bytes = 0;
    std::int64_t frame_stride_bytes = 0;

    /// Returns row `y` of picture `frame`. Indices are not checked.
    constexpr T* row(int frame, int y) const { return data + frame * frame_stride_bytes + y * row_stride_bytes; }
};

/// A batch of YUV pictures in memory: their description and up to three planes. Does not own. T is std::uint8_t
/// or const std::uint8_t even for 16-bit words, which must be at even addresses.
template <class T, MemorySpace space>
struct YuvView {
    static_assert(sizeof(T) == 1);

    YuvInfo info{};
    std::array<YuvPlane<T>, 3> planes{};

    constexpr YuvView() = default;
    /// Makes a view of planes with any strides; see validate().
    constexpr YuvView(YuvInfo what, std::array<YuvPlane<T>, 3> where) : info(what), planes(where) {}

    /// Makes a view of frames that start at `data`, each with its planes one after another and without gaps.
    constexpr YuvView(T* data, YuvInfo what) : info(what) {
        for (int plane = 0; plane < what.planes(); ++plane) {
            planes[static_cast<std::size_t>(plane)] = {data, what.plane_row_bytes(plane), what.frame_bytes()};
            data += what.plane_bytes(plane);
        }
    }

    /// A view to write converts to a view to read.
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

template <class T>
using HostYuv = YuvView<T, MemorySpace::host>;
template <class T>
using DeviceYuv = YuvView<T, MemorySpace::device>;

namespace detail {
void validate_plane(const void* data, std::int64_t row_stride_bytes, std::int64_t frame_stride_bytes,
                    const YuvInfo& info, int plane, const char* what);
void validate_same(const YuvInfo& have, const YuvInfo& want, const char* what);
}  // namespace detail

/// Throws Error{usage} unless `view` is described by `info` and its planes have memory and strides that hold
/// them. `what` names the picture in the message.
template <class T, MemorySpace space>
void validate(const YuvView<T, space>& view, const YuvInfo& info, const char* what) {
    detail::validate_same(view.info, info, what);
    for (int plane = 0; plane < info.planes(); ++plane) {
        const auto& have = view.planes[static_cast<std::size_t>(plane)];
        detail::validate_plane(have.data, have.row_stride_bytes, have.frame_stride_bytes, info, plane, what);
    }
}

}  // namespace framewire
