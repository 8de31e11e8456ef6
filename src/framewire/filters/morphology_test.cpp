#include "framewire/filters/morphology.hpp"
#include "framewire/filters/morphology_ref.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace framewire {
namespace {

using MorphologyTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(MorphologyTest);

constexpr std::pair<ElementShape, const char*> element_shapes[] = {
    {ElementShape::disc, "disc"}, {ElementShape::ellipse, "ellipse"}, {ElementShape::rect, "rect"}};

std::pair<FilterInfo, MorphologyOperation> filters[] = {{dilate_info(), MorphologyOperation::dilate},
                                                        {erode_info(), MorphologyOperation::erode},
                                                        {open_info(), MorphologyOperation::open},
                                                        {close_info(), MorphologyOperation::close}};

void check(Backend backend, const std::pair<FilterInfo, MorphologyOperation>& filter, int size,
           const std::pair<ElementShape, const char*>& element_shape, int channels, std::vector<Shape> shapes = {}) {
    kit::check_filter(
        backend,
        {.info = filter.first,
         .values = {{"size", std::to_string(size)}, {"shape", element_shape.second}},
         .channels = channels,
         .reference = [operation = filter.second, element = StructuringElement(element_shape.first, size)](
                          const auto& images) { morphology_reference(operation, element, images.in, images.out); },
         .shapes = std::move(shapes)});
}

TEST_P(MorphologyTest, MatchesTheReferenceForEveryShape) {
    for (const auto& filter : filters)
        for (const int channels : {3, 1}) check(GetParam(), filter, 5, element_shapes[0], channels);
}

// Squares have separate code, and so have squares of three. Along rows, a size takes an even or an odd number of
// passes.
TEST_P(MorphologyTest, SquaresMatchTheReferenceForEveryShape) {
    int turn = 0;
    for (const int size : {3, 5, 9, 21})
        for (const int which : {0, 1})
            check(GetParam(), filters[which], size, element_shapes[2], turn++ % 3 == 0 ? 1 : 3);
}

TEST_P(MorphologyTest, MatchesTheReferenceForEveryElement) {
    for (int size = 1; size <= max_element_px; size += kit::brief() ? 12 : 2)
        for (const int which : {0, 1, 2}) {
            const int channels = (size / 2 + which) % 2 ? 3 : 1;
            const Shape shape{1, size % 4 == 1 ? 47 : 21, size % 4 == 1 ? 29 : 131, channels};
            check(GetParam(), filters[(size / 2 + which) % 4], size, element_shapes[which], channels, {shape});
        }
}

// Tests images of several tiles, strips and bands.
TEST_P(MorphologyTest, MatchesTheReferenceForLargeImages) {
    for (const int channels : {3, 1}) {
        check(GetParam(), filters[2], 15, element_shapes[0], channels, {{1, 139, 1111, channels}});
        check(GetParam(), filters[1], 63, element_shapes[0], channels, {{2, 71, 301, channels}});
        check(GetParam(), filters[3], 3, element_shapes[2], channels, {{1, 139, 2500, channels}});
        check(GetParam(), filters[2], 15, element_shapes[2], channels, {{1, 139, 1111, channels}});
        check(GetParam(), filters[1], 63, element_shapes[2], channels, {{2, 171, 901, channels}});
    }
}

TEST(Morphology, RejectsInvalidSizesAndShapes) {
    auto& executor = kit::executor(Backend::cpu);
    for (const int size : {-1, 0, 2, 65}) EXPECT_THROW(Morphology({.size = size}, {1, 4, 4, 3}, executor), Error);
    EXPECT_THROW(Morphology({}, {1, 4, 4, 2}, executor), Error);
    Morphology dilate({}, {1, 4, 4, 3}, executor);
    HostImage in({1, 4, 4, 3}), gray({1, 4, 4, 1});
    EXPECT_THROW(dilate.run(FilterImages<MemorySpace::host>{in.view(), {}, gray.view()}), Error);
    EXPECT_THROW(dilate.run(FilterImages<MemorySpace::host>{gray.view(), {}, in.view()}), Error);
}

}  // namespace
}  // namespace framewire
