#include "framewire/media/conversion.hpp"
#include "framewire/colour/yuv_ref.hpp"
#include "framewire/media/media_testing.hpp"
#include "kit/images.hpp"

// Compares conversions with the formulas of the standards in floating point.

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <array>
#include <cstring>

namespace framewire {
namespace {

using namespace testing;

struct Weights {
    double r, b;
};

Weights weights(YuvMatrix matrix) {
    switch (matrix) {
        case YuvMatrix::bt709: return {0.2126, 0.0722};
        case YuvMatrix::bt2020: return {0.2627, 0.0593};
        case YuvMatrix::bt601: break;
    }
    return {0.299, 0.114};
}

// Returns the BGR values of 8-bit YUV as ITU-R BT.601, BT.709 and BT.2020 define them, before clamping to 0..255.
std::array<double, 3> bgr_by_formula(double y, double u, double v, const YuvCoding& coding) {
    const auto [kr, kb] = weights(coding.matrix);
    const double kg = 1 - kr - kb;
    const double luma = coding.full_range ? y / 255 : (y - 16) / 219;
    const double pb = (u - 128) / (coding.full_range ? 255 : 224);
    const double pr = (v - 128) / (coding.full_range ? 255 : 224);
    const double r = luma + 2 * (1 - kr) * pr;
    const double b = luma + 2 * (1 - kb) * pb;
    const double g = (luma - kr * r - kb * b) / kg;
    return {b * 255, g * 255, r * 255};
}

class Conversion : public ::testing::TestWithParam<std::tuple<YuvMatrix, bool>> {
protected:
    YuvCoding coding() const { return {std::get<0>(GetParam()), std::get<1>(GetParam())}; }
};

TEST_P(Conversion, YuvToBgrDiffersFromTheFormulaByAtMostOne) {
    // The frame has one pixel for every triple of these values, and no chroma interpolation.
    std::vector<int> values;
    for (int value = 0; value < 256; value += 15) values.push_back(value);
    const int count = static_cast<int>(values.size());
    const Shape shape{1, count, count * count, 3};
    auto frame = make_frame(AV_PIX_FMT_YUV444P, shape.width, shape.height);
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x) {
            frame->data[0][y * frame->linesize[0] + x] = static_cast<std::uint8_t>(values[static_cast<std::size_t>(y)]);
            frame->data[1][y * frame->linesize[1] + x] =
                static_cast<std::uint8_t>(values[static_cast<std::size_t>(x / count)]);
            frame->data[2][y * frame->linesize[2] + x] =
                static_cast<std::uint8_t>(values[static_cast<std::size_t>(x % count)]);
        }
    HostImage image(shape);
    PictureConverter().to_image(*frame, coding(), image.view());
    double worst = 0;
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x) {
            const auto want =
                bgr_by_formula(values[static_cast<std::size_t>(y)], values[static_cast<std::size_t>(x / count)],
                               values[static_cast<std::size_t>(x % count)], coding());
            for (int channel = 0; channel < 3; ++channel) {
                const double value = want[static_cast<std::size_t>(channel)];
                worst =
                    std::max(worst, std::abs(image.view().row(0, y)[x * 3 + channel] - std::clamp(value, 0.0, 255.0)));
            }
        }
    EXPECT_LE(worst, 1) << to_string(coding());
}

TEST_P(Conversion, RoundTripErrorIsAtMostThree) {
    const Shape shape{1, 64, 128, 3};
    const auto bytes = smooth_frame(shape, 0);
    auto frame = make_frame(AV_PIX_FMT_YUV444P, shape.width, shape.height);
    tag(*frame, coding());
    PictureConverter converter;
    converter.to_frame(view_of(bytes, shape), *frame);
    std::string assumed;
    EXPECT_EQ(coding_of(*frame, assumed), coding());
    EXPECT_EQ(assumed, "");
    HostImage image(shape);
    converter.to_image(*frame, coding(), image.view());
    EXPECT_EQ(kit::first_difference(std::as_const(image).view(), view_of(bytes, shape), 3), std::nullopt);
}

