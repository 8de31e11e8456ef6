#include "framewire/media/ffmpeg/gpu_decoder.hpp"
#include "framewire/colour/deinterleave.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/cuda/foreign.hpp"
#include "framewire/media/ffmpeg/libav.hpp"

extern "C" {
#include <libavutil/hwcontext.h>
#include <libavutil/pixdesc.h>
#if FRAMEWIRE_CUDA
#include <libavutil/hwcontext_cuda.h>
#endif
}

#include <fmt/format.h>

#include <utility>

namespace framewire {
namespace {

// Pixel formats whose pictures NVDEC gives as NV12 or P010 without loss.
bool is_supported(AVPixelFormat format) {
    return format == AV_PIX_FMT_YUV420P || format == AV_PIX_FMT_YUVJ420P || format == AV_PIX_FMT_YUV420P10;
}

std::string name_of(AVPixelFormat format) {
    const char* name = av_get_pix_fmt_name(format);
    return name ? name : "unknown";
}

// Returns FFmpeg's configuration of a decoder for CUDA; null if it has none.
const AVCodecHWConfig* cuda_configuration(const AVCodec& codec) {
    for (int index = 0; const auto* configuration = avcodec_get_hw_config(&codec, index); ++index)
        if (configuration->device_type == AV_HWDEVICE_TYPE_CUDA &&
            (configuration->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX) &&
            configuration->pix_fmt == AV_PIX_FMT_CUDA)
            return configuration;
    return nullptr;
}

// Returns a pool for pictures on a GPU. A missing GPU has a clearer message here than in CUDA.
DevicePicturePool pool_on(int gpu) {
    if (const auto why = cuda::why_no_device(); !why.empty()) fail(ErrorCode::config, "{}", why);
    cuda::use_device(gpu);
    return {};
}

// Describes the planes of a picture. Coding and siting follow from the frame's tags later.
YuvInfo planes_of_size(int width, int height, int bits) {
    return {{ChromaSampling::s420, false, bits}, {}, {}, 1, height, width};
}

}  // namespace

// FFmpeg uses the context that is passed here, and queues its copies on the pool's stream, so that they and ours follow
// each other without waiting on the host.
GpuDecoder::GpuDecoder(int gpu) : pool_(pool_on(gpu)) {
#if FRAMEWIRE_CUDA
    device_.reset(av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA));
    if (!device_) fail(ErrorCode::config, "this FFmpeg cannot use CUDA");
    auto& device = *reinterpret_cast<AVHWDeviceContext*>(device_->data);
    device.user_opaque = this;
    auto& in_cuda = *static_cast<AVCUDADeviceContext*>(device.hwctx);
    const auto handles = cuda::foreign_handles(pool_.stream());
    in_cuda.cuda_ctx = handles.context;
    in_cuda.stream = handles.stream;
    if (const int error = av_hwdevice_ctx_init(device_.get()); error < 0)
        fail(ErrorCode::config, "FFmpeg cannot use the GPU: {}", ffmpeg_error(error));
#endif
}

GpuDecoder::~GpuDecoder() {
    for (auto& surface : surfaces_) try {
            release(surface);
        } catch (const Error&) {
            // The GPU failed; whoever waits for a picture gets the error.
        }
}

const AVCodec* GpuDecoder::find(const AVCodec& codec) {
    if (cuda_configuration(codec)) return &codec;
    // FFmpeg prefers dav1d for AV1; its own decoder only works with hardware.
    void* at = nullptr;
    while (const auto* other = av_codec_iterate(&at))
        if (other->id == codec.id && av_codec_is_decoder(other) && cuda_configuration(*other)) return other;
    return nullptr;
}

bool GpuDecoder::is_exact(AVCodecID codec) {
    switch (codec) {
        case AV_CODEC_ID_H264:
        case AV_CODEC_ID_HEVC:
        case AV_CODEC_ID_VP8:
        case AV_CODEC_ID_VP9: return true;
        default: return false;
    }
}

void GpuDecoder::attach(AVCodecContext& decoder) {
    decoder.hw_device_ctx = av_buffer_ref(device_.get());
    if (!decoder.hw_device_ctx) fail(ErrorCode::config, "not enough memory for a decoder");
    decoder.get_format = choose;
    decoder.extra_hw_frames = static_cast<int>(surfaces_.size());
}

