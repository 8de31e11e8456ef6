#include "framewire/plan/frame.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/filters/heatmap.hpp"
#include "framewire/filters/noise.hpp"
#include "framewire/filters/pointwise_ref.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>

namespace framewire {
namespace {

using ChangedBytesTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(ChangedBytesTest);

constexpr int threshold = 100;

// Two frames, R before and after the second one was encoded, and the pictures drawn from the changes.
struct Drawn {
    HostImage now, before, after, mask, overlay, heat;

    Drawn(const Shape& shape, Executor& executor)
        : now(shape),
          before(shape),
          after(shape),
          mask(shape.with_channels(3)),
          overlay(mask.shape()),
          heat(mask.shape()) {
        kit::fill(now.view(), kit::Fill::noise, 1);
        kit::fill(before.view(), kit::Fill::noise, 2);
        codec::Encoder encoder({.threshold = threshold}, shape, executor);
        const NoiseFromChanges draw_mask(NoiseMode::mask, shape, executor);
        const NoiseFromChanges draw_overlay(NoiseMode::overlay, shape, executor);
        const HeatmapFromChanges draw_heat(shape, executor);
        if (executor.backend() == Backend::cpu) {
            const codec::HostChanges changes(shape);
            copy(before.view(), after.view());
            encoder.encode(now.view(), after.view(), changes.view());
            draw_mask.run(changed_bytes(changes.view()), now.view(), mask.view());
            draw_overlay.run(changed_bytes(changes.view()), now.view(), overlay.view());
            draw_heat.run(changed_bytes(changes.view()), after.view(), heat.view());
        } else if constexpr (cuda::compiled) {
            const auto& stream = executor.stream();
            const codec::DeviceChanges changes(shape);
            cuda::DeviceImage device_now(shape), device_reference(shape), device_out(mask.shape());
            cuda::upload(now.view(), device_now.view(), stream);
            cuda::upload(before.view(), device_reference.view(), stream);
            encoder.encode(device_now.view(), device_reference.view(), changes.view());
            cuda::download(device_reference.view(), after.view(), stream);
            draw_mask.run(changed_bytes(changes.view()), device_now.view(), device_out.view());
            cuda::download(device_out.view(), mask.view(), stream);
            draw_overlay.run(changed_bytes(changes.view()), device_now.view(), device_out.view());
            cuda::download(device_out.view(), overlay.view(), stream);
            draw_heat.run(changed_bytes(changes.view()), device_reference.view(), device_out.view());
            cuda::download(device_out.view(), heat.view(), stream);
            stream.synchronize();
        }
    }
};

constexpr Shape shapes[] = {{1, 1, 1, 3}, {2, 120, 161, 3}, {3, 37, 53, 1}};

void expect_equal(const HostImage& got, const HostImage& want) {
    EXPECT_EQ(kit::first_difference(got.view(), want.view()), std::nullopt);
}

// The noise picture needs no second pass over the frames: the encoder runs first, and its changes are then drawn.
TEST_P(ChangedBytesTest, NoiseMatchesTheFilterOnFrames) {
    for (const auto& shape : shapes) {
        SCOPED_TRACE(to_string(shape));
        const Drawn drawn(shape, kit::executor(GetParam()));
        HostImage want(drawn.mask.shape());
        noise_reference({threshold, NoiseMode::mask}, drawn.now.view(), drawn.before.view(), want.view());
        expect_equal(drawn.mask, want);
        noise_reference({threshold, NoiseMode::overlay}, drawn.now.view(), drawn.before.view(), want.view());
        expect_equal(drawn.overlay, want);
        // The noise picture also matches what viewers have: every byte that differs was sent.
        noise_reference({0, NoiseMode::mask}, drawn.after.view(), drawn.before.view(), want.view());
        expect_equal(drawn.mask, want);
    }
}

TEST_P(ChangedBytesTest, HeatmapMatchesTheFilterOnViewerPictures) {
    for (const auto& shape : shapes) {
        SCOPED_TRACE(to_string(shape));
        const Drawn drawn(shape, kit::executor(GetParam()));
        HostImage want(drawn.heat.shape());
        heatmap_reference(drawn.after.view(), drawn.before.view(), want.view());
        expect_equal(drawn.heat, want);
    }
}

// Positions in wrong order, repeated or out of range must not cause writes outside the picture or reads outside the
// colour table.
TEST_P(ChangedBytesTest, HeatmapIgnoresPositionsOutsideTheFrame) {
    auto& executor = kit::executor(GetParam());
    const Shape shape{1, 4, 4, 3};
    kit::GuardedImage reference(shape, {}), out(shape, {});
    kit::fill(reference.view(), kit::Fill::noise, 1);
    const std::uint32_t positions[] = {5, 5, 5, 5, 5, 5, 3, 48, 0xFFFFFFFF};
    const std::uint8_t differences[] = {1, 255, 128, 7, 9, 200, 3, 4, 5};
    const std::uint32_t count = 0xFFFFFFFF;  // more than the capacity
    const HeatmapFromChanges heat(shape, executor);
    if (GetParam() == Backend::cpu) {
        heat.run({positions, differences, &count, 1, std::size(positions)}, reference.view(), out.view());
    } else if constexpr (cuda::compiled) {
        const auto& stream = executor.stream();
        cuda::DeviceBuffer device_positions(sizeof(positions)), device_differences(sizeof(differences)),
            device_count(sizeof(count));
        cuda::upload(positions, device_positions.data(), sizeof(positions), stream);
        cuda::upload(differences, device_differences.data(), sizeof(differences), stream);
        cuda::upload(&count, device_count.data(), sizeof(count), stream);
        kit::DeviceMirror device_reference(reference), device_out(out);
        device_reference.upload(stream);
        device_out.upload(stream);
        heat.run({device_positions.as<std::uint32_t>(), device_differences.data(), device_count.as<std::uint32_t>(), 1,
                  std::size(positions)},
                 device_reference.view(), device_out.view());
        device_out.download(stream);
    }
    EXPECT_EQ(out.broken_guard(), std::nullopt);
    EXPECT_NE(pixel_of(out.view().data()[3], out.view().data()[4], out.view().data()[5]), heatmap_table()[0]);
    EXPECT_EQ(pixel_of(out.view().data()[6], out.view().data()[7], out.view().data()[8]), heatmap_table()[0]);
}

}  // namespace
}  // namespace framewire
