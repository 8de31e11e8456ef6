#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/colour/yuv_ref.hpp"
#include "framewire/colour/yuv_testing.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/device.hpp"
#include "kit/allocations.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

namespace framewire {
namespace {

using namespace colour_testing;

using YuvToImageTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(YuvToImageTest);

void convert(Executor& executor, const GuardedYuv& picture, const kit::GuardedImage& image, const YuvInfo& info) {
    YuvToImage to_image(info, image.view().shape().channels, executor);
    if (executor.backend() == Backend::cpu) return to_image.run(picture.host(), image.view());
    if constexpr (cuda::compiled) {
        const kit::DeviceMirror device_image(image);
        picture.upload(executor.stream());
        device_image.upload(executor.stream());
        to_image.run(picture.device(), device_image.view());
        picture.download(executor.stream());
        device_image.download(executor.stream());
    }
}

void check(Backend backend, const YuvInfo& info, int channels, kit::Layout layout, kit::Fill fill) {
    SCOPED_TRACE(fmt::format("{} to {} channels on {}, {}, fill {}, seed {}", to_string(info), channels,
                             to_string(backend), to_string(layout), to_string(fill), kit::seed()));
    GuardedYuv picture(info, layout, backend), before(info, layout, Backend::cpu);
    picture.fill(fill, 1);
    before.fill(fill, 1);
    kit::GuardedImage image({info.frames, info.height, info.width, channels}, layout);
    HostImage want(image.view().shape());
    yuv_to_image_reference(before.host(), want.view());
    kit::for_each_instruction_set(backend, [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        for (const auto poison : {std::uint8_t{0x5A}, std::uint8_t{0xC3}}) {
            image.reset(poison);
            convert(kit::executor(backend), picture, image, info);
            if (const auto difference = kit::first_difference(image.view(), want.view())) FAIL() << *difference;
            if (const auto broken = image.broken_guard()) FAIL() << "wrote outside the image, at byte " << *broken;
        }
    });
    if (const auto difference = picture.first_difference(before)) FAIL() << "input changed: " << *difference;
}

// Tests every format, siting, size and fill; layouts and codings alternate.
void check_all(Backend backend, int bits) {
    std::vector<YuvInfo> kinds;
    for (const auto format : {yuv_gray, yuv_420, yuv_422, yuv_444, yuv_nv12}) {
        const bool sited = format.chroma == ChromaSampling::s420 || format.chroma == ChromaSampling::s422;
        for (const auto& siting : sitings) {
            if (!sited && siting != siting_left) continue;
            if (format.chroma == ChromaSampling::s422 && !siting.centred_y) continue;
            kinds.push_back({{format.chroma, format.interleaved, bits}, {}, siting});
        }
    }
    check_by_turns(kinds, [&](const YuvInfo& info, int channels, const kit::Layout& layout, kit::Fill fill) {
        check(backend, info, channels, layout, fill);
    });
}

TEST_P(YuvToImageTest, EqualsTheReferenceFor8BitSamples) { check_all(GetParam(), 8); }
TEST_P(YuvToImageTest, EqualsTheReferenceFor10BitSamples) { check_all(GetParam(), 10); }

// Tests a row longer than a segment on the CPU and than a block on the GPU.
TEST_P(YuvToImageTest, EqualsTheReferenceForLongRows) {
    for (const auto format : {yuv_420, yuv_444, yuv_nv12, yuv_p010})
        for (const int width : {1023, 1024, 1025, 2049, 4099})
            for (const auto& siting : {siting_left, siting_centre})
                check(GetParam(), {format, codings[2], siting, 1, 5, width}, 3, {}, kit::Fill::noise);
}

// Tests all 2^24 triples of bytes, one pixel each.
TEST_P(YuvToImageTest, DiffersFromTheStandardsByAtMostOne) {
    auto& executor = kit::executor(GetParam());
    YuvInfo info{yuv_444, {}, {}, 1, 4096, 4096};
    GuardedYuv picture(info, {}, GetParam());
    const auto planes = picture.host().planes;
    for (int colour = 0; colour < 1 << 24; ++colour)
        for (std::size_t plane = 0; plane < 3; ++plane)
            planes[plane].data[colour] = static_cast<std::uint8_t>(colour >> (8 * plane));
    kit::GuardedImage image({1, 4096, 4096, 3}, {});
    for (const auto& coding : codings) {
        info.coding = coding;
        GuardedYuv coded(info, {}, GetParam());
        for (std::size_t plane = 0; plane < 3; ++plane)
            std::copy_n(planes[plane].data, 1 << 24, coded.host().planes[plane].data);
        convert(executor, coded, image, info);
        double worst = 0;
        for (int colour = 0; colour < 1 << 24; colour += kit::brief() ? 37 : 1) {
            const auto* got = image.view().data() + 3 * std::int64_t{colour};
            const auto want = bgr_by_formula(colour & 255, colour >> 8 & 255, colour >> 16, coding, 8);
            for (std::size_t channel = 0; channel < 3; ++channel)
                worst = std::max(worst, std::abs(got[channel] - want[channel]));
        }
        EXPECT_LE(worst, furthest) << to_string(coding);
    }
}

// Tests all 1024 values of luma, each with 65 x 65 values of chroma.
TEST_P(YuvToImageTest, DiffersFromTheStandardsByAtMostOneFor10BitSamples) {
    auto& executor = kit::executor(GetParam());
    for (const auto& coding : codings) {
        const YuvInfo info{{ChromaSampling::s444, false, 10}, coding, {}, 1, 65 * 65, 1024};
        GuardedYuv picture(info, {}, GetParam());
        const auto chroma = [](int step) { return std::min(16 * step, 1023); };
        const auto set = [&](std::size_t plane, int y, int x, int value) {
            auto* sample = picture.host().planes[plane].row(0, y) + 2 * x;
            sample[0] = static_cast<std::uint8_t>(value);
            sample[1] = static_cast<std::uint8_t>(value >> 8);
        };
        for (int y = 0; y < info.height; ++y)
            for (int x = 0; x < info.width; ++x) {
                set(0, y, x, x);
                set(1, y, x, chroma(y / 65));
                set(2, y, x, chroma(y % 65));
            }
        kit::GuardedImage image({1, info.height, info.width, 3}, {});
        convert(executor, picture, image, info);
        double worst = 0;
        for (int y = 0; y < info.height; y += kit::brief() ? 37 : 1)
            for (int x = 0; x < info.width; ++x) {
                const auto want = bgr_by_formula(x, chroma(y / 65), chroma(y % 65), coding, 10);
                for (std::size_t channel = 0; channel < 3; ++channel)
                    worst = std::max(
                        worst, std::abs(image.view().row(0, y)[3 * x + static_cast<int>(channel)] - want[channel]));
            }
        EXPECT_LE(worst, furthest) << to_string(coding);
    }
}

// Returns the chroma at a pixel, interpolated linearly between the surrounding sites. The last sites are replicated
// beyond the border.
double interpolated(const YuvInfo& info, const std::function<int(int y, int x)>& sample, int y, int x) {
    const bool halved_y = info.format.chroma == ChromaSampling::s420;
    double sum = 0, weights = 0;
    for (int row = -1; row <= info.chroma_height(); ++row)
        for (int column = -1; column <= info.chroma_width(); ++column) {
            const auto near = [](double distance, double spacing) {
                return std::max(0.0, 1 - std::abs(distance) / spacing);
            };
            const double weight = near(y - site(row, halved_y, info.siting.centred_y), halved_y ? 2 : 1) *
                                  near(x - site(column, true, info.siting.centred_x), 2);
            if (weight == 0) continue;
            sum += weight *
                   sample(std::clamp(row, 0, info.chroma_height() - 1), std::clamp(column, 0, info.chroma_width() - 1));
            weights += weight;
        }
    EXPECT_NEAR(weights, 1, 1e-9);
    return sum;
}

TEST_P(YuvToImageTest, InterpolationRespectsChromaSiting) {
    for (const auto format : {yuv_420, yuv_422, yuv_nv12, yuv_p010})
        for (const auto& siting : sitings) {
            const YuvInfo info{format, codings[2], siting, 1, 14, 23};
            GuardedYuv picture(info, {}, GetParam());
            picture.fill(kit::Fill::noise, 5);
            kit::GuardedImage image({1, info.height, info.width, 3}, {});
            convert(kit::executor(GetParam()), picture, image, info);
            const HostYuv<const std::uint8_t> host = picture.host();
            double worst = 0;
            for (int y = 0; y < info.height; ++y)
                for (int x = 0; x < info.width; ++x) {
                    const auto chroma = [&](int component) {
                        return interpolated(
                            info, [&](int row, int column) { return yuv_sample(host, component, 0, row, column); }, y,
                            x);
                    };
                    const auto want = bgr_by_formula(yuv_sample(host, 0, 0, y, x), chroma(1), chroma(2), info.coding,
                                                     info.format.bits);
                    for (std::size_t channel = 0; channel < 3; ++channel)
                        worst = std::max(
                            worst, std::abs(image.view().row(0, y)[3 * x + static_cast<int>(channel)] - want[channel]));
                }
            EXPECT_LE(worst, furthest) << to_string(info);
        }
}

TEST_P(YuvToImageTest, CopiesFullRangeGray) {
    const YuvInfo info{yuv_gray, {YuvMatrix::bt601, true}, {}, 1, 1, 256};
    GuardedYuv picture(info, {}, GetParam());
    picture.fill(kit::Fill::ramp, 0);
    kit::GuardedImage image({1, 1, 256, 1}, {});
    convert(kit::executor(GetParam()), picture, image, info);
    for (int x = 0; x < 256; ++x) EXPECT_EQ(image.view().data()[x], x);
}

TEST(YuvToImage, RunsWithoutAllocating) {
    const YuvInfo info{yuv_420, {}, {}, 1, 480, 640};
    const ThreadPool one_thread(1);  // with more threads oneTBB allocates its own tasks
    const YuvToImage to_image(info, 3, one_thread);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(info.frame_bytes()), 90);
    HostImage image(to_image.image_shape());
    const HostYuv<const std::uint8_t> picture(bytes.data(), info);
    to_image.run(picture, image.view());
    const auto before = kit::allocations();
    to_image.run(picture, image.view());
    EXPECT_EQ(kit::allocations(), before);
}

// Converting some rows gives the same bytes as converting the whole image, wherever the rows start.
TEST(YuvToImage, PartialConversionMatchesTheWholeImage) {
    kit::for_each_instruction_set(Backend::cpu, [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        for (const auto format : {yuv_gray, yuv_420, yuv_422, yuv_444, yuv_nv12, yuv_p010})
            for (const auto& siting : sitings) {
                const YuvInfo info{format, codings[2], siting, 1, 13, 77};
                SCOPED_TRACE(to_string(info));
                GuardedYuv picture(info, {}, Backend::cpu);
                picture.fill(kit::Fill::noise, 3);
                const YuvToImage to_image(info, 3, kit::executor(Backend::cpu));
                HostImage whole(to_image.image_shape());
                to_image.run(picture.host(), whole.view());
                for (int begin = 0; begin < info.height; ++begin)
                    for (const int end : {begin + 1, begin + 2, info.height}) {
                        if (end > info.height) continue;
                        kit::GuardedImage rows({1, end - begin, info.width, 3}, {.row_padding_bytes = 5});
                        rows.reset(0x5A);
                        to_image.run_rows(picture.host(), {rows.view(), begin});
                        const auto want =
                            ImageRows<const std::uint8_t>(std::as_const(whole).view(), 0).part({begin, end}).view;
                        EXPECT_EQ(kit::first_difference(rows.view(), want), std::nullopt) << begin << ".." << end;
                        EXPECT_EQ(rows.broken_guard(), std::nullopt);
                    }
            }
    });
}

// The weighted number of each pixel equals the one computed from the converted image.
TEST(YuvToImage, WeightedRowsMatchTheConvertedImage) {
    kit::for_each_instruction_set(Backend::cpu, [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        for (const auto format : {yuv_gray, yuv_420, yuv_422, yuv_444, yuv_nv12, yuv_p010})
            for (const auto& coding : codings)
                for (const ChannelWeights weights :
                     {ChannelWeights{3735, 19235, 9798, 1 << 14}, {10923, 10923, 10923, 0}, {0, 0, 32767, 32767}}) {
                    const YuvInfo info{format, coding, siting_left, 1, 7, 203};
                    SCOPED_TRACE(to_string(info));
                    GuardedYuv picture(info, {}, Backend::cpu);
                    picture.fill(kit::Fill::noise, 3);
                    const YuvToImage to_image(info, 3, kit::executor(Backend::cpu));
                    HostImage whole(to_image.image_shape()), want({1, 5, info.width, 1});
                    to_image.run(picture.host(), whole.view());
                    for (int y = 0; y < 5; ++y)
                        for (int x = 0; x < info.width; ++x) {
                            const auto* bgr = whole.view().row(0, y + 1) + 3 * x;
                            want.view().row(0, y)[x] = static_cast<std::uint8_t>(
                                (weights.b * bgr[0] + weights.g * bgr[1] + weights.r * bgr[2] + weights.rounding) >>
                                15);
                        }
                    kit::GuardedImage rows(want.shape(), {.row_padding_bytes = 5});
                    to_image.run_rows(picture.host(), {rows.view(), 1}, weights);
                    EXPECT_EQ(kit::first_difference(rows.view(), want.view()), std::nullopt);
                    EXPECT_EQ(rows.broken_guard(), std::nullopt);
                    if (::testing::Test::HasFailure()) return;
                }
    });
}

TEST(YuvToImage, RejectsInvalidRows) {
    const ThreadPool threads(1);
    const YuvInfo info{yuv_420, {}, {}, 1, 4, 6};
    const YuvToImage to_image(info, 3, threads);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(info.frame_bytes()));
    const HostYuv<const std::uint8_t> picture(bytes.data(), info);
    HostImage rows({1, 2, 6, 3}), narrow({1, 2, 5, 3}), gray({1, 2, 6, 1});
    EXPECT_NO_THROW(to_image.run_rows(picture, {rows.view(), 2}));
    EXPECT_THROW(to_image.run_rows(picture, {rows.view(), 3}), Error);
    EXPECT_THROW(to_image.run_rows(picture, {rows.view(), -1}), Error);
    EXPECT_THROW(to_image.run_rows(picture, {narrow.view(), 0}), Error);
    EXPECT_THROW(to_image.run_rows(picture, {gray.view(), 0}), Error);
    EXPECT_NO_THROW(to_image.run_rows(picture, {gray.view(), 0}, {1, 1, 1, 0}));
    EXPECT_THROW(to_image.run_rows(picture, {rows.view(), 0}, {1, 1, 1, 0}), Error);
}

