#include "framewire/colour/deinterleave.hpp"
#include "framewire/colour/yuv_ref.hpp"
#include "framewire/colour/yuv_testing.hpp"
#include "framewire/core/error.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

namespace framewire {
namespace {

using namespace colour_testing;

YuvInfo planar(YuvInfo info) {
    info.format.interleaved = false;
    return info;
}

// The reference itself, on numbers that can be checked by eye. P010 has its samples in the upper 10 bits.
TEST(DeinterleaveReferenceTest, SeparatesUAndVAndLowersWords) {
    const std::uint8_t nv12[] = {1, 2, 3, 4, 5, 6, 10, 20, 11, 21};
    std::uint8_t planes[10] = {};
    const YuvInfo bytes{yuv_nv12, {}, {}, 1, 2, 3};
    deinterleave_reference({nv12, bytes}, {planes, planar(bytes)});
    EXPECT_EQ(std::vector<int>(std::begin(planes), std::end(planes)),
              (std::vector<int>{1, 2, 3, 4, 5, 6, 10, 11, 20, 21}));

    const std::uint16_t p010[] = {0xFFC0, 0x0040, 0x8000, 0x0080};
    std::uint16_t words[4] = {};
    const YuvInfo deep{yuv_p010, {}, {}, 1, 1, 2};
    deinterleave_reference({reinterpret_cast<const std::uint8_t*>(p010), deep},
                           {reinterpret_cast<std::uint8_t*>(words), planar(deep)});
    EXPECT_EQ(std::vector<int>(std::begin(words), std::end(words)), (std::vector<int>{1023, 1, 512, 2}));
}

#if FRAMEWIRE_CUDA

class DeinterleaveTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto why = kit::why_not(Backend::cuda)) GTEST_SKIP() << *why;
    }
};

void check(const YuvInfo& info, kit::Layout from_layout, kit::Layout to_layout, kit::Fill fill) {
    SCOPED_TRACE(fmt::format("{}, {} to {}, fill {}, seed {}", to_string(info), to_string(from_layout),
                             to_string(to_layout), to_string(fill), kit::seed()));
    GuardedYuv from(info, from_layout, Backend::cuda), before(info, from_layout, Backend::cpu);
    GuardedYuv to(planar(info), to_layout, Backend::cuda), want(planar(info), to_layout, Backend::cpu);
    from.fill(fill, 1);
    before.fill(fill, 1);
    deinterleave_reference(before.host(), want.host());
    const auto& stream = kit::executor(Backend::cuda).stream();
    for (const auto poison : {std::uint8_t{0x5A}, std::uint8_t{0xC3}}) {
        to.reset(poison);
        from.upload(stream);
        to.upload(stream);
        deinterleave(from.device(), to.device(), stream);
        to.download(stream);
        from.download(stream);
        if (const auto difference = to.first_difference(want)) FAIL() << *difference;
        if (const auto broken = to.broken_guard()) FAIL() << "wrote outside the picture, at " << *broken;
    }
    if (const auto difference = from.first_difference(before)) FAIL() << "input changed: " << *difference;
}

// Every size, fill and layout. The layouts of input and output alternate independently.
TEST_F(DeinterleaveTest, EqualsTheReference) {
    std::size_t turn = 0;
    const auto layouts = kit::layouts();
    check_by_turns({{yuv_nv12}, {yuv_p010}}, [&](const YuvInfo& info, int, const kit::Layout& layout, kit::Fill fill) {
        check(info, layout, layouts[turn++ / 3 % layouts.size()], fill);
    });
}

TEST_F(DeinterleaveTest, RefusesOtherPictures) {
    const YuvInfo info{yuv_nv12, {}, {}, 1, 8, 8};
    const GuardedYuv nv12(info, {}, Backend::cuda), planes(planar(info), {}, Backend::cuda);
    const auto& stream = kit::executor(Backend::cuda).stream();
    EXPECT_THROW(deinterleave(planes.device(), planes.device(), stream), Error);
    auto other = planar(info);
    other.width = 6;
    const GuardedYuv narrow(other, {}, Backend::cuda);
    EXPECT_THROW(deinterleave(nv12.device(), narrow.device(), stream), Error);
}

#endif

}  // namespace
}  // namespace framewire
