// fw_encoder and fw_decoder.

#include "framewire/c/boundary.hpp"
#include "framewire/c/image.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/media/fwd_file.hpp"
#include "framewire/plan/stream_encoder.hpp"

#include <cstdint>
#include <memory>
#include <span>

using namespace framewire;

struct fw_encoder {
    fw_encoder(const char* text, const fw_image* image, const fw_settings* settings)
        : format(c::shape_of(image, "image")),
          worker(settings),
          encoder(codec::parse_encoder(c::text_or_empty(text)), format.shape(), worker.executor()),
          frame(format.shape(), worker.executor()) {}

    bool uses_gpu() const { return worker.uses_gpu(); }

    // The frame is free, because encode() has waited for everything that read it.
    std::span<const std::uint8_t> encode(const fw_image* image, bool keyframe, void* stream) {
        const c::CallerImage from(image, format, "image");
        from.require_reach(worker.executor());
        if (from.on_device())
            frame.fill_on_gpu([&](DeviceView<std::uint8_t> to, const cuda::Stream& uploads) {
                worker.enter(stream, uploads);
                cuda::copy(from.view<const std::uint8_t, MemorySpace::device>().image, to, uploads);
            });
        else
            copy(from.view<const std::uint8_t, MemorySpace::host>().image, frame.fill_on_host());
        frame.upload();
        const auto encoded = encoder.encode(frame, keyframe ? codec::PackAs::keyframe : codec::PackAs::delta_frame);
        worker.executor().synchronize();
        frame.wait();
        return encoded.packed;
    }

    FrameFormat format;
    c::Worker worker;
    StreamEncoder encoder;
    Frame frame;
};

fw_status fw_encoder_create(fw_encoder** encoder, const char* text, const fw_image* image,
                            const fw_settings* settings) {
    return c::create(__func__, encoder, "encoder", [&] { return std::make_unique<fw_encoder>(text, image, settings); });
}

void fw_encoder_destroy(fw_encoder* encoder) { c::destroy(__func__, encoder); }

fw_status fw_encoder_encode(fw_encoder* encoder, const fw_image* image, int keyframe, void* stream,
                            const uint8_t** bytes, size_t* count) {
    return c::guard(__func__, [&] {
        auto& encoding = c::at(encoder, "encoder");
        c::at(bytes, "bytes") = nullptr;
        c::at(count, "count") = 0;
        const auto packed = encoding.encode(image, keyframe != 0, stream);
        *bytes = packed.data();
        *count = packed.size();
    });
}

struct fw_decoder {
    fw_decoder(const fw_image* image, const fw_settings& settings)
        : picture(c::shape_of(image, "image")), pool(settings.threads), unpacker(picture.shape(), &pool) {}

    void decode(std::span<const std::uint8_t> bytes) {
        if (bytes.size() < codec::PackedHead::bytes)
            fail(ErrorCode::source_lost, "a packed frame of {} bytes is truncated", bytes.size());
        if (!fwd::is_picture(bytes)) {
            if (!started) fail(ErrorCode::source_lost, "a delta frame arrived before the first keyframe");
            return unpacker.apply_changes(bytes, picture.view());
        }
        started = false;
        unpacker.apply_picture(bytes, picture.view());
        started = true;
    }

    HostImage picture;
    ThreadPool pool;
    codec::Unpacker unpacker;
    bool started = false;  // there is a picture
};

fw_status fw_decoder_create(fw_decoder** decoder, const fw_image* image, const fw_settings* settings) {
    return c::create(__func__, decoder, "decoder", [&] {
        const auto given = c::take_optional(settings, "settings");
        c::check_range(given.threads, 0, 1024, "settings->threads");
        return std::make_unique<fw_decoder>(image, given);
    });
}

void fw_decoder_destroy(fw_decoder* decoder) { delete decoder; }

fw_status fw_decoder_decode(fw_decoder* decoder, const uint8_t* bytes, size_t count, const fw_image* image) {
    return c::guard(__func__, [&] {
        auto& decoding = c::at(decoder, "decoder");
        c::at(bytes, "bytes");
        if (!image) return decoding.decode({bytes, count});
        const c::CallerImage to(image, FrameFormat(decoding.picture.shape()), "image");
        to.require_host();
        decoding.decode({bytes, count});
        copy(std::as_const(decoding.picture).view(), to.view<std::uint8_t, MemorySpace::host>().image);
    });
}