TEST(YuvToImage, RejectsMismatchedShapes) {
    const ThreadPool threads(1);
    const auto refused = [&](YuvInfo info, int channels) {
        EXPECT_THROW(YuvToImage(info, channels, threads), Error) << to_string(info);
    };
    const YuvInfo good{yuv_420, {}, {}, 1, 4, 6};
    refused(good, 2);
    refused({{ChromaSampling::s420, false, 9}, {}, {}, 1, 4, 6}, 3);
    refused({{ChromaSampling::s444, true, 8}, {}, {}, 1, 4, 6}, 3);
    refused({yuv_420, {}, {}, 1, 0, 6}, 3);
    refused({yuv_420, {}, {}, 0, 4, 6}, 3);
    refused({yuv_420, {}, {}, 1, 4, max_side_px + 1}, 3);

    const YuvToImage to_image(good, 3, threads);
    HostImage image(to_image.image_shape()), wide({1, 4, 7, 3});
    std::vector<std::uint8_t> bytes(4096);
    HostYuv<const std::uint8_t> picture(bytes.data(), good);
    EXPECT_NO_THROW(to_image.run(picture, image.view()));
    EXPECT_THROW(to_image.run(picture, wide.view()), Error);
    auto other = picture;
    other.info.coding.full_range = true;
    EXPECT_THROW(to_image.run(other, image.view()), Error);
    other = picture;
    other.planes[2].data = nullptr;
    EXPECT_THROW(to_image.run(other, image.view()), Error);
    other = picture;
    other.planes[1].row_stride_bytes = 2;
    EXPECT_THROW(to_image.run(other, image.view()), Error);

    const YuvInfo deep{yuv_p010, {}, {}, 1, 4, 6};
    const YuvToImage from_words(deep, 3, threads);
    HostYuv<const std::uint8_t> words(bytes.data(), deep);
    EXPECT_NO_THROW(from_words.run(words, image.view()));
    words.planes[1].data += 1;
    EXPECT_THROW(from_words.run(words, image.view()), Error);
}

}  // namespace
}  // namespace framewire
