#include "framewire/filters/mean.hpp"
#include "framewire/filters/window_ref.hpp"
#include "kit/window_check.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace framewire {
namespace {

using kit::borders;
using MeanTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(MeanTest);

void check_size(Backend backend, int size, int channels, kit::NamedBorder border, std::vector<Shape> shapes = {}) {
    kit::check_window<MeanParameters>(backend, mean_info(), mean_reference, size, channels, border, std::move(shapes));
}

// Returns shapes smaller and larger than a window, some of them several tiles wide and several bands high.
std::vector<Shape> few_shapes(int channels) {
    if (kit::brief())
        return {{2, 3, 5, channels}, {1, 23, 301, channels}, {1, 2, 2051, channels}, {2, 61, 7, channels}};
    return {{1, 1, 1, channels},
            {2, 3, 5, channels},
            {1, 37, 301, channels},
            {1, 2, 4099, channels},
            {2, 523, 7, channels}};
}

TEST_P(MeanTest, MatchesTheFormulaForEveryShape) {
    int turn = 0;
    for (const int size : {3, 5, 21})
        for (const int channels : kit::channel_counts(turn++)) check_size(GetParam(), size, channels, borders[0]);
}

void check_border(Backend backend, kit::NamedBorder border) {
    int turn = static_cast<int>(border.border);
    for (const int size : {1, 2, 3, 4, 7, 16, 17, 18, 64, 255})
        for (const int channels : kit::channel_counts(turn++))
            check_size(backend, size, channels, border, few_shapes(channels));
}
FRAMEWIRE_TEST_EVERY_BORDER(MeanTest, check_border)

TEST_P(MeanTest, MatchesTheFormulaForEverySize) {
    for (int size = 1; size <= 255; size += kit::brief() ? 61 : 1)
        check_size(GetParam(), size, 3, borders[size % 3], {{1, 19, 83, 3}});
}

// Tests the first and the last sum of every mean: the division is monotonic, so no sum between them can be wrong.
TEST(Mean, DividesExactly) {
    const auto check = [](int size, const MeanDivision& division, int bits) {
        const std::int64_t n = size * size;
        EXPECT_LT((255 * n + division.bias) >> bits, 1);
        EXPECT_LT(std::int64_t{division.multiplier} >> bits, 1);
        EXPECT_GE(division.shift, bits);
        for (std::int64_t mean = 0; mean <= 255; ++mean) {
            const auto first = std::max<std::int64_t>(mean * n - n / 2, 0);
            const auto last = std::min(mean * n - n / 2 + n - 1, 255 * n);
            for (const auto sum : {first, last})
                EXPECT_EQ(static_cast<std::uint64_t>(sum + division.bias) * division.multiplier >> division.shift, mean)
                    << "sum " << sum << " of size " << size << " in " << bits << " bits";
        }
    };
    for (int size = 1; size <= mean_16_bit_size; ++size) check(size, mean_division(size, 16), 16);
    for (int size = 1; size <= 255; ++size) check(size, mean_division(size, 32), 32);
    for (int size = mean_16_bit_size + 1; size <= 255; ++size) check(size, mean_division_by_bytes(size), 32);
}

TEST(Mean, RejectsInvalidSizesAndShapes) {
    auto& executor = kit::executor(Backend::cpu);
    for (const int size : {-1, 0, 256}) {
        try {
            Mean({.size = size}, {1, 4, 4, 3}, executor);
            ADD_FAILURE() << "size " << size << " was accepted";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage);
            EXPECT_EQ(error.what(), "mean: size '" + std::to_string(size) +
                                        "' is out of range; allowed: a whole number from 1 to 255");
        }
    }
    EXPECT_THROW(Mean({}, {1, 4, 4, 2}, executor), Error);
    const Mean mean({}, {1, 4, 4, 3}, executor);
    HostImage in({1, 4, 4, 3}), gray({1, 4, 4, 1});
    EXPECT_THROW(mean.run(FilterImages<MemorySpace::host>{in.view(), {}, gray.view()}), Error);
}

}  // namespace
}  // namespace framewire
