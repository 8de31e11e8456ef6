#include "framewire/pipeline/frames/encoders/bounded_encoder.hpp"

#include "framewire/core/error.hpp"
#include "framewire/delta/packing/packing.hpp"
#include "framewire/pipeline/frames/encoders/resting_scene.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace framewire {
namespace bounded_encoder_test {

constexpr delta::EncoderParameters bounded{.mode = delta::Mode::bounded, .threshold = 20};

class BoundedEncoderTest : public kit::BackendTest {
protected:
    Executor& executor() { return kit::executor(GetParam()); }
};
FRAMEWIRE_ON_EVERY_BACKEND(BoundedEncoderTest);

TEST_P(BoundedEncoderTest, PacksTheRequestedKind) {
    const Shape shape{1, 70, 90, 3};
    BoundedEncoder encoder(bounded, shape, executor());
    delta::Unpacker unpacker(shape);
    Frame camera(shape, executor());
    HostImage viewer(shape);
    for (int frame = 0; frame < 7; ++frame) {
        kit::fill(camera.fill_on_host(), frame % 2 ? kit::Fill::ramp : kit::Fill::checkerboard);
        camera.upload();
        using enum BoundedEncoder::Packs;
        const auto packs = frame == 3 ? nothing : frame == 5 ? picture : step;
        const auto outcome = encoder.encode(camera, packs);
        if (packs == nothing) {
            EXPECT_TRUE(outcome.whole);
            EXPECT_TRUE(outcome.packed.empty());
            EXPECT_EQ(kit::first_difference(encoder.reference(), std::as_const(camera).host()), std::nullopt);
            copy(encoder.reference(), viewer.view());
            continue;
        }
        EXPECT_EQ(outcome.whole, frame == 0 || packs == picture);
        outcome.whole ? unpacker.apply_picture(outcome.packed, viewer.view())
                      : unpacker.apply_changes(outcome.packed, viewer.view());
        EXPECT_EQ(kit::first_difference(std::as_const(viewer).view(), encoder.reference()), std::nullopt);
        EXPECT_LE(outcome.found.max_error, 20u);
    }
}

// Returns the stream that a viewer receives of a noisy scene in which something moves.
std::vector<std::uint8_t> sharpened_stream(Executor& executor, const Shape& shape) {
    BoundedEncoder encoder(bounded, shape, executor);
    delta::RestSharpener sharpener(shape, 0.2, bounded.threshold, executor);
    delta::SharperStep step(shape, executor);
    delta::Packer packer(shape);
    delta::Unpacker unpacker(shape);
    Frame camera(shape, executor);
    HostImage viewer(shape);
    std::vector<std::uint8_t> all;
    int sharpened = 0;
    for (int number = 0; number < 40; ++number) {
        frames_testing::paint_resting(camera.fill_on_host(), number);
        camera.upload();
        auto outcome = encoder.encode(camera, BoundedEncoder::Packs::step);
        outcome.whole ? unpacker.apply_picture(outcome.packed, viewer.view())
                      : unpacker.apply_changes(outcome.packed, viewer.view());
        all.insert(all.end(), outcome.packed.begin(), outcome.packed.end());
        encoder.sharpen(camera, outcome, sharpener, {number / 25.0, bounded.threshold, 1e6}, step);
        if (!step.empty()) {
            std::vector<std::uint8_t> packed;
            packer.pack_changes(step.changes(), step.threshold(), packed);
            unpacker.apply_changes(packed, viewer.view());
            sharpener.took(step, std::ssize(packed));
            all.insert(all.end(), packed.begin(), packed.end());
            ++sharpened;
        }
        EXPECT_EQ(kit::first_difference(std::as_const(viewer).view(), encoder.reference()), std::nullopt);
        EXPECT_EQ(kit::first_difference(encoder.reference(), std::as_const(camera).host(), bounded.threshold),
                  std::nullopt);
        EXPECT_LE(outcome.found.max_error, static_cast<std::uint32_t>(bounded.threshold));
    }
    EXPECT_GT(sharpened, 3);
    return all;
}

TEST_P(BoundedEncoderTest, RefinesStaticRegions) {
    for (const auto& shape : {Shape{1, 120, 160, 3}, Shape{1, 140, 321, 1}}) {
        const auto bytes = sharpened_stream(executor(), shape);
        const auto on_cpu = sharpened_stream(kit::executor(Backend::cpu), shape);
        EXPECT_TRUE(bytes == on_cpu) << bytes.size() << " bytes, on the CPU " << on_cpu.size();
    }
}

TEST_P(BoundedEncoderTest, RejectsOtherModesAndFrames) {
    EXPECT_THROW(BoundedEncoder({}, {1, 16, 16, 3}, executor()), Error);
    auto parameters = bounded;
    parameters.effort = 3;
    EXPECT_THROW(BoundedEncoder(parameters, {1, 16, 16, 3}, executor()), Error);
    EXPECT_THROW(BoundedEncoder(bounded, {2, 16, 16, 3}, executor()), Error);
    BoundedEncoder encoder(bounded, {1, 16, 16, 3}, executor());
    Frame other({1, 16, 17, 3}, executor());
    EXPECT_THROW(encoder.encode(other, BoundedEncoder::Packs::step), Error);
}

}  // namespace bounded_encoder_test
}  // namespace framewire
