#pragma once

#include "framewire/core/parameters/values.hpp"
#include "framewire/core/view.hpp"
#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/media.hpp"

#include <optional>
#include <string>

namespace framewire {

/// Encoder and its settings: the choices of the user, with defaults for everything else.
struct EncoderChoice {
    std::string codec{};          ///< FFmpeg's name of an encoder or a codec
    std::optional<double> crf{};  ///< constant quality, on the encoder's own scale
    std::optional<std::int64_t> bitrate{};
    std::string preset{}, tune{};  ///< empty: chosen automatically
    std::optional<int> gop{};      ///< most frames from one key frame to the next
    std::string pixels{};          ///< FFmpeg's name of a pixel format; empty: chosen automatically
    std::optional<int> quality{};  ///< of a still image, 1 to 100
    bool live = false;             ///< low delay, and a key frame every 2 s
    bool hurry = false;            ///< little enough work to keep up with a camera

    /// Makes the choice from the parameters of a sink; `codec` is the default codec.
    static EncoderChoice from(const ParameterValues& values, const std::string& codec, bool live);
};

/// Finds the encoder by name. Throws Error{usage} if there is none; the message suggests the nearest name.
const AVCodec& find_encoder(const EncoderChoice& choice);

/// True if an encoder needs a hardware device, which this machine may lack.
bool is_hardware(const AVCodec& encoder);

/// Pixel format for frames of a shape: the chosen one, or a suitable default. Throws Error{usage} if the encoder does
/// not accept the chosen one, or accepts none that can hold odd sizes.
AVPixelFormat pixel_format(const AVCodec& encoder, const EncoderChoice& choice, const Shape& frame);

/// Sets quality, speed and delay in `context` and in `dictionary`, the options for avcodec_open2(). Throws Error{usage}
/// on a setting that the encoder does not have.
void set_quality(const EncoderChoice& choice, AVCodecContext& context, Dictionary& dictionary);

}  // namespace framewire
