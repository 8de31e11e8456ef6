#include "framewire/filters/median/networks/tile_network.hpp"

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

std::vector<int> values_of(const TileNetwork& network, std::vector<int> values) {
    for (const auto& step : network.steps) {
        const int a = values[at(step.a)], b = values[at(step.b)];
        values.push_back(step.upper ? std::max(a, b) : std::min(a, b));
    }
    return values;
}

int median_of_window(const TileNetwork& network, const std::vector<int>& inputs, int x, int y) {
    std::vector<int> window;
    for (int dy = 0; dy < network.size; ++dy)
        for (int dx = 0; dx < network.size; ++dx)
            window.push_back(inputs[at(x + dx + (y + dy) * network.footprint_width)]);
    const auto middle = window.begin() + static_cast<std::ptrdiff_t>(window.size() / 2);
    std::nth_element(window.begin(), middle, window.end());
    return *middle;
}

// A network of minima and maxima that is right for zeros and ones in every proportion is right for all values.
TEST(TileNetwork, GivesTheMedianOfEveryWindow) {
    std::mt19937 random(static_cast<unsigned>(kit::seed()));
    for (const int size : {3, 5, 7, 9, 11, 13, 15})
        for (const auto& [width, height] : {std::pair{1, 1}, {1, 2}, {1, 4}, {2, 2}, {3, 2}, {4, 2}, {4, 4}}) {
            if (width > size || height > size) continue;
            const auto network = make_tile_network(size, width, height);
            ASSERT_EQ(network.medians.size(), at(width * height));
            for (int round = 0; round < 40; ++round) {
                std::vector<int> inputs(at(network.inputs()));
                const unsigned ones =
                    round < 20 ? 490 + static_cast<unsigned>(round) : static_cast<unsigned>(random() % 1000);
                for (auto& input : inputs)
                    input = round % 4 == 3 ? static_cast<int>(random() % 256) : random() % 1000 < ones;
                const auto values = values_of(network, inputs);
                for (int y = 0; y < height; ++y)
                    for (int x = 0; x < width; ++x)
                        ASSERT_EQ(values[at(network.medians[at(x + y * width)])],
                                  median_of_window(network, inputs, x, y))
                            << "size " << size << ", tile " << width << " x " << height << ", pixel " << x << ", " << y;
            }
        }
}

// What a pixel costs: the figures the tiles were chosen by, which a change of the method must not raise.
TEST(TileNetwork, NeedsFewSteps) {
    const auto steps = [](int size, int width, int height) {
        return make_tile_network(size, width, height).steps.size();
    };
    EXPECT_LE(steps(3, 1, 2), 46u);
    EXPECT_LE(steps(5, 1, 4), 334u);
    EXPECT_LE(steps(5, 4, 2), 514u);
    EXPECT_LE(steps(7, 4, 4), 2030u);
    EXPECT_LE(steps(9, 4, 4), 3446u);
    EXPECT_LE(steps(11, 4, 4), 5036u);
    EXPECT_LE(steps(13, 4, 4), 7188u);
    EXPECT_LE(steps(15, 4, 4), 9524u);
}

// Straight code relies on it: every step reads only what is there already.
TEST(TileNetwork, ReadsOnlyEarlierValues) {
    const auto network = make_tile_network(7, 4, 4);
    for (std::size_t i = 0; i < network.steps.size(); ++i) {
        EXPECT_LT(network.steps[i].a, network.inputs() + static_cast<int>(i));
        EXPECT_LT(network.steps[i].b, network.inputs() + static_cast<int>(i));
    }
}

}  // namespace
}  // namespace framewire
