// Conversions against the formulas of the standards, in floating point.
#include "framewire/media/colour.hpp"
#include "framewire/media/media_testing.hpp"
#include "kit/images.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <array>

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

// BGR of 8-bit YUV as ITU-R BT.601, BT.709 and BT.2020 define it, not yet held to 0..255.
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

TEST_P(Conversion, OfYuvIsWithinTwoOfTheFormula) {
    // One pixel for every triple of these values, and no chroma between pixels to make up.
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
                if (value > 2 * 255) continue;  // see PictureConverter::to_image
                worst =
                    std::max(worst, std::abs(image.view().row(0, y)[x * 3 + channel] - std::clamp(value, 0.0, 255.0)));
            }
        }
    EXPECT_LE(worst, 2) << to_string(coding());
}

TEST_P(Conversion, ToYuvAndBackIsWithinThree) {
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

TEST_P(Conversion, OfFlatSubsampledPicturesIsTheSame) {
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

TEST(Coding, ComesFromTagsAndElseFromTheSize) {
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

TEST(Coding, OfGrayWithLimitedRangeIsStretched) {
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

TEST(Converter, StaysInsideTheImage) {
    for (const auto format :
         {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_GRAY8, AV_PIX_FMT_BGR0, AV_PIX_FMT_BGR24, AV_PIX_FMT_GBRP,
          AV_PIX_FMT_RGB24, AV_PIX_FMT_GRAY16LE, AV_PIX_FMT_YUV420P10LE, AV_PIX_FMT_PAL8})
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
