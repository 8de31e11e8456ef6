#include "framewire/media/conversion.hpp"
#include "framewire/colour/image_to_yuv.hpp"
#include "framewire/colour/yuv.hpp"
#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/core/error.hpp"
#include "framewire/media/image_formats.hpp"
#include "framewire/media/media.hpp"

#include <array>

// Conversion between FFmpeg's frames and framewire's images. The fast paths cover the formats of common codecs and
// cameras:
//
//    frame                             to_image()                 to_frame()
//    8-bit 4:2:0, 4:2:2, 4:4:4, gray   YuvToImage                 ImageToYuv
//    NV12                              YuvToImage                 ImageToYuv
//    the same at 10 bits, P010         YuvToImage                 libswscale
//    BGR0                              bgr0_to_bgr()              bgr_to_bgr0()
//    BGR24                             row copy                   libswscale
//    others, other sizes, bottom-up    libswscale                 libswscale
//
// libswscale has its own conventions: it warns about YUVJ formats, treats gray as full range, and accesses memory
// beyond the end of rows; the code around it makes up for these.

extern "C" {
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

namespace framewire {
namespace {

// Unset chroma position: libswscale then uses its own default. Positions are in its unit, 1/256 of a luma pixel.
constexpr int unset_position = -513;

// Returns the planar format that equals a YUVJ format except for the implied range. libswscale warns about YUVJ
// formats, and the range is set separately.
AVPixelFormat without_range(AVPixelFormat format) {
    switch (format) {
        case AV_PIX_FMT_YUVJ420P: return AV_PIX_FMT_YUV420P;
        case AV_PIX_FMT_YUVJ411P: return AV_PIX_FMT_YUV411P;
        case AV_PIX_FMT_YUVJ422P: return AV_PIX_FMT_YUV422P;
        case AV_PIX_FMT_YUVJ444P: return AV_PIX_FMT_YUV444P;
        case AV_PIX_FMT_YUVJ440P: return AV_PIX_FMT_YUV440P;
        default: return format;
    }
}

// Returns true for RGB and palette formats.
bool is_rgb(AVPixelFormat format) {
    const auto* descriptor = av_pix_fmt_desc_get(format);
    return descriptor && (descriptor->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL));
}

// Returns libswscale's coefficient table for a matrix.
const int* coefficients(YuvMatrix matrix) {
    switch (matrix) {
        case YuvMatrix::bt709: return sws_getCoefficients(SWS_CS_ITU709);
        case YuvMatrix::bt2020: return sws_getCoefficients(SWS_CS_BT2020);
        case YuvMatrix::bt601: break;
    }
    return sws_getCoefficients(SWS_CS_ITU601);
}

// Returns FFmpeg's format for framewire's images.
AVPixelFormat image_format(const Shape& shape) { return shape.channels == 1 ? AV_PIX_FMT_GRAY8 : AV_PIX_FMT_BGR24; }

const char* name(YuvMatrix matrix) {
    switch (matrix) {
        case YuvMatrix::bt709: return "BT.709";
        case YuvMatrix::bt2020: return "BT.2020";
        case YuvMatrix::bt601: break;
    }
    return "BT.601";
}

// Returns true for formats with an alpha channel.
bool has_alpha(AVPixelFormat format) {
    const auto* descriptor = av_pix_fmt_desc_get(format);
    return descriptor && (descriptor->flags & AV_PIX_FMT_FLAG_ALPHA);
}

// Expands limited range (16..235) to 0..255 in the colour channels; each pixel has `alpha_bytes` after them.
void stretch_range(std::uint8_t* pixels, std::ptrdiff_t stride_bytes, const Shape& shape, int alpha_bytes) {
    static constexpr auto stretched = [] {
        std::array<std::uint8_t, 256> values{};
        for (int value = 0; value < 256; ++value)
            values[static_cast<std::size_t>(value)] =
                static_cast<std::uint8_t>((std::clamp(value - 16, 0, 219) * 255 + 109) / 219);
        return values;
    }();
    for (int y = 0; y < shape.height; ++y, pixels += stride_bytes) {
        auto* pixel = pixels;
        for (int x = 0; x < shape.width; ++x, pixel += shape.channels + alpha_bytes)
            for (int channel = 0; channel < shape.channels; ++channel) pixel[channel] = stretched[pixel[channel]];
    }
}

// Returns the chroma position according to a frame's tags. The default is MPEG's position (left) for limited range and
// JPEG's (centre) for full range.
ChromaSiting siting_of(const AVFrame& frame, const YuvCoding& coding) {
    switch (frame.chroma_location) {
        case AVCHROMA_LOC_CENTER: return siting_centre;
        case AVCHROMA_LOC_TOPLEFT: return siting_top_left;
        case AVCHROMA_LOC_TOP: return {true, false};
        case AVCHROMA_LOC_UNSPECIFIED: return coding.full_range ? siting_centre : siting_left;
        default: return siting_left;
    }
}

// Returns the equivalent format of framewire::colour, if it supports this one.
std::optional<YuvFormat> own_format(AVPixelFormat format) {
    switch (without_range(format)) {
        case AV_PIX_FMT_GRAY8: return yuv_gray;
        case AV_PIX_FMT_YUV420P: return yuv_420;
        case AV_PIX_FMT_YUV422P: return yuv_422;
        case AV_PIX_FMT_YUV444P: return yuv_444;
        case AV_PIX_FMT_NV12: return yuv_nv12;
        case AV_PIX_FMT_GRAY10LE: return YuvFormat{ChromaSampling::none, false, 10};
        case AV_PIX_FMT_YUV420P10LE: return YuvFormat{ChromaSampling::s420, false, 10};
        case AV_PIX_FMT_YUV422P10LE: return YuvFormat{ChromaSampling::s422, false, 10};
        case AV_PIX_FMT_YUV444P10LE: return YuvFormat{ChromaSampling::s444, false, 10};
        case AV_PIX_FMT_P010LE: return yuv_p010;
        default: return std::nullopt;
    }
}

// Returns true if the frame has the image's size, 3 channels and top-down rows with at least `pixel_bytes` per pixel.
bool has_rows(const AVFrame& frame, const Shape& shape, int pixel_bytes) {
    return frame.width == shape.width && frame.height == shape.height && shape.channels == 3 &&
           frame.linesize[0] >= shape.width * pixel_bytes;
}

}  // namespace

YuvCoding assumed_coding(int height) { return {height < 720 ? YuvMatrix::bt601 : YuvMatrix::bt709, false}; }

bool is_gray(AVPixelFormat format) {
    const auto* descriptor = av_pix_fmt_desc_get(format);
    return descriptor && descriptor->nb_components <= 2 && !(descriptor->flags & AV_PIX_FMT_FLAG_PAL) &&
           !(descriptor->flags & AV_PIX_FMT_FLAG_RGB);
}

// Uses, in this order, explicit tags, then what the format implies (YUVJ and gray: full range; JPEG: BT.601), then
// assumed_coding().
YuvCoding coding_of(const AVFrame& frame, std::string& assumed) {
    assumed.clear();
    const auto format = static_cast<AVPixelFormat>(frame.format);
    auto coding = assumed_coding(frame.height);
    if (is_rgb(format)) return {coding.matrix, true};

    switch (frame.colorspace) {
        case AVCOL_SPC_BT709: coding.matrix = YuvMatrix::bt709; break;
        case AVCOL_SPC_BT470BG:
        case AVCOL_SPC_SMPTE170M:
        case AVCOL_SPC_FCC: coding.matrix = YuvMatrix::bt601; break;
        case AVCOL_SPC_BT2020_NCL:
        case AVCOL_SPC_BT2020_CL: coding.matrix = YuvMatrix::bt2020; break;
        default:
            if (!is_gray(format)) assumed = name(coding.matrix);
    }

    // JPEG pictures have full range and BT.601 at any size (JFIF).
    const bool jpeg = without_range(format) != format;
    if (jpeg && frame.colorspace == AVCOL_SPC_UNSPECIFIED) coding.matrix = YuvMatrix::bt601;
    if (frame.color_range == AVCOL_RANGE_JPEG || frame.color_range == AVCOL_RANGE_MPEG) {
        coding.full_range = frame.color_range == AVCOL_RANGE_JPEG;
    } else {
        coding.full_range = jpeg || is_gray(format);
        if (!coding.full_range) assumed += assumed.empty() ? "limited range" : ", limited range";
    }
    if (jpeg) assumed.clear();
    return coding;
}

std::optional<YuvInfo> yuv_info(const AVFrame& frame, const YuvCoding& coding) {
    const auto format = own_format(static_cast<AVPixelFormat>(frame.format));
    if (!format) return std::nullopt;
    return YuvInfo{*format, coding, siting_of(frame, coding), 1, frame.height, frame.width};
}

namespace {

// Returns a view of a frame's planes; nullopt for unsupported formats and for negative strides (bottom-up rows).
template <class Byte>
std::optional<HostYuv<Byte>> yuv_view(const AVFrame& frame, const YuvCoding& coding) {
    const auto info = yuv_info(frame, coding);
    if (!info) return std::nullopt;
    HostYuv<Byte> picture;
    picture.info = *info;
    for (int plane = 0; plane < picture.info.planes(); ++plane) {
        const auto stride = frame.linesize[plane];
        if (stride < picture.info.plane_row_bytes(plane)) return std::nullopt;
        picture.planes[static_cast<std::size_t>(plane)] = {frame.data[plane], stride,
                                                           std::int64_t{stride} * picture.info.plane_rows(plane)};
    }
    return picture;
}

}  // namespace

std::optional<HostYuv<const std::uint8_t>> planes_of(const AVFrame& frame, const YuvCoding& coding) {
    return yuv_view<const std::uint8_t>(frame, coding);
}

std::optional<YuvInfo> planes_made_for(const AVFrame& frame) {
    std::string assumed;
    const auto picture = yuv_view<const std::uint8_t>(frame, coding_of(frame, assumed));
    if (!picture || picture->info.format.bits != 8) return std::nullopt;
    return picture->info;
}

void tag(AVFrame& frame, const YuvCoding& coding) {
    frame.color_range = coding.full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    switch (coding.matrix) {
        case YuvMatrix::bt601: frame.colorspace = AVCOL_SPC_SMPTE170M; break;
        case YuvMatrix::bt709: frame.colorspace = AVCOL_SPC_BT709; break;
        case YuvMatrix::bt2020: frame.colorspace = AVCOL_SPC_BT2020_NCL; break;
    }
}

// One side of a libswscale conversion; a context is reused while both sides stay equal.
struct PictureConverter::Side {
    AVPixelFormat format = AV_PIX_FMT_NONE;
    int width = 0;
    int height = 0;
    YuvCoding coding{};
    int chroma_x = unset_position;
    int chroma_y = unset_position;

    friend bool operator==(const Side&, const Side&) = default;

    // Describes a frame. The chroma position matters only if chroma is subsampled by two.
    static Side of(const AVFrame& frame, const YuvCoding& coding) {
        Side side{without_range(static_cast<AVPixelFormat>(frame.format)), frame.width, frame.height, coding};
        const auto* descriptor = av_pix_fmt_desc_get(side.format);
        if (!descriptor || descriptor->log2_chroma_w != 1) return side;
        const auto siting = siting_of(frame, coding);
        side.chroma_x = siting.centred_x ? 128 : 0;
        if (descriptor->log2_chroma_h == 1) side.chroma_y = siting.centred_y ? 128 : 0;
        return side;
    }
};

struct PictureConverter::State {
    struct Free {
        void operator()(SwsContext* held) const noexcept { sws_freeContext(held); }
    };
    std::unique_ptr<SwsContext, Free> context;
    Side from;
    Side to;
    FramePointer padded;  // buffer for images without padding: libswscale reads and writes beyond the end of rows
};

PictureConverter::PictureConverter() : state_(std::make_unique<State>()) {}
PictureConverter::~PictureConverter() = default;
PictureConverter::PictureConverter(PictureConverter&&) noexcept = default;
PictureConverter& PictureConverter::operator=(PictureConverter&&) noexcept = default;

// Creates the libswscale context for a conversion, unless the current one already fits.
void PictureConverter::prepare(const Side& from, const Side& to) {
    auto& state = *state_;
    if (state.context && state.from == from && state.to == to) return;
    if (!sws_isSupportedInput(from.format) || !sws_isSupportedOutput(to.format))
        fail(ErrorCode::no_input, "cannot convert frames of pixel format {} to {}",
             from.format == AV_PIX_FMT_NONE ? "none" : av_get_pix_fmt_name(from.format),
             av_get_pix_fmt_name(to.format));

    state.context.reset(sws_alloc_context());
    auto* context = state.context.get();
    if (!context) fail(ErrorCode::config, "not enough memory for a colour converter");
    const auto set = [&](const char* option, std::int64_t value) { av_opt_set_int(context, option, value, 0); };
    set("srcw", from.width);
    set("srch", from.height);
    set("src_format", from.format);
    set("src_h_chr_pos", from.chroma_x);
    set("src_v_chr_pos", from.chroma_y);
    set("dstw", to.width);
    set("dsth", to.height);
    set("dst_format", to.format);
    set("dst_h_chr_pos", to.chroma_x);
    set("dst_v_chr_pos", to.chroma_y);
    set("sws_flags", SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP | SWS_BITEXACT);
    // Brightness 0, and contrast and saturation 1 in 16.16 fixed point.
    const auto set_coding = [&] {
        return sws_setColorspaceDetails(context, coefficients(from.coding.matrix), from.coding.full_range,
                                        coefficients(to.coding.matrix), to.coding.full_range, 0, 1 << 16, 1 << 16);
    };
    set_coding();  // before initialisation, which selects loops by the coding; formats without a coding reject it, so
                   // the result is ignored
                   // result is ignored
    if (sws_init_context(context, nullptr, nullptr) < 0) {
        state.context.reset();
        fail(ErrorCode::no_input, "cannot convert frames from {} {}x{} to {} {}x{}", av_get_pix_fmt_name(from.format),
             from.width, from.height, av_get_pix_fmt_name(to.format), to.width, to.height);
    }
    set_coding();
    state.from = from;
    state.to = to;
}

void PictureConverter::scale(const AVFrame& from, std::uint8_t* const planes[4], const int strides_bytes[4]) {
    if (sws_scale(state_->context.get(), from.data, from.linesize, 0, from.height, planes, strides_bytes) < 0)
        fail(ErrorCode::internal, "libswscale cannot convert a picture of {}x{}", from.width, from.height);
}

// Tries the fast paths first: framewire::colour for YUV and gray, then byte copies for BGR0 and BGR24. libswscale
// converts everything else.
void PictureConverter::to_image(const AVFrame& frame, const YuvCoding& coding, HostView<std::uint8_t> image) {
    const auto& shape = image.shape();
    if (frame.width == shape.width && frame.height == shape.height) {
        if (const auto picture = planes_of(frame, coding))
            return YuvToImage(picture->info, shape.channels, media_threads()).run(*picture, image);
    }
    if (frame.format == AV_PIX_FMT_BGR0 && has_rows(frame, shape, 4))
        return bgr0_to_bgr(frame.data[0], frame.linesize[0], image, media_threads());
    if (frame.format == AV_PIX_FMT_BGR24 && has_rows(frame, shape, 3))
        return copy({frame.data[0], shape, frame.linesize[0], std::int64_t{frame.linesize[0]} * shape.height}, image);
    scale_to_image(frame, coding, image);
}

void PictureConverter::to_frame(HostView<const std::uint8_t> image, AVFrame& frame) {
    const auto& shape = image.shape();
    std::string assumed;
    const auto coding = coding_of(frame, assumed);
    if (const auto info = planes_made_for(frame))
        return ImageToYuv(*info, shape.channels, media_threads()).run(image, *yuv_view<std::uint8_t>(frame, coding));
    if (frame.format == AV_PIX_FMT_BGR0 && has_rows(frame, shape, 4))
        return bgr_to_bgr0(image, frame.data[0], frame.linesize[0], media_threads());
    scale_to_frame(image, frame, coding);
}

void PictureConverter::scale_to_image(const AVFrame& frame, const YuvCoding& coding, HostView<std::uint8_t> image) {
    const auto& shape = image.shape();
    const bool alpha = has_alpha(static_cast<AVPixelFormat>(frame.format));
    const auto format = !alpha ? image_format(shape) : shape.channels == 1 ? AV_PIX_FMT_YA8 : AV_PIX_FMT_BGRA;
    const Side to{format, shape.width, shape.height, {coding.matrix, true}};
    // libswscale treats all gray as full range, so limited-range gray is expanded afterwards.
    const bool stretch = is_gray(static_cast<AVPixelFormat>(frame.format)) && !coding.full_range;
    prepare(Side::of(frame, {coding.matrix, coding.full_range || stretch}), to);
    if (!alpha && shape.channels == 3 && image.dense_rows() && frame.format != to.format) {
        std::uint8_t* const planes[4] = {image.data(), nullptr, nullptr, nullptr};
        const int strides[4] = {static_cast<int>(image.row_stride_bytes()), 0, 0, 0};
        scale(frame, planes, strides);
    } else {
        // Some loops of libswscale write beyond the end of a row: convert into a padded frame.
        auto& padded = state_->padded;
        if (!padded || padded->format != to.format || padded->width != to.width || padded->height != to.height)
            padded = make_frame(to.format, to.width, to.height);
        scale(frame, padded->data, padded->linesize);
        if (alpha) {
            if (stretch) stretch_range(padded->data[0], padded->linesize[0], shape, 1);
            lay_on_black(padded->data[0], padded->linesize[0], image);
            return;
        }
        for (int y = 0; y < shape.height; ++y)
            std::memcpy(image.row(0, y), padded->data[0] + std::ptrdiff_t{y} * padded->linesize[0],
                        static_cast<std::size_t>(shape.row_bytes()));
    }
    if (stretch) stretch_range(image.data(), image.row_stride_bytes(), shape, 0);
}

// Copies the image into a padded frame first, because libswscale reads beyond the end of rows.
void PictureConverter::scale_to_frame(HostView<const std::uint8_t> image, AVFrame& frame, const YuvCoding& coding) {
    const auto& shape = image.shape();
    const auto format = image_format(shape);
    auto& padded = state_->padded;
    if (!padded || padded->format != format || padded->width != shape.width || padded->height != shape.height)
        padded = make_frame(format, shape.width, shape.height);
    for (int y = 0; y < shape.height; ++y)
        std::memcpy(padded->data[0] + std::ptrdiff_t{y} * padded->linesize[0], image.row(0, y),
                    static_cast<std::size_t>(shape.row_bytes()));
    prepare(Side::of(*padded, {coding.matrix, true}), Side::of(frame, coding));
    scale(*padded, frame.data, frame.linesize);
}

namespace {

// Returns a reference to an object that lives until the last copy of the reference is released. `data` is what the
// reference's users may read; FFmpeg itself does not access it.
template <class Owner>
AVBufferRef* reference_to(std::uint8_t* data, std::size_t bytes, std::unique_ptr<Owner> owner) {
    auto* reference = av_buffer_create(
        data, bytes, [](void* owned, std::uint8_t*) { delete static_cast<Owner*>(owned); }, owner.get(),
        AV_BUFFER_FLAG_READONLY);
    if (!reference) fail(ErrorCode::config, "not enough memory for a picture");
    static_cast<void>(owner.release());
    return reference;
}

}  // namespace

// Both references keep the picture: FFmpeg copies a frame only if it has a buffer, and `opaque_ref` is the member that
// it leaves to its users.
void set_gpu_picture(AVFrame& frame, AVPixelFormat format, GpuPicture picture) {
    auto owner = std::make_unique<GpuPicture>(std::move(picture));
    auto* const data = reinterpret_cast<std::uint8_t*>(owner.get());
    auto* const reference = reference_to(data, sizeof(GpuPicture), std::move(owner));
    for (auto*& buffer : frame.buf) av_buffer_unref(&buffer);
    av_buffer_unref(&frame.hw_frames_ctx);
    av_buffer_unref(&frame.opaque_ref);
    std::fill(std::begin(frame.data), std::end(frame.data), nullptr);
    std::fill(std::begin(frame.linesize), std::end(frame.linesize), 0);
    frame.extended_data = frame.data;
    frame.format = format;
    frame.buf[0] = reference;
    frame.opaque_ref = av_buffer_ref(reference);
    if (!frame.opaque_ref) fail(ErrorCode::config, "not enough memory for a picture");
}

const GpuPicture* gpu_picture(const AVFrame& frame) {
    return frame.opaque_ref ? reinterpret_cast<const GpuPicture*>(frame.opaque_ref->data) : nullptr;
}

FramePointer download(const AVFrame& frame) {
    const auto* const gpu = gpu_picture(frame);
    auto host = make_frame();
    if (av_frame_copy_props(host.get(), &frame) < 0) fail(ErrorCode::config, "not enough memory for a frame");
    av_buffer_unref(&host->opaque_ref);
    host->format = frame.format;
    host->width = frame.width;
    host->height = frame.height;
    const auto picture = gpu->pool.download(*gpu->picture, gpu->picture->info());
    const auto view = picture->view();
    for (int plane = 0; plane < view.info.planes(); ++plane) {
        const auto& own = view.planes[static_cast<std::size_t>(plane)];
        host->data[plane] = const_cast<std::uint8_t*>(own.data);  // the frame is not writable
        host->linesize[plane] = static_cast<int>(own.row_stride_bytes);
    }
    host->buf[0] = reference_to(host->data[0], static_cast<std::size_t>(picture->bytes()),
                                std::make_unique<std::shared_ptr<const YuvPicture>>(picture));
    return host;
}

const AVFrame& DecodedPicture::frame() const {
    if (!gpu_picture(*frame_)) return *frame_;
    std::call_once(downloads_, [this] { downloaded_ = download(*frame_); });
    return *downloaded_;
}

void DecodedPicture::to_image(HostView<std::uint8_t> image) const {
    PictureConverter().to_image(frame(), coding_, image);
}

std::optional<PictureOnGpu> DecodedPicture::on_gpu() const {
    const auto* const gpu = gpu_picture(*frame_);
    if (!gpu) return std::nullopt;
    return PictureOnGpu{gpu->picture.get(), yuv_info(*frame_, coding_).value()};
}

bool DecodedPicture::fill_on_gpu(Frame& frame) const {
    const auto picture = on_gpu();
    if (!picture || !frame.has_gpu()) return false;
    if constexpr (cuda::compiled) {
        const YuvToImage to_image(picture->info, frame.shape().channels, media_threads());
        frame.fill_on_gpu([&](DeviceView<std::uint8_t> image, const cuda::Stream& stream) {
            picture->read(stream,
                          [&](const DeviceYuv<const std::uint8_t>& planes) { to_image.run(planes, image, stream); });
        });
    }
    return true;
}

}  // namespace framewire
