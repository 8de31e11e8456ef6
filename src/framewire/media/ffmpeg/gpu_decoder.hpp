#pragma once

#include "framewire/media/conversion.hpp"
#include "framewire/plan/device_picture.hpp"

extern "C" {
#include <libavcodec/avcodec.h>
}

#include <array>
#include <memory>
#include <string>

namespace framewire {

/// Lets a decoder of FFmpeg decode on a GPU (NVDEC), in the CUDA context of this library:
///
///     decoder -> NV12 or P010 in NVDEC's memory -> take(): planes in memory of our own -> AVFrame that stands for them
///
/// NVDEC has few pictures, and needs them back soon. With planes, everything downstream is as with FFmpeg's decoders on
/// the CPU, whose pixel format the frames have. Use an object from one thread at a time.
class GpuDecoder {
public:
    /// Decodes on GPU `gpu`, an index of cuda::devices(). Throws Error{config} if there is no such GPU, or FFmpeg
    /// cannot use it.
    explicit GpuDecoder(int gpu = 0);
    ~GpuDecoder();
    GpuDecoder(const GpuDecoder&) = delete;
    GpuDecoder& operator=(const GpuDecoder&) = delete;

    /// Returns FFmpeg's decoder that can use NVDEC for the codec of `codec`; null if there is none.
    static const AVCodec* find(const AVCodec& codec);
    /// Returns true if NVDEC decodes a codec to the same bytes as FFmpeg: if its standard defines every bit, and tests
    /// on a GPU have shown it.
    static bool is_exact(AVCodecID codec);

    /// Makes a decoder that is not open yet use the GPU if it can. This object must outlive the decoder.
    void attach(AVCodecContext& decoder);
    /// Returns why the decoder does not use the GPU; empty as long as it does, or has not read its first picture yet.
    const std::string& refusal() const { return refusal_; }
    /// Sets refusal(), unless there is one.
    void refuse(const std::string& why);

    /// Moves a picture that the attached decoder returned from NVDEC's memory to memory of our own. Refuses, and leaves
    /// the frame unusable, if its left or upper border is cropped, which FFmpeg leaves to its caller here. Throws what
    /// DevicePicturePool throws.
    void take(const AVCodecContext& decoder, AVFrame& frame);

private:
    // Picture of NVDEC that the GPU may still be reading.
    struct Surface {
        FramePointer frame = make_frame();
        cuda::Event read{cuda::Event::Timing::none};
        bool is_used = false;
    };

    // AVCodecContext::get_format
    static AVPixelFormat choose(AVCodecContext* decoder, const AVPixelFormat* offered);
    AVPixelFormat choose_format(const AVCodecContext& decoder, const AVPixelFormat* offered);
    static void release(Surface& surface);

    struct FreeBuffer {
        void operator()(AVBufferRef* buffer) const noexcept { av_buffer_unref(&buffer); }
    };

    DevicePicturePool pool_;
    std::array<Surface, 2> surfaces_;
    std::size_t next_ = 0;
    std::unique_ptr<AVBufferRef, FreeBuffer> device_;
    bool is_offered_ = false;  // FFmpeg has offered the GPU for the current format
    std::string refusal_;
};

}  // namespace framewire
