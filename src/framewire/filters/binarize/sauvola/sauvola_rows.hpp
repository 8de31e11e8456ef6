#pragma once

#include <cstdint>

namespace framewire {

/// Memory layout of the running sums of one band of rows.
struct SauvolaRows {
    std::int32_t *values, *squares;              // per column, over the window's rows
    std::int32_t *value_prefix, *square_prefix;  // over all columns before; longer by half a window at both ends
    float* columns;                              // number of window columns inside the image, per column

    /// Number of 32-bit words that a band needs.
    static constexpr std::int64_t numbers(int width, int window) { return 3ll * width + 2ll * (width + window); }

    /// Divides `memory`, which has numbers() words, into the arrays.
    SauvolaRows(std::int32_t* memory, int width, int window)
        : values(memory),
          squares(values + width),
          value_prefix(squares + width),
          square_prefix(value_prefix + width + window),
          columns(reinterpret_cast<float*>(square_prefix + width + window)) {}
};

}  // namespace framewire
