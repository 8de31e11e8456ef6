#include "framewire/core/simd/simd.hpp"
#include "framewire/hog/people/window_scores/window_scores.hpp"
#include "framewire/hog/people/window_scores/window_scores_scratch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/hog/people/window_scores/window_scores_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef FRAMEWIRE_WINDOW_ROWS
#define FRAMEWIRE_WINDOW_ROWS

namespace framewire {
namespace {

// Some rows of windows.
struct WindowRows {
    const float* weights;  // of the window's first row
    std::int64_t weights_stride;
    int window_rows, values;
    float bias;
    const float* descriptors;  // of the first row of windows
    std::int64_t row_values;   // of the descriptors
    int rows, columns;         // of windows
    float* scores;
};

}  // namespace
}  // namespace framewire

#endif

// Scores of windows on the CPU: a convolution of the descriptors with the weights. Several windows are scored
// together, so that each vector of descriptors and of weights is loaded once for a group of windows:
//
//     sums[row of windows][column of windows] += weights[row - r] * descriptors[row][column + c]

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using VF = hn::VFromD<DF>;

// As many sums as leave registers for the operands: out of 32, or out of 16.
constexpr bool many_registers = HWY_TARGET <= HWY_AVX3;
constexpr int rows_at_once = many_registers ? 3 : 2, columns_at_once = many_registers ? 8 : 6;
static_assert(rows_at_once <= window_weights_rows_around + 1);

// Scores rows x columns windows, starting with column `x`. Each row of descriptors meets another row of the
// weights for each row of windows, or a row of zeros. The sums do not depend on the number of rows and columns.
template <int rows, int columns>
HWY_INLINE void score_windows(const WindowRows& all, int y, int x) {
    const DF df;
    const auto step = static_cast<std::int64_t>(hn::Lanes(df));
    VF sums[rows][columns];
    for (auto& row : sums)
        for (auto& sum : row) sum = hn::Zero(df);
    const auto* descriptors = all.descriptors + y * all.row_values + std::int64_t{x} * all.values;
    for (int row = 0; row < all.window_rows + rows - 1; ++row) {
        const auto* values = descriptors + row * all.row_values;
        const auto* weights = all.weights + row * all.weights_stride;
        for (std::int64_t i = 0; i < all.weights_stride; i += step) {
            // One row of descriptors meets a different row of weights for each row of windows.
            VF weight[rows];
            for (int r = 0; r < rows; ++r) weight[r] = hn::Load(df, weights - r * all.weights_stride + i);
            for (int c = 0; c < columns; ++c) {
                const auto value = hn::LoadU(df, values + c * all.values + i);
                for (int r = 0; r < rows; ++r) sums[r][c] = hn::MulAdd(weight[r], value, sums[r][c]);
            }
        }
    }
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
            all.scores[std::int64_t{y + r} * all.columns + x + c] =
                hn::GetLane(hn::SumOfLanes(df, sums[r][c])) + all.bias;
}

// Scores one group of rows of windows, several columns at a time, the rest one by one.
template <int rows>
void score_row(const WindowRows& all, int y) {
    int x = 0;
    for (; x + columns_at_once <= all.columns; x += columns_at_once) score_windows<rows, columns_at_once>(all, y, x);
    for (; x < all.columns; ++x) score_windows<rows, 1>(all, y, x);
}

}  // namespace

// Scores all rows of windows, several at a time, the rest one by one.
void window_rows(const WindowRows& all) {
    int y = 0;
    for (; y + rows_at_once <= all.rows; y += rows_at_once) score_row<rows_at_once>(all, y);
    for (; y < all.rows; ++y) score_row<1>(all, y);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(window_rows);

void WindowScores::run(HogView<const float, MemorySpace::host> descriptors, float* scores) const {
    constexpr int rows_each = 6;  // a multiple of the rows that are scored together
    const auto windows = grid(descriptors.shape());
    const auto* weights = weights_.as<float>() + window_weights_rows_around * stride_;
    executor_->pool().for_chunks(windows.rows, rows_each, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        HWY_DYNAMIC_DISPATCH(window_rows)
        ({weights, stride_, window_.rows, window_.values, bias_, descriptors.row(0, static_cast<int>(begin)),
          descriptors.shape().row_values(), static_cast<int>(end - begin), windows.columns,
          scores + begin * windows.columns});
    });
}

}  // namespace framewire

#endif
