#include "framewire/pipeline/changed_positions.hpp"

#include "framewire/cuda/buffer.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/filters/noise/noise_ref.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

namespace framewire {
namespace {

using ChangedPositionsTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(ChangedPositionsTest);

// The noise picture that costs no second look at the frames: encoder first, then the marks.
TEST_P(ChangedPositionsTest, NoiseFromTheEncodersChangesEqualsNoiseFromTheFrames) {
    auto& executor = kit::executor(GetParam());
    constexpr int threshold = 100;
    const Shape shape{2, 120, 161, 3};
    kit::GuardedImage in(shape, {}), previous(shape, {}), reference(shape, {}), out(shape, {});
    kit::fill(in.view(), kit::Fill::noise, 1);
    kit::fill(previous.view(), kit::Fill::noise, 2);
    for (const auto mode : {NoiseMode::mask, NoiseMode::overlay}) {
        copy(previous.view(), reference.view());
        delta::Encoder encoder({.threshold = threshold}, shape, executor);
        const NoiseFromChanges noise(mode, shape, executor);
        if (GetParam() == Backend::cpu) {
            const delta::HostChanges changes(shape);
            encoder.encode(in.view(), reference.view(), changes.view());
            noise.run(changed_positions(changes.view()), in.view(), out.view());
        } else if constexpr (cuda::compiled) {
            const auto& stream = executor.stream();
            const delta::DeviceChanges changes(shape);
            kit::DeviceTwin device_in(in), device_reference(reference), device_out(out);
            device_in.upload(stream);
            device_reference.upload(stream);
            device_out.upload(stream);
            encoder.encode(device_in.view(), device_reference.view(), changes.view());
            noise.run(changed_positions(changes.view()), device_in.view(), device_out.view());
            device_out.download(stream);
        }
        HostImage want(shape);
        noise_reference({threshold, mode}, in.view(), previous.view(), want.view());
        EXPECT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
    }
}

}  // namespace
}  // namespace framewire