void GpuDecoder::refuse(const std::string& why) {
    if (refusal_.empty()) refusal_ = why;
}

AVPixelFormat GpuDecoder::choose(AVCodecContext* decoder, const AVPixelFormat* offered) {
    auto& device = *reinterpret_cast<AVHWDeviceContext*>(decoder->hw_device_ctx->data);
    return static_cast<GpuDecoder*>(device.user_opaque)->choose_format(*decoder, offered);
}

// FFmpeg offers the GPU's format and, last, its own one. If the driver refuses the stream, it asks a second time
// without the GPU, after it has logged the reason.
AVPixelFormat GpuDecoder::choose_format(const AVCodecContext& decoder, const AVPixelFormat* offered) {
    const auto* end = offered;
    bool has_gpu = false;
    for (; *end != AV_PIX_FMT_NONE; ++end) has_gpu |= *end == AV_PIX_FMT_CUDA;
    const auto own = end[-1];
    if (has_gpu && refusal_.empty() && is_supported(own)) {
        is_offered_ = true;
        take_first_complaint();
        return AV_PIX_FMT_CUDA;
    }
    const auto* profile = avcodec_profile_name(decoder.codec_id, decoder.profile);
    if (std::exchange(is_offered_, false) && !has_gpu) {
        const auto reason = take_first_complaint();
        refuse(reason.empty() ? "the GPU refuses the stream" : reason);
    } else {
        refuse(fmt::format("{}{}{} of pixel format {}", avcodec_get_name(decoder.codec_id), profile ? " " : "",
                           profile ? profile : "", name_of(own)));
    }
    return own;
}

// The next picture of NVDEC that gets the same memory is copied there by the same stream, after ours was read. The
// surfaces are kept until then all the same, because NVDEC does not promise that order.
void GpuDecoder::take(const AVCodecContext& decoder, AVFrame& frame) {
    if (frame.crop_left || frame.crop_top) return refuse("its pictures are cropped at the left or upper border");
    if (!frame.hw_frames_ctx) fail(ErrorCode::internal, "a picture of the GPU has no frames context");
    const auto surface_format = reinterpret_cast<const AVHWFramesContext*>(frame.hw_frames_ctx->data)->sw_format;
    const int bits = surface_format == AV_PIX_FMT_P010 ? 10 : 8;
    if (bits == 8 && surface_format != AV_PIX_FMT_NV12)
        return refuse("the GPU gives pictures of pixel format " + name_of(surface_format));

    is_offered_ = false;
    auto& surface = surfaces_[next_];
    next_ = (next_ + 1) % surfaces_.size();
    release(surface);
    av_frame_move_ref(surface.frame.get(), &frame);
    const auto& from = *surface.frame;
    const auto info = planes_of_size(from.width, from.height, bits);
    auto picture = pool_.take(info);
    if constexpr (cuda::compiled) {
        DeviceYuv<const std::uint8_t> planes;
        planes.info = info;
        planes.info.format.interleaved = true;
        for (int plane = 0; plane < planes.info.planes(); ++plane)
            planes.planes[static_cast<std::size_t>(plane)] = {
                from.data[plane], from.linesize[plane],
                std::int64_t{from.linesize[plane]} * planes.info.plane_rows(plane)};
        const auto& stream = pool_.stream();
        picture->write(stream, [&](const DeviceYuv<std::uint8_t>& to) { deinterleave(planes, to, stream); });
        surface.read.record(stream);
        surface.is_used = true;
    }
    if (av_frame_copy_props(&frame, &from) < 0) fail(ErrorCode::config, "not enough memory for a frame");
    frame.width = from.width;
    frame.height = from.height;
    // As FFmpeg's own decoders: YUVJ420P says that the stream has full range.
    const auto bytes = decoder.sw_pix_fmt == AV_PIX_FMT_YUVJ420P ? AV_PIX_FMT_YUVJ420P : AV_PIX_FMT_YUV420P;
    set_gpu_picture(frame, bits == 10 ? AV_PIX_FMT_YUV420P10 : bytes, {std::move(picture), pool_});
}

void GpuDecoder::release(Surface& surface) {
    if (std::exchange(surface.is_used, false)) surface.read.synchronize();
    av_frame_unref(surface.frame.get());
}

}  // namespace framewire
