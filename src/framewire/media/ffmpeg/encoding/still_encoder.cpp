#include "framewire/media/ffmpeg/encoding/still_encoder.hpp"

#include "framewire/media/ffmpeg/encoding/encoder.hpp"

#include <string_view>

namespace framewire {
namespace {

// Encoder for an extension. JPEG is 4:4:4 at quality 97 unless the user chose a quality.
EncoderChoice still_choice(const SinkCall& call) {
    const std::string_view ending = call.ending;
    const auto codec = ending == ".webp"                       ? "libwebp"
                       : ending == ".bmp"                      ? "bmp"
                       : ending == ".tif" || ending == ".tiff" ? "tiff"
                                                               : "mjpeg";
    auto choice = EncoderChoice::from(call.values, codec, false);
    if (choice.codec == "mjpeg") {
        choice.pixels = "yuvj444p";
        if (!choice.quality) choice.quality = 97;
    }
    return choice;
}

// Encodes one image with a new encoder on one thread.
std::vector<std::uint8_t> encode_still(HostView<const std::uint8_t> image, const EncoderChoice& choice) {
    VideoEncoder encoder(choice, {.shape = image.shape(), .rate = {1, 1}, .time_base = {1, 1}}, 1, false);
    std::vector<std::uint8_t> bytes;
    const auto append = [&](AVPacket& packet) { bytes.insert(bytes.end(), packet.data, packet.data + packet.size); };
    encoder.encode(image, 0, append);
    encoder.flush(append);
    return bytes;
}

}  // namespace

EncodeImage still_encoder(const SinkCall& call) {
    initialise_ffmpeg();
    return [choice = still_choice(call)](HostView<const std::uint8_t> image) { return encode_still(image, choice); };
}

}  // namespace framewire
