#include "framewire/media/orientation.hpp"
#include "framewire/media/media_testing.hpp"

#include <zlib.h>

#include <array>

// Pictures whose stored orientation differs from the displayed one.

namespace framewire {
namespace {

using namespace testing;

// Returns the stored position of the displayed pixel x, y for EXIF's values 1 to 8, by the table of the standard (EXIF
// 2.3, 4.6.4 A), which names the sides of row 0 and column 0.
std::pair<int, int> stored_at(int number, int x, int y, const Shape& stored) {
    const int right = stored.width - 1, bottom = stored.height - 1;
    switch (number) {
        case 2: return {right - x, y};           // top, right
        case 3: return {right - x, bottom - y};  // bottom, right
        case 4: return {x, bottom - y};          // bottom, left
        case 5: return {y, x};                   // left, top
        case 6: return {y, bottom - x};          // right, top
        case 7: return {right - y, bottom - x};  // right, bottom
        case 8: return {right - y, x};           // left, bottom
        default: return {x, y};
    }
}

Shape shape_seen(int number, const Shape& stored) {
    return number >= 5 ? Shape{1, stored.width, stored.height, stored.channels} : stored;
}

Bytes as_seen(int number, const Bytes& picture, const Shape& stored) {
    const auto seen = shape_seen(number, stored);
    Bytes bytes;
    for (int y = 0; y < seen.height; ++y)
        for (int x = 0; x < seen.width; ++x) {
            const auto [from_x, from_y] = stored_at(number, x, y, stored);
            const auto* pixel = view_of(picture, stored).row(0, from_y) + from_x * stored.channels;
            bytes.insert(bytes.end(), pixel, pixel + stored.channels);
        }
    return bytes;
}

// Returns EXIF data with only an orientation, in either byte order.
std::string exif(int number, bool big_endian) {
    const auto orientation = static_cast<char>(number);
    const std::array<char, 26> little{'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, orientation};
    const std::array<char, 26> big{'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation};
    const auto& data = big_endian ? big : little;
    return {data.begin(), data.end()};
}

// Returns a JPEG file with an APP1 segment after its first marker.
Bytes with_exif(Bytes jpeg, int number, bool big_endian) {
    const auto data = std::string("Exif\0\0", 6) + exif(number, big_endian);
    std::string segment{'\xff', '\xe1', 0, static_cast<char>(data.size() + 2)};
    segment += data;
    jpeg.insert(jpeg.begin() + 2, segment.begin(), segment.end());
    return jpeg;
}

class Exif : public ::testing::TestWithParam<int> {};

TEST_P(Exif, RotatesAJpegExactly) {
    const int number = GetParam();
    const TemporaryFolder folder;
    for (const auto& stored : {Shape{1, 37, 53, 3}, Shape{1, 33, 1, 3}, Shape{1, 48, 64, 1}}) {
        write_video(folder / "flat.jpg", stored, {smooth_frame(stored, 0)});
        const auto flat = read_video(folder / "flat.jpg");
        ASSERT_EQ(flat.frames.size(), 1U) << flat.message;
        auto shape = stored;
        shape.channels = flat.info.shape.channels;
        ASSERT_EQ(flat.info.shape, shape);
        for (const bool big_endian : {false, true}) {
            const auto jpeg = with_exif(read_file(folder / "flat.jpg"), number, big_endian);
            write_file(folder / "turned.jpg", jpeg.data(), jpeg.size());
            const auto turned = read_video(folder / "turned.jpg");
            ASSERT_EQ(turned.frames.size(), 1U) << turned.message;
            EXPECT_EQ(turned.info.shape, shape_seen(number, shape));
            EXPECT_EQ(turned.frames[0], as_seen(number, flat.frames[0], shape));
        }
    }
}

// The reference is the ffmpeg tool, whose conversion rounds differently.
TEST_P(Exif, JpegRotationMatchesFfmpeg) {
    const TemporaryFolder folder;
    const Shape stored{1, 40, 72, 3};
    write_video(folder / "flat.jpg", stored, {smooth_frame(stored, 0)});
    const auto jpeg = with_exif(read_file(folder / "flat.jpg"), GetParam(), false);
    write_file(folder / "turned.jpg", jpeg.data(), jpeg.size());
    ASSERT_TRUE(ffmpeg(fmt::format("-i {} {}", folder / "turned.jpg", folder / "want.png")));
    const auto turned = read_video(folder / "turned.jpg"), want = read_video(folder / "want.png");
    ASSERT_EQ(want.frames.size(), 1U) << want.message;
    EXPECT_EQ(turned.info.shape, want.info.shape);
    EXPECT_GT(psnr(turned.frames.at(0), want.frames[0]), 45);
}

TEST_P(Exif, RotatesAWebp) {
    const int number = GetParam();
    const TemporaryFolder folder;
    const Shape stored{1, 20, 30, 3};
    write_video(folder / "flat.png", stored, {random_frame(stored, 1)});
    ASSERT_TRUE(ffmpeg(fmt::format("-i {} -c:v libwebp -lossless 1 {}", folder / "flat.png", folder / "flat.webp")));
    const auto flat = read_file(folder / "flat.webp");
    ASSERT_EQ(std::string(flat.begin() + 12, flat.begin() + 16), "VP8L");
    // WebP's extended format: a VP8X chunk that announces EXIF data, the picture, the EXIF data.
    const auto chunk = [](std::string_view name, std::string_view data) {
        auto text = std::string(name);
        for (int byte = 0; byte < 4; ++byte) text += static_cast<char>(data.size() >> (8 * byte));
        text += data;
        return data.size() % 2 ? text + '\0' : text;
    };
    const std::string flags{8, 0, 0, 0, static_cast<char>(stored.width - 1), 0, 0, static_cast<char>(stored.height - 1),
                            0, 0};
    const auto body =
        "WEBP" + chunk("VP8X", flags) + std::string(flat.begin() + 12, flat.end()) + chunk("EXIF", exif(number, false));
    write_file(folder / "turned.webp", chunk("RIFF", body));
    const auto turned = read_video(folder / "turned.webp");
    ASSERT_EQ(turned.frames.size(), 1U) << turned.message;
    EXPECT_EQ(turned.info.shape, shape_seen(number, stored));
    EXPECT_EQ(turned.frames[0], as_seen(number, random_frame(stored, 1), stored));
}

// Returns a PNG file with an eXIf chunk before the chunk at which libpng stops reading the header, or after all pixels.
Bytes png_with_exif(Bytes png, int number, bool behind) {
    const auto data = "eXIf" + exif(number, behind);
    std::string chunk{0, 0, 0, static_cast<char>(data.size() - 4)};
    chunk += data;
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
    for (const int shift : {24, 16, 8, 0}) chunk += static_cast<char>(sum >> shift);
    constexpr std::ptrdiff_t end_bytes = 12, header_bytes = 8 + 25;
    const auto at = behind ? std::ssize(png) - end_bytes : header_bytes;
    png.insert(png.begin() + at, chunk.begin(), chunk.end());
    return png;
}

TEST_P(Exif, RotatesAPngExactly) {
    const int number = GetParam();
    const TemporaryFolder folder;
    for (const auto& stored : {Shape{1, 37, 53, 3}, Shape{1, 1, 33, 3}, Shape{1, 48, 64, 1}}) {
        write_video(folder / "flat.png", stored, {random_frame(stored, 1)});
        for (const bool behind : {false, true}) {
            const auto png = png_with_exif(read_file(folder / "flat.png"), number, behind);
            write_file(folder / "turned.png", png.data(), png.size());
            const auto turned = read_video(folder / "turned.png");
            ASSERT_EQ(turned.frames.size(), 1U) << turned.message;
            EXPECT_EQ(turned.info.shape, shape_seen(number, stored));
            EXPECT_EQ(turned.frames[0], as_seen(number, random_frame(stored, 1), stored));
        }
    }
}

TEST(Exif, RotatesAPngWithAlpha) {
    const TemporaryFolder folder;
    ASSERT_TRUE(ffmpeg("-f lavfi -i testsrc=size=20x30:rate=1,format=rgba,colorchannelmixer=aa=0.5 -frames:v 1 " +
                       (folder / "flat.png")));
    const auto flat = read_video(folder / "flat.png");
    ASSERT_EQ(flat.frames.size(), 1U) << flat.message;
    constexpr int number = 6;
    const auto png = png_with_exif(read_file(folder / "flat.png"), number, false);
    write_file(folder / "turned.png", png.data(), png.size());
    EXPECT_EQ(read_video(folder / "turned.png").frames.at(0), as_seen(number, flat.frames[0], flat.info.shape));
}

// Returns a TIFF file with the orientation tag before the other entries. The new directory is at the end of the file,
// so that the offsets of data remain valid.
Bytes tiff_with_orientation(Bytes tiff, int number) {
    const auto two = [&](std::size_t at) { return tiff.at(at) | tiff.at(at + 1) << 8; };
    const auto directory = static_cast<std::size_t>(two(4) | two(6) << 16);
    const auto count = two(directory);
    Bytes longer{static_cast<std::uint8_t>(count + 1), static_cast<std::uint8_t>((count + 1) >> 8)};
    const Bytes tag{0x12, 1, 3, 0, 1, 0, 0, 0, static_cast<std::uint8_t>(number), 0, 0, 0};
    bool is_in = false;
    for (int entry = 0; entry < count; ++entry) {
        const auto at = tiff.begin() + static_cast<std::ptrdiff_t>(directory) + 2 + 12 * entry;
        if (!is_in && (at[0] | at[1] << 8) > 0x0112) {
            longer.insert(longer.end(), tag.begin(), tag.end());
            is_in = true;
        }
        longer.insert(longer.end(), at, at + 12);
    }
    if (!is_in) longer.insert(longer.end(), tag.begin(), tag.end());
    longer.insert(longer.end(), 4, 0);
    if (tiff.size() % 2) tiff.push_back(0);
    for (std::size_t byte = 0; byte < 4; ++byte) tiff[4 + byte] = static_cast<std::uint8_t>(tiff.size() >> (8 * byte));
    tiff.insert(tiff.end(), longer.begin(), longer.end());
    return tiff;
}

TEST_P(Exif, RotatesATiffExactly) {
    const int number = GetParam();
    const TemporaryFolder folder;
    for (const auto& stored : {Shape{1, 37, 53, 3}, Shape{1, 48, 64, 1}}) {
        write_video(folder / "flat.tif", stored, {random_frame(stored, 1)});
        const auto tiff = tiff_with_orientation(read_file(folder / "flat.tif"), number);
        write_file(folder / "turned.tif", tiff.data(), tiff.size());
        const auto turned = read_video(folder / "turned.tif");
        ASSERT_EQ(turned.frames.size(), 1U) << turned.message;
        EXPECT_EQ(turned.info.shape, shape_seen(number, stored));
        EXPECT_EQ(turned.frames[0], as_seen(number, random_frame(stored, 1), stored));
    }
}

INSTANTIATE_TEST_SUITE_P(All, Exif, ::testing::Range(1, 9));

TEST(Exif, IgnoresInvalidOrientations) {
    const TemporaryFolder folder;
    const Shape stored{1, 20, 30, 3};
    write_video(folder / "flat.jpg", stored, {smooth_frame(stored, 0)});
    const auto flat = read_video(folder / "flat.jpg");
    for (const int number : {0, 9, 127}) {
        const auto jpeg = with_exif(read_file(folder / "flat.jpg"), number, false);
        write_file(folder / "odd.jpg", jpeg.data(), jpeg.size());
        EXPECT_EQ(read_video(folder / "odd.jpg").frames, flat.frames) << number;
    }
}

TEST(Exif, AppliesToEachImageSeparately) {
    const TemporaryFolder folder;
    const Shape stored{1, 24, 24, 3};
    const TemporaryFolder elsewhere;
    write_video(elsewhere / "flat.jpg", stored, {smooth_frame(stored, 0)});
    const auto flat = read_video(elsewhere / "flat.jpg").frames.at(0);
    std::vector<Bytes> want;
    for (int number = 1; number <= 8; ++number) {
        const auto jpeg = with_exif(read_file(elsewhere / "flat.jpg"), number, true);
        write_file(folder / fmt::format("{}.jpg", number), jpeg.data(), jpeg.size());
        want.push_back(as_seen(number, flat, stored));
    }
    EXPECT_EQ(read_video(folder / "%d.jpg").frames, want);
    EXPECT_EQ(read_video(folder / "").frames, want);
}

// Upper left 2x2 part of the display matrix for each of EXIF's values.
constexpr std::array<std::array<int, 4>, 9> matrices{{{},
                                                      {1, 0, 0, 1},
                                                      {-1, 0, 0, 1},
                                                      {-1, 0, 0, -1},
                                                      {1, 0, 0, -1},
                                                      {0, 1, 1, 0},
                                                      {0, 1, -1, 0},
                                                      {0, -1, -1, 0},
                                                      {0, -1, 1, 0}}};

class DisplayMatrix : public ::testing::TestWithParam<int> {};

TEST_P(DisplayMatrix, RotatesAVideoExactly) {
    const int number = GetParam();
    const TemporaryFolder folder;
    const Shape stored{1, 48, 64, 3};
    ASSERT_TRUE(ffmpeg("-f lavfi -i testsrc=size=64x48:rate=25 -frames:v 3 -c:v libx264 -qp 0 " + (folder / "a.mp4")));
    const auto flat = read_video(folder / "a.mp4");
    ASSERT_EQ(flat.frames.size(), 3U) << flat.message;
    ASSERT_EQ(flat.info.shape, stored);
    // The matrix is in the track header, after version, flags, times, id, duration, layer, group and volume (ISO/IEC
    // 14496-12, 8.3.2): a, b, u, c, d, v in 16.16 and 2.30.
    auto bytes = read_file(folder / "a.mp4");
    const std::string header = "tkhd";
    auto at = std::search(bytes.begin(), bytes.end(), header.begin(), header.end());
    ASSERT_NE(at, bytes.end());
    at += 4 + 4 + 20 + 8 + 8;
    const auto& matrix = matrices.at(static_cast<std::size_t>(number));
    for (const auto& [place, value] : {std::pair{0, matrix[0]}, {1, matrix[1]}, {3, matrix[2]}, {4, matrix[3]}})
        for (int byte = 0; byte < 4; ++byte)
            at[4 * place + byte] = static_cast<std::uint8_t>((value * 65536) >> (24 - 8 * byte));
    write_file(folder / "turned.mp4", bytes.data(), bytes.size());
    const auto turned = read_video(folder / "turned.mp4");
    ASSERT_EQ(turned.frames.size(), 3U) << turned.message;
    EXPECT_EQ(turned.info.shape, shape_seen(number, stored));
    for (std::size_t frame = 0; frame < 3; ++frame)
        EXPECT_EQ(turned.frames[frame], as_seen(number, flat.frames[frame], stored)) << frame;
}

INSTANTIATE_TEST_SUITE_P(All, DisplayMatrix, ::testing::Range(1, 9));

TEST(DisplayMatrix, RejectsAnglesOtherThanQuarterTurns) {
    const auto orientation = [](std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) {
        const std::array<std::int32_t, 9> matrix{a, b, 0, c, d, 0, 0, 0, 1 << 30};
        return orientation_of_matrix(matrix.data());
    };
    EXPECT_EQ(orientation(65536, 100, -100, 65536), Orientation{});
    EXPECT_EQ(orientation(131072, 0, 0, -32768), (Orientation{false, false, true}));
    EXPECT_FALSE(orientation(46341, 46341, -46341, 46341));
    EXPECT_FALSE(orientation(65536, 0, 65536, 65536));
    EXPECT_FALSE(orientation(0, 0, 0, 0));
    EXPECT_FALSE(orientation(65536, 0, 0, 0));
    EXPECT_EQ(orientation(INT32_MIN, 0, 0, INT32_MIN), (Orientation{false, true, true}));
}

// A matrix from the bitstream may change between pictures; here it is H.264's display orientation SEI message.
TEST(DisplayMatrix, MayChangeBetweenPictures) {
    const TemporaryFolder folder;
    const std::string source = "-f lavfi -i testsrc=size=48x48:rate=25 -frames:v 2 -c:v libx264 -qp 0 -bsf:v ";
    Bytes both;
    for (const auto* flip : {"null", "h264_metadata=display_orientation=insert:flip=horizontal"}) {
        ASSERT_TRUE(ffmpeg(source + flip + " " + (folder / "part.264")));
        const auto part = read_file(folder / "part.264");
        both.insert(both.end(), part.begin(), part.end());
    }
    write_file(folder / "both.264", both.data(), both.size());
    const auto reading = read_video(folder / "both.264");
    ASSERT_EQ(reading.frames.size(), 4U) << reading.message;
    const Shape shape{1, 48, 48, 3};
    EXPECT_EQ(reading.frames[2], as_seen(2, reading.frames[0], shape));
}

}  // namespace
}  // namespace framewire
