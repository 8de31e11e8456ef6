#include "framewire/codec/host_encoder.hpp"
#include "framewire/codec/encoder_ref.hpp"
#include "framewire/codec/refinement.hpp"
#include "framewire/codec/static_scene_testing.hpp"
#include "framewire/core/error.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace framewire::codec {
namespace {

using codec_testing::paint_resting;

// A stream in mode exact is refined as if the refiner had been given the list of changes.
TEST(HostEncoder, RefinesByTheChangesOfEachCell) {
    constexpr int threshold = 20;
    auto& executor = kit::executor(Backend::cpu);
    for (const auto& shape : {Shape{1, 120, 160, 3}, Shape{1, 140, 321, 1}}) {
        SCOPED_TRACE(to_string(shape));
        HostEncoder encoder({Mode::exact, threshold}, shape, executor.pool(), true);
        Refiner refiner(shape, 0.2, threshold, executor), want_refiner(shape, 0.2, threshold, executor);
        RefinementDelta step(shape, executor), want_step(shape, executor);
        HostImage camera(shape), want(shape);
        HostChanges changes(shape);
        int refined = 0;
        for (int number = 0; number < 60; ++number) {
            SCOPED_TRACE(number);
            paint_resting(camera.view(), number);
            const Refiner::Moment moment{number / 25.0, threshold, 1e6};
            auto encoded = encoder.encode(camera.view(), PackAs::delta_frame);
            encoder.refine(camera.view(), encoded, refiner, moment, step);

            Summary found;
            if (number == 0) {
                copy(std::as_const(camera).view(), want.view());
                want_refiner.begin_again();
            } else {
                encode_reference(threshold, camera.view(), want.view(), changes.view());
                found = changes.view().summaries[0];
                want_refiner.take_cells(count_cells_reference(changes.view(), shape), found.count);
            }
            want_refiner.refine(camera.view(), want.view(), moment, want_step);
            want_step.add_errors_to(found);

            ASSERT_EQ(kit::first_difference(encoder.reference(), std::as_const(want).view()), std::nullopt);
            EXPECT_EQ(step.count(), want_step.count());
            EXPECT_EQ(encoded.found.count, found.count);
            EXPECT_EQ(encoded.found.max_error, found.max_error);
            EXPECT_EQ(encoded.found.squared_error, found.squared_error);
            if (step.empty()) continue;
            refiner.took(step, step.count());
            want_refiner.took(want_step, want_step.count());
            ++refined;
        }
        EXPECT_GT(refined, 3);
    }
}

TEST(HostEncoder, RequiresThatRefinementIsAnnounced) {
    const Shape shape{1, 32, 32, 3};
    auto& executor = kit::executor(Backend::cpu);
    HostEncoder encoder({Mode::exact, 20}, shape, executor.pool());
    Refiner refiner(shape, 1, 20, executor);
    RefinementDelta step(shape, executor);
    HostImage camera(shape);
    paint_resting(camera.view(), 0);
    encoder.encode(camera.view(), PackAs::delta_frame);
    auto encoded = encoder.encode(camera.view(), PackAs::delta_frame);
    EXPECT_THROW(encoder.refine(camera.view(), encoded, refiner, {}, step), Error);
}

TEST(HostEncoder, RejectsInvalidArguments) {
    const Shape shape{1, 16, 16, 3};
    const ThreadPool pool(1);
    for (const auto mode : {Mode::exact, Mode::lossless, Mode::bounded}) {
        SCOPED_TRACE(to_string(mode));
        EXPECT_THROW(HostEncoder({mode, 20}, {2, 16, 16, 3}, pool), Error);
        EXPECT_THROW(HostEncoder({mode, 255}, shape, pool), Error);
        HostEncoder encoder({mode, 20}, shape, pool);
        const HostImage other({1, 16, 17, 3});
        for (const auto as : {PackAs::nothing, PackAs::keyframe, PackAs::delta_frame})
            EXPECT_THROW(encoder.encode(other.view(), as), Error);
    }
}

}  // namespace
}  // namespace framewire::codec
