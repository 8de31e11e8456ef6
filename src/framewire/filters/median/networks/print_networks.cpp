// Writes the median networks as source for the CPU and for CUDA; run by the build.

#include "framewire/filters/median/networks/tile_network.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

using framewire::TileNetwork;

// Wider tiles need fewer steps for a pixel and more values at once. On the CPU a tile one pixel wide spares taking rows
// apart, which pays for the smallest windows.
constexpr struct {
    int size, tile_width, tile_height;
} tiles[] = {{3, 1, 2}, {5, 1, 4}, {5, 4, 2}, {7, 4, 4}, {9, 4, 4}, {11, 4, 4}, {13, 4, 4}, {15, 4, 4}};

constexpr const char* introduction =
    R"(// Written by print_networks.cpp. To be included where MEDIAN_NETWORK says what kind of functions these are, and
// MEDIAN_SIZES_FROM and MEDIAN_SIZES_UP_TO which of them there are. `load` gives the value at x, y of the tile's footprint,
// `store` takes the median of pixel x, y of the tile; order.lower(a, b) and order.upper(a, b) are the smaller and the larger
// value, order.upper(a, b, lower) is given the smaller one too.

)";

void print(const TileNetwork& network, std::FILE* file) {
    std::fprintf(file, "#if MEDIAN_SIZES_FROM <= %d && MEDIAN_SIZES_UP_TO >= %d  // %zu minima and maxima\n",
                 network.size, network.size, network.steps.size());
    std::fprintf(file, "template <class Order, class Load, class Store>\n");
    std::fprintf(file,
                 "MEDIAN_NETWORK void median_network(MedianTile<%d, %d, %d>, const Order& order, const Load& load, ",
                 network.size, network.tile_width, network.tile_height);
    std::fprintf(file, "const Store& store) {\n");
    // Three pairs of four know their lower value when it comes to the upper one: a GPU that has other units for that
    // case is best used with some of each.
    int pairs = 0;
    std::vector<bool> loaded(static_cast<std::size_t>(network.inputs()));
    // An input is loaded where it is first needed: there are more of them than registers.
    const auto load = [&](int value) {
        if (value >= network.inputs() || loaded[static_cast<std::size_t>(value)]) return;
        loaded[static_cast<std::size_t>(value)] = true;
        std::fprintf(file, "const auto v%d = load(%d, %d);\n", value, value % network.footprint_width,
                     value / network.footprint_width);
    };
    for (std::size_t i = 0; i < network.steps.size(); ++i) {
        const auto& step = network.steps[i];
        const int value = network.inputs() + static_cast<int>(i);
        load(step.a);
        load(step.b);
        std::fprintf(file, "const auto v%d = order.%s(v%d, v%d", value, step.upper ? "upper" : "lower", step.a, step.b);
        const bool has_lower = step.upper && i > 0 && !network.steps[i - 1].upper && network.steps[i - 1].a == step.a &&
                               network.steps[i - 1].b == step.b;
        if (has_lower && pairs++ % 4 != 3) std::fprintf(file, ", v%d", value - 1);
        std::fprintf(file, ");\n");
        const auto median = std::find(network.medians.begin(), network.medians.end(), value);
        if (median == network.medians.end()) continue;
        const auto pixel = static_cast<int>(median - network.medians.begin());
        std::fprintf(file, "store(%d, %d, v%d);\n", pixel % network.tile_width, pixel / network.tile_width, value);
    }
    std::fprintf(file, "}\n#endif\n\n");
}

}  // namespace

int main(int argc, char** argv) {
    std::FILE* file = argc == 2 ? std::fopen(argv[1], "w") : nullptr;
    if (!file) {
        std::fprintf(stderr, "usage: print_networks FILE\n");
        return 2;
    }
    std::fprintf(file, "%s", introduction);
    for (const auto& tile : tiles)
        print(framewire::make_tile_network(tile.size, tile.tile_width, tile.tile_height), file);
    const bool failed = std::ferror(file) != 0;
    return std::fclose(file) == 0 && !failed ? 0 : 1;
}
