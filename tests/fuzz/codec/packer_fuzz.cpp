// Fuzzes the encoders with images: both decoders must return the encoder's reference, which must be within the
// threshold of the image.

#include "framewire/codec/encoder_ref.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    using codec::reference::Bytes;
    // Input: height, width, threshold, and one byte for channels, mode and effort; then the bytes of two images,
    // repeated as needed.
    if (size < 5) return 0;
    const Shape shape{1, 1 + data[0] % 80, 1 + data[1] % 80, data[3] % 2 ? 1 : 3};
    const int threshold = data[2] % 255;
    codec::reference::Sender sender(shape, threshold, data[3] / 2 % 2, data[3] / 4 % 3);
    Bytes seen(static_cast<std::size_t>(shape.bytes()));
    std::size_t next = 0;
    for (int frame = 0; frame < 2; ++frame) {
        Bytes camera(seen.size());
        for (auto& byte : camera) byte = data[4 + next++ % (size - 4)];
        const auto packed = sender.send({camera.data(), shape});
        const auto unpacked = codec::reference::unpack(shape, packed, seen);
        seen = codec::unpack_reference(shape, packed, seen);
        if (seen != sender.held() || unpacked != seen || packed.size() > codec::max_packed_bytes(shape)) std::abort();
        for (std::size_t i = 0; i < seen.size(); ++i)
            if (std::abs(seen[i] - camera[i]) > threshold) std::abort();
    }
    return 0;
}
