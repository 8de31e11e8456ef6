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

// All values in the given rounds of the loops, bit by bit from the outermost one on.
std::vector<int> values_of(const TileNetwork& network, const std::vector<int>& inputs, unsigned rounds) {
    std::vector<int> values(at(network.inputs()));
    std::size_t stage = 0;
    int shift = 0;
    for (std::size_t i = 0; i < network.steps.size(); ++i) {
        for (; stage < network.stages.size() && at(network.stages[stage].first_step) == i; ++stage) {
            shift = 0;
            for (std::size_t loop = 0; loop < network.stages[stage].shifts.size(); ++loop) {
                const auto& of_loop = network.stages[stage].shifts[loop];
                if (rounds >> loop & 1) shift += of_loop.x + of_loop.y * network.footprint_width;
            }
        }
        const auto value = [&](int number) {
            return number < network.inputs() ? inputs[at(number + shift)] : values[at(number)];
        };
        const int a = value(network.steps[i].a), b = value(network.steps[i].b);
        values.push_back(network.steps[i].upper ? std::max(a, b) : std::min(a, b));
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

void check_medians(const TileNetwork& network, const std::vector<int>& inputs) {
    std::vector<bool> computed(at(network.tile_width * network.tile_height));
    for (unsigned rounds = 0; rounds < 1u << network.loops(); ++rounds) {
        const auto values = values_of(network, inputs, rounds);
        int first_x = 0, first_y = 0;
        for (std::size_t loop = 0; loop < at(network.loops()); ++loop)
            if (rounds >> loop & 1) {
                first_x += network.stages.back().shifts[loop].x;
                first_y += network.stages.back().shifts[loop].y;
            }
        for (int y = first_y; y < first_y + network.part_height; ++y)
            for (int x = first_x; x < first_x + network.part_width; ++x) {
                const auto pixel = at(x - first_x + (y - first_y) * network.part_width);
                ASSERT_EQ(values[at(network.medians[pixel])], median_of_window(network, inputs, x, y))
                    << "size " << network.size << ", tile " << network.tile_width << " x " << network.tile_height
                    << ", parts up to " << network.part_width << " x " << network.part_height << ", pixel " << x << ", "
                    << y;
                computed[at(x + y * network.tile_width)] = true;
            }
    }
    EXPECT_EQ(std::count(computed.begin(), computed.end(), false), 0);
}

// A network of minima and maxima that is right for zeros and ones in every proportion is right for all values.
TEST(TileNetwork, GivesTheMedianOfEveryWindow) {
    std::mt19937 random(static_cast<unsigned>(kit::seed()));
    for (const int size : {3, 5, 7, 9, 11, 13, 15})
        for (const auto& [width, height] : {std::pair{1, 1}, {1, 2}, {1, 4}, {2, 2}, {3, 2}, {4, 2}, {4, 4}, {8, 4}})
            for (const int part_side : {1, 2, 8}) {
                if (width > size || height > size || (width == 3 && part_side < 3)) continue;
                const auto network = make_tile_network(size, width, height, part_side);
                for (int round = 0; round < 30; ++round) {
                    std::vector<int> inputs(at(network.inputs()));
                    const unsigned ones =
                        round < 20 ? 490 + static_cast<unsigned>(round) : static_cast<unsigned>(random() % 1000);
                    for (auto& input : inputs)
                        input = round % 4 == 3 ? static_cast<int>(random() % 256) : random() % 1000 < ones;
                    ASSERT_NO_FATAL_FAILURE(check_medians(network, inputs));
                }
            }
}

// What a tile costs: the figures the tiles were chosen by, which a change of the method must not raise. Code is as long
// as the network, however often loops go through it.
void expect_at_most(const TileNetwork& network, std::size_t steps, std::size_t executed_steps) {
    EXPECT_LE(network.steps.size(), steps) << "size " << network.size;
    std::size_t executed = 0;
    for (std::size_t i = 0; i < network.stages.size(); ++i) {
        const auto end = i + 1 < network.stages.size() ? at(network.stages[i + 1].first_step) : network.steps.size();
        executed += (end - at(network.stages[i].first_step)) << network.stages[i].shifts.size();
    }
    EXPECT_LE(executed, executed_steps) << "size " << network.size;
}

TEST(TileNetwork, NeedsFewSteps) {
    expect_at_most(make_tile_network(3, 1, 2, 2), 46, 46);
    expect_at_most(make_tile_network(5, 1, 4, 4), 334, 334);
    expect_at_most(make_tile_network(5, 4, 2, 4), 514, 514);
    expect_at_most(make_tile_network(7, 4, 4, 2), 720, 2246);
    expect_at_most(make_tile_network(9, 4, 4, 2), 1452, 3766);
    expect_at_most(make_tile_network(11, 4, 4, 2), 2436, 5700);
    expect_at_most(make_tile_network(13, 4, 4, 2), 3874, 8020);
    expect_at_most(make_tile_network(15, 4, 4, 2), 5556, 10652);
}

// Straight code relies on it: every step reads only what is there already.
TEST(TileNetwork, ReadsOnlyEarlierValues) {
    const auto network = make_tile_network(7, 4, 4, 4);
    for (std::size_t i = 0; i < network.steps.size(); ++i) {
        EXPECT_LT(network.steps[i].a, network.inputs() + static_cast<int>(i));
        EXPECT_LT(network.steps[i].b, network.inputs() + static_cast<int>(i));
    }
}

}  // namespace
}  // namespace framewire
