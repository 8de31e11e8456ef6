#include "framewire/media/media_testing.hpp"

// TIFF variants written by ImageMagick, whose rendering is the reference.

namespace framewire {
namespace {

using namespace testing;

bool convert(const std::string& arguments) { return std::system(("timeout 60 convert " + arguments).c_str()) == 0; }

class TiffForms : public ::testing::Test {
protected:
    TiffForms() {
        EXPECT_TRUE(convert("-seed 1 -size 200x120 plasma:red-blue -depth 8 -alpha off -type TrueColor PNG24:" +
                            (folder_ / "c.png")));
        EXPECT_TRUE(convert((folder_ / "c.png") + " -colorspace Gray -depth 8 " + (folder_ / "g.png")));
    }

    // Returns the difference from ImageMagick's rendering of the same file.
    double difference(const std::string& path, const std::string& page = "") const {
        EXPECT_TRUE(convert(path + page +
                            " -background black -alpha remove -alpha off -depth 8 PNG24:" + (folder_ / "want.png")));
        const auto have = read_video(path), want = read_video(folder_ / "want.png");
        EXPECT_FALSE(have.error) << path << " " << have.message;
        if (have.frames.empty() || want.frames.empty()) return 255;
        const auto channels = static_cast<std::size_t>(have.info.shape.channels);
        const auto& bytes = want.frames.front();
        if (have.frames.front().size() / channels != bytes.size() / 3) return 255;
        int most = 0;
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            const auto mine = channels == 3 ? have.frames.front()[at] : have.frames.front()[at / 3];
            most = std::max(most, std::abs(int{mine} - int{bytes[at]}));
        }
        return most;
    }

