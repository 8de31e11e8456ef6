#include "framewire/colour/yuv.hpp"
#include "framewire/colour/image_to_yuv.hpp"
#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/colour/yuv.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <string_view>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D8 = hn::ScalableTag<std::uint8_t>;

}  // namespace

// Drops the fourth byte of each pixel. Processes a vector of pixels at a time and the remaining pixels one by one.
void bgr0_row_to_bgr(const std::uint8_t* from, std::int64_t pixels, std::uint8_t* to) {
    const D8 d;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t x = 0;
    for (; x + step <= pixels; x += step) {
        hn::VFromD<D8> b, g, r, unused;
        hn::LoadInterleaved4(d, from + 4 * x, b, g, r, unused);
        hn::StoreInterleaved3(b, g, r, d, to + 3 * x);
    }
    for (; x < pixels; ++x)
        for (int channel = 0; channel < 3; ++channel) to[3 * x + channel] = from[4 * x + channel];
}

// Sets the fourth byte of each pixel to 255.
void bgr_row_to_bgr0(const std::uint8_t* from, std::int64_t pixels, std::uint8_t* to) {
    const D8 d;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t x = 0;
    for (; x + step <= pixels; x += step) {
        hn::VFromD<D8> b, g, r;
        hn::LoadInterleaved3(d, from + 3 * x, b, g, r);
        hn::StoreInterleaved4(b, g, r, hn::Set(d, 255), d, to + 4 * x);
    }
    for (; x < pixels; ++x) {
        for (int channel = 0; channel < 3; ++channel) to[4 * x + channel] = from[3 * x + channel];
        to[4 * x + 3] = 255;
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "framewire/colour/yuv.hpp"

namespace framewire {

HWY_EXPORT(bgr0_row_to_bgr);
HWY_EXPORT(bgr_row_to_bgr0);

void bgr0_to_bgr(const std::uint8_t* from, std::int64_t stride_bytes, HostView<std::uint8_t> image,
                 const ThreadPool& threads) {
    const auto& shape = image.shape();
    threads.for_chunks(
        shape.height, rows_each(shape.row_bytes()), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (auto y = begin; y < end; ++y)
                HWY_DYNAMIC_DISPATCH(bgr0_row_to_bgr)(from + y * stride_bytes, shape.width, image.batch_row(y));
        });
}

void bgr_to_bgr0(HostView<const std::uint8_t> image, std::uint8_t* to, std::int64_t stride_bytes,
                 const ThreadPool& threads) {
    const auto& shape = image.shape();
    threads.for_chunks(
        shape.height, rows_each(shape.row_bytes()), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (auto y = begin; y < end; ++y)
                HWY_DYNAMIC_DISPATCH(bgr_row_to_bgr0)(image.batch_row(y), shape.width, to + y * stride_bytes);
        });
}

}  // namespace framewire

#endif

#if HWY_ONCE

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

}  // namespace

std::string to_string(const ChromaSiting& siting) {
    const auto name = [](bool centred, bool is_mirrored, auto first, auto second, auto edge) -> std::string_view {
        if (centred) return is_mirrored ? edge : "";
        return is_mirrored ? second : first;
    };
    const auto column = name(siting.centred_x, siting.mirrored_x, "left", "right", "left edge");
    const auto row = name(siting.centred_y, siting.mirrored_y, "top", "bottom", "top edge");
    if (row.empty() && column.empty()) return "centre";
    return fmt::format("{}{}{}", row, row.empty() || column.empty() ? "" : " ", column);
}

std::string to_string(const YuvCoding& coding) {
    return fmt::format("{}, {} range", name(coding.matrix), coding.full_range ? "full" : "limited");
}

std::string to_string(const YuvFormat& format) {
    if (format.interleaved && format.chroma == ChromaSampling::s420) return format.bits == 8 ? "NV12" : "P010";
    // Formats without a common name get a description.
    auto text = std::string(name(format.chroma));
    if (format.interleaved) text += " interleaved";
    if (format.bits != 8) text += fmt::format(" of {} bits", format.bits);
    return text;
}

std::string to_string(const YuvInfo& info) {
    auto text = fmt::format("{}x{} {}, {}", info.width, info.height, to_string(info.format), to_string(info.coding));
    if (info.format.chroma == ChromaSampling::s420 || info.format.chroma == ChromaSampling::s422)
        text += fmt::format(", chroma {}", to_string(info.siting));
    if (info.frames != 1) text += fmt::format(" x {}", info.frames);
    return text;
}

