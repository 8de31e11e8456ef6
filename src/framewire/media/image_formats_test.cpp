#include "framewire/media/image_formats.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/media/media_testing.hpp"

#include <gtest/gtest.h>
#include <png.h>
#include <turbojpeg.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

// Transparency is composited on black for every file format.

namespace framewire {
namespace {

using namespace testing;

constexpr int width = 37, height = 23;

// Returns a picture of random colours with every alpha value.
Bytes picture_with_alpha(int channels) {
    auto pixels = random_frame({1, height, width, channels + 1}, 7);
    for (std::size_t pixel = 0; pixel < pixels.size() / static_cast<std::size_t>(channels + 1); ++pixel) {
        auto& alpha = pixels[pixel * static_cast<std::size_t>(channels + 1) + static_cast<std::size_t>(channels)];
        if (pixel % 4 == 0) alpha = 255;
        if (pixel % 4 == 1) alpha = 0;
    }
    return pixels;
}

Bytes on_black(const Bytes& pixels, int channels) {
    Bytes bytes;
    for (std::size_t at = 0; at < pixels.size(); at += static_cast<std::size_t>(channels + 1))
        for (int channel = 0; channel < channels; ++channel) {
            const double value = pixels[at + static_cast<std::size_t>(channel)];
            const double alpha = pixels[at + static_cast<std::size_t>(channels)];
            bytes.push_back(static_cast<std::uint8_t>(std::lround(value * alpha / 255)));
        }
    return bytes;
}

void write_png(const std::string& path, const Bytes& pixels, int channels) {
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    png.width = width;
    png.height = height;
    png.format = channels == 1 ? PNG_FORMAT_GA : PNG_FORMAT_BGRA;
    ASSERT_TRUE(png_image_write_to_file(&png, path.c_str(), 0, pixels.data(), 0, nullptr)) << png.message;
}

TEST(Alpha, PngIsCompositedOnBlack) {
    const TemporaryFolder folder;
    for (const int channels : {1, 3}) {
        const auto pixels = picture_with_alpha(channels);
        write_png(folder / "a.png", pixels, channels);
        const auto reading = read_video(folder / "a.png");
        EXPECT_EQ(reading.info.shape, (Shape{1, height, width, channels}));
        ASSERT_EQ(reading.frames.size(), 1U) << reading.message;
        EXPECT_EQ(reading.frames[0], on_black(pixels, channels));
    }
}

TEST(Alpha, PngIsReadIntoPaddedRows) {
    const TemporaryFolder folder;
    const auto pixels = picture_with_alpha(3);
    write_png(folder / "a.png", pixels, 3);
    const auto want = on_black(pixels, 3);
    Bytes wide(std::size_t{height} * 128, 99);
    FrameTime time;
    ASSERT_TRUE(open_source(folder / "a.png")->read({wide.data(), {1, height, width, 3}, 128, 128 * height}, time));
    for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < 128; ++x)
            ASSERT_EQ(wide[y * 128 + x], x < 3 * width ? want[y * 3 * width + x] : 99) << y << " " << x;
}

#ifdef FRAMEWIRE_FFMPEG

// FFmpeg's tool stores one RGBA picture losslessly in files of several kinds.
TEST(Alpha, IsCompositedOnBlackInEveryFormat) {
    const TemporaryFolder folder;
    const auto pixels = picture_with_alpha(3);
    write_png(folder / "a.png", pixels, 3);
    const auto want = on_black(pixels, 3);
    const std::pair<const char*, const char*> files[] = {
        {"a.webp", "-c:v libwebp -lossless 1"},     {"a.tif", "-c:v tiff -pix_fmt rgba"},
        {"a.bmp", "-c:v bmp -pix_fmt bgra"},        {"a.tga", "-c:v targa -pix_fmt bgra"},
        {"a.mov", "-c:v qtrle -pix_fmt argb"},      {"png.mkv", "-c:v png -pix_fmt rgba"},
        {"ffv1.mkv", "-c:v ffv1 -pix_fmt bgra"},    {"a.apng", "-c:v apng -pix_fmt rgba"},
        {"raw.nut", "-c:v rawvideo -pix_fmt rgba"}, {"png.jpg", "-f image2 -c:v png -pix_fmt rgba"},
    };
    for (const auto& [name, encoding] : files) {
        ASSERT_TRUE(ffmpeg(fmt::format("-i {} {} {}", folder / "a.png", encoding, folder / name))) << name;
        const auto reading = read_video(folder / name);
        EXPECT_FALSE(reading.error) << name << reading.message;
        ASSERT_EQ(reading.frames.size(), 1U) << name << reading.message;
        EXPECT_EQ(reading.frames[0], want) << name;
    }
    const auto sequence = read_video(folder / "a.png").frames;
    std::filesystem::rename(folder / "a.png", folder / "a1.png");
    EXPECT_EQ(read_video(folder / "a%d.png").frames, sequence);
}

// libswscale makes some values of an alpha plane too large by one.
TEST(Alpha, PlanarAlphaIsOffByAtMostOne) {
    const TemporaryFolder folder;
    const auto pixels = picture_with_alpha(3);
    write_png(folder / "a.png", pixels, 3);
    ASSERT_TRUE(ffmpeg(fmt::format("-i {} -c:v rawvideo -pix_fmt gbrap {}", folder / "a.png", folder / "a.nut")));
    const auto reading = read_video(folder / "a.nut");
    ASSERT_EQ(reading.frames.size(), 1U) << reading.message;
    const auto want = on_black(pixels, 3);
    ASSERT_EQ(reading.frames[0].size(), want.size());
    for (std::size_t at = 0; at < want.size(); ++at) ASSERT_NEAR(reading.frames[0][at], want[at], 1) << at;
}

TEST(Alpha, GrayIsCompositedOnBlack) {
    const TemporaryFolder folder;
    const auto pixels = picture_with_alpha(1);
    write_png(folder / "a.png", pixels, 1);
    for (const auto& [name, encoding] :
         {std::pair{"a.tif", "-c:v tiff -pix_fmt ya8"}, {"a.nut", "-c:v rawvideo -pix_fmt ya8"}}) {
        ASSERT_TRUE(ffmpeg(fmt::format("-i {} {} {}", folder / "a.png", encoding, folder / name))) << name;
        const auto reading = read_video(folder / name);
        EXPECT_EQ(reading.info.shape.channels, 1) << name;
        ASSERT_EQ(reading.frames.size(), 1U) << name << reading.message;
        EXPECT_EQ(reading.frames[0], on_black(pixels, 1)) << name;
    }
}

// Covers a palette with one transparent colour, as in GIF, and a PNG palette with alpha values.
TEST(Alpha, PalettesAreCompositedOnBlack) {
    const TemporaryFolder folder;
    auto pixels = picture_with_alpha(3);
    for (std::size_t at = 0; at < pixels.size(); at += 4) {
        for (std::size_t channel = 0; channel < 3; ++channel) pixels[at + channel] &= 0xc0;
        pixels[at + 3] = pixels[at + 3] < 128 ? 0 : 255;
        if (pixels[at + 3] == 0) pixels[at] = pixels[at + 1] = pixels[at + 2] = 255;
    }
    write_png(folder / "a.png", pixels, 3);
    ASSERT_TRUE(
        ffmpeg(fmt::format("-i {} -lavfi 'split[a][b];[a]palettegen=reserve_transparent=1[p];[b][p]paletteuse' {}",
                           folder / "a.png", folder / "a.gif")));
    const auto reading = read_video(folder / "a.gif");
    ASSERT_EQ(reading.frames.size(), 1U) << reading.message;
    EXPECT_EQ(reading.frames[0], on_black(pixels, 3));
}

// The fourth byte of a pixel is padding, not alpha.
TEST(Alpha, IsIgnoredIn32BitAvi) {
    const TemporaryFolder folder;
    const Shape shape{1, 24, 32, 3};
    const auto frame = random_frame(shape, 3);
    write_video(folder / "a.png", shape, {frame});
    ASSERT_TRUE(ffmpeg(fmt::format("-i {} -vf format=bgra,colorchannelmixer=aa=0 -c:v rawvideo -pix_fmt bgra {}",
                                   folder / "a.png", folder / "a.avi")));
    const auto reading = read_video(folder / "a.avi");
    ASSERT_EQ(reading.frames.size(), 1U) << reading.message;
    EXPECT_EQ(reading.frames[0], frame);
}

#endif

HostImage ramp(const Shape& shape) {
    HostImage image(shape);
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.row_bytes(); ++x)
            image.view().row(0, y)[x] = static_cast<std::uint8_t>(40 + x / shape.channels + 2 * y);
    return image;
}

