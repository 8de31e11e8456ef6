// Compiled with -ffp-contract=off because of the references' header.

#include "framewire/filters/binarize/document/document.hpp"

#include "framewire/filters/binarize/document/document_ref.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

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

// Strokes on paper that gets lighter from left to right. The ink at the light end is lighter than the paper at the dark
// end.
TEST_P(DocumentTest, SeparatesInkFromUnevenPaper) {
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

// White paper of one brightness, lit from the left so that the right edge gets `shade` of the light, with Gaussian
// noise.
HostImage blank_page(double brightness, double noise, double shade, unsigned seed) {
    const Shape shape{1, 200, 300, 1};
    HostImage page(shape);
    std::mt19937 random(seed);
    std::normal_distribution<double> gaussian(0, 1);
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x) {
            const double light = 1 - (1 - shade) * x / (shape.width - 1);
            const double value = (brightness + noise * gaussian(random)) * light;
            page.view().row(0, y)[x] = static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0));
        }
    return page;
}

HostImage in_black_and_white(Backend backend, const HostImage& page) {
    auto& executor = kit::executor(backend);
    const auto shape = page.view().shape();
    HostImage out(shape);
    Document plan({}, shape, executor);
    if (backend == Backend::cpu) {
        plan.run(FilterImages<MemorySpace::host>{page.view(), {}, out.view()});
    } else if constexpr (cuda::compiled) {
        cuda::DeviceImage device_in(shape), device_out(shape);
        cuda::upload(page.view(), device_in.view(), executor.stream());
        plan.run(FilterImages<MemorySpace::device>{std::as_const(device_in).view(), {}, device_out.view()});
        cuda::download(std::as_const(device_out).view(), out.view(), executor.stream());
        executor.stream().synchronize();
    }
    return out;
}

double black_share(const HostImage& image) {
    const auto shape = image.view().shape();
    int black = 0;
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x) black += image.view().row(0, y)[x] == 0;
    return static_cast<double>(black) / static_cast<double>(shape.rows() * shape.width);
}

TEST_P(DocumentTest, BlankPagesAreWhiteExceptForSpecks) {
    unsigned seed = 0;
    for (const double brightness : {12.0, 40.0, 90.0, 128.0, 190.0, 232.0, 250.0})
        for (const double noise : {0.0, 0.4, 1.0, 3.0, 8.0, 15.0})
            for (const double shade : {1.0, 0.8, 0.55}) {
                if (noise > brightness / 4) continue;  // too dark and noisy for a page
                const auto page = blank_page(brightness, noise, shade, ++seed);
                const auto out = in_black_and_white(GetParam(), page);
                EXPECT_LT(black_share(out), 0.005)
                    << "brightness " << brightness << ", noise " << noise << ", shade " << shade;
                if (seed % 10 != 0) continue;
                HostImage want(page.view().shape());
                document_reference({}, page.view(), want.view());
                EXPECT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
            }
}

// On such pages too, Otsu's threshold splits the noise, because a word's few pixels hardly count.
TEST_P(DocumentTest, FindsAWordOnAnEmptyPage) {
    for (const double noise : {0.5, 3.0, 8.0})
        for (const double shade : {1.0, 0.55}) {
            SCOPED_TRACE(::testing::Message() << "noise " << noise << ", shade " << shade);
            auto page = blank_page(220, noise, shade, 7);
            const auto is_ink = [](int x, int y) {
                return x >= 140 && x < 170 && x % 6 < 2 && y >= 90 && y < 102;  // five strokes
            };
            const auto shape = page.view().shape();
            for (int y = 0; y < shape.height; ++y)
                for (int x = 0; x < shape.width; ++x)
                    if (is_ink(x, y))
                        page.view().row(0, y)[x] = static_cast<std::uint8_t>(page.view().row(0, y)[x] / 3);
            const auto out = in_black_and_white(GetParam(), page);
            int missed = 0;
            for (int y = 0; y < shape.height; ++y)
                for (int x = 0; x < shape.width; ++x) missed += is_ink(x, y) && out.view().row(0, y)[x] != 0;
            EXPECT_EQ(missed, 0);
            EXPECT_LT(black_share(out), 0.007) << "the word's 0.2 % and specks";
        }
}

TEST(Document, RejectsWrongWindows) {
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