// Applies the limits of images and of the supported formats.
void validate(const YuvInfo& info, const char* what) {
    if (info.width < 1 || info.width > max_side_px || info.height < 1 || info.height > max_side_px)
        fail(ErrorCode::usage, "{} is {}x{}; allowed: sides of 1 to {} pixels", what, info.width, info.height,
             max_side_px);
    if (info.frames < 1) fail(ErrorCode::usage, "{} has {} frames; at least 1 is needed", what, info.frames);
    if (info.format.bits != 8 && info.format.bits != 10)
        fail(ErrorCode::usage, "{} is {}; samples must have 8 or 10 bits", what, to_string(info.format));
    // NV12 and P010 are the only interleaved formats.
    if (info.format.interleaved && info.format.chroma != ChromaSampling::s420)
        fail(ErrorCode::usage, "{} is {}; only 4:2:0 may be interleaved", what, to_string(info.format));
}

namespace {

// The conversions know only the sitings that media have.
void validate_siting(const YuvInfo& info) {
    if (info.siting.mirrored())
        fail(ErrorCode::usage, "the YUV picture is {}; chroma must be centred, left or top", to_string(info));
}

}  // namespace

namespace detail {

void validate_same(const YuvInfo& have, const YuvInfo& want, const char* what) {
    if (have != want) fail(ErrorCode::usage, "{} is {}; expected {}", what, to_string(have), to_string(want));
}

// Checks that a plane has memory, that its strides are large enough, and that 16-bit words are at even addresses.
void validate_plane(const void* data, std::int64_t row_stride_bytes, std::int64_t frame_stride_bytes,
                    const YuvInfo& info, int plane, const char* what) {
    const auto row_bytes = info.plane_row_bytes(plane);
    if (data == nullptr) fail(ErrorCode::usage, "{} has a null pointer for plane {}", what, plane);
    if (row_stride_bytes < row_bytes)
        fail(ErrorCode::usage, "{} has a row stride of {} bytes in plane {}; a row needs {}", what, row_stride_bytes,
             plane, row_bytes);
    // The last row needs no padding.
    const auto span = (info.plane_rows(plane) - 1) * row_stride_bytes + row_bytes;
    if (info.frames > 1 && frame_stride_bytes < span)
        fail(ErrorCode::usage, "{} has a frame stride of {} bytes in plane {}; a frame needs {}", what,
             frame_stride_bytes, plane, span);
    // Samples of 16 bits are accessed as words, so their addresses must be even.
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data));
    if (info.sample_bytes() == 2 && ((address | row_stride_bytes | frame_stride_bytes) & 1))
        fail(ErrorCode::usage, "{} has 16-bit samples at odd addresses in plane {}", what, plane);
}

}  // namespace detail

namespace {

constexpr std::int64_t row_alignment = 64;
// Vector code of encoders may read past the last sample.
constexpr std::int64_t readable_behind = 64;

// Returns the row stride of a plane: the bytes of a row, rounded up to the alignment.
std::int64_t aligned_row_bytes(const YuvInfo& info, int plane) {
    return (info.plane_row_bytes(plane) + row_alignment - 1) / row_alignment * row_alignment;
}

std::int64_t picture_bytes(const YuvInfo& info) {
    std::int64_t bytes = readable_behind;
    for (int plane = 0; plane < info.planes(); ++plane)
        bytes += aligned_row_bytes(info, plane) * info.plane_rows(plane) * info.frames;
    return bytes;
}

}  // namespace

YuvPicture::YuvPicture(const YuvInfo& info, HostMemory& memory)
    : info_((validate(info, "the YUV picture"), info)), buffer_(static_cast<std::size_t>(picture_bytes(info)), memory) {
    view_.info = info;
    auto* at = buffer_.data();
    for (int plane = 0; plane < info.planes(); ++plane) {
        const auto row_bytes = aligned_row_bytes(info, plane), plane_bytes = row_bytes * info.plane_rows(plane);
        view_.planes[static_cast<std::size_t>(plane)] = {at, row_bytes, plane_bytes};
        at += plane_bytes * info.frames;
    }
}

// Takes a free picture of the same kind, or allocates one outside of the lock.
std::shared_ptr<YuvPicture> YuvPicturePool::take(const YuvInfo& info) {
    std::unique_ptr<YuvPicture> picture;
    {
        const std::lock_guard lock(free_->mutex);
        auto& pictures = free_->pictures;
        // All free pictures are of one kind; a picture of another kind replaces them.
        if (!pictures.empty() && pictures.back()->info() != info) pictures.clear();
        if (!pictures.empty()) {
            picture = std::move(pictures.back());
            pictures.pop_back();
        }
    }
    if (!picture) picture = std::make_unique<YuvPicture>(info, *memory_);
    // The deleter returns the picture. It shares ownership of the list, so this works even after the pool has been
    // destroyed.
    return {picture.release(), [free = free_](YuvPicture* returned) {
                std::unique_ptr<YuvPicture> owned(returned);
                const std::lock_guard lock(free->mutex);
                free->pictures.push_back(std::move(owned));
            }};
}

