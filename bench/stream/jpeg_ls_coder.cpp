#include "stream/coders.hpp"

#if FRAMEWIRE_CHARLS
#include <charls/charls.h>
#endif

#include <algorithm>
#include <utility>

namespace framewire::bench {

#if FRAMEWIRE_CHARLS

std::optional<Coded> code_jpeg_ls(const Film& film, int threshold) {
    const auto& shape = film.shape;
    const auto frame_bytes = static_cast<std::size_t>(shape.frame_bytes());
    constexpr int most_near = 127;  // ITU-T T.87, C.2.3: half of a sample's maximum
    Coded coded;
    std::vector<std::uint8_t> bytes;
    HostImage viewer(shape);
    for (const auto& frame : film.frames) {
        const double begin = processor_ms();
        charls::jpegls_encoder encoder;
        encoder
            .frame_info(
                {static_cast<std::uint32_t>(shape.width), static_cast<std::uint32_t>(shape.height), 8, shape.channels})
            .near_lossless(std::min(threshold, most_near))
            .interleave_mode(shape.channels == 1 ? charls::interleave_mode::none : charls::interleave_mode::sample);
        bytes.resize(encoder.estimated_destination_size());
        encoder.destination(bytes);
        bytes.resize(encoder.encode(frame.view().data(), frame_bytes));
        const double middle = processor_ms();
        const charls::jpegls_decoder decoder(bytes, true);
        decoder.decode(viewer.view().data(), frame_bytes);
        const double end = processor_ms();
        if (!coded.bytes.empty()) {
            coded.encode_ms.push_back(middle - begin);
            coded.decode_ms += end - middle;
        }
        coded.bytes.push_back(bytes.size());
        coded.score(frame.view(), std::as_const(viewer).view());
    }
    return coded;
}

#else

std::optional<Coded> code_jpeg_ls(const Film&, int) { return std::nullopt; }

#endif

}  // namespace framewire::bench
