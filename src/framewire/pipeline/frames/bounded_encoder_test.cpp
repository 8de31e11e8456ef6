#include "framewire/pipeline/frames/bounded_encoder.hpp"

#include "framewire/core/error.hpp"
#include "framewire/delta/packing/packing.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace framewire {
namespace bounded_encoder_test {

constexpr delta::EncoderParameters bounded{.mode = delta::Mode::bounded, .threshold = 20};

class BoundedEncoderTest : public kit::BackendTest {
protected:
    Executor& executor() { return kit::executor(GetParam()); }
};
FRAMEWIRE_ON_EVERY_BACKEND(BoundedEncoderTest);

TEST_P(BoundedEncoderTest, PacksWhatIsAsked) {
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

TEST_P(BoundedEncoderTest, RefusesOtherModesAndFrames) {
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
