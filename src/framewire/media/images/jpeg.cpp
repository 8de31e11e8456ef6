#include "framewire/media/images/jpeg.hpp"

#include "framewire/core/error.hpp"

#include <turbojpeg.h>

#include <memory>

namespace framewire {

// Compresses with libjpeg-turbo and its fast DCT.
std::string encode_jpeg(HostView<const std::uint8_t> image, int quality) {
    const std::unique_ptr<void, decltype(&tjDestroy)> encoder(tjInitCompress(), &tjDestroy);
    if (!encoder) fail(ErrorCode::internal, "no JPEG encoder: {}", tjGetErrorStr2(nullptr));
    const auto& shape = image.shape();
    const bool gray = shape.channels == 1;
    unsigned char* bytes = nullptr;
    unsigned long size = 0;
    const int failed = tjCompress2(encoder.get(), image.data(), shape.width, static_cast<int>(image.row_stride_bytes()),
                                   shape.height, gray ? TJPF_GRAY : TJPF_BGR, &bytes, &size,
                                   gray ? TJSAMP_GRAY : TJSAMP_420, quality, TJFLAG_FASTDCT);
    const std::unique_ptr<unsigned char, decltype(&tjFree)> owner(bytes, &tjFree);
    if (failed) fail(ErrorCode::internal, "{} as JPEG: {}", to_string(shape), tjGetErrorStr2(encoder.get()));
    return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace framewire
