#include "framewire/filters/convolve.hpp"
#include "framewire/filters/window_ref.hpp"
#include "kit/window_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace framewire {
namespace {

using kit::borders;
using ConvolveTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(ConvolveTest);

void check(Backend backend, const ConvolveParameters& parameters, int channels, std::vector<Shape> shapes = {}) {
    kit::check_filter(backend, {.info = convolve_info(),
                                .values = {{"matrix", fmt::format("{}", fmt::join(parameters.matrix, " "))},
                                           {"divisor", fmt::to_string(parameters.divisor)},
                                           {"offset", fmt::to_string(parameters.offset)},
                                           {"border", borders[static_cast<int>(parameters.border)].name}},
                                .channels = channels,
                                .reference =
                                    [=](const FilterImages<MemorySpace::host>& images) {
                                        convolve_reference(parameters, images.in, images.out);
                                    },
                                .shapes = std::move(shapes)});
}

// Returns a matrix of pseudorandom numbers from -most to most, at least a quarter of which are 0. Equal sizes give
// equal matrices.
std::vector<int> some_matrix(int size, int most) {
    std::vector<int> matrix;
    std::uint32_t state = static_cast<std::uint32_t>(size);
    for (int index = 0; index < size * size; ++index) {
        state = state * 1664525u + 1013904223u;
        const int number = static_cast<int>((state >> 8) % static_cast<std::uint32_t>(2 * most + 1)) - most;
        matrix.push_back(state >> 30 == 0 ? 0 : number);
    }
    return matrix;
}

std::vector<Shape> few_shapes(int channels) {
    return {{1, 1, 1, channels}, {2, 3, 5, channels}, {1, 37, 301, channels}, {1, 131, 9, channels}};
}

TEST_P(ConvolveTest, MatchesTheFormulaForEveryShape) {
    check(GetParam(), {}, 3);
    check(GetParam(), {.matrix = {1, 2, 1, 2, 4, 2, 1, 2, 1}, .divisor = 16}, 1);
}

TEST_P(ConvolveTest, MatchesTheFormulaForEverySize) {
    for (int size = 1; size <= max_convolve_size; size += 2)
        for (const auto& border : borders) {
            const int channels = size % 4 == 1 ? 3 : 1, turn = size / 2 % 3;
            if (size != 5 && static_cast<int>(border.border) != turn) continue;  // size 5 tests every border
            check(GetParam(),
                  {.matrix = some_matrix(size, 9), .divisor = size, .offset = 10 * size - 70, .border = border.border},
                  channels, few_shapes(channels));
        }
}

// Tests the largest sums, and quotients so close to an integer that float division rounds them wrongly.
TEST_P(ConvolveTest, MatchesTheFormulaForExtremeValues) {
    const std::vector<Shape> shapes{{1, 19, 40, 3}};
    for (const int weight : {max_convolve_weight, -max_convolve_weight})
        for (const int offset : {-255, 0, 255})
            for (const int divisor :
                 {1, 2, 225 * max_convolve_weight > max_convolve_divisor ? max_convolve_divisor : 1})
                check(GetParam(), {.matrix = std::vector<int>(225, weight), .divisor = divisor, .offset = offset}, 3,
                      shapes);
    for (const int divisor : {3, 7, 9, 255, 1023, 99'999, 1'000'000})
        check(GetParam(), {.matrix = some_matrix(5, max_convolve_weight), .divisor = divisor, .offset = 128}, 3,
              shapes);
    check(GetParam(), {.matrix = std::vector<int>(9, 0), .offset = 77}, 3, shapes);
}

TEST(Convolve, ParsesMatrices) {
    EXPECT_EQ(parse_matrix("7"), std::vector<int>{7});
    EXPECT_EQ(parse_matrix(" 0 -1 0  -1 5 -1\n0 -1 0 "), (std::vector<int>{0, -1, 0, -1, 5, -1, 0, -1, 0}));
    const auto refusal = [](const std::string& text) {
        try {
            parse_matrix(text);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage);
            return std::string(error.what());
        }
        return std::string("taken");
    };
    EXPECT_EQ(refusal("1 2 3"), "matrix has 3 numbers; allowed: 1, 9, 25 and so on to 225 (a square with an odd side)");
    EXPECT_EQ(refusal("1 0.5 1"),
              "matrix contains '0.5'; allowed: whole numbers from -10000 to 10000 separated by spaces (use divisor for "
              "fractions)");
    for (const auto* text : {"", "1 2 3 4", "10001", "-10001", "99999999999", "a", "1,2,3"})
        EXPECT_NE(refusal(text), "taken") << text;
    std::string many;
    for (int number = 0; number < 300; ++number) many += "1 ";
    EXPECT_EQ(refusal(many), "matrix has more than 225 numbers");
}

TEST(Convolve, RejectsInvalidParameters) {
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape{1, 4, 4, 3};
    for (const int divisor : {0, -1, max_convolve_divisor + 1})
        EXPECT_THROW(Convolve({.divisor = divisor}, shape, executor), Error);
    for (const int offset : {-256, 256}) EXPECT_THROW(Convolve({.offset = offset}, shape, executor), Error);
    EXPECT_THROW(Convolve({.matrix = {1, 2, 3, 4}}, shape, executor), Error);
    EXPECT_THROW(Convolve({.matrix = {}}, shape, executor), Error);
    EXPECT_THROW(Convolve({.matrix = {20'000}}, shape, executor), Error);
    EXPECT_THROW(Convolve({}, shape.with_channels(2), executor), Error);
}

}  // namespace
}  // namespace framewire
