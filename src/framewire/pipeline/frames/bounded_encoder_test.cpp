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

TEST(BoundedEncoder, PacksWhatIsWatched) {
    const Shape shape{1, 70, 90, 3};
    BoundedEncoder encoder(bounded, shape, kit::executor(Backend::cpu));
    delta::Unpacker unpacker(shape);
    HostImage camera(shape), viewer(shape);
    for (int frame = 0; frame < 6; ++frame) {
        kit::fill(camera.view(), frame % 2 ? kit::Fill::ramp : kit::Fill::checkerboard);
        const bool watched = frame != 3;
        const auto outcome = encoder.encode(std::as_const(camera).view(), watched);
        if (!watched) {
            EXPECT_TRUE(outcome.whole);
            EXPECT_TRUE(outcome.packed.empty());
            EXPECT_EQ(kit::first_difference(encoder.reference(), std::as_const(camera).view()), std::nullopt);
            copy(encoder.reference(), viewer.view());
            continue;
        }
        EXPECT_EQ(outcome.whole, frame == 0);
        outcome.whole ? unpacker.apply_picture(outcome.packed, viewer.view())
                      : unpacker.apply_changes(outcome.packed, viewer.view());
        EXPECT_EQ(kit::first_difference(std::as_const(viewer).view(), encoder.reference()), std::nullopt);
        EXPECT_LE(outcome.found.max_error, 20u);
    }
}

TEST(BoundedEncoder, RefusesOtherModes) {
    EXPECT_THROW(BoundedEncoder({}, {1, 16, 16, 3}, kit::executor(Backend::cpu)), Error);
    auto parameters = bounded;
    parameters.effort = 3;
    EXPECT_THROW(BoundedEncoder(parameters, {1, 16, 16, 3}, kit::executor(Backend::cpu)), Error);
}

}  // namespace bounded_encoder_test
}  // namespace framewire
