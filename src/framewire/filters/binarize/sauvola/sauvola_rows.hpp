#pragma once

#include <cstdint>

namespace framewire {

/// The running sums of one band of rows, in memory of its own.
struct SauvolaRows {
    std::int32_t *values, *squares;              // of each column, over the window's rows
    std::int32_t *value_prefix, *square_prefix;  // of all columns before; the window's half width longer at both ends
    float* columns;                              // of the window that lie in the image, around each column

    static constexpr std::int64_t numbers(int width, int window) { return 3ll * width + 2ll * (width + window); }

    SauvolaRows(std::int32_t* memory, int width, int window)
        : values(memory),
          squares(values + width),
          value_prefix(squares + width),
          square_prefix(value_prefix + width + window),
          columns(reinterpret_cast<float*>(square_prefix + width + window)) {}
};

}  // namespace framewire
