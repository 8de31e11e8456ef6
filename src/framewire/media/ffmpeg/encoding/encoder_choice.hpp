#pragma once

#include "framewire/core/parameters/values.hpp"
#include "framewire/core/view.hpp"
#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/media.hpp"

#include <optional>
#include <string>

namespace framewire {

/// Which encoder, and how it is set: what a user chose, and for the rest what suits.
struct EncoderChoice {
    std::string codec{};          ///< FFmpeg's name of an encoder, or of a codec
    std::optional<double> crf{};  ///< constant quality, in the encoder's own numbers
    std::optional<std::int64_t> bitrate{};
    std::string preset{}, tune{};  ///< empty: what suits
    std::optional<int> gop{};      ///< frames between key frames at most
    std::string pixels{};          ///< FFmpeg's name of a pixel format; empty: what suits
    std::optional<int> quality{};  ///< of a picture, 1 to 100
    bool live = false;             ///< low delay, and a key frame every 2 s
    bool hurry = false;            ///< no more work than keeps up with a camera

    /// From the parameters of a sink; `codec` is taken where they name none.
    static EncoderChoice from(const ParameterValues& values, const std::string& codec, bool live);
};

/// The encoder of a choice. Throws Error{usage} on a name that is none, with the nearest one.
const AVCodec& find_encoder(const EncoderChoice& choice);

/// Whether an encoder needs a device of its own, which this machine may lack.
bool is_hardware(const AVCodec& encoder);

/// The pixel format for frames of a shape: the one chosen, or what suits. Throws Error{usage} where the encoder does
/// not take the one that was chosen, or takes none that keeps odd sides.
AVPixelFormat pixel_format(const AVCodec& encoder, const EncoderChoice& choice, const Shape& frame);

/// Sets quality, speed and delay. Throws Error{usage} on what the encoder does not have.
void set_quality(const EncoderChoice& choice, AVCodecContext& context, Dictionary& dictionary);

}  // namespace framewire
