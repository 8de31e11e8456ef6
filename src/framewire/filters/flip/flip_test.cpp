#include "framewire/filters/flip/flip.hpp"

#include "framewire/filters/flip/flip_ref.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

namespace framewire {
namespace flip_test {

using FlipTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(FlipTest);

TEST_P(FlipTest, EqualsTheFormula) {
    struct Case {
        const char* direction;
        FlipParameters parameters;
    };
    for (const Case& one :
         {Case{"horizontal", {true, false}}, Case{"vertical", {false, true}}, Case{"both", {true, true}}})
        for (const int channels : {3, 1})
            kit::check_filter(GetParam(), {.info = flip_info(),
                                           .values = {{"direction", one.direction}},
                                           .channels = channels,
                                           .reference = [&](const FilterImages<MemorySpace::host>& images) {
                                               flip_reference(one.parameters, images.in, images.out);
                                           }});
}

TEST(Flip, RejectsWrongShapes) {
    EXPECT_THROW(flip({}, {1, 4, 4, 2}, kit::executor(Backend::cpu)), Error);
    const auto plan = flip({}, {1, 4, 4, 3}, kit::executor(Backend::cpu));
    HostImage in({1, 4, 4, 3}), narrow({1, 4, 3, 3});
    EXPECT_THROW(plan.run(FilterImages<MemorySpace::host>{in.view(), {}, narrow.view()}), Error);
}

}  // namespace flip_test
}  // namespace framewire
