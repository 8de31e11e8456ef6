#include "framewire/filters/document.hpp"
#include "framewire/filters/document_ref.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

// Compiled with -ffp-contract=off because of the references' header.

namespace framewire {
namespace {

using DocumentTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(DocumentTest);

TEST_P(DocumentTest, MatchesTheFormula) {
    for (const int channels : {3, 1})
        for (const int window : {5, 25, 63})
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
    ASSERT_GT(in.view().row(0, 20)[380], in.view().row(0, 20)[0]) << "some ink must be lighter than some paper";
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

// Returns an image of blank paper of one brightness with Gaussian noise. The light falls off from left to right, where
// it is `shade` times as strong.
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

// Returns the share of dark values among all values of an image of one frame.
double black_share(const HostImage& image) {
    const auto shape = image.view().shape();
    std::int64_t black = 0;
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width * shape.channels; ++x) black += image.view().row(0, y)[x] < 128;
    return static_cast<double>(black) / static_cast<double>(shape.bytes());
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

// A single word has so few pixels that Otsu's threshold still splits the paper's noise, as on a blank page.
TEST_P(DocumentTest, FindsASingleWordOnAPage) {
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
            EXPECT_LT(black_share(out), 0.007) << "0.2 % for the word, plus specks";
        }
}

// Black is ink on a page of one brightness.
HostImage page_with(const Shape& shape, const std::function<bool(int x, int y)>& is_ink) {
    HostImage page(shape);
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x)
            page.view().row(0, y)[x] = static_cast<std::uint8_t>(is_ink(x, y) ? 40 : 220);
    return page;
}

TEST_P(DocumentTest, DropsSpecksAndKeepsStrokes) {
    struct Mark {
        int x, y, width, height;
        bool kept;
    };
    const std::vector<Mark> marks{{20, 20, 1, 1, false},
                                  {40, 20, 3, 3, false},
                                  {60, 20, 5, 5, false},
                                  {80, 20, 6, 5, true},
                                  {100, 20, 5, 6, true},
                                  {120, 20, 1, 12, true},
                                  {0, 60, 5, 3, false},
                                  {0, 80, 6, 3, true},
                                  {317, 60, 3, 2, false},
                                  {314, 80, 6, 5, true},
                                  {30, 0, 2, 5, false},
                                  {60, 115, 4, 5, false},
                                  {80, 114, 5, 6, true},
                                  {254, 30, 5, 5, false},
                                  {190, 29, 4, 4, false},
                                  {251, 62, 5, 5, false},
                                  // A stroke, a dot that touches it, and one that does not.
                                  {150, 20, 3, 20, true},
                                  {153, 22, 2, 2, true},
                                  {154, 32, 2, 2, false}};
    const auto is_on = [](const Mark& mark, int x, int y) {
        return x >= mark.x && x < mark.x + mark.width && y >= mark.y && y < mark.y + mark.height;
    };
    const auto page = page_with({1, 120, 320, 1}, [&](int x, int y) {
        return std::any_of(marks.begin(), marks.end(), [&](const Mark& mark) { return is_on(mark, x, y); });
    });
    const auto out = in_black_and_white(GetParam(), page);
    for (int y = 0; y < 120; ++y)
        for (int x = 0; x < 320; ++x) {
            const bool black = std::any_of(marks.begin(), marks.end(),
                                           [&](const Mark& mark) { return mark.kept && is_on(mark, x, y); });
            ASSERT_EQ(out.view().row(0, y)[x], black ? 0 : 255) << x << ", " << y;
        }
}

// Scattered ink in amounts from single dots to dense clouds, on sizes that divide neither vectors nor tiles.
TEST_P(DocumentTest, DropsSpecksLikeTheReference) {
    unsigned seed = 0;
    for (const auto& shape : {Shape{1, 1, 1, 1}, Shape{1, 3, 70, 1}, Shape{1, 77, 5, 1}, Shape{1, 97, 523, 1}})
        for (const double density : {0.002, 0.02, 0.1}) {
            std::mt19937 random(++seed);
            std::bernoulli_distribution dot(density);
            const auto page = page_with(shape, [&](int, int) { return dot(random); });
            HostImage want(shape);
            document_reference({}, page.view(), want.view());
            EXPECT_EQ(kit::first_difference(in_black_and_white(GetParam(), page).view(), want.view()), std::nullopt)
                << shape.width << "x" << shape.height << ", density " << density;
            if (shape.height < 97) continue;
            EXPECT_LT(black_share(want), black_share(page)) << "specks must have been dropped";
        }
}

double black_share_of_even_page(Backend backend, int value, int channels) {
    const Shape shape{1, 37, 90, channels};
    HostImage page(shape);
    std::fill_n(page.view().data(), shape.bytes(), static_cast<std::uint8_t>(value));
    return black_share(in_black_and_white(backend, page));
}

TEST_P(DocumentTest, PagesOfOneValueAreWhite) {
    for (int value = 0; value < 256; ++value)
        for (const int channels : {1, 3})
            ASSERT_EQ(black_share_of_even_page(GetParam(), value, channels), 0) << value << ", " << channels;
}

// A shadow that falls across a blank page, in either direction and of any strength, by up to 0.6 per pixel.
TEST_P(DocumentTest, ShadowsAreWhite) {
    const Shape shape{1, 400, 480, 1};
    for (const double darkest : {0.9, 0.5, 0.2, 0.0})
        for (const bool down : {false, true}) {
            HostImage page(shape);
            for (int y = 0; y < shape.height; ++y)
                for (int x = 0; x < shape.width; ++x) {
                    const double along = down ? y / 399.0 : x / 479.0;
                    page.view().row(0, y)[x] = static_cast<std::uint8_t>(230 * (1 - (1 - darkest) * along));
                }
            EXPECT_EQ(black_share(in_black_and_white(GetParam(), page)), 0) << darkest << (down ? " down" : " across");
        }
}

TEST(Document, RejectsInvalidWindows) {
    auto& executor = kit::executor(Backend::cpu);
    for (const int window : {-1, 1, 24, 65}) EXPECT_THROW(Document({.window = window}, {1, 9, 9, 1}, executor), Error);
    const auto info = binarize_info();
    const Shape shape{1, 9, 9, 1};
    EXPECT_THROW(info.output_shape(with_defaults(info, {{"method", "document"}, {"window", "101"}}), shape), Error);
    EXPECT_THROW(info.output_shape(with_defaults(info, {{"method", "otsu"}, {"window", "31"}}), shape), Error);
    info.output_shape(with_defaults(info, {{"method", "document"}, {"window", "31"}}), shape);
}

}  // namespace
}  // namespace framewire
