#include "framewire/filters/adjust.hpp"
#include "framewire/filters/pointwise_ref.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>

namespace framewire {
namespace {

using AdjustTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(AdjustTest);

const Adjustment settings[] = {
    {},
    {.brightness = 40, .contrast = 1.3, .saturation = 1.5, .gain = 1.2},
    {.brightness = -70, .contrast = 0.5},
    {.saturation = 0},
    {.saturation = 0.37},
    {.brightness = 255, .contrast = 4, .saturation = 4, .gain = 8},
    {.brightness = -255, .contrast = 0, .saturation = 4, .gain = 0},
    {.brightness = -255, .contrast = 4, .gain = 8},
    {.contrast = 0.001, .saturation = 3.999, .gain = 7.77},
};

std::string name_of(const Adjustment& setting) {
    return fmt::format("brightness {}, contrast {}, saturation {}, gain {}", setting.brightness, setting.contrast,
                       setting.saturation, setting.gain);
}

TEST_P(AdjustTest, MatchesTheFormula) {
    for (const auto& setting : {settings[0], settings[1], settings[2]})
        for (const int channels : {3, 1}) {
            SCOPED_TRACE(name_of(setting));
            kit::check_filter(GetParam(), {.info = adjust_info(),
                                           .values = {{"brightness", fmt::to_string(setting.brightness)},
                                                      {"contrast", fmt::to_string(setting.contrast)},
                                                      {"saturation", fmt::to_string(setting.saturation)},
                                                      {"gain", fmt::to_string(setting.gain)}},
                                           .channels = channels,
                                           .reference = [&](const FilterImages<MemorySpace::host>& images) {
                                               adjust_reference(setting, images.in, images.out);
                                           }});
        }
}

// Checks 64^3 colours at settings that reach both ends of every range.
TEST_P(AdjustTest, MatchesTheFormulaAtTheLimitsOfEverySetting) {
    const Shape shape{1, 512, 512, 3};
    kit::GuardedImage in(shape, {}), out(shape, {});
    for (std::int64_t colour = 0; colour < 512 * 512; ++colour)
        for (int channel = 0; channel < 3; ++channel)  // 64 levels in steps of 4 + 1/21
            in.view().data()[colour * 3 + channel] =
                static_cast<std::uint8_t>((colour >> (6 * channel) & 63) * 85 / 21);
    auto& executor = kit::executor(GetParam());
    HostImage want(shape);
    Adjust adjust({}, shape, executor);
    for (const auto& setting : settings) {
        SCOPED_TRACE(name_of(setting));
        adjust.set_adjustment(setting);
        adjust_reference(setting, in.view(), want.view());
        kit::for_each_instruction_set(GetParam(), [&](const std::string& instruction_set) {
            out.reset(0x5A);
            if (executor.backend() == Backend::cpu) {
                adjust.run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
            } else if constexpr (cuda::compiled) {
                kit::DeviceMirror device_in(in), device_out(out);
                device_in.upload(executor.stream());
                device_out.upload(executor.stream());
                adjust.run(FilterImages<MemorySpace::device>{device_in.view(), {}, device_out.view()});
                device_out.download(executor.stream());
            }
            EXPECT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt) << instruction_set;
        });
    }
}

TEST(Adjust, IsCloseToTheExactFormula) {
    const auto hold = [](double value) { return std::clamp(value, 0.0, 255.0); };
    for (const auto& setting : settings) {
        const auto terms = adjust_terms(setting);
        for (int value = 0; value < 256; ++value)
            EXPECT_NEAR(adjust_level(value, terms),
                        hold(setting.contrast * (setting.gain * value - 128) + 128 + setting.brightness), 1.3)
                << name_of(setting);
    }
}

TEST(Adjust, NeutralSettingsChangeNothing) {
    const auto terms = adjust_terms({});
    for (Pixel pixel = 0; pixel < 1u << 24; pixel += 97) EXPECT_EQ(adjust_pixel(pixel, terms), pixel);
}

TEST(Adjust, RejectsInvalidSettingsAndKeepsTheOldOnes) {
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape{1, 1, 1, 1};
    const auto nan = std::numeric_limits<double>::quiet_NaN();
    Adjust adjust({.brightness = 5}, shape, executor);
    for (const Adjustment& wrong :
         {Adjustment{.brightness = 256}, Adjustment{.brightness = -256}, Adjustment{.contrast = -0.1},
          Adjustment{.contrast = 4.1}, Adjustment{.contrast = nan}, Adjustment{.saturation = 5}, Adjustment{.gain = 9},
          Adjustment{.gain = -1}}) {
        EXPECT_THROW(Adjust(wrong, shape, executor), Error) << name_of(wrong);
        EXPECT_THROW(adjust.set_adjustment(wrong), Error) << name_of(wrong);
    }
    HostImage in(shape), out(shape);
    in.view().data()[0] = 100;
    adjust.run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
    EXPECT_EQ(out.view().data()[0], 105);
}

// While another thread changes the settings, every frame uses one setting throughout.
TEST(Adjust, SettingsChangeOnlyBetweenFrames) {
    const Shape shape{1, 32, 1024, 1};
    HostImage in(shape), out(shape);
    kit::fill(in.view(), kit::Fill::zeros);
    const auto filter = adjust_info().make(with_defaults(adjust_info(), {}), shape, kit::executor(Backend::cpu));
    std::jthread panel([&](std::stop_token stop) {
        for (int turn = 0; !stop.stop_requested(); ++turn)
            filter->set_adjustment(turn % 2 ? Adjustment{.brightness = 10}
                                            : Adjustment{.brightness = 200, .contrast = 1});
    });
    for (int frame = 0; frame < 500; ++frame) {
        filter->run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
        const auto first = out.view().data()[0];
        ASSERT_TRUE(first == 0 || first == 10 || first == 200) << int{first};
        for (std::int64_t at = 0; at < shape.bytes(); ++at)
            ASSERT_EQ(out.view().data()[at], first) << "frame " << frame;
    }
}

}  // namespace
}  // namespace framewire