TEST(Jpeg, RoundTripErrorIsSmall) {
    for (const int channels : {1, 3}) {
        const Shape shape{1, 37, 61, channels};
        const auto image = ramp(shape);
        const auto jpeg = encode_jpeg(image.view());
        const std::unique_ptr<void, decltype(&tjDestroy)> reader(tjInitDecompress(), &tjDestroy);
        const auto* bytes = reinterpret_cast<const unsigned char*>(jpeg.data());
        int columns = 0, rows = 0, sampling = 0, colours = 0;
        ASSERT_EQ(tjDecompressHeader3(reader.get(), bytes, jpeg.size(), &columns, &rows, &sampling, &colours), 0);
        EXPECT_EQ(columns, shape.width);
        EXPECT_EQ(rows, shape.height);
        EXPECT_EQ(colours == TJCS_GRAY, channels == 1);
        std::vector<unsigned char> again(static_cast<std::size_t>(shape.bytes()));
        ASSERT_EQ(tjDecompress2(reader.get(), bytes, jpeg.size(), again.data(), columns, 0, rows,
                                channels == 1 ? TJPF_GRAY : TJPF_BGR, 0),
                  0);
        for (int y = 0; y < rows; ++y)
            for (int x = 0; x < shape.row_bytes(); ++x)
                ASSERT_LE(
                    std::abs(again[static_cast<std::size_t>(y * shape.row_bytes() + x)] - image.view().row(0, y)[x]),
                    12)
                    << x << "," << y << " of " << channels;
    }
}

TEST(Png, Gray16RoundTripIsExactWithoutGammaChunks) {
    constexpr int columns = 7, rows = 3;
    std::vector<std::uint16_t> values;
    for (int at = 0; at < columns * rows; ++at) values.push_back(static_cast<std::uint16_t>(at * 3121 % 65536));
    values.back() = 65535;
    const auto bytes = encode_gray_png_16(values.data(), columns, rows);
    const std::string file(bytes.begin(), bytes.end());
    EXPECT_EQ(file.find("gAMA"), file.npos);
    EXPECT_EQ(file.find("cHRM"), file.npos);

    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    ASSERT_TRUE(png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()));
    EXPECT_EQ(png.width, static_cast<png_uint_32>(columns));
    EXPECT_EQ(png.height, static_cast<png_uint_32>(rows));
    EXPECT_EQ(png.format, static_cast<png_uint_32>(PNG_FORMAT_LINEAR_Y)) << "gray, 16 bits";
    std::vector<std::uint16_t> read(values.size());
    ASSERT_TRUE(png_image_finish_read(&png, nullptr, read.data(), columns, nullptr)) << png.message;
    EXPECT_EQ(read, values);
}

}  // namespace
}  // namespace framewire
