#include "stream/coders.hpp"

#if FRAMEWIRE_FFMPEG
#include "framewire/media/conversion.hpp"
#include "framewire/media/ffmpeg/libav.hpp"
#include "stream/bitmaps.hpp"

extern "C" {
#include <libavutil/log.h>
#include <libavutil/opt.h>
}

#include <fmt/format.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace framewire::bench {

#if FRAMEWIRE_FFMPEG

namespace x264_coder {

void check(int status, const char* what) {
    if (status < 0) fail(ErrorCode::internal, "x264: {} failed ({})", what, status);
}

/// Describes a frame as full range and BT.601, with which the conversion loses little.
void describe(AVFrame& frame, AVPixelFormat format, const Shape& shape) {
    frame.format = format;
    frame.width = shape.width;
    frame.height = shape.height;
    frame.color_range = AVCOL_RANGE_JPEG;
    frame.colorspace = AVCOL_SPC_SMPTE170M;
}

CodecPointer open_encoder(const AVCodec* codec, AVPixelFormat format, const Shape& shape, double rate_factor) {
    CodecPointer context(avcodec_alloc_context3(codec));
    context->width = shape.width;
    context->height = shape.height;
    context->pix_fmt = format;
    context->color_range = AVCOL_RANGE_JPEG;
    context->colorspace = AVCOL_SPC_SMPTE170M;
    context->time_base = {1, 25};
    context->framerate = {25, 1};
    context->thread_count = 1;
    check(av_opt_set(context->priv_data, "preset", "ultrafast", 0), "its preset");
    check(av_opt_set(context->priv_data, "tune", "zerolatency", 0), "its tuning");
    check(av_opt_set(context->priv_data, "crf", fmt::format("{}", rate_factor).c_str(), 0), "its rate factor");
    check(av_opt_set(context->priv_data, "x264-params", "keyint=infinite:scenecut=0", 0), "its options");
    return avcodec_open2(context.get(), codec, nullptr) < 0 ? nullptr : std::move(context);
}

/// Returns all frames as packets, or nothing if there is no such encoder. Sets the bytes and times of `coded`.
std::optional<std::vector<PacketPointer>> encode(const Film& film, const X264& settings, Coded& coded) {
    av_log_set_level(AV_LOG_ERROR);  // x264 prints its statistics at the end of each run
    const auto* codec = avcodec_find_encoder_by_name("libx264");
    if (!codec) return std::nullopt;
    const auto format = film.shape.channels == 1 ? AV_PIX_FMT_GRAY8
                        : settings.full_chroma   ? AV_PIX_FMT_YUV444P
                                                 : AV_PIX_FMT_YUV420P;
    const auto context = open_encoder(codec, format, film.shape, settings.rate_factor);
    if (!context) return std::nullopt;
    std::vector<PacketPointer> packets;
    PictureConverter converter;
    for (const auto& image : film.frames) {
        const auto frame = make_frame();
        describe(*frame, format, film.shape);
        check(av_frame_get_buffer(frame.get(), 0), "memory");
        converter.to_frame(image.view(), *frame);
        frame->pts = static_cast<std::int64_t>(packets.size());
        auto packet = make_packet();
        const double begin = processor_ms();
        check(avcodec_send_frame(context.get(), frame.get()), "a frame");
        check(avcodec_receive_packet(context.get(), packet.get()), "a frame's packet");
        if (!packets.empty()) coded.encode_ms.push_back(processor_ms() - begin);
        coded.bytes.push_back(static_cast<std::size_t>(packet->size));
        packets.push_back(std::move(packet));
    }
    return packets;
}

/// Decodes `packets` and passes each frame to take(image), whose time does not count.
template <class Take>
void decode(const Film& film, const std::vector<PacketPointer>& packets, Coded& coded, Take&& take) {
    const auto* codec = avcodec_find_decoder(AV_CODEC_ID_H264);
    CodecPointer context(avcodec_alloc_context3(codec));
    context->thread_count = 1;
    check(avcodec_open2(context.get(), codec, nullptr), "its decoder");
    PictureConverter converter;
    HostImage image(film.shape);
    const auto frame = make_frame();
    const auto receive = [&] {
        while (avcodec_receive_frame(context.get(), frame.get()) >= 0) {
            const double begin = processor_ms();
            std::string assumed;
            converter.to_image(*frame, coding_of(*frame, assumed), image.view());
            take(image);
            coded.decode_ms -= processor_ms() - begin;
        }
    };
    for (std::size_t i = 0; i <= packets.size(); ++i) {
        const double begin = processor_ms();
        check(avcodec_send_packet(context.get(), i < packets.size() ? packets[i].get() : nullptr), "a packet");
        receive();
        coded.decode_ms += processor_ms() - begin;
    }
}

/// Changes `seen` so that every byte is within the threshold, and returns the data that lets viewers do the same.
std::vector<std::uint8_t> correct(HostView<const std::uint8_t> camera, HostView<std::uint8_t> seen, int threshold) {
    const auto size = static_cast<std::size_t>(camera.shape().frame_bytes());
    const int step = 2 * threshold + 1;
    std::vector<std::uint8_t> steps(size);
    for (std::size_t i = 0; i < size; ++i) {
        const int error = camera.data()[i] - seen.data()[i];
        const int count = (std::abs(error) + threshold) / step;
        steps[i] = static_cast<std::uint8_t>(error < 0 ? -count : count);
        seen.data()[i] =
            static_cast<std::uint8_t>(std::clamp(seen.data()[i] + (error < 0 ? -count : count) * step, 0, 255));
    }
    return compress(bitmap_of(steps));
}

}  // namespace x264_coder

using namespace x264_coder;

std::optional<Coded> code_x264(const Film& film, const X264& settings) {
    Coded coded;
    const auto packets = encode(film, settings, coded);
    if (!packets) return std::nullopt;
    std::size_t frame = 0;
    decode(film, *packets, coded, [&](HostImage& seen) {
        if (frame < film.frames.size()) coded.score(film.frames[frame].view(), std::as_const(seen).view());
        ++frame;
    });
    if (frame != film.frames.size())
        fail(ErrorCode::internal, "x264: the number of decoded frames is wrong: {}", frame);
    return coded;
}

std::optional<Coded> code_x264_corrected(const Film& film, const X264& settings, int threshold) {
    if (!has_zstd()) return std::nullopt;
    Coded coded;
    const auto packets = encode(film, settings, coded);
    if (!packets) return std::nullopt;
    std::size_t frame = 0;
    decode(film, *packets, coded, [&](HostImage& seen) {
        if (frame < film.frames.size()) {
            const auto& camera = film.frames[frame];
            const double begin = processor_ms();
            coded.bytes[frame] += correct(camera.view(), seen.view(), threshold).size();
            if (frame > 0) coded.encode_ms[frame - 1] += processor_ms() - begin;
            coded.score(camera.view(), std::as_const(seen).view());
        }
        ++frame;
    });
    if (frame != film.frames.size())
        fail(ErrorCode::internal, "x264: the number of decoded frames is wrong: {}", frame);
    return coded;
}

#else

std::optional<Coded> code_x264(const Film&, const X264&) { return std::nullopt; }
std::optional<Coded> code_x264_corrected(const Film&, const X264&, int) { return std::nullopt; }

#endif

}  // namespace framewire::bench
