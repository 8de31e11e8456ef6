// Writes the median networks as source for the CPU and for CUDA; run by the build.

#include "framewire/filters/median/networks/tile_network.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using framewire::TileNetwork;

// Wider tiles need fewer steps for a pixel and more values at once. On the CPU a tile one pixel wide spares taking rows
// apart, which pays for the smallest windows. Loops down to parts of 2 x 2 hardly need more steps, and make the code as
// short as instruction caches want it and compilers can bear it.
//
// A GPU can do some of the minima and maxima on other units, if the upper value of a pair is made from the lower one:
// in so many of four pairs that neither units nor, where the code is long, its fetching holds up the rest.
constexpr struct Tile {
    int size, width, height, part_side, sums_of_four;
} tiles[] = {{3, 1, 2, 2, 0}, {5, 1, 4, 4, 0},  {5, 4, 2, 4, 3},  {7, 4, 4, 2, 2},
             {9, 4, 4, 2, 2}, {11, 4, 4, 2, 0}, {13, 4, 4, 2, 0}, {15, 4, 4, 2, 0}};

constexpr const char* introduction =
    R"(// Written by print_networks.cpp. To be included where MEDIAN_NETWORK says what kind of functions these are, MEDIAN_LOOP
// what is to be said of their loops, and MEDIAN_SIZES_FROM and MEDIAN_SIZES_UP_TO which of them there are. `load` gives the
// value at x, y of the tile's footprint, `store` takes the median of pixel x, y of the tile; order.lower(a, b) and
// order.upper(a, b) are the smaller and the larger value, order.upper(a, b, lower) is given the smaller one too.

)";

class Printer {
public:
    Printer(const Tile& tile, std::FILE* file)
        : network_(framewire::make_tile_network(tile.size, tile.width, tile.height, tile.part_side)),
          sums_of_four_(tile.sums_of_four),
          file_(file) {}

    void print() {
        std::fprintf(file_, "#if MEDIAN_SIZES_FROM <= %d && MEDIAN_SIZES_UP_TO >= %d  // %zu minima and maxima\n",
                     network_.size, network_.size, network_.steps.size());
        std::fprintf(file_, "template <class Order, class Load, class Store>\n");
        std::fprintf(
            file_, "MEDIAN_NETWORK void median_network(MedianTile<%d, %d, %d>, const Order& order, const Load& load, ",
            network_.size, network_.tile_width, network_.tile_height);
        std::fprintf(file_, "const Store& store) {\n");
        for (std::size_t stage = 0; stage < network_.stages.size(); ++stage) begin_stage(stage);
        for (int i = 0; i <= network_.loops(); ++i) std::fprintf(file_, "}\n");
        std::fprintf(file_, "#endif\n\n");
    }

private:
    void begin_stage(std::size_t stage) {
        const auto loops = network_.stages[stage].shifts.size();
        if (stage > 0 && loops > network_.stages[stage - 1].shifts.size())
            std::fprintf(file_, "MEDIAN_LOOP\nfor (int round%zu = 0; round%zu < 2; ++round%zu) {\n", loops, loops,
                         loops);
        loaded_.assign(static_cast<std::size_t>(network_.inputs()), false);
        const auto end = stage + 1 < network_.stages.size() ? network_.stages[stage + 1].first_step
                                                            : static_cast<int>(network_.steps.size());
        for (int i = network_.stages[stage].first_step; i < end; ++i) print_step(stage, i);
    }

    // The place x, y of the first rounds, as it is in all of them.
    std::string place(int x, int y, std::size_t stage) const {
        auto text_x = std::to_string(x), text_y = std::to_string(y);
        const auto& shifts = network_.stages[stage].shifts;
        for (std::size_t i = 0; i < shifts.size(); ++i) {
            const auto times_round = " * round" + std::to_string(i + 1);
            if (shifts[i].x) text_x += " + " + std::to_string(shifts[i].x) + times_round;
            if (shifts[i].y) text_y += " + " + std::to_string(shifts[i].y) + times_round;
        }
        return text_x + ", " + text_y;
    }

    std::string name(int value, std::size_t stage) const {
        if (value >= network_.inputs()) return "v" + std::to_string(value);
        return "in" + std::to_string(stage) + "_" + std::to_string(value);
    }

    // An input is loaded where it is first needed: there are more of them than registers.
    void load(int value, std::size_t stage) {
        if (value >= network_.inputs() || loaded_[static_cast<std::size_t>(value)]) return;
        loaded_[static_cast<std::size_t>(value)] = true;
        std::fprintf(file_, "const auto %s = load(%s);\n", name(value, stage).c_str(),
                     place(value % network_.footprint_width, value / network_.footprint_width, stage).c_str());
    }

    void print_step(std::size_t stage, int i) {
        const auto& step = network_.steps[static_cast<std::size_t>(i)];
        const int value = network_.inputs() + i;
        load(step.a, stage);
        load(step.b, stage);
        std::fprintf(file_, "const auto v%d = order.%s(%s, %s", value, step.upper ? "upper" : "lower",
                     name(step.a, stage).c_str(), name(step.b, stage).c_str());
        if (step.upper && i > 0) {
            const auto& before = network_.steps[static_cast<std::size_t>(i - 1)];
            const bool has_lower = !before.upper && before.a == step.a && before.b == step.b;
            if (has_lower && pairs_++ % 4 < sums_of_four_) std::fprintf(file_, ", v%d", value - 1);
        }
        std::fprintf(file_, ");\n");
        const auto median = std::find(network_.medians.begin(), network_.medians.end(), value);
        if (median == network_.medians.end()) return;
        const auto pixel = static_cast<int>(median - network_.medians.begin());
        std::fprintf(file_, "store(%s, v%d);\n",
                     place(pixel % network_.part_width, pixel / network_.part_width, stage).c_str(), value);
    }

    TileNetwork network_;
    int sums_of_four_;
    std::FILE* file_;
    std::vector<bool> loaded_;
    int pairs_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    std::FILE* file = argc == 2 ? std::fopen(argv[1], "w") : nullptr;
    if (!file) {
        std::fprintf(stderr, "usage: print_networks FILE\n");
        return 2;
    }
    std::fprintf(file, "%s", introduction);
    for (const auto& tile : tiles) Printer(tile, file).print();
    const bool failed = std::ferror(file) != 0;
    return std::fclose(file) == 0 && !failed ? 0 : 1;
}
