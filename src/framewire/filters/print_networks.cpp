#include "framewire/filters/median_networks.hpp"
#include "framewire/filters/tile_network.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

// Writes the median networks as source code for the CPU and for CUDA. The build runs this program.

namespace {

using framewire::TileNetwork;

// The generated networks. Wider tiles need fewer steps per pixel but more values at once. On the CPU, tiles one pixel
// wide avoid splitting rows into planes, which is worthwhile for the smallest windows. Loops down to parts of 2 x 2
// hardly need more steps, and they keep the code short enough for instruction caches and compilers.
//
// A GPU can run some of the minima and maxima on other units if it derives the upper value of a pair from the lower
// one. `sums_of_four` is the number of pairs in four for which it does so: as many as balance the units, or fewer if
// fetching long code is the limit.
constexpr struct Tile {
    int size, width, height, part_side, sums_of_four;

    bool of_strips() const { return size >= framewire::smallest_median_of_strips; }
    TileNetwork network() const {
        return of_strips() ? framewire::make_tile_network_of_strips(size, width)
                           : framewire::make_tile_network(size, width, height, part_side);
    }
} tiles[] = {{3, 1, 2, 2, 0}, {5, 1, 4, 4, 0},  {5, 4, 2, 4, 3},  {7, 4, 4, 2, 3},
             {9, 4, 4, 2, 2}, {11, 4, 4, 2, 2}, {13, 4, 4, 2, 2}, {15, 4, 4, 2, 2}};

constexpr const char* introduction =
    R"(// Written by print_networks.cpp. Include it with these macros defined: MEDIAN_NETWORK, the specifiers of these functions,
// MEDIAN_LOOP, the pragma before their loops, and MEDIAN_SIZES_FROM and MEDIAN_SIZES_UP_TO, the window sizes to define.
//
// median_network() calls `load` for the value at (x, y) of the tile's footprint and `store` with the median of pixel (x, y) of
// the tile. order.lower(a, b) and order.upper(a, b) return the smaller and the larger value; order.upper(a, b, lower) gets
// the smaller one as well.
//
// If tiles share sorted strips, median_strip() sorts one strip, whose pixels `load` returns: it calls `keep_column` with the
// rank-th smallest value of column x and `keep_strip` with that of the whole strip. median_network() then reads both: `column`
// returns the rank-th smallest value of the strips' column x of the footprint, `strip` that of the strip that starts at
// column x.

)";

// Prints one network.
class Printer {
public:
    // Builds the network for the tile.
    Printer(const Tile& tile, std::FILE* file)
        : network_(tile.network()), of_strips_(tile.of_strips()), sums_of_four_(tile.sums_of_four), file_(file) {}

    // Prints the functions for one size and tile, inside an #if for the range of sizes that the including file wants.
    void print() {
        const std::string tile = "MedianTile<" + std::to_string(network_.size) + ", " +
                                 std::to_string(network_.tile_width) + ", " + std::to_string(network_.tile_height) +
                                 ">";
        std::fprintf(file_, "#if MEDIAN_SIZES_FROM <= %d && MEDIAN_SIZES_UP_TO >= %d\n", network_.size, network_.size);
        if (of_strips_) print_strip(tile);
        std::fprintf(file_, "template <class Order, class Load, %sclass Store>  // %zu minima and maxima\n",
                     of_strips_ ? "class Column, class Strip, " : "", network_.steps.size());
        std::fprintf(
            file_,
            "MEDIAN_NETWORK void median_network(%s, const Order& order, const Load& load, %sconst Store& store) {\n",
            tile.c_str(), of_strips_ ? "const Column& column, const Strip& strip, " : "");
        for (std::size_t stage = 0; stage < network_.stages.size(); ++stage) begin_stage(stage);
        for (int i = 0; i <= network_.loops(); ++i) std::fprintf(file_, "}\n");
        std::fprintf(file_, "#endif\n\n");
    }

private:
    // Prints median_strip(). Inputs are loaded when first needed.
    void print_strip(const std::string& tile) {
        const auto network = framewire::make_strip_network(network_.size, network_.tile_width);
        const int inputs = network.width * network.height;
        std::fprintf(
            file_, "template <class Order, class Load, class KeepColumn, class KeepStrip>  // %zu minima and maxima\n",
            network.steps.size());
        std::fprintf(file_,
                     "MEDIAN_NETWORK void median_strip(%s, const Order& order, const Load& load, const KeepColumn& "
                     "keep_column, const KeepStrip& keep_strip) {\n",
                     tile.c_str());
        std::vector<bool> loaded(static_cast<std::size_t>(inputs));
        const auto load = [&](int value) {
            if (value >= inputs || loaded[static_cast<std::size_t>(value)]) return;
            loaded[static_cast<std::size_t>(value)] = true;
            std::fprintf(file_, "const auto v%d = load(%d, %d);\n", value, value % network.width,
                         value / network.width);
        };
        const auto place = [](const std::vector<int>& values, int value) {
            const auto found = std::find(values.begin(), values.end(), value);
            return found == values.end() ? -1 : static_cast<int>(found - values.begin());
        };
        for (int i = 0; i < static_cast<int>(network.steps.size()); ++i) {
            const auto& step = network.steps[static_cast<std::size_t>(i)];
            load(step.a);
            load(step.b);
            const int value = inputs + i;
            std::fprintf(file_, "const auto v%d = order.%s(v%d, v%d);\n", value, step.upper ? "upper" : "lower", step.a,
                         step.b);
            if (const int at = place(network.columns, value); at >= 0)
                std::fprintf(file_, "keep_column(%d, %d, v%d);\n", at / network.height, at % network.height, value);
            if (const int rank = place(network.strip, value); rank >= 0)
                std::fprintf(file_, "keep_strip(%d, v%d);\n", rank, value);
        }
        std::fprintf(file_, "}\n\n");
    }