    TemporaryFolder folder_;
};

TEST_F(TiffForms, TilesAndStripsAreReadExactly) {
    for (const std::string picture : {"c.png", "g.png"})
        for (const std::string compression : {"None", "LZW", "Zip", "RLE"})
            for (const std::string form : {"", "-define tiff:tile-geometry=64x64", "-interlace Plane"}) {
                const auto path = folder_ / "a.tif";
                ASSERT_TRUE(convert((folder_ / picture) + " -compress " + compression + " " + form + " " + path));
                EXPECT_EQ(difference(path), 0) << picture << " " << compression << " " << form;
                EXPECT_EQ(read_video(path).info.shape.channels, picture == "c.png" ? 3 : 1);
            }
}

TEST_F(TiffForms, ReadsUncommonVariants) {
    const std::string tiles = " -define tiff:tile-geometry=64x64 ";
    for (const auto& [how, allowed] : {std::pair{"-depth 16", 1},
                                       {"-posterize 4 -type Palette", 0},  // 8-bit colours
                                       {"-type Palette", 1},               // 16-bit colours
                                       {"-monochrome -depth 1", 0},
                                       {"-alpha set -channel A -evaluate set 40% +channel", 1},
                                       {"-define quantum:polarity=min-is-white", 0},
                                       {"-endian MSB", 0}})
        for (const auto& form : {std::string(" "), tiles}) {
            const auto path = folder_ / "a.tif";
            ASSERT_TRUE(convert((folder_ / "c.png") + " " + how + form + path));
            EXPECT_LE(difference(path), allowed) << how << form;
        }
    ASSERT_TRUE(convert((folder_ / "c.png") + tiles + "TIFF64:" + (folder_ / "big.tif")));
    EXPECT_EQ(difference(folder_ / "big.tif"), 0) << "BigTIFF";
    // TIFF is detected by content, not by name.
    std::filesystem::copy(folder_ / "big.tif", folder_ / "big.jpg");
    std::filesystem::copy(folder_ / "big.tif", folder_ / "big");
    EXPECT_EQ(read_video(folder_ / "big.jpg").frames, read_video(folder_ / "big.tif").frames);
    EXPECT_EQ(read_video(folder_ / "big").frames, read_video(folder_ / "big.tif").frames);
}

TEST_F(TiffForms, GrayAlphaIsCompositedOnBlack) {
    const auto strips = folder_ / "strips.tif", tiles = folder_ / "tiles.tif", deep = folder_ / "deep.tif";
    const auto how = (folder_ / "g.png") + " -alpha set -channel A -evaluate set 40% +channel -type GrayscaleAlpha ";
    ASSERT_TRUE(convert(how + strips) && convert(how + "-define tiff:tile-geometry=64x64 " + tiles));
    ASSERT_TRUE(convert(how + "-depth 16 -define tiff:tile-geometry=64x64 " + deep));
    const auto plain = read_video(folder_ / "g.png"), reading = read_video(tiles);
    ASSERT_EQ(reading.frames.size(), 1U) << reading.message;
    ASSERT_EQ(reading.info.shape, plain.info.shape);
    for (std::size_t at = 0; at < plain.frames[0].size(); ++at)
        ASSERT_EQ(reading.frames[0][at], (plain.frames[0][at] * 102 + 127) / 255) << at;
    EXPECT_EQ(read_video(strips).frames, reading.frames);
    EXPECT_EQ(read_video(deep).error, ErrorCode::no_input) << "refused rather than opaque";
}

TEST_F(TiffForms, Reads8BitCmykAndRejects16Bit) {
    const auto path = folder_ / "a.tif";
    const std::string tiles = " -define tiff:tile-geometry=64x64 ";
    for (const auto& form : {std::string(" "), tiles}) {
        ASSERT_TRUE(convert("-size 80x48 xc:'cmyk(0,255,255,0)' -colorspace CMYK -depth 8" + form + path));
        const auto reading = read_video(path);
        ASSERT_EQ(reading.frames.size(), 1U) << reading.message;
        for (std::size_t at = 0; at < reading.frames[0].size(); at += 3)
            ASSERT_EQ(Bytes(&reading.frames[0][at], &reading.frames[0][at] + 3), (Bytes{0, 0, 255})) << form << at;
    }
    for (const auto& form : {std::string(" "), tiles}) {
        ASSERT_TRUE(convert("-size 80x48 xc:'cmyk(0,255,255,0)' -colorspace CMYK -depth 16" + form + path));
        EXPECT_EQ(read_video(path).error, ErrorCode::no_input) << "libtiff reads CMYK of 8 bits alone";
    }
}

// Half of the last tile of each row lies outside the picture.
TEST_F(TiffForms, ReadsGrayTilesOfEveryDepth) {
    for (const std::string how : {"-depth 2", "-depth 4", "-depth 8", "-depth 16"})
        for (const auto* form : {" ", " -define tiff:tile-geometry=64x64 "}) {
            const auto path = folder_ / "a.tif";
            ASSERT_TRUE(convert((folder_ / "g.png") + " " + how + form + path));
            EXPECT_LE(difference(path), 1) << how << form;
        }
}

TEST_F(TiffForms, ReadsPagesAsFrames) {
    const auto path = folder_ / "pages.tif";
    ASSERT_TRUE(convert((folder_ / "c.png") + " \\( " + (folder_ / "c.png") + " -flip \\) \\( " + (folder_ / "c.png") +
                        " -resize 50% \\) " + path));
    const auto reading = read_video(path);
    EXPECT_FALSE(reading.error) << reading.message;
    EXPECT_EQ(reading.info.frames, 3);
    ASSERT_EQ(reading.frames.size(), 3U);
    ASSERT_TRUE(convert((folder_ / "c.png") + " -flip PNG24:" + (folder_ / "flipped.png")));
    EXPECT_EQ(reading.frames[0], read_video(folder_ / "c.png").frames[0]);
    EXPECT_EQ(reading.frames[1], read_video(folder_ / "flipped.png").frames[0]);
    EXPECT_GT(psnr(reading.frames[2], reading.frames[0]), 25) << "scaled to the first page's size";
}

TEST_F(TiffForms, CorruptTilesAreReportedAsSourceLost) {
    const auto path = folder_ / "a.tif";
    ASSERT_TRUE(convert((folder_ / "c.png") + " -compress Zip -define tiff:tile-geometry=64x64 " + path));
    auto bytes = read_file(path);
    // Corrupt the file from the start of the first tile, where zlib is sure to notice.
    for (std::size_t at = 8; at < 400; ++at) bytes[at] = static_cast<std::uint8_t>(at * 37);
    write_file(path, bytes.data(), bytes.size());
    EXPECT_EQ(read_video(path).error, ErrorCode::source_lost);
}

// The directory declares more pixels than allowed.
TEST_F(TiffForms, RejectsSizesBeyondTheLimit) {
    ASSERT_TRUE(convert((folder_ / "c.png") + " " + (folder_ / "a.tif")));
    const auto reading = read_video(folder_ / "a.tif", {.max_pixels = 200 * 120 - 1});
    EXPECT_EQ(reading.error, ErrorCode::no_input);
    EXPECT_NE(reading.message.find("200x120"), std::string::npos) << reading.message;
}

}  // namespace
}  // namespace framewire
