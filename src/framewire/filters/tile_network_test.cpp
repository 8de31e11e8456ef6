#include "framewire/filters/tile_network.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace framewire {
namespace {

std::size_t at(int value) { return static_cast<std::size_t>(value); }

// Returns the value of an input, given the footprint's pixels, in the rounds that move the input by `shift`.
int input_value(const TileNetwork& network, const std::vector<int>& pixels, NetworkInput input, NetworkOffset shift) {
    const bool is_strip = input.kind == NetworkInput::Kind::strip;
    const int x = input.x + (is_strip ? 0 : shift.x), columns = is_strip ? network.tile_width : 1;
    if (input.kind == NetworkInput::Kind::pixel) return pixels[at(x + (input.y + shift.y) * network.footprint_width)];
    std::vector<int> strip;
    for (int y = network.tile_height - 1; y < network.size; ++y)
        for (int column = x; column < x + columns; ++column)
            strip.push_back(pixels[at(column + y * network.footprint_width)]);
    std::sort(strip.begin(), strip.end());
    return strip[at(input.y)];
}

// Returns all values in the given rounds of the loops; bit 0 is the outermost loop.
std::vector<int> values_of(const TileNetwork& network, const std::vector<int>& pixels, unsigned rounds) {
    std::vector<int> values(network.inputs.size());
    std::size_t stage = 0;
    NetworkOffset shift{};
    for (std::size_t i = 0; i < network.steps.size(); ++i) {
        for (; stage < network.stages.size() && at(network.stages[stage].first_step) == i; ++stage) {
            shift = {};
            for (std::size_t loop = 0; loop < network.stages[stage].shifts.size(); ++loop) {
                const auto& of_loop = network.stages[stage].shifts[loop];
                if (rounds >> loop & 1) shift = {shift.x + of_loop.x, shift.y + of_loop.y};
            }
        }
        const auto value = [&](int number) {
            return at(number) < network.inputs.size() ? input_value(network, pixels, network.inputs[at(number)], shift)
                                                      : values[at(number)];
        };
        const int a = value(network.steps[i].a), b = value(network.steps[i].b);
        values.push_back(network.steps[i].upper ? std::max(a, b) : std::min(a, b));
    }
    return values;
}

// Returns the median of the window at (x, y) of the tile, by selection.
int median_of_window(const TileNetwork& network, const std::vector<int>& pixels, int x, int y) {
    std::vector<int> window;
    for (int dy = 0; dy < network.size; ++dy)
        for (int dx = 0; dx < network.size; ++dx)
            window.push_back(pixels[at(x + dx + (y + dy) * network.footprint_width)]);
    const auto middle = window.begin() + static_cast<std::ptrdiff_t>(window.size() / 2);
    std::nth_element(window.begin(), middle, window.end());
    return *middle;
}

void check_medians(const TileNetwork& network, const std::vector<int>& pixels) {
    std::vector<bool> computed(at(network.tile_width * network.tile_height));
    for (unsigned rounds = 0; rounds < 1u << network.loops(); ++rounds) {
        const auto values = values_of(network, pixels, rounds);
        int first_x = 0, first_y = 0;
        for (std::size_t loop = 0; loop < at(network.loops()); ++loop)
            if (rounds >> loop & 1) {
                first_x += network.stages.back().shifts[loop].x;
                first_y += network.stages.back().shifts[loop].y;
            }
        for (int y = first_y; y < first_y + network.part_height; ++y)
            for (int x = first_x; x < first_x + network.part_width; ++x) {
                const auto pixel = at(x - first_x + (y - first_y) * network.part_width);
                ASSERT_EQ(values[at(network.medians[pixel])], median_of_window(network, pixels, x, y))
                    << "size " << network.size << ", tile " << network.tile_width << " x " << network.tile_height
                    << ", parts up to " << network.part_width << " x " << network.part_height << ", pixel " << x << ", "
                    << y;
                computed[at(x + y * network.tile_width)] = true;
            }
    }
    EXPECT_EQ(std::count(computed.begin(), computed.end(), false), 0);
}

// Checks a network with zeros and ones only, in every proportion: a network of minima and maxima that is correct for
// them is correct for all values (the zero-one principle).
void check_network(const TileNetwork& network, std::mt19937& random) {
    for (int round = 0; round < 30; ++round) {
        std::vector<int> pixels(at(network.footprint_width * network.footprint_height));
        const unsigned ones = round < 20 ? 490 + static_cast<unsigned>(round) : static_cast<unsigned>(random() % 1000);
        for (auto& pixel : pixels) pixel = round % 4 == 3 ? static_cast<int>(random() % 256) : random() % 1000 < ones;
        ASSERT_NO_FATAL_FAILURE(check_medians(network, pixels));
    }
}

TEST(TileNetwork, ComputesTheMedianOfEveryWindow) {
    std::mt19937 random(static_cast<unsigned>(kit::seed()));
    for (const int size : {3, 5, 7, 9, 11, 13, 15})
        for (const auto& [width, height] : {std::pair{1, 1}, {1, 2}, {1, 4}, {2, 2}, {3, 2}, {4, 2}, {4, 4}, {8, 4}})
            for (const int part_side : {1, 2, 8}) {
                if (width > size || height > size || (width == 3 && part_side < 3)) continue;
                ASSERT_NO_FATAL_FAILURE(check_network(make_tile_network(size, width, height, part_side), random));
            }
}

TEST(TileNetwork, ComputesTheMedianOfEveryWindowFromStrips) {
    std::mt19937 random(static_cast<unsigned>(kit::seed()));
    for (const int size : {3, 5, 7, 9, 11, 13, 15})
        for (const int side : {2, 4})
            if (side <= size) {
                ASSERT_NO_FATAL_FAILURE(check_network(make_tile_network_of_strips(size, side), random));
            }
}

TEST(StripNetwork, SortsColumnsAndWholeStrips) {
    std::mt19937 random(static_cast<unsigned>(kit::seed()));
    for (const int size : {5, 7, 11, 13, 15})
        for (int round = 0; round < 100; ++round) {
            const auto network = make_strip_network(size, 4);
            ASSERT_EQ(network.height, size - 3);
            std::vector<int> values(at(network.width * network.height));
            const unsigned ones = static_cast<unsigned>(random() % 1000);
            for (auto& value : values)
                value = round % 4 == 3 ? static_cast<int>(random() % 256) : random() % 1000 < ones;
            const auto pixels = values;
            for (const auto& [upper, a, b] : network.steps)
                values.push_back(upper ? std::max(values[at(a)], values[at(b)])
                                       : std::min(values[at(a)], values[at(b)]));
            const auto expect_sorted = [&](std::vector<int> expected, const int* numbers) {
                std::sort(expected.begin(), expected.end());
                for (std::size_t i = 0; i < expected.size(); ++i)
                    ASSERT_EQ(values[at(numbers[i])], expected[i]) << "size " << size << ", rank " << i;
            };
            ASSERT_NO_FATAL_FAILURE(expect_sorted(pixels, network.strip.data()));
            for (int x = 0; x < network.width; ++x) {
                std::vector<int> column;
                for (int y = 0; y < network.height; ++y) column.push_back(pixels[at(x + y * network.width)]);
                ASSERT_NO_FATAL_FAILURE(expect_sorted(column, network.columns.data() + x * network.height));
            }
        }
}

// Checks that the cost of a tile does not exceed the numbers that led to the choice of tiles. The code is as long as
// the network, regardless of how often loops repeat it.
void expect_at_most(const TileNetwork& network, std::size_t steps, std::size_t executed_steps) {
    EXPECT_LE(network.steps.size(), steps) << "size " << network.size;
    std::size_t executed = 0;
    for (std::size_t i = 0; i < network.stages.size(); ++i) {
        const auto end = i + 1 < network.stages.size() ? at(network.stages[i + 1].first_step) : network.steps.size();
        executed += (end - at(network.stages[i].first_step)) << network.stages[i].shifts.size();
    }
    EXPECT_LE(executed, executed_steps) << "size " << network.size;
}

TEST(TileNetwork, StepCountsStayWithinLimits) {
    expect_at_most(make_tile_network(3, 1, 2, 2), 46, 46);
    expect_at_most(make_tile_network(5, 1, 4, 4), 334, 334);
    expect_at_most(make_tile_network(5, 4, 2, 4), 514, 514);
    expect_at_most(make_tile_network(7, 4, 4, 2), 720, 2246);
    expect_at_most(make_tile_network_of_strips(9, 4), 1078, 3176);
    expect_at_most(make_tile_network_of_strips(11, 4), 1528, 4360);
    expect_at_most(make_tile_network_of_strips(13, 4), 2418, 5964);
    expect_at_most(make_tile_network_of_strips(15, 4), 3082, 7362);
    EXPECT_LE(make_strip_network(9, 4).steps.size(), 254u);
    EXPECT_LE(make_strip_network(11, 4).steps.size(), 382u);
    EXPECT_LE(make_strip_network(13, 4).steps.size(), 566u);
    EXPECT_LE(make_strip_network(15, 4).steps.size(), 734u);
}

// In straight-line code, every step must read only earlier values.
TEST(TileNetwork, StepsReadOnlyEarlierValues) {
    const auto network = make_tile_network(7, 4, 4, 4);
    for (std::size_t i = 0; i < network.steps.size(); ++i) {
        EXPECT_LT(network.steps[i].a, static_cast<int>(network.inputs.size() + i));
        EXPECT_LT(network.steps[i].b, static_cast<int>(network.inputs.size() + i));
    }
}

}  // namespace
}  // namespace framewire
