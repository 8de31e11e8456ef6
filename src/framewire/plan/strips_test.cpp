#include "framewire/plan/strips.hpp"
#include "framewire/colour/image_to_yuv.hpp"
#include "framewire/colour/yuv_testing.hpp"
#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/core/error.hpp"
#include "kit/allocations.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire {
namespace {

using namespace colour_testing;

YuvInfo of_size(const YuvInfo& info, int height, int width) {
    auto other = info;
    other.height = height;
    other.width = width;
    return other;
}

std::optional<std::string> difference(const HostYuv<const std::uint8_t>& have,
                                      const HostYuv<const std::uint8_t>& want) {
    if (have.info != want.info) return to_string(have.info) + " is not " + to_string(want.info);
    for (int plane = 0; plane < want.info.planes(); ++plane) {
        const auto at = static_cast<std::size_t>(plane);
        for (int y = 0; y < want.info.plane_rows(plane); ++y)
            if (std::memcmp(have.planes[at].row(0, y), want.planes[at].row(0, y),
                            static_cast<std::size_t>(want.info.plane_row_bytes(plane))) != 0)
                return fmt::format("row {} of plane {}", y, plane);
    }
    return {};
}

std::string figures_of(const ChainPlan& plan) {
    std::string text;
    for (const auto& of_filter : plan.figures())
        for (const auto& figure : of_filter.figures)
            text += fmt::format("{} {} {};", of_filter.filter, figure.name, figure.value);
    return text;
}

// A chain that goes by rows against the way over whole images, for two frames.
void check(const std::string& filters, const YuvInfo& from, YuvInfo to, int threads) {
    SCOPED_TRACE(fmt::format("{}: {} to {}, {} threads", filters, to_string(from), to_string(to), threads));
    Executor executor(BackendChoice::cpu, threads);
    const auto chain = parse_chain(filters);
    const Shape shape{1, from.height, from.width, 3};
    ChainPlan by_rows(chain, shape, executor), whole(chain, shape, executor);
    to = of_size(to, whole.output_shape().height, whole.output_shape().width);
    auto pass = StripPass::of(by_rows, from, to, executor.pool());
    ASSERT_TRUE(pass);
    YuvPicture have(to);
    HostImage image(shape), filtered(whole.output_shape());
    for (const std::uint64_t salt : {1U, 2U}) {
        GuardedYuv picture(from, {.offset_bytes = 1, .row_padding_bytes = 7}, Backend::cpu);
        picture.fill(kit::Fill::noise, salt);
        YuvPicture want(to);
        YuvToImage(from, 3, executor).run(picture.host(), image.view());
        whole.run(image.view(), filtered.view());
        ImageToYuv(to, filtered.shape().channels, executor).run(filtered.view(), want.view());
        pass->run(picture.host(), have.view());
        EXPECT_EQ(difference(have.view(), want.view()), std::nullopt);
        EXPECT_EQ(figures_of(by_rows), figures_of(whole));
    }
}

constexpr const char* chains[] = {"gray",
                                  "adjust=brightness=20:contrast=1.2",
                                  "adjust=saturation=1.7",
                                  "binarize=fixed:level=100",
                                  "gray,adjust=contrast=1.4",
                                  "adjust=gain=1.3,gray=average",
                                  "gray,binarize=fixed",
                                  "binarize=fixed,adjust=brightness=9"};

// Chains that move pixels, make several rows at a time, or read rows above and below.
constexpr const char* chains_of_neighbours[] = {"flip",
                                                "flip=both,gray",
                                                "crop=iw-1:ih-1:1:1",
                                                "pad=iw+7:ih+5:3:2:orange,adjust=gain=1.2",
                                                "deinterlace=linear",
                                                "deinterlace=blend:keep=bottom,binarize=fixed",
                                                "scale=iw*2:ih*3:bilinear",
                                                "scale=50%:33%:area",
                                                "gray,scale=iw+3:ih+1:lanczos,flip=vertical",
                                                "mosaic=2",
                                                "gray,mosaic=15",
                                                "flip,mosaic=16"};

// Every format and siting of what comes in and goes out, by turns; sizes with edges, strips cut anywhere.
TEST(StripPass, EqualsProcessingWholeImages) {
    std::vector<YuvInfo> in, out;
    for (const auto& siting : sitings) {
        for (const auto format :
             {yuv_420, yuv_422, yuv_444, yuv_nv12, yuv_p010, YuvFormat{ChromaSampling::s420, false, 10},
              YuvFormat{ChromaSampling::s444, false, 10}})
            in.push_back({format, {}, siting});
        for (const auto format : {yuv_420, yuv_422, yuv_444, yuv_nv12, yuv_gray}) out.push_back({format, {}, siting});
    }
    kit::for_each_instruction_set(Backend::cpu, [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        std::size_t turn = 0;
        for (const auto* chain : chains)
            for (auto from : in) {
                auto to = out[turn % out.size()];
                from.coding = codings[turn % std::size(codings)];
                to.coding = codings[(turn / 2) % std::size(codings)];
                const auto shapes = kit::small_shapes(3);
                const auto& shape = shapes[turn % shapes.size()];
                ++turn;
                check(chain, of_size(from, shape.height, shape.width), to, 1 + static_cast<int>(turn % 3));
                if (::testing::Test::HasFailure()) return;  // the first one says enough
            }
        for (const auto* chain : chains)
            check(chain, {yuv_420, codings[2], siting_left, 1, 720, 1280}, {yuv_420, codings[2], siting_left}, 3);
        check("gray", {yuv_420, codings[2], siting_top_left, 1, 719, 1281}, {yuv_420, codings[2], siting_top_left}, 2);
    });
}

// By turns over sizes; several strips of what is wide, and of scales whose weights end with the picture.
TEST(StripPass, NeighbourhoodFiltersEqualProcessingWholeImages) {
    std::size_t turn = 0;
    for (const auto* chain : chains_of_neighbours)
        for (const auto& siting : sitings) {
            // Cells that a row of chroma above is made from go over whole images.
            const bool cells = std::string_view(chain).find("mosaic") != std::string_view::npos;
            const auto from = YuvInfo{yuv_420, codings[turn % std::size(codings)], siting};
            const auto to = cells ? YuvInfo{yuv_420, from.coding, siting_left} : from;
            for (const auto& [height, width] :
                 {std::pair{2, 3}, std::pair{17, 33}, std::pair{64, 65}, std::pair{131, 640}})
                if (!cells || height > 2)  // one cell of the image's own size goes over whole images, too
                    check(chain, of_size(from, height, width), to, 1 + static_cast<int>(turn++ % 3));
            if (::testing::Test::HasFailure()) return;
        }
    const YuvInfo hd{yuv_420, codings[2], siting_left, 1, 1080, 1920};
    for (const auto* chain : {"scale=634:356", "scale=33%:33%:lanczos", "scale=iw*4/3:-2", "mosaic=16", "mosaic=40"})
        check(chain, hd, hd, 2);
}

// A gray image goes out as one.
TEST(StripPass, OneChannelEqualsProcessingWholeImages) {
    for (const auto format : {yuv_gray, yuv_420})
        for (const auto& coding : codings)
            check("gray=channels=1", {yuv_420, codings[2], siting_left, 1, 67, 35}, {format, coding, siting_left}, 2);
}

TEST(StripPass, AppliesNewSettingsFromTheNextFrame) {
    Executor executor(BackendChoice::cpu, 2);
    const YuvInfo info{yuv_420, codings[2], siting_left, 1, 33, 65};
    const Shape shape{1, info.height, info.width, 3};
    ChainPlan plan(parse_chain("adjust=brightness=50"), shape, executor),
        other(parse_chain("adjust=brightness=-50"), shape, executor);
    GuardedYuv picture(info, {}, Backend::cpu);
    picture.fill(kit::Fill::noise, 1);
    const auto run = [&](ChainPlan& chain) {
        YuvPicture result(info);
        StripPass::of(chain, info, info, executor.pool()).value().run(picture.host(), result.view());
        return result;
    };
    const auto bright = run(plan);
    ASSERT_TRUE(plan.set_adjustment({.brightness = -50}));
    const auto dark = run(plan);
    EXPECT_NE(difference(dark.view(), bright.view()), std::nullopt);
    EXPECT_EQ(difference(dark.view(), run(other).view()), std::nullopt);
}

TEST(StripPass, AcceptsOnlyChainsThatRunByRows) {
    Executor executor(BackendChoice::cpu, 2);
    const YuvInfo info{yuv_420, codings[2], siting_left, 1, 32, 64};
    const auto is_of = [&](const char* filters, const YuvInfo& to, const Shape& shape = {1, 32, 64, 3}) {
        ChainPlan plan(parse_chain(filters), shape, executor);
        return StripPass::of(plan, of_size(info, shape.height, shape.width), to, executor.pool()).has_value();
    };
    EXPECT_TRUE(is_of("gray", info));
    EXPECT_TRUE(is_of("", info)) << "which only changes the format";
    EXPECT_FALSE(is_of("noise", info)) << "which needs the frame before";
    EXPECT_FALSE(is_of("gray,heatmap", info));
    EXPECT_FALSE(is_of("gray,compare", info)) << "which needs the original";
    EXPECT_FALSE(is_of("gray,rotate=90", info));
    EXPECT_FALSE(is_of("deinterlace", info)) << "which looks at the frame before";
    EXPECT_FALSE(is_of("mosaic=16,gray", info)) << "whose cells would be counted twice";
    EXPECT_FALSE(is_of("mosaic=16:zone='0,0,8,8'", info));
    EXPECT_FALSE(is_of("mosaic=16", {yuv_420, codings[2], siting_top_left, 1, 32, 64}));
    EXPECT_FALSE(is_of("mosaic=128", of_size(info, 1080, 1920), {1, 1080, 1920, 3})) << "whose cells fill the cache";
    EXPECT_FALSE(is_of("gray", of_size(info, 32, 63)));
    EXPECT_FALSE(is_of("gray", {yuv_p010, codings[2], siting_left, 1, 32, 64})) << "which nothing makes";
    EXPECT_FALSE(is_of("gray", info.with_frames(2)));
    EXPECT_FALSE(is_of("gray", info, {1, 32, 64, 1}));
}

TEST(StripPass, RejectsPicturesOfAnotherSize) {
    Executor executor(BackendChoice::cpu, 1);
    const YuvInfo info{yuv_420, codings[2], siting_left, 1, 32, 64};
    ChainPlan plan(parse_chain("gray"), {1, 32, 64, 3}, executor);
    auto pass = StripPass::of(plan, info, info, executor.pool());
    ASSERT_TRUE(pass);
    YuvPicture result(info);
    EXPECT_THROW(pass->run(GuardedYuv(of_size(info, 32, 62), {}, Backend::cpu).host(), result.view()), Error);
}

}  // namespace
}  // namespace framewire
