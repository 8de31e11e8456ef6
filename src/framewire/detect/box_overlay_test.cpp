#include "framewire/detect/box_overlay.hpp"
#include "framewire/core/error.hpp"
#include "framewire/detect/detector_ref.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace framewire {
namespace {

using BoxOverlayTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(BoxOverlayTest);

// Returns boxes of any size anywhere in the image, including single pixels and the whole image.
std::vector<Component> random_boxes(const Shape& shape, int count, std::mt19937& random) {
    std::vector<Component> boxes;
    const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
    for (int index = 0; index < count; ++index) {
        Component box{.id = index + 1,
                      .x = below(shape.width),
                      .y = below(shape.height),
                      .width = 1,
                      .height = 1,
                      .area = 1,
                      .sum_x = 0,
                      .sum_y = 0};
        if (index % 4 != 0) {
            box.width += below(shape.width - box.x);
            box.height += below(shape.height - box.y);
        }
        boxes.push_back(box);
    }
    return boxes;
}

void run_overlay(const BoxStyle& style, Executor& executor, const kit::GuardedImage& in,
                 const std::vector<std::vector<Component>>& boxes, int capacity, kit::GuardedImage& out,
                 int whole_frames = 0) {
    std::vector<Component> places(boxes.size() * static_cast<std::size_t>(capacity));
    std::vector<std::int32_t> found;
    for (std::size_t frame = 0; frame < boxes.size(); ++frame) {
        const auto kept = std::min(boxes[frame].size(), static_cast<std::size_t>(capacity));
        std::copy_n(boxes[frame].begin(), kept, places.begin() + static_cast<std::ptrdiff_t>(frame) * capacity);
        found.push_back(static_cast<std::int32_t>(boxes[frame].size()));
    }
    BoxOverlay overlay(style, in.view().shape(), executor);
    if (executor.backend() == Backend::cpu) {
        overlay.run(in.view(), ComponentLists<MemorySpace::host>{places.data(), found.data(), nullptr, capacity},
                    out.view(), whole_frames);
    } else if constexpr (cuda::compiled) {
        const auto& stream = executor.stream();
        cuda::DeviceBuffer device_places(places.size() * sizeof(Component)), device_found(found.size() * 4);
        cuda::upload(places.data(), device_places.data(), device_places.bytes(), stream);
        cuda::upload(found.data(), device_found.data(), device_found.bytes(), stream);
        kit::DeviceMirror device_in(in), device_out(out);
        device_in.upload(stream);
        device_out.upload(stream);
        overlay.run(device_in.view(),
                    ComponentLists<MemorySpace::device>{device_places.as<Component>(), device_found.as<std::int32_t>(),
                                                        nullptr, capacity},
                    device_out.view(), whole_frames);
        device_out.download(stream);
    }
}

TEST_P(BoxOverlayTest, MatchesTheReference) {
    std::mt19937 random(static_cast<unsigned>(kit::seed()));
    const BoxStyle styles[] = {{},
                               {.color = pixel_of(10, 200, 90), .line_px = 5},
                               {.pixelate_px = 1},
                               {.pixelate_px = 7},
                               {.pixelate_px = 16},
                               {.pixelate_px = 200}};
    const Shape shapes[] = {{1, 1, 1, 3}, {2, 31, 67, 3}, {3, 40, 33, 1}, {1, 1, 130, 3}, {1, 90, 1, 1}};
    for (const auto& style : styles)
        for (const auto& shape : shapes)
            for (const auto& layout : kit::layouts())
                for (const int count : {0, 1, 9}) {
                    SCOPED_TRACE(fmt::format("{}, {}, {} boxes, cells of {}", to_string(shape), kit::to_string(layout),
                                             count, style.pixelate_px));
                    kit::GuardedImage in(shape, layout), out(shape, layout);
                    kit::fill(in.view(), kit::Fill::noise, 3);
                    out.reset(0x5A);
                    std::vector<std::vector<Component>> boxes;
                    for (int frame = 0; frame < shape.frames; ++frame)
                        boxes.push_back(random_boxes(shape, count, random));
                    run_overlay(style, kit::executor(GetParam()), in, boxes, 16, out);
                    // The gray value of the colour is what BGR2GRAY computes.
                    const std::vector<std::uint8_t> color =
                        shape.channels == 3
                            ? std::vector<std::uint8_t>{static_cast<std::uint8_t>(channel_of(style.color, 0)),
                                                        static_cast<std::uint8_t>(channel_of(style.color, 1)),
                                                        static_cast<std::uint8_t>(channel_of(style.color, 2))}
                            : std::vector<std::uint8_t>{style.line_px == 5 ? std::uint8_t{145} : std::uint8_t{76}};
                    HostImage want(shape);
                    box_overlay_reference(style, color, boxes, in.view(), want.view());
                    ASSERT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
                    ASSERT_EQ(out.broken_guard(), std::nullopt);
                }
}

TEST_P(BoxOverlayTest, DrawsBoxesUpToTheCapacity) {
    const Shape shape{1, 30, 40, 3};
    kit::GuardedImage in(shape, {}), out(shape, {});
    kit::fill(in.view(), kit::Fill::noise, 4);
    std::mt19937 random(5);
    const auto all = random_boxes(shape, 8, random);
    run_overlay({}, kit::executor(GetParam()), in, {all}, 3, out);
    HostImage want(shape);
    box_overlay_reference({}, {0, 0, 255}, {{all.begin(), all.begin() + 3}}, in.view(), want.view());
    EXPECT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
}

TEST_P(BoxOverlayTest, HidesTheFirstFramesCompletely) {
    std::mt19937 random(6);
    for (const int channels : {3, 1})
        for (const int whole : {0, 1, 2, 3}) {
            const Shape shape{3, 30, 45, channels};
            kit::GuardedImage in(shape, {}), out(shape, {});
            kit::fill(in.view(), kit::Fill::noise, 4);
            std::vector<std::vector<Component>> boxes(3);
            boxes[1] = boxes[2] = random_boxes(shape, 2, random);
            for (const BoxStyle& style : {BoxStyle{.pixelate_px = 7}, BoxStyle{.pixelate_px = 50}, BoxStyle{}}) {
                SCOPED_TRACE(fmt::format("{} channels, {} whole, cells of {}", channels, whole, style.pixelate_px));
                run_overlay(style, kit::executor(GetParam()), in, boxes, 16, out, whole);
                HostImage want(shape);
                const std::vector<std::uint8_t> red =
                    channels == 3 ? std::vector<std::uint8_t>{0, 0, 255} : std::vector<std::uint8_t>{76};
                box_overlay_reference(style, red, boxes, in.view(), want.view(), whole);
                ASSERT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
                ASSERT_EQ(out.broken_guard(), std::nullopt);
            }
        }
}

TEST_P(BoxOverlayTest, HidesTheWholeFrameWhenBoxesExceedTheCapacity) {
    const Shape shape{2, 30, 40, 3};
    kit::GuardedImage in(shape, {}), out(shape, {});
    kit::fill(in.view(), kit::Fill::noise, 4);
    std::mt19937 random(5);
    const auto all = random_boxes(shape, 4, random);
    run_overlay({.pixelate_px = 6}, kit::executor(GetParam()), in, {all, {all[0]}}, 3, out);
    HostImage want(shape);
    const Component everything{1, 0, 0, shape.width, shape.height, 0, 0, 0};
    box_overlay_reference({.pixelate_px = 6}, {}, {{everything}, {all[0]}}, in.view(), want.view());
    EXPECT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
}

TEST(BoxOverlay, RejectsInvalidStyles) {
    auto& executor = kit::executor(Backend::cpu);
    EXPECT_THROW(BoxOverlay({.line_px = 0}, {1, 4, 4, 3}, executor), Error);
    EXPECT_THROW(BoxOverlay({.line_px = 65}, {1, 4, 4, 3}, executor), Error);
    EXPECT_THROW(BoxOverlay({.pixelate_px = -1}, {1, 4, 4, 3}, executor), Error);
    EXPECT_THROW(BoxOverlay({.pixelate_px = 4097}, {1, 4, 4, 3}, executor), Error);
    EXPECT_THROW(BoxOverlay({}, {1, 4, 4, 2}, executor), Error);
}

}  // namespace
}  // namespace framewire
