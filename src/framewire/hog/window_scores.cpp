#include "framewire/hog/window_scores.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/simd.hpp"
#include "framewire/cuda/device.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/hog/window_scores.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd-inl.hpp"

#include <algorithm>

#ifndef FRAMEWIRE_WINDOW_ROWS
#define FRAMEWIRE_WINDOW_ROWS

namespace framewire {
namespace {

// Some rows of windows.
struct WindowRows {
    const float* weights;  // weights of the window's first row
    std::int64_t weights_stride;
    int window_rows, values;
    float bias;
    const float* descriptors;  // descriptors of the first row of windows
    std::int64_t row_values;   // values per row of descriptors
    int rows, columns;         // numbers of windows
    float* scores;
};

}  // namespace
}  // namespace framewire

#endif

// Scores windows on the CPU: a convolution of the descriptors with the weights. Several windows are scored together, so
// that each vector of descriptors and of weights is loaded once for a group of windows:
//
//     sums[row of windows][column of windows] += weights[row - r] * descriptors[row][column + c]

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using VF = hn::VFromD<DF>;

// Windows that are scored together: as many sums as leave registers for the operands. AVX-512 has 32 registers, others
// 16; NEON has 32, of which four hold one sum.
constexpr bool many_registers = HWY_TARGET <= HWY_AVX3;
constexpr int rows_at_once = many_registers ? 3 : 2, columns_at_once = many_registers ? 8 : vectors_per_sum > 1 ? 3 : 6;
static_assert(rows_at_once <= window_weights_rows_around + 1);

// Scores rows x columns windows, starting with column `x`. For each row of windows, a row of descriptors is multiplied
// by a different row of the weights, or by a row of zeros. The sums do not depend on the number of rows and columns.
template <int rows, int columns>
HWY_INLINE void score_windows(const WindowRows& all, int y, int x) {
    const DF df;
    const auto step = static_cast<std::int64_t>(hn::Lanes(df));
    VF sums[rows][columns][vectors_per_sum];
    for (auto& row : sums)
        for (auto& sum : row)
            for (auto& vector : sum) vector = hn::Zero(df);
    const auto* descriptors = all.descriptors + y * all.row_values + std::int64_t{x} * all.values;
    for (int row = 0; row < all.window_rows + rows - 1; ++row) {
        const auto* values = descriptors + row * all.row_values;
        const auto* weights = all.weights + row * all.weights_stride;
        for (std::int64_t first = 0; first < all.weights_stride; first += vectors_per_sum * step)
            for (int vector = 0; vector < vectors_per_sum; ++vector) {
                const auto i = first + vector * step;
                // Each row of windows needs a different row of weights for the same row of descriptors.
                VF weight[rows];
                for (int r = 0; r < rows; ++r) weight[r] = hn::Load(df, weights - r * all.weights_stride + i);
                for (int c = 0; c < columns; ++c) {
                    const auto value = hn::LoadU(df, values + c * all.values + i);
                    for (int r = 0; r < rows; ++r)
                        sums[r][c][vector] = hn::MulAdd(weight[r], value, sums[r][c][vector]);
                }
            }
    }
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
            all.scores[std::int64_t{y + r} * all.columns + x + c] = sum_of_lanes(df, sums[r][c]) + all.bias;
}

// Scores one group of rows of windows: several columns at a time, the remaining ones one by one.
template <int rows>
void score_row(const WindowRows& all, int y) {
    int x = 0;
    for (; x + columns_at_once <= all.columns; x += columns_at_once) score_windows<rows, columns_at_once>(all, y, x);
    for (; x < all.columns; ++x) score_windows<rows, 1>(all, y, x);
}

}  // namespace

// Scores all rows of windows: several at a time, the remaining ones one by one.
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

#if HWY_ONCE

namespace framewire {
namespace {

// Returns the weights in the order that WindowTiles describes.
std::vector<float> weights_by_quads(const std::vector<float>& weights, const HogShape& window) {
    const int quads = (window.values + window_quad - 1) / window_quad;
    std::vector<float> sorted(static_cast<std::size_t>(quads * window.columns * window.rows * window_quad));
    for (int row = 0; row < window.rows; ++row)
        for (int column = 0; column < window.columns; ++column)
            for (int value = 0; value < window.values; ++value) {
                const int quad = value / window_quad;
                const int to =
                    ((quad * window.columns + column) * window.rows + row) * window_quad + value % window_quad;
                const int from = (row * window.columns + column) * window.values + value;
                sorted[static_cast<std::size_t>(to)] = weights[static_cast<std::size_t>(from)];
            }
    return sorted;
}

}  // namespace

// Weights are stored in the order in which the backend reads them.
WindowScores::WindowScores(const WindowModel& model, Executor& executor)
    : window_((validate(model), window_shape(model))), bias_(model.bias), executor_(&executor) {
    const auto row_values = window_.row_values();
    if (executor.backend() == Backend::cuda) {
        executor.use_gpu();
        // The memory is limited so that three blocks share a multiprocessor.
        const auto most_bytes = static_cast<std::size_t>(std::min(64 * 1024, cuda::limits().block_shared_bytes));
        tiles_ = WindowTiles(window_.rows, window_.columns, window_.values, most_bytes);
        const auto weights = weights_by_quads(model.weights, window_);
        weights_ = BackendBuffer(weights.size() * sizeof(float), executor);
        weights_.put(weights.data(), weights_.bytes());
        if constexpr (cuda::compiled) allow_memory();
        return;
    }
    stride_ = (row_values + window_weights_group - 1) / window_weights_group * window_weights_group;
    const auto count = stride_ * (window_.rows + 2 * window_weights_rows_around);
    weights_ = BackendBuffer(static_cast<std::size_t>(count) * sizeof(float), executor);
    weights_.fill(0);
    for (int row = 0; row < window_.rows; ++row)
        std::copy_n(model.weights.data() + row * row_values, row_values,
                    weights_.as<float>() + (row + window_weights_rows_around) * stride_);
}

WindowGrid WindowScores::grid(const HogShape& descriptors) const {
    if (descriptors.frames != 1 || descriptors.values != window_.values)
        fail(ErrorCode::usage,
             "the model needs one frame with {} values per cell; the descriptors have {} frames with {}",
             window_.values, descriptors.frames, descriptors.values);
    if (descriptors.rows < window_.rows || descriptors.columns < window_.columns) return {};
    return {descriptors.rows - window_.rows + 1, descriptors.columns - window_.columns + 1};
}

}  // namespace framewire

#endif  // HWY_ONCE
