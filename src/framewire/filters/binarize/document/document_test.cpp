// Compiled with -ffp-contract=off for the header of the references.

#include "framewire/filters/binarize/document/document.hpp"

#include "framewire/filters/binarize/document/document_ref.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace framewire {
namespace document_test {

using DocumentTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(DocumentTest);

TEST_P(DocumentTest, EqualsTheFormula) {
    for (const int channels : {3, 1})
        for (const int window : {5, 25})
            kit::check_filter(GetParam(), {.info = binarize_info(),
                                           .values = {{"method", "document"}, {"window", std::to_string(window)}},
                                           .channels = channels,
                                           .reference = [window](const FilterImages<MemorySpace::host>& images) {
                                               document_reference({.window = window}, images.in, images.out);
                                           }});
}

// Strokes on paper that goes from dark to light, darker than them at one end.
TEST_P(DocumentTest, TellsInkFromUnevenPaper) {
    const Shape shape{1, 60, 400, 1};
    HostImage in(shape), out(shape);
    const auto is_ink = [](int x, int y) { return x % 40 >= 20 && x % 40 < 25 && y >= 10 && y < 50; };
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x) {
            const int paper = 60 + x * 180 / shape.width;
            in.view().row(0, y)[x] = static_cast<std::uint8_t>(is_ink(x, y) ? paper / 2 : paper);
        }
    ASSERT_GT(in.view().row(0, 20)[380], in.view().row(0, 20)[0]) << "ink lighter than other paper";
    auto& executor = kit::executor(GetParam());
    Document plan({}, shape, executor);
    EXPECT_TRUE(plan.figures().empty()) << "before the first run";
    if (executor.backend() == Backend::cpu) {
        plan.run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
    } else if constexpr (cuda::compiled) {
        cuda::DeviceImage device_in(shape), device_out(shape);
        cuda::upload(std::as_const(in).view(), device_in.view(), executor.stream());
        plan.run(FilterImages<MemorySpace::device>{std::as_const(device_in).view(), {}, device_out.view()});
        cuda::download(std::as_const(device_out).view(), out.view(), executor.stream());
        executor.stream().synchronize();
    }
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x)
            ASSERT_EQ(out.view().row(0, y)[x], is_ink(x, y) ? 0 : 255) << x << ", " << y;
    ASSERT_EQ(plan.figures().size(), 1u);
    EXPECT_EQ(plan.figures().front().name, "threshold");
}

TEST(Document, RefusesWindows) {
    auto& executor = kit::executor(Backend::cpu);
    for (const int window : {-1, 1, 24, 65}) EXPECT_THROW(Document({.window = window}, {1, 9, 9, 1}, executor), Error);
    const auto info = binarize_info();
    const Shape shape{1, 9, 9, 1};
    EXPECT_THROW(info.output_shape(with_defaults(info, {{"method", "document"}, {"window", "101"}}), shape), Error);
    EXPECT_THROW(info.output_shape(with_defaults(info, {{"method", "otsu"}, {"window", "31"}}), shape), Error);
    info.output_shape(with_defaults(info, {{"method", "document"}, {"window", "31"}}), shape);
}

}  // namespace document_test
}  // namespace framewire
