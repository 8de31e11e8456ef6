#include "framewire/colour/yuv.hpp"

#include "framewire/core/error.hpp"

namespace framewire {
namespace {

const char* name(YuvMatrix matrix) {
    switch (matrix) {
        case YuvMatrix::bt709: return "BT.709";
        case YuvMatrix::bt2020: return "BT.2020";
        case YuvMatrix::bt601: break;
    }
    return "BT.601";
}

const char* name(ChromaSampling chroma) {
    switch (chroma) {
        case ChromaSampling::none: return "gray";
        case ChromaSampling::s420: return "4:2:0";
        case ChromaSampling::s422: return "4:2:2";
        case ChromaSampling::s444: break;
    }
    return "4:4:4";
}

// Returns "left", "centre", "top" or "top left".
const char* name(const ChromaSiting& siting) {
    if (siting.centred_y) return siting.centred_x ? "centre" : "left";
    return siting.centred_x ? "top" : "top left";
}

}  // namespace

std::string to_string(const YuvCoding& coding) {
    return fmt::format("{}, {} range", name(coding.matrix), coding.full_range ? "full" : "limited");
}

std::string to_string(const YuvFormat& format) {
    if (format.interleaved && format.chroma == ChromaSampling::s420) return format.bits == 8 ? "NV12" : "P010";
    // Formats without a common name are described.
    auto text = std::string(name(format.chroma));
    if (format.interleaved) text += " interleaved";
    if (format.bits != 8) text += fmt::format(" of {} bits", format.bits);
    return text;
}

std::string to_string(const YuvInfo& info) {
    auto text = fmt::format("{}x{} {}, {}", info.width, info.height, to_string(info.format), to_string(info.coding));
    if (info.format.chroma == ChromaSampling::s420 || info.format.chroma == ChromaSampling::s422)
        text += fmt::format(", chroma {}", name(info.siting));
    if (info.frames != 1) text += fmt::format(" x {}", info.frames);
    return text;
}

// The same limits as for images, and those of the supported formats.
void validate(const YuvInfo& info, const char* what) {
    if (info.width < 1 || info.width > max_side_px || info.height < 1 || info.height > max_side_px)
        fail(ErrorCode::usage, "{} is {}x{}; allowed are sides of 1 to {} pixels", what, info.width, info.height,
             max_side_px);
    if (info.frames < 1) fail(ErrorCode::usage, "{} has {} frames; at least 1 is needed", what, info.frames);
    if (info.format.bits != 8 && info.format.bits != 10)
        fail(ErrorCode::usage, "{} is {}; samples have 8 or 10 bits", what, to_string(info.format));
    // NV12 and P010 are the only interleaved formats.
    if (info.format.interleaved && info.format.chroma != ChromaSampling::s420)
        fail(ErrorCode::usage, "{} is {}; only 4:2:0 may be interleaved", what, to_string(info.format));
}

namespace detail {

void validate_same(const YuvInfo& have, const YuvInfo& want, const char* what) {
    if (have != want) fail(ErrorCode::usage, "{} is {}; {} is needed", what, to_string(have), to_string(want));
}

// Checks that memory and strides hold a plane, and that 16-bit words are at even addresses.
void validate_plane(const void* data, std::int64_t row_stride_bytes, std::int64_t frame_stride_bytes,
                    const YuvInfo& info, int plane, const char* what) {
    const auto row_bytes = info.plane_row_bytes(plane);
    if (data == nullptr) fail(ErrorCode::usage, "{} has no memory for plane {}", what, plane);
    if (row_stride_bytes < row_bytes)
        fail(ErrorCode::usage, "{} has a row stride of {} bytes in plane {}; a row needs {}", what, row_stride_bytes,
             plane, row_bytes);
    // The last row needs no gap after it.
    const auto span = (info.plane_rows(plane) - 1) * row_stride_bytes + row_bytes;
    if (info.frames > 1 && frame_stride_bytes < span)
        fail(ErrorCode::usage, "{} has a frame stride of {} bytes in plane {}; a frame needs {}", what,
             frame_stride_bytes, plane, span);
    // 16-bit words are read and written as such.
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data));
    if (info.sample_bytes() == 2 && ((address | row_stride_bytes | frame_stride_bytes) & 1))
        fail(ErrorCode::usage, "{} has words of 16 bits at odd addresses in plane {}", what, plane);
}

}  // namespace detail

}  // namespace framewire
