#include "framewire/colour/image_to_yuv.hpp"
#include "framewire/colour/yuv_ref.hpp"
#include "framewire/colour/yuv_testing.hpp"
#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/device.hpp"
#include "kit/allocations.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

namespace framewire {
namespace {

using namespace colour_testing;

using ImageToYuvTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(ImageToYuvTest);

void convert(Executor& executor, const kit::GuardedImage& image, const GuardedYuv& picture, const YuvInfo& info) {
    ImageToYuv to_yuv(info, image.view().shape().channels, executor);
    if (executor.backend() == Backend::cpu) return to_yuv.run(image.view(), picture.host());
    if constexpr (cuda::compiled) {
        const kit::DeviceMirror device_image(image);
        device_image.upload(executor.stream());
        picture.upload(executor.stream());
        to_yuv.run(device_image.view(), picture.device());
        device_image.download(executor.stream());
        picture.download(executor.stream());
    }
}

void check(Backend backend, const YuvInfo& info, int channels, kit::Layout layout, kit::Fill fill) {
    SCOPED_TRACE(fmt::format("{} channels to {} on {}, {}, fill {}, seed {}", channels, to_string(info),
                             to_string(backend), to_string(layout), to_string(fill), kit::seed()));
    const Shape shape{info.frames, info.height, info.width, channels};
    kit::GuardedImage image(shape, layout), before(shape, layout);
    kit::fill(image.view(), fill, 1);
    kit::fill(before.view(), fill, 1);
    GuardedYuv picture(info, layout, backend), want(info, {}, Backend::cpu);
    image_to_yuv_reference(before.view(), want.host());
    kit::for_each_instruction_set(backend, [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        for (const auto poison : {std::uint8_t{0x5A}, std::uint8_t{0xC3}}) {
            picture.reset(poison);
            convert(kit::executor(backend), image, picture, info);
            if (const auto difference = picture.first_difference(want)) FAIL() << *difference;
            if (const auto broken = picture.broken_guard()) FAIL() << "wrote outside the picture, at " << *broken;
        }
    });
    if (const auto difference = kit::first_difference(image.view(), before.view()))
        FAIL() << "input changed: " << *difference;
}

// Tests every format, siting, size and fill; layouts and codings alternate.
TEST_P(ImageToYuvTest, EqualsTheReference) {
    std::vector<YuvInfo> kinds;
    for (const auto format : {yuv_gray, yuv_420, yuv_422, yuv_444, yuv_nv12}) {
        const bool sited = format.chroma == ChromaSampling::s420 || format.chroma == ChromaSampling::s422;
        for (const auto& siting : sitings)
            if (sited || siting == siting_left) kinds.push_back({format, {}, siting});
    }
    check_by_turns(kinds, [&](const YuvInfo& info, int channels, const kit::Layout& layout, kit::Fill fill) {
        check(GetParam(), info, channels, layout, fill);
    });
}

// Tests a row longer than a segment on the CPU and than a block on the GPU.
TEST_P(ImageToYuvTest, EqualsTheReferenceForLongRows) {
    for (const auto format : {yuv_420, yuv_444, yuv_nv12})
        for (const int width : {1023, 1024, 1025, 2049, 4099})
            for (const auto& siting : {siting_left, siting_centre, siting_top_left})
                check(GetParam(), {format, codings[2], siting, 1, 5, width}, 3, {}, kit::Fill::noise);
}

TEST_P(ImageToYuvTest, DiffersFromTheStandardsByAtMostOne) {
    kit::GuardedImage image({1, 4096, 4096, 3}, {});
    for (int colour = 0; colour < 1 << 24; ++colour)
        for (int channel = 0; channel < 3; ++channel)
            image.view().data()[3 * std::int64_t{colour} + channel] =
                static_cast<std::uint8_t>(colour >> (8 * channel));
    for (const auto& coding : codings) {
        const YuvInfo info{yuv_444, coding, {}, 1, 4096, 4096};
        GuardedYuv picture(info, {}, GetParam());
        convert(kit::executor(GetParam()), image, picture, info);
        const auto planes = picture.host().planes;
        double worst = 0;
        bool grays_are_neutral = true;
        for (int colour = 0; colour < 1 << 24; colour += kit::brief() ? 37 : 1) {
            const int b = colour & 255, g = colour >> 8 & 255, r = colour >> 16;
            const auto want = yuv_by_formula(b, g, r, coding);
            for (std::size_t plane = 0; plane < 3; ++plane)
                worst = std::max(worst, std::abs(planes[plane].data[colour] - want[plane]));
            if (b == g && g == r)
                grays_are_neutral = grays_are_neutral && planes[1].data[colour] == 128 && planes[2].data[colour] == 128;
        }
        EXPECT_LE(worst, furthest) << to_string(coding);
        EXPECT_TRUE(grays_are_neutral) << to_string(coding);
    }
}

// Returns the mean of the pixels around a site. If the site lies between two pixels, it is their mean; otherwise it is
// the pixel at the site with half of each neighbour.
double mean_around(const YuvInfo& info, const std::function<int(int y, int x)>& pixel, int row, int column) {
    const bool halved_y = info.format.chroma == ChromaSampling::s420;
    const auto weight = [](double distance, bool halved, bool centred) {
        if (!halved) return distance == 0 ? 1.0 : 0.0;
        if (centred) return std::abs(distance) < 1 ? 0.5 : 0.0;
        return std::max(0.0, 1 - std::abs(distance) / 2) / 2;
    };
    double sum = 0, weights = 0;
    for (int y = -2; y < info.height + 2; ++y)
        for (int x = -2; x < info.width + 2; ++x) {
            const double here =
                weight(y - site(row, halved_y, info.siting.centred_y), halved_y, info.siting.centred_y) *
                weight(x - site(column, true, info.siting.centred_x), true, info.siting.centred_x);
            if (here == 0) continue;
            sum += here * pixel(std::clamp(y, 0, info.height - 1), std::clamp(x, 0, info.width - 1));
            weights += here;
        }
    EXPECT_NEAR(weights, 1, 1e-9);
    return sum;
}

TEST_P(ImageToYuvTest, AveragingRespectsChromaSiting) {
    for (const auto format : {yuv_420, yuv_422, yuv_nv12})
        for (const auto& siting : sitings) {
            const YuvInfo info{format, codings[2], siting, 1, 15, 23};
            kit::GuardedImage image({1, info.height, info.width, 3}, {});
            kit::fill(image.view(), kit::Fill::noise, 5);
            GuardedYuv picture(info, {}, GetParam());
            convert(kit::executor(GetParam()), image, picture, info);
            double worst = 0;
            for (int y = 0; y < info.chroma_height(); ++y)
                for (int x = 0; x < info.chroma_width(); ++x) {
                    const auto mean = [&](int channel) {
                        return mean_around(
                            info, [&](int row, int column) { return image.view().row(0, row)[3 * column + channel]; },
                            y, x);
                    };
                    const auto want = yuv_by_formula(mean(0), mean(1), mean(2), info.coding);
                    for (std::size_t component = 1; component <= 2; ++component) {
                        const auto plane = picture.host().planes[format.interleaved ? 1 : component];
                        const auto at = format.interleaved ? 2 * x + static_cast<int>(component) - 1 : x;
                        worst = std::max(worst, std::abs(plane.row(0, y)[at] - want[component]));
                    }
                }
            EXPECT_LE(worst, furthest) << to_string(info);
        }
}

TEST_P(ImageToYuvTest, RoundTripsGray) {
    for (const auto& coding : codings) {
        const YuvInfo info{yuv_420, coding, {}, 1, 2, 256};
        for (const int channels : {1, 3}) {
            kit::GuardedImage image({1, 2, 256, channels}, {}), back({1, 2, 256, channels}, {});
            for (int y = 0; y < 2; ++y)
                for (int x = 0; x < 256 * channels; ++x)
                    image.view().row(0, y)[x] = static_cast<std::uint8_t>(x / channels);
            GuardedYuv picture(info, {}, GetParam());
            convert(kit::executor(GetParam()), image, picture, info);
            YuvToImage(info, channels, kit::executor(Backend::cpu)).run(picture.host(), back.view());
            // Limited range has 219 steps for 255 values.
            EXPECT_EQ(kit::first_difference(back.view(), image.view(), coding.full_range ? 0 : 1), std::nullopt)
                << to_string(coding);
        }
    }
}

TEST(ImageToYuv, RunsWithoutAllocating) {
    const YuvInfo info{yuv_420, {}, {}, 1, 480, 640};
    const ThreadPool one_thread(1);  // with more threads oneTBB allocates its own tasks
    const ImageToYuv to_yuv(info, 3, one_thread);
    HostImage image(to_yuv.image_shape());
    kit::fill(image.view(), kit::Fill::ramp);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(info.frame_bytes()));
    const HostYuv<std::uint8_t> picture(bytes.data(), info);
    to_yuv.run(image.view(), picture);
    const auto before = kit::allocations();
    to_yuv.run(image.view(), picture);
    EXPECT_EQ(kit::allocations(), before);
}

// Converting some rows gives the same bytes as converting the whole picture and writes no others. Three equal channels
// may be passed as one.
TEST(ImageToYuv, PartialConversionMatchesTheWholePicture) {
    kit::for_each_instruction_set(Backend::cpu, [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        std::size_t turn = 0;
        for (const auto format : {yuv_gray, yuv_420, yuv_422, yuv_444, yuv_nv12})
            for (const auto& siting : sitings)
                for (const bool equal_channels : {false, true}) {
                    const YuvInfo info{format, codings[turn++ % std::size(codings)], siting, 1, 13, 77};
                    SCOPED_TRACE(to_string(info));
                    const ImageToYuv to_yuv(info, 3, kit::executor(Backend::cpu));
                    HostImage image(to_yuv.image_shape()), one_channel({1, info.height, info.width, 1});
                    kit::fill(image.view(), kit::Fill::noise, 3);
                    kit::fill(one_channel.view(), kit::Fill::noise, 3);
                    for (std::int64_t byte = 0; equal_channels && byte < image.shape().bytes(); ++byte)
                        image.view().data()[byte] = one_channel.view().data()[byte / 3];
                    GuardedYuv whole(info, {}, Backend::cpu), rows(info, {}, Backend::cpu);
                    to_yuv.run(image.view(), whole.host());
                    const auto source = [&](const RowRange& need) {
                        const auto& from = std::as_const(equal_channels ? one_channel : image);
                        return ImageRows<const std::uint8_t>(from.view()).part(need);
                    };
                    for (const int each : {2, 4, 6, 14}) {
                        rows.reset(0x5A);
                        // Converts from the last row to the first, so that a row written in excess remains visible.
                        for (int begin = (info.height - 1) / each * each; begin >= 0; begin -= each) {
                            const RowRange made{begin, std::min(begin + each, info.height)};
                            to_yuv.run_rows(source(to_yuv.rows_needed(made)), made, rows.host());
                        }
                        EXPECT_EQ(rows.first_difference(whole), std::nullopt) << each;
                        EXPECT_EQ(rows.broken_guard(), std::nullopt) << each;
                    }
                }
    });
}

TEST(ImageToYuv, RejectsInsufficientRows) {
    const ThreadPool threads(1);
    const YuvInfo info{yuv_420, {}, siting_top_left, 1, 7, 6};
    const ImageToYuv to_yuv(info, 3, threads);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(info.frame_bytes()));
    const HostYuv<std::uint8_t> picture(bytes.data(), info);
    HostImage image(to_yuv.image_shape());
    const ImageRows<const std::uint8_t> rows(std::as_const(image).view());
    EXPECT_EQ(to_yuv.rows_needed({2, 4}), (RowRange{1, 4}));
    EXPECT_NO_THROW(to_yuv.run_rows(rows, {2, 7}, picture));
    EXPECT_NO_THROW(to_yuv.run_rows(rows.part({1, 4}), {2, 4}, picture));
    EXPECT_THROW(to_yuv.run_rows(rows.part({2, 4}), {2, 4}, picture), Error) << "without the row above";
    EXPECT_THROW(to_yuv.run_rows(rows, {2, 5}, picture), Error) << "half a row of chroma";
    EXPECT_THROW(to_yuv.run_rows(rows, {1, 4}, picture), Error);
    EXPECT_THROW(to_yuv.run_rows(rows, {6, 8}, picture), Error);
    HostImage narrow({1, 7, 5, 3});
    EXPECT_THROW(to_yuv.run_rows(ImageRows<const std::uint8_t>(std::as_const(narrow).view()), {0, 2}, picture), Error);
}

TEST(ImageToYuv, RejectsMismatchedShapes) {
    const ThreadPool threads(1);
    EXPECT_THROW(ImageToYuv({yuv_p010, {}, {}, 1, 4, 6}, 3, threads), Error);
    EXPECT_THROW(ImageToYuv({yuv_420, {}, {}, 1, 4, 6}, 4, threads), Error);
    EXPECT_THROW(ImageToYuv({yuv_420, {}, {}, 1, 4, 0}, 3, threads), Error);
    const YuvInfo info{yuv_420, {}, {}, 1, 4, 6};
    const ImageToYuv to_yuv(info, 3, threads);
    HostImage image(to_yuv.image_shape()), gray({1, 4, 6, 1});
    std::vector<std::uint8_t> bytes(4096);
    HostYuv<std::uint8_t> picture(bytes.data(), info);
    EXPECT_NO_THROW(to_yuv.run(image.view(), picture));
    EXPECT_THROW(to_yuv.run(gray.view(), picture), Error);
    picture.planes[1].row_stride_bytes = 2;
    EXPECT_THROW(to_yuv.run(image.view(), picture), Error);
}

}  // namespace
}  // namespace framewire
