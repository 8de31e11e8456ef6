#include "framewire/colour/yuv.hpp"
#include "framewire/colour/yuv_testing.hpp"
#include "framewire/core/error.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace framewire {
namespace {

using namespace colour_testing;

TEST(Yuv, ComputesPlaneSizes) {
    const YuvInfo odd{yuv_420, {}, {}, 2, 5, 7};
    EXPECT_EQ(odd.planes(), 3);
    EXPECT_EQ(odd.chroma_width(), 4);
    EXPECT_EQ(odd.chroma_height(), 3);
    EXPECT_EQ(odd.frame_bytes(), 35 + 2 * 12);
    const YuvInfo p010{yuv_p010, {}, {}, 1, 5, 7};
    EXPECT_EQ(p010.planes(), 2);
    EXPECT_EQ(p010.plane_row_bytes(1), 16);
    EXPECT_EQ(p010.frame_bytes(), 2 * 35 + 3 * 16);
    EXPECT_EQ((YuvInfo{yuv_422, {}, {}, 1, 5, 7}).frame_bytes(), 35 + 2 * 20);
    EXPECT_EQ((YuvInfo{yuv_444, {}, {}, 1, 5, 7}).frame_bytes(), 3 * 35);
    EXPECT_EQ((YuvInfo{yuv_gray, {}, {}, 1, 5, 7}).planes(), 1);
}

TEST(Yuv, PlanesOfAViewAreContiguous) {
    const YuvInfo info{yuv_420, {}, {}, 2, 5, 7};
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(2 * info.frame_bytes()));
    const HostYuv<std::uint8_t> view(bytes.data(), info);
    EXPECT_EQ(view.planes[1].data - bytes.data(), 35);
    EXPECT_EQ(view.planes[2].row(1, 2) - bytes.data(), 59 + 35 + 12 + 8);
    const auto second = view.frames(1, 1);
    EXPECT_EQ(second.info.frames, 1);
    EXPECT_EQ(second.planes[0].data - bytes.data(), 59);
    EXPECT_NO_THROW(validate(view, info, "the picture"));
    const HostYuv<const std::uint8_t> to_read = view;
    EXPECT_EQ(to_read.planes[2].row(0, 0), view.planes[2].row(0, 0));
}

TEST(Yuv, FormatsAsText) {
    EXPECT_EQ(to_string(YuvInfo{yuv_nv12, {YuvMatrix::bt709, true}, {}, 1, 5, 7}),
              "7x5 NV12, BT.709, full range, chroma left");
    EXPECT_EQ(to_string(YuvInfo{{ChromaSampling::s444, false, 10}, {YuvMatrix::bt2020, false}, {}, 3, 5, 7}),
              "7x5 4:4:4 of 10 bits, BT.2020, limited range x 3");
}

// docs/colour.md lists these numbers.
TEST(Coefficients, MatchTheDocumentation) {
    const auto from = [](YuvCoding coding, int bits) {
        const auto by = from_yuv_coefficients(coding, bits);
        return std::vector<int>{by.y, by.y_offset, by.b_u, by.g_u, by.g_v, by.r_v};
    };
    const auto to = [](YuvCoding coding) {
        const auto by = to_yuv_coefficients(coding);
        return std::vector<int>{by.y_b, by.y_g, by.y_r, by.u_b, by.u_g, by.u_r, by.v_b, by.v_g, by.v_r, by.y_offset};
    };
    using Numbers = std::vector<int>;
    EXPECT_EQ(from(codings[0], 8), (Numbers{19077, -1160, 16525, -3209, -6660, 13075}));
    EXPECT_EQ(from(codings[1], 8), (Numbers{16384, 32, 14516, -2819, -5850, 11485}));
    EXPECT_EQ(from(codings[2], 8), (Numbers{19077, -1160, 17305, -1747, -4366, 14686}));
    EXPECT_EQ(from(codings[3], 8), (Numbers{16384, 32, 15201, -1535, -3835, 12901}));
    EXPECT_EQ(from(codings[4], 8), (Numbers{19077, -1160, 17545, -1535, -5328, 13752}));
    EXPECT_EQ(from(codings[5], 8), (Numbers{16384, 32, 15412, -1348, -4681, 12080}));
    EXPECT_EQ(from(codings[1], 10), (Numbers{16336, 32, 14474, -2811, -5833, 11452}));
    EXPECT_EQ(from(codings[3], 10), (Numbers{16336, 32, 15156, -1530, -3824, 12863}));
    EXPECT_EQ(from(codings[5], 10), (Numbers{16336, 32, 15367, -1344, -4667, 12044}));
    EXPECT_EQ(to(codings[0]), (Numbers{3208, 16520, 8414, 14392, -9535, -4857, -2341, -12051, 14392, 2112}));
    EXPECT_EQ(to(codings[1]), (Numbers{3736, 19234, 9798, 16384, -10855, -5529, -2664, -13720, 16384, 64}));
    EXPECT_EQ(to(codings[2]), (Numbers{2032, 20127, 5983, 14392, -11094, -3298, -1320, -13072, 14392, 2112}));
    EXPECT_EQ(to(codings[3]), (Numbers{2366, 23436, 6966, 16384, -12630, -3754, -1502, -14882, 16384, 64}));
    EXPECT_EQ(to(codings[4]), (Numbers{1669, 19080, 7393, 14392, -10373, -4019, -1158, -13234, 14392, 2112}));
    EXPECT_EQ(to(codings[5]), (Numbers{1943, 22217, 8608, 16384, -11809, -4575, -1318, -15066, 16384, 64}));
    for (const auto matrix : {YuvMatrix::bt601, YuvMatrix::bt709, YuvMatrix::bt2020}) {
        const auto limited = from({matrix, false}, 8), deep = from({matrix, false}, 10);
        // At 10 bits, limited range has four times the steps. Samples then have more bits, but the coefficients stay
        // the same.
        for (const std::size_t at : {0, 1, 2, 3, 4, 5}) EXPECT_EQ(limited[at], deep[at]);
    }
}

