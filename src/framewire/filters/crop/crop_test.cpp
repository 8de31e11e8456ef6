#include "framewire/filters/crop/crop.hpp"

#include "framewire/filters/crop/crop_ref.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

#include <string>

namespace framewire {
namespace crop_test {

using CropTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(CropTest);

TEST_P(CropTest, EqualsTheFormula) {
    for (const int channels : {3, 1}) {
        kit::check_filter(
            GetParam(),
            {.info = crop_info(),
             .values = {{"w", "(iw+1)/2"}, {"h", "ih-(ih-1)/3"}, {"x", "iw/4"}, {"y", "ih-oh"}},
             .channels = channels,
             .reference = [](const FilterImages<MemorySpace::host>& images) {
                 const auto& in = images.in.shape();
                 const auto& out = images.out.shape();
                 crop_reference({in.width / 4, in.height - out.height, out.width, out.height}, images.in, images.out);
             }});
        // The whole image, by the defaults.
        kit::check_filter(GetParam(), {.info = crop_info(),
                                       .values = {},
                                       .channels = channels,
                                       .reference = [](const FilterImages<MemorySpace::host>& images) {
                                           copy(images.in, images.out);
                                       }});
    }
}

TEST(Crop, TakesTheMiddleByDefault) {
    const auto info = crop_info();
    const Shape shape{1, 4, 6, 1};
    auto& executor = kit::executor(Backend::cpu);
    HostImage in(shape), out({1, 2, 3, 1}), want({1, 2, 3, 1});
    kit::fill(in.view(), kit::Fill::noise);
    const auto values = with_defaults(info, {{"w", "50%"}, {"h", "50%"}});
    EXPECT_EQ(info.output_shape(values, shape), (Shape{1, 2, 3, 1}));
    info.make(values, shape, executor)->run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
    crop_reference({1, 1, 3, 2}, in.view(), want.view());
    EXPECT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
}

TEST(Crop, RejectsPartsThatAreNotInside) {
    const auto info = crop_info();
    const Shape shape{1, 48, 64, 3};
    const auto refusal = [&](std::initializer_list<std::pair<std::string, std::string>> values) {
        try {
            info.output_shape(with_defaults(info, values), shape);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage);
            return std::string(error.what());
        }
        return std::string("taken");
    };
    EXPECT_EQ(refusal({{"w", "65"}}), "crop of 65x48 from 0,0 on is not inside the image of 64x48");
    EXPECT_EQ(refusal({{"w", "40"}, {"x", "25"}}), "crop of 40x48 from 25,0 on is not inside the image of 64x48");
    for (const auto* w : {"0", "-1", "1000000000", "iw+1"}) EXPECT_NE(refusal({{"w", w}}), "taken") << w;
    for (const auto* y : {"-1", "1", "999999999"}) EXPECT_NE(refusal({{"y", y}}), "taken") << y;
    EXPECT_EQ(refusal({{"x", "ox"}}).find("x 'ox'"), 0u);
    EXPECT_THROW(crop({0, 0, 1, 1}, shape.with_channels(2), kit::executor(Backend::cpu)), Error);
}

}  // namespace crop_test
}  // namespace framewire
