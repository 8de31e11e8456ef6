#include "framewire/filters/mosaic.hpp"
#include "framewire/filters/mosaic_ref.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

namespace framewire {
namespace {

using MosaicTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(MosaicTest);

auto reference(int cell_px) {
    return [cell_px](const FilterImages<MemorySpace::host>& images) {
        mosaic_reference({.cell_px = cell_px}, images.in, images.out);
    };
}

// Tests one cell size of each kind: a copy; many cells, few cells or one cell per thread's 16 pixels; large cells.
TEST_P(MosaicTest, MatchesTheFormula) {
    for (const auto* cell : {"1", "2", "7", "16", "32", "129"})
        kit::check_filter(GetParam(),
                          {.info = mosaic_info(), .values = {{"cell", cell}}, .reference = reference(std::stoi(cell))});
}

TEST_P(MosaicTest, GrayMatchesTheFormula) {
    for (const auto* cell : {"1", "5", "31", "200"})
        kit::check_filter(GetParam(), {.info = mosaic_info(),
                                       .values = {{"cell", cell}},
                                       .channels = 1,
                                       .reference = reference(std::stoi(cell))});
}

// Runs the filter on one image and compares the result and the mean colour with the reference.
void check(Backend backend, const MosaicParameters& parameters, const Shape& shape, kit::Layout layout = {},
           kit::Fill fill = kit::Fill::noise) {
    SCOPED_TRACE("cell " + std::to_string(parameters.cell_px) + ", " + to_string(shape) + ", " +
                 kit::to_string(layout));
    auto& executor = kit::executor(backend);
    kit::GuardedImage in(shape, layout), out(shape, layout);
    kit::fill(in.view(), fill);
    Mosaic mosaic(parameters, shape, executor);
    EXPECT_TRUE(mosaic.figures().empty()) << "before the first run";
    for (int run = 0; run < 2; ++run) {
        out.reset(0xC3);
        if (backend == Backend::cpu) {
            mosaic.run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
        } else if constexpr (cuda::compiled) {
            kit::DeviceMirror device_in(in), device_out(out);
            device_in.upload(executor.stream());
            device_out.upload(executor.stream());
            mosaic.run(FilterImages<MemorySpace::device>{device_in.view(), {}, device_out.view()});
            device_out.download(executor.stream());
        }
        HostImage want(shape);
        mosaic_reference(parameters, in.view(), want.view());
        ASSERT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
        ASSERT_EQ(out.broken_guard(), std::nullopt);
        const auto figures = mosaic.figures();
        ASSERT_EQ(figures.size(), static_cast<std::size_t>(shape.frames * shape.channels));
        for (int frame = 0; frame < shape.frames; ++frame)
            for (int channel = 0; channel < shape.channels; ++channel) {
                std::int64_t sum = 0;
                for (int y = 0; y < shape.height; ++y)
                    for (int x = 0; x < shape.width; ++x) sum += in.view().row(frame, y)[x * shape.channels + channel];
                const auto& figure = figures[static_cast<std::size_t>(frame * shape.channels + channel)];
                EXPECT_EQ(figure.frame, frame);
                EXPECT_EQ(figure.value, static_cast<double>(sum) / (static_cast<double>(shape.width) * shape.height));
            }
    }
}

TEST_P(MosaicTest, HandlesCellsSmallerAndLargerThanTheImage) {
    for (int cell = 1; cell <= 300; cell += kit::brief() ? 37 : cell < 40 ? 1 : 7)
        check(GetParam(), {.cell_px = cell}, {2, 270, 290, 3});
    for (const int cell : {63, 64, 65, 96, 127, 128, 129, 255, 256, 4096}) {
        check(GetParam(), {.cell_px = cell}, {1, 300, 2100, 3});
        check(GetParam(), {.cell_px = cell}, {1, 130, 4160, 1}, {3, 13, 2});
    }
    check(GetParam(), {.cell_px = 4096}, {2, 1, 1, 3});
}

// Twice the sum of the largest cell does not fit 32 bits.
TEST_P(MosaicTest, DoesNotOverflowInTheLargestWhiteCell) {
    check(GetParam(), {.cell_px = 4096}, {1, 4200, 4100, 1}, {}, kit::Fill::full);
}

TEST_P(MosaicTest, ChangesOnlyTheZones) {
    const Shape shape{2, 200, 333, 3};
    check(GetParam(), {.cell_px = 8, .zones = {{5, 7, 50, 41}}}, shape);
    check(GetParam(), {.cell_px = 16, .zones = {{16, 16, 64, 64}}}, {1, 128, 160, 3});
    check(GetParam(), {.cell_px = 10, .zones = {{0, 0, 60, 60}, {30, 30, 60, 60}, {35, 10, 7, 150}}}, shape,
          {16, 32, 1});
    check(GetParam(), {.cell_px = 150, .zones = {{3, 2, 310, 190}, {320, 190, 1, 1}}}, shape);
    check(GetParam(), {.cell_px = 1, .zones = {{3, 2, 310, 190}}}, shape);
    // Zones that reach beyond the edge are clipped to the image.
    check(GetParam(), {.cell_px = 9, .zones = {{300, 150, 1000, 2147483647}}}, shape);
    check(GetParam(), {.cell_px = 9, .zones = {{332, 199, 1000, 1000}}}, shape.with_channels(1));
}

TEST(Mosaic, ReportsTheMeanOfEachChannel) {
    const Shape shape{1, 1, 2, 3};
    HostImage in(shape), out(shape);
    const std::uint8_t pixels[] = {10, 20, 30, 11, 40, 31};
    std::copy(std::begin(pixels), std::end(pixels), in.view().data());
    Mosaic mosaic({.cell_px = 2}, shape, kit::executor(Backend::cpu));
    mosaic.run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
    const auto figures = mosaic.figures();
    ASSERT_EQ(figures.size(), 3u);
    EXPECT_EQ(figures[0].name, "mean_b");
    EXPECT_EQ(figures[0].value, 10.5);
    EXPECT_EQ(figures[1].name, "mean_g");
    EXPECT_EQ(figures[1].value, 30);
    EXPECT_EQ(figures[2].name, "mean_r");
    EXPECT_EQ(figures[2].value, 30.5);
    EXPECT_EQ(out.view().data()[0], 11) << "half goes up";
}

TEST(Mosaic, ParsesZones) {
    const auto zone = parse_zone("1,0,300,4");
    EXPECT_EQ(zone.x, 1);
    EXPECT_EQ(zone.y, 0);
    EXPECT_EQ(zone.width, 300);
    EXPECT_EQ(zone.height, 4);
    for (const auto* text : {"", "1,2,3", "1,2,3,4,5", "1,2,3,4,", "-1,2,3,4", "1,2,0,4", "1,2,3,x", " 1,2,3,4",
                             "1,2,3,99999999999", "1;2;3;4", "1,,2,3"})
        EXPECT_THROW(parse_zone(text), Error) << text;
}

TEST(Mosaic, RejectsInvalidParameters) {
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape{1, 20, 30, 3};
    EXPECT_THROW(Mosaic({.cell_px = 0}, shape, executor), Error);
    EXPECT_THROW(Mosaic({.cell_px = 4097}, shape, executor), Error);
    EXPECT_THROW(Mosaic({.zones = {{30, 0, 5, 5}}}, shape, executor), Error);
    EXPECT_THROW(Mosaic({.zones = {{0, 20, 5, 5}}}, shape, executor), Error);
    EXPECT_THROW(Mosaic({.zones = {{0, 0, 0, 5}}}, shape, executor), Error);
    EXPECT_THROW(Mosaic({.zones = std::vector<Zone>(65, Zone{0, 0, 1, 1})}, shape, executor), Error);
    const auto info = mosaic_info();
    EXPECT_THROW(info.output_shape(with_defaults(info, {{"zone", "40,0,5,5"}}), shape), Error);
    EXPECT_EQ(info.output_shape(with_defaults(info, {{"zone", "1,1,5,5"}, {"zone", "2,2,9,9"}}), shape), shape);
}

}  // namespace
}  // namespace framewire