constexpr YuvInfo info{yuv_420, {}, {}, 1, 35, 101};

TEST(YuvPicture, PlanesAreAlignedAndContiguous) {
    YuvPicture picture(info);
    EXPECT_EQ(picture.info(), info);
    const auto view = picture.view();
    EXPECT_NO_THROW(validate(view, info, "it"));
    for (const auto& plane : view.planes) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(plane.data) % 64, 0U);
        EXPECT_EQ(plane.row_stride_bytes % 64, 0);
    }
    EXPECT_EQ(view.planes[1].data, view.planes[0].row(0, 35));
    EXPECT_EQ(view.planes[2].data, view.planes[1].row(0, 18));
    EXPECT_LE(view.planes[2].row(0, 18) - view.planes[0].data, picture.bytes());
    EXPECT_THROW(YuvPicture({yuv_420, {}, {}, 1, 0, 4}), Error);
}

TEST(YuvPicturePool, ReusesReturnedPictures) {
    std::optional<YuvPicturePool> pool(std::in_place);
    auto first = pool->take(info), second = pool->take(info);
    const auto *of_first = first.get(), *of_second = second.get();
    EXPECT_NE(of_first, of_second) << "nobody else has one that is lent";
    first.reset();
    first = pool->take(info);
    EXPECT_EQ(first.get(), of_first);
    auto other = info;
    other.width = 64;
    second.reset();
    EXPECT_EQ(pool->take(other)->info(), other);
    pool.reset();
    first.reset();  // released after the pool has been destroyed
}

// Returns the shape of a one-channel image that stores the bytes of four-byte pixels, so that its guards surround them.
Shape of_four_bytes(const Shape& shape) { return {1, shape.height, 4 * shape.width, 1}; }

TEST(Bgr0, RoundTripsWithoutLoss) {
    const ThreadPool threads;
    kit::for_each_instruction_set(Backend::cpu, [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        auto shapes = kit::small_shapes(3);
        shapes.push_back(kit::hd_shape(3));
        for (const auto& shape : shapes)
            for (const auto& layout : kit::layouts()) {
                SCOPED_TRACE(to_string(shape) + ", " + to_string(layout));
                kit::GuardedImage image(shape, layout), back(shape, layout), four(of_four_bytes(shape), layout);
                kit::fill(image.view(), kit::Fill::noise);
                four.reset(0x5A);
                back.reset(0x5A);
                bgr_to_bgr0(image.view(), four.view().data(), four.view().row_stride_bytes(), threads);
                ASSERT_EQ(four.broken_guard(), std::nullopt);
                for (int y = 0; y < shape.height; ++y)
                    for (int x = 0; x < shape.width; ++x) {
                        const auto* got = four.view().row(0, y) + 4 * x;
                        const auto* want = image.view().row(0, y) + 3 * x;
                        ASSERT_TRUE(got[0] == want[0] && got[1] == want[1] && got[2] == want[2] && got[3] == 255)
                            << "pixel " << x << ", " << y;
                    }
                bgr0_to_bgr(four.view().data(), four.view().row_stride_bytes(), back.view(), threads);
                ASSERT_EQ(back.broken_guard(), std::nullopt);
                ASSERT_EQ(kit::first_difference(back.view(), image.view()), std::nullopt);
            }
    });
}

}  // namespace
}  // namespace framewire
