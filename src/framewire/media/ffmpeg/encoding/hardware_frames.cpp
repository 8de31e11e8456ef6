// Uploads NV12 frames for VA-API encoders, which cannot read host memory.

#include "framewire/media/ffmpeg/encoding/hardware_frames.hpp"

extern "C" {
#include <libavutil/hwcontext.h>
}

namespace framewire {

// A pool of NV12 surfaces; VA-API encoders read only such surfaces.
HardwareFrames::HardwareFrames(AVCodecContext& context) {
    AVBufferRef* device = nullptr;
    if (const int error = av_hwdevice_ctx_create(&device, AV_HWDEVICE_TYPE_VAAPI, nullptr, nullptr, 0); error < 0)
        fail(ErrorCode::config, "the encoder {} cannot be used on this machine: no VA-API device: {}",
             context.codec->name, ffmpeg_error(error));
    device_.reset(device);
    frames_.reset(av_hwframe_ctx_alloc(device));
    if (!frames_) fail(ErrorCode::config, "no memory for an encoder");
    auto& frames = *reinterpret_cast<AVHWFramesContext*>(frames_->data);
    frames.format = AV_PIX_FMT_VAAPI;
    frames.sw_format = AV_PIX_FMT_NV12;
    frames.width = context.width;
    frames.height = context.height;
    frames.initial_pool_size = 20;
    if (const int error = av_hwframe_ctx_init(frames_.get()); error < 0)
        fail(ErrorCode::config, "the encoder {} cannot be used on this machine: {}", context.codec->name,
             ffmpeg_error(error));
    context.hw_frames_ctx = av_buffer_ref(frames_.get());
}

const AVFrame& HardwareFrames::upload(const AVFrame& picture) {
    uploaded_ = make_frame();
    int error = av_hwframe_get_buffer(frames_.get(), uploaded_.get(), 0);
    if (error >= 0) error = av_hwframe_transfer_data(uploaded_.get(), &picture, 0);
    if (error >= 0) error = av_frame_copy_props(uploaded_.get(), &picture);
    if (error < 0) fail(ErrorCode::io, "encoding failed: {}", ffmpeg_error(error));
    return *uploaded_;
}

}  // namespace framewire
