#include "framewire/filters/gray.hpp"
#include "framewire/filters/pointwise_ref.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

namespace framewire {
namespace {

using GrayTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(GrayTest);

auto reference(GrayMethod method) {
    return [method](const FilterImages<MemorySpace::host>& images) { gray_reference(method, images.in, images.out); };
}

TEST_P(GrayTest, WeightedMatchesTheFormula) {
    for (const int in_channels : {3, 1})
        for (const auto* channels : {"3", "1"})
            kit::check_filter(GetParam(), {.info = gray_info(),
                                           .values = {{"channels", channels}},
                                           .channels = in_channels,
                                           .reference = reference(GrayMethod::weighted)});
}

TEST_P(GrayTest, AverageMatchesTheFormula) {
    for (const auto* channels : {"3", "1"})
        kit::check_filter(GetParam(), {.info = gray_info(),
                                       .values = {{"method", "average"}, {"channels", channels}},
                                       .reference = reference(GrayMethod::average)});
}

// Tests all 2^24 colours in one 4096x4096 image.
TEST_P(GrayTest, BothMethodsMatchTheReferenceForEveryColour) {
    auto& executor = kit::executor(GetParam());
    const Shape shape{1, 4096, 4096, 3};
    kit::GuardedImage in(shape, {}), out(shape.with_channels(1), {});
    for (std::int64_t colour = 0; colour < std::int64_t{1} << 24; ++colour)
        for (int channel = 0; channel < 3; ++channel)
            in.view().data()[colour * 3 + channel] = static_cast<std::uint8_t>(colour >> (8 * channel));
    HostImage want(shape.with_channels(1));
    for (const auto method : {GrayMethod::weighted, GrayMethod::average}) {
        Gray gray({.method = method, .channels = 1}, shape, executor);
        if (executor.backend() == Backend::cpu) {
            gray.run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
        } else if constexpr (cuda::compiled) {
            kit::DeviceMirror device_in(in), device_out(out);
            device_in.upload(executor.stream());
            device_out.upload(executor.stream());
            gray.run(FilterImages<MemorySpace::device>{device_in.view(), {}, device_out.view()});
            device_out.download(executor.stream());
        }
        gray_reference(method, in.view(), want.view());
        EXPECT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
    }
}

TEST(Gray, RejectsInvalidShapes) {
    auto& executor = kit::executor(Backend::cpu);
    EXPECT_THROW(Gray({.channels = 2}, {1, 4, 4, 3}, executor), Error);
    EXPECT_THROW(Gray({}, {1, 4, 4, 2}, executor), Error);
    EXPECT_THROW(Gray({}, {1, 0, 4, 3}, executor), Error);
    Gray gray({.channels = 1}, {1, 4, 4, 3}, executor);
    HostImage in({1, 4, 4, 3}), colour({1, 4, 4, 3});
    EXPECT_THROW(gray.run(FilterImages<MemorySpace::host>{in.view(), {}, colour.view()}), Error);
}

}  // namespace
}  // namespace framewire