    // Opens the loop of a stage, if it has one, and prints its steps.
    void begin_stage(std::size_t stage) {
        const auto loops = network_.stages[stage].shifts.size();
        if (stage > 0 && loops > network_.stages[stage - 1].shifts.size())
            std::fprintf(file_, "MEDIAN_LOOP\nfor (int round%zu = 0; round%zu < 2; ++round%zu) {\n", loops, loops,
                         loops);
        loaded_.assign(network_.inputs.size(), false);
        const auto end = stage + 1 < network_.stages.size() ? network_.stages[stage + 1].first_step
                                                            : static_cast<int>(network_.steps.size());
        for (int i = network_.stages[stage].first_step; i < end; ++i) print_step(stage, i);
    }

    // Returns a coordinate of the first round as an expression that is valid in all rounds.
    std::string in_all_rounds(int at, int framewire::NetworkOffset::*axis, std::size_t stage) const {
        auto text = std::to_string(at);
        const auto& shifts = network_.stages[stage].shifts;
        for (std::size_t i = 0; i < shifts.size(); ++i)
            if (shifts[i].*axis) text += " + " + std::to_string(shifts[i].*axis) + " * round" + std::to_string(i + 1);
        return text;
    }
    // Returns the coordinates of a pixel as an expression.
    std::string place(int x, int y, std::size_t stage) const {
        return x_of(x, stage) + ", " + in_all_rounds(y, &framewire::NetworkOffset::y, stage);
    }
    std::string x_of(int x, std::size_t stage) const { return in_all_rounds(x, &framewire::NetworkOffset::x, stage); }

    int inputs() const { return static_cast<int>(network_.inputs.size()); }

    // Returns the name of a value in the generated code. Inputs have one name per stage.
    std::string name(int value, std::size_t stage) const {
        if (value >= inputs()) return "v" + std::to_string(value);
        return "in" + std::to_string(stage) + "_" + std::to_string(value);
    }

    // Prints the load of an input when it is first needed; there are more inputs than registers.
    void load(int value, std::size_t stage) {
        if (value >= inputs() || loaded_[static_cast<std::size_t>(value)]) return;
        loaded_[static_cast<std::size_t>(value)] = true;
        using Kind = framewire::NetworkInput::Kind;
        const auto& [kind, x, y] = network_.inputs[static_cast<std::size_t>(value)];
        const auto rank = ", " + std::to_string(y);
        std::fprintf(file_, "const auto %s = %s;\n", name(value, stage).c_str(),
                     (kind == Kind::pixel    ? "load(" + place(x, y, stage) + ")"
                      : kind == Kind::column ? "column(" + x_of(x, stage) + rank + ")"
                                             : "strip(" + std::to_string(x) + rank + ")")
                         .c_str());
    }

    // Prints a step and, if the step produces a median, its store.
    void print_step(std::size_t stage, int i) {
        const auto& step = network_.steps[static_cast<std::size_t>(i)];
        const int value = inputs() + i;
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
    bool of_strips_;
    int sums_of_four_;
    std::FILE* file_;
    std::vector<bool> loaded_;
    int pairs_ = 0;
};

}  // namespace

// Writes all networks to the file named by the argument.
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