TEST_P(Conversion, FlatImagesSurviveChromaSubsampling) {
    for (const auto format : {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV422P, AV_PIX_FMT_NV12, AV_PIX_FMT_YUYV422}) {
        auto frame = make_frame(format, 38, 22);
        const Shape shape{1, 22, 38, 3};
        Bytes bytes;
        for (int pixel = 0; pixel < 38 * 22; ++pixel) bytes.insert(bytes.end(), {60, 150, 210});
        tag(*frame, coding());
        PictureConverter converter;
        converter.to_frame(view_of(bytes, shape), *frame);
        HostImage image(shape);
        converter.to_image(*frame, coding(), image.view());
        EXPECT_EQ(kit::first_difference(std::as_const(image).view(), view_of(bytes, shape), 3), std::nullopt)
            << av_get_pix_fmt_name(format);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Conversion,
                         ::testing::Combine(::testing::Values(YuvMatrix::bt601, YuvMatrix::bt709, YuvMatrix::bt2020),
                                            ::testing::Bool()));

TEST(Coding, FallsBackToTheFrameSizeIfTagsAreMissing) {
    std::string assumed;
    auto sd = make_frame(AV_PIX_FMT_YUV420P, 640, 480);
    EXPECT_EQ(coding_of(*sd, assumed), (YuvCoding{YuvMatrix::bt601, false}));
    EXPECT_EQ(assumed, "BT.601, limited range");
    auto hd = make_frame(AV_PIX_FMT_YUV420P, 1280, 720);
    EXPECT_EQ(coding_of(*hd, assumed), (YuvCoding{YuvMatrix::bt709, false}));
    EXPECT_EQ(assumed, "BT.709, limited range");
    hd->colorspace = AVCOL_SPC_SMPTE170M;
    hd->color_range = AVCOL_RANGE_JPEG;
    EXPECT_EQ(coding_of(*hd, assumed), (YuvCoding{YuvMatrix::bt601, true}));
    EXPECT_EQ(assumed, "");
    auto jpeg = make_frame(AV_PIX_FMT_YUVJ420P, 1280, 720);
    EXPECT_EQ(coding_of(*jpeg, assumed), (YuvCoding{YuvMatrix::bt601, true}));
    EXPECT_EQ(assumed, "");
    auto gray = make_frame(AV_PIX_FMT_GRAY8, 1280, 720);
    EXPECT_TRUE(coding_of(*gray, assumed).full_range);
    EXPECT_EQ(assumed, "");
}

TEST(Coding, ExpandsLimitedRangeGray) {
    auto frame = make_frame(AV_PIX_FMT_GRAY8, 256, 1);
    for (int x = 0; x < 256; ++x) frame->data[0][x] = static_cast<std::uint8_t>(x);
    HostImage image({1, 1, 256, 1});
    PictureConverter().to_image(*frame, {YuvMatrix::bt601, false}, image.view());
    for (int x = 0; x < 256; ++x)
        EXPECT_NEAR(image.view().data()[x], std::clamp((x - 16) * 255 / 219.0, 0.0, 255.0), 2) << x;
    PictureConverter().to_image(*frame, {YuvMatrix::bt601, true}, image.view());
    for (int x = 0; x < 256; ++x) EXPECT_EQ(image.view().data()[x], x);
    HostImage colour({1, 1, 256, 3});
    PictureConverter().to_image(*frame, {YuvMatrix::bt601, false}, colour.view());
    for (int x = 0; x < 768; ++x)
        EXPECT_NEAR(colour.view().data()[x], std::clamp((x / 3 - 16) * 255 / 219.0, 0.0, 255.0), 2) << x;
}

// Fills every plane with noise; 16-bit words hold 10-bit values.
void fill_frame(AVFrame& frame) {
    const auto* descriptor = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
    std::uint32_t number = 1;
    for (int plane = 0; plane < 4 && frame.buf[plane]; ++plane)
        for (std::size_t at = 0; at < frame.buf[plane]->size; ++at) {
            number = number * 1664525 + 1013904223;
            auto byte = static_cast<std::uint8_t>(number >> 24);
            if (descriptor->comp[0].depth == 10 && descriptor->comp[0].shift == 0 && at % 2) byte &= 3;
            frame.buf[plane]->data[at] = byte;
        }
}

struct Known {
    AVPixelFormat frame;
    YuvFormat format;
};

constexpr Known known[] = {{AV_PIX_FMT_GRAY8, yuv_gray},
                           {AV_PIX_FMT_YUV420P, yuv_420},
                           {AV_PIX_FMT_YUVJ420P, yuv_420},
                           {AV_PIX_FMT_YUV422P, yuv_422},
                           {AV_PIX_FMT_YUV444P, yuv_444},
                           {AV_PIX_FMT_YUVJ444P, yuv_444},
                           {AV_PIX_FMT_NV12, yuv_nv12},
                           {AV_PIX_FMT_GRAY10LE, {ChromaSampling::none, false, 10}},
                           {AV_PIX_FMT_YUV420P10LE, {ChromaSampling::s420, false, 10}},
                           {AV_PIX_FMT_YUV422P10LE, {ChromaSampling::s422, false, 10}},
                           {AV_PIX_FMT_YUV444P10LE, {ChromaSampling::s444, false, 10}},
                           {AV_PIX_FMT_P010LE, yuv_p010}};

struct Location {
    AVChromaLocation tag;
    bool full_range;
    ChromaSiting siting;
};

constexpr Location locations[] = {
    {AVCHROMA_LOC_UNSPECIFIED, false, siting_left}, {AVCHROMA_LOC_UNSPECIFIED, true, siting_centre},
    {AVCHROMA_LOC_LEFT, true, siting_left},         {AVCHROMA_LOC_CENTER, false, siting_centre},
    {AVCHROMA_LOC_TOPLEFT, false, siting_top_left}, {AVCHROMA_LOC_TOP, false, {true, false}}};

HostYuv<std::uint8_t> picture_of(const AVFrame& frame, YuvFormat format, const Location& location) {
    HostYuv<std::uint8_t> picture;
    picture.info = {format, {YuvMatrix::bt709, location.full_range}, location.siting, 1, frame.height, frame.width};
    for (std::size_t plane = 0; plane < 3; ++plane)
        picture.planes[plane] = {frame.data[plane], frame.linesize[plane], 0};
    return picture;
}

TEST(Converter, FrameToImageMatchesTheReference) {
    for (const auto& [format, ours] : known)
        for (const auto& location : locations)
            for (const int channels : {1, 3}) {
                auto frame = make_frame(format, 53, 37);
                fill_frame(*frame);
                frame->chroma_location = location.tag;
                const auto picture = picture_of(*frame, ours, location);
                HostImage got({1, 37, 53, channels}), want({1, 37, 53, channels});
                PictureConverter().to_image(*frame, picture.info.coding, got.view());
                yuv_to_image_reference(picture, want.view());
                EXPECT_EQ(kit::first_difference(got.view(), want.view()), std::nullopt)
                    << av_get_pix_fmt_name(format) << " as " << to_string(picture.info);
            }
}

TEST(Converter, ImageToFrameMatchesTheReference) {
    for (const auto& [format, ours] : known)
        for (const auto& location : locations)
            for (const int channels : {1, 3}) {
                if (ours.bits != 8) continue;
                HostImage image({1, 37, 53, channels});
                kit::fill(image.view(), kit::Fill::noise);
                const FramePointer frames[] = {make_frame(format, 53, 37), make_frame(format, 53, 37)};
                for (const auto& frame : frames) {
                    tag(*frame, {YuvMatrix::bt709, location.full_range});
                    frame->chroma_location = location.tag;
                }
                PictureConverter().to_frame(image.view(), *frames[0]);
                const auto got = picture_of(*frames[0], ours, location), want = picture_of(*frames[1], ours, location);
                image_to_yuv_reference(image.view(), want);
                for (int plane = 0; plane < want.info.planes(); ++plane)
                    for (int y = 0; y < want.info.plane_rows(plane); ++y)
                        EXPECT_EQ(std::memcmp(got.planes[static_cast<std::size_t>(plane)].row(0, y),
                                              want.planes[static_cast<std::size_t>(plane)].row(0, y),
                                              static_cast<std::size_t>(want.info.plane_row_bytes(plane))),
                                  0)
                            << av_get_pix_fmt_name(format) << " as " << to_string(want.info) << ", plane " << plane
                            << ", row " << y;
            }
}

// Some decoders store pictures bottom-up.
TEST(Converter, ReadsBottomUpFrames) {
    for (const auto format : {AV_PIX_FMT_YUV420P, AV_PIX_FMT_GRAY8, AV_PIX_FMT_BGR24, AV_PIX_FMT_BGR0}) {
        auto frame = make_frame(format, 48, 32);
        for (int plane = 0; plane < 3 && frame->data[plane]; ++plane) {
            const int rows = plane ? 16 : 32;
            for (int y = 0; y < rows; ++y)
                std::memset(frame->data[plane] + y * frame->linesize[plane], plane ? 128 : 20 + 200 * y / rows,
                            static_cast<std::size_t>(frame->linesize[plane]));
        }
        HostImage down({1, 32, 48, 3}), up({1, 32, 48, 3});
        PictureConverter().to_image(*frame, {YuvMatrix::bt709, true}, down.view());
        for (int plane = 0; plane < 3 && frame->data[plane]; ++plane) {
            frame->data[plane] += ((plane ? 16 : 32) - 1) * frame->linesize[plane];
            frame->linesize[plane] = -frame->linesize[plane];
        }
        PictureConverter().to_image(*frame, {YuvMatrix::bt709, true}, up.view());
        for (int y = 0; y < 32; ++y)
            EXPECT_NEAR(up.view().row(0, y)[60], down.view().row(0, 31 - y)[60], 2)
                << av_get_pix_fmt_name(format) << ", row " << y;
    }
}

TEST(Converter, BgrRoundTripIsExact) {
    HostImage image({1, 37, 53, 3}), back({1, 37, 53, 3});
    kit::fill(image.view(), kit::Fill::noise);
    for (const auto format : {AV_PIX_FMT_BGR0, AV_PIX_FMT_BGR24}) {
        auto frame = make_frame(format, 53, 37);
        PictureConverter().to_frame(image.view(), *frame);
        PictureConverter().to_image(*frame, {YuvMatrix::bt601, true}, back.view());
        EXPECT_EQ(kit::first_difference(back.view(), image.view()), std::nullopt) << av_get_pix_fmt_name(format);
    }
}

TEST(Converter, WritesOnlyInsideTheImage) {
    for (const auto format :
         {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_GRAY8, AV_PIX_FMT_BGR0, AV_PIX_FMT_BGR24, AV_PIX_FMT_GBRP,
          AV_PIX_FMT_RGB24, AV_PIX_FMT_GRAY16LE, AV_PIX_FMT_YUV420P10LE, AV_PIX_FMT_P010LE, AV_PIX_FMT_NV12,
          AV_PIX_FMT_YUV420P12LE, AV_PIX_FMT_PAL8})
        for (const int channels : {1, 3})
            for (const auto& shape : kit::small_shapes(channels))
                for (const auto& from : {Shape{1, shape.height, shape.width, 3}, Shape{1, 19, 21, 3}}) {
                    auto frame = make_frame(format, from.width, from.height);
                    for (int plane = 0; plane < 4 && frame->data[plane] && frame->buf[plane]; ++plane)
                        std::fill_n(frame->buf[plane]->data, frame->buf[plane]->size, std::uint8_t{77});
                    for (const int row_padding_bytes : {0, 5}) {
                        kit::GuardedImage image(shape, {3, row_padding_bytes, 0});
                        image.reset(0);
                        PictureConverter().to_image(*frame, {YuvMatrix::bt709, false}, image.view());
                        ASSERT_EQ(image.broken_guard(), std::nullopt)
                            << av_get_pix_fmt_name(format) << " " << to_string(from) << " to " << to_string(shape);
                    }
                }
}

}  // namespace
}  // namespace framewire