namespace {

// Weights of red and blue in luma: ITU-R BT.601-7, BT.709-6 and BT.2020-2. Green has the remainder to 1.
struct Weights {
    double r, b;
};

// Returns the weights of the standard that defines the matrix.
Weights weights(YuvMatrix matrix) {
    switch (matrix) {
        case YuvMatrix::bt709: return {0.2126, 0.0722};
        case YuvMatrix::bt2020: return {0.2627, 0.0593};
        case YuvMatrix::bt601: break;
    }
    return {0.299, 0.114};
}

std::int16_t rounded(double value) { return static_cast<std::int16_t>(std::lround(value)); }

}  // namespace

FromYuvCoefficients from_yuv_coefficients(const YuvCoding& coding, int bits) {
    const auto [kr, kb] = weights(coding.matrix);
    const double kg = 1 - kr - kb;
    // Full range uses all 2^bits - 1 steps. Limited range has 219 steps of luma and 224 of chroma, times 4 with
    // 10 bits.
    const double step = bits == 8 ? 1 : 4;
    const double luma_steps = coding.full_range ? (1 << bits) - 1 : 219 * step;
    const double chroma_steps = coding.full_range ? (1 << bits) - 1 : 224 * step;
    // rounded_product() drops 15 bits. Its sample operand is scaled up to 15 bits (luma), or 16 bits with the
    // sign (chroma), which adds 15 - bits or 16 - bits.
    const double luma = 255 / luma_steps * (1 << from_yuv_shift) * (1 << bits);
    const double chroma = 255 / chroma_steps * (1 << from_yuv_shift) * (1 << (bits - 1));
    const double black = coding.full_range ? 0 : 16 * 255.0 / 219 * (1 << from_yuv_shift);
    return {.y = rounded(luma),
            .y_offset = rounded((1 << (from_yuv_shift - 1)) - black),
            .b_u = rounded(chroma * 2 * (1 - kb)),
            .g_u = rounded(-chroma * 2 * (1 - kb) * kb / kg),
            .g_v = rounded(-chroma * 2 * (1 - kr) * kr / kg),
            .r_v = rounded(chroma * 2 * (1 - kr))};
}

ToYuvCoefficients to_yuv_coefficients(const YuvCoding& coding) {
    const auto [kr, kb] = weights(coding.matrix);
    const double luma = (coding.full_range ? 1 : 219.0 / 255) * (1 << 15);
    const double chroma = (coding.full_range ? 1 : 224.0 / 255) * (1 << 15);
    // The green weights are computed as a remainder, so that each sum is exact and grays get luma and chroma
    // without an error.
    ToYuvCoefficients to{};
    to.y_gray = static_cast<std::int32_t>(std::lround(luma));
    to.y_b = rounded(luma * kb);
    to.y_r = rounded(luma * kr);
    to.y_g = static_cast<std::int16_t>(to.y_gray - to.y_b - to.y_r);
    to.u_b = rounded(chroma / 2);
    to.u_r = rounded(-chroma * kr / (2 * (1 - kb)));
    to.u_g = static_cast<std::int16_t>(-to.u_b - to.u_r);
    to.v_r = rounded(chroma / 2);
    to.v_b = rounded(-chroma * kb / (2 * (1 - kr)));
    to.v_g = static_cast<std::int16_t>(-to.v_r - to.v_b);
    to.y_offset = static_cast<std::int16_t>(((coding.full_range ? 0 : 16) << to_yuv_shift) + (1 << (to_yuv_shift - 1)));
    return to;
}

// The constructors validate the pictures and the images once, so that runs only compare shapes.
YuvToImage::YuvToImage(const YuvInfo& picture, int channels, const ThreadPool& threads)
    : picture_(picture), channels_(channels), threads_(&threads) {
    validate(picture, "the YUV picture");
    validate_siting(picture);
    validate(image_shape(), "the image converted from YUV");
}

YuvToImage::YuvToImage(const YuvInfo& picture, int channels, Executor& executor)
    : YuvToImage(picture, channels, executor.pool()) {
    executor_ = &executor;
}

ImageToYuv::ImageToYuv(const YuvInfo& picture, int channels, const ThreadPool& threads)
    : picture_(picture), channels_(channels), threads_(&threads) {
    validate(picture, "the YUV picture");
    validate_siting(picture);
    validate(image_shape(), "the image to convert to YUV");
    if (picture.format.bits != 8)
        fail(ErrorCode::usage, "the YUV picture is {}; only 8 bits are supported", to_string(picture.format));
}

ImageToYuv::ImageToYuv(const YuvInfo& picture, int channels, Executor& executor)
    : ImageToYuv(picture, channels, executor.pool()) {
    executor_ = &executor;
}

}  // namespace framewire

#endif  // HWY_ONCE
