// Encodes a video as a difference stream and decodes it again; prints the bytes per frame and the largest error. Shows
// how C++ programs own handles.
//
//     c++ -std=c++17 codec.cpp $(pkg-config --cflags --libs framewire-c) -o codec
//     ./codec in.mp4 threshold=20
#include <framewire/framewire.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

// Throws the library's message if a call failed. Returns false at the end of a source.
bool check(fw_status status) {
    if (status > FW_END) throw std::runtime_error(fw_last_error());
    return status == FW_OK;
}

template <auto destroy>
struct Destroy {
    template <class Handle>
    void operator()(Handle* handle) const {
        destroy(handle);
    }
};

using Source = std::unique_ptr<fw_source, Destroy<fw_source_close>>;
using Encoder = std::unique_ptr<fw_encoder, Destroy<fw_encoder_destroy>>;
using Decoder = std::unique_ptr<fw_decoder, Destroy<fw_decoder_destroy>>;

// Calls make(&handle) and returns the handle, owned.
template <class Owner, class Make>
Owner make(Make&& make) {
    typename Owner::pointer handle = nullptr;
    check(make(&handle));
    return Owner(handle);
}

void run(const char* text, const char* settings) {
    const auto source = make<Source>([&](auto** made) { return fw_source_open(made, text, nullptr); });
    fw_image image{};
    image.size = sizeof image;
    check(fw_source_info(source.get(), &image, nullptr));
    std::size_t size = 0;
    check(fw_image_layout(&image, nullptr, &size));
    std::vector<std::uint8_t> frame(size), decoded(size);
    auto result = image;
    check(fw_image_layout(&image, frame.data(), nullptr));
    check(fw_image_layout(&result, decoded.data(), nullptr));
    const auto encoder = make<Encoder>([&](auto** made) { return fw_encoder_create(made, settings, &image, nullptr); });
    const auto decoder = make<Decoder>([&](auto** made) { return fw_decoder_create(made, &image, nullptr); });
    std::size_t frames = 0, bytes = 0;
    int largest = 0;
    for (; check(fw_source_read(source.get(), &image, nullptr, nullptr)); ++frames) {
        const std::uint8_t* packed = nullptr;
        std::size_t count = 0;
        check(fw_encoder_encode(encoder.get(), &image, 0, nullptr, &packed, &count));
        check(fw_decoder_decode(decoder.get(), packed, count, &result));
        bytes += count;
        for (std::size_t i = 0; i < frame.size(); ++i) largest = std::max(largest, std::abs(frame[i] - decoded[i]));
    }
    std::printf("%zu frames, %zu bytes, largest error %d\n", frames, bytes, largest);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2 || argc > 3) {
        std::fprintf(stderr, "usage: codec SRC [SETTINGS]\n");
        return 2;
    }
    try {
        run(argv[1], argc > 2 ? argv[2] : nullptr);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
