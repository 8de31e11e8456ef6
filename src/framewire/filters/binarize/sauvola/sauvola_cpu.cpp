// Compiled with -ffp-contract=off: see sauvola.hpp.

#include "framewire/core/simd/simd.hpp"
#include "framewire/filters/binarize/sauvola/sauvola.hpp"
#include "framewire/filters/binarize/sauvola/sauvola_rows.hpp"
#include "framewire/filters/gray/gray.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/binarize/sauvola/sauvola_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd/simd-inl.hpp"

// Sauvola's threshold on the CPU, in bands of rows. Per row of a band:
//
//   move_window()   column sums: + entering row, - leaving row
//   add_up()        prefix sums along the row
//   sauvola_row()   window sums by differences, threshold, black or white

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Adds the row that enters the window to the column sums and subtracts the one that leaves. Either may be null.
void move_window(const SauvolaRows& rows, const std::uint8_t* entering, const std::uint8_t* leaving, int width) {
    const hn::ScalableTag<std::int32_t> d32;
    const hn::Rebind<std::uint8_t, decltype(d32)> d8;
    const auto step = static_cast<int>(hn::Lanes(d32));
    const auto center = hn::Set(d32, 128);
    int x = 0;
    for (; x + step <= width; x += step) {
        auto values = hn::LoadU(d32, rows.values + x);
        auto squares = hn::LoadU(d32, rows.squares + x);
        if (entering) {
            const auto value = hn::Sub(hn::PromoteTo(d32, hn::LoadU(d8, entering + x)), center);
            values = hn::Add(values, value);
            squares = hn::Add(squares, hn::Mul(value, value));
        }
        if (leaving) {
            const auto value = hn::Sub(hn::PromoteTo(d32, hn::LoadU(d8, leaving + x)), center);
            values = hn::Sub(values, value);
            squares = hn::Sub(squares, hn::Mul(value, value));
        }
        hn::StoreU(values, d32, rows.values + x);
        hn::StoreU(squares, d32, rows.squares + x);
    }
    for (; x < width; ++x) {
        const int in = entering ? entering[x] - 128 : 0, out = leaving ? leaving[x] - 128 : 0;
        rows.values[x] += in - out;
        rows.squares[x] += in * in - out * out;
    }
}

// Thresholds one row. `gray` is that row, the middle of the window; `window_rows` is the number of the window's rows
// that lie in the image.
void sauvola_row(const SauvolaRows& rows, const std::uint8_t* gray, int width, int window, int window_rows, float k,
                 int channels, std::uint8_t* out) {
    const hn::ScalableTag<std::uint8_t> d8;
    const hn::Repartition<std::int32_t, decltype(d8)> d32;
    const hn::Repartition<float, decltype(d8)> df;
    const hn::Rebind<std::uint8_t, decltype(d32)> d8_of_32;
    const auto quarter = static_cast<int>(hn::Lanes(d32));
    const auto height = hn::Set(df, static_cast<float>(window_rows));
    const auto k_vector = hn::Set(df, k);

    // sauvola_threshold() in vectors, operation by operation, compared with the pixels.
    const auto white = [&](int x) HWY_ATTR {
        const auto sum = [&](const std::int32_t* prefix) HWY_ATTR {
            return hn::ConvertTo(df, hn::Sub(hn::LoadU(d32, prefix + x + window), hn::LoadU(d32, prefix + x)));
        };
        const auto pixels = hn::Mul(hn::LoadU(df, rows.columns + x), height);
        const auto mean = hn::Div(sum(rows.value_prefix), pixels);
        const auto square = hn::Div(sum(rows.square_prefix), pixels);
        const auto variance = hn::Max(hn::Sub(square, hn::Mul(mean, mean)), hn::Zero(df));
        const auto contrast = hn::Sub(hn::Mul(hn::Sqrt(variance), hn::Set(df, 1.0f / 128)), hn::Set(df, 1.0f));
        const auto threshold =
            hn::Mul(hn::Add(mean, hn::Set(df, 128.0f)), hn::Add(hn::Set(df, 1.0f), hn::Mul(k_vector, contrast)));
        const auto value = hn::ConvertTo(df, hn::PromoteTo(d32, hn::LoadU(d8_of_32, gray + x)));
        return hn::BitCast(d32, hn::VecFromMask(df, hn::Gt(value, threshold)));
    };
    int x = 0;
    for (; x + 4 * quarter <= width; x += 4 * quarter) {
        // Four vectors of 32-bit masks become one vector of bytes.
        const auto bytes =
            narrow_to_bytes(d8, white(x), white(x + quarter), white(x + 2 * quarter), white(x + 3 * quarter));
        if (channels == 1)
            hn::StoreU(bytes, d8, out + x);
        else
            hn::StoreInterleaved3(bytes, bytes, bytes, d8, out + 3 * x);
    }
    for (; x < width; ++x) {
        const auto sum = [&](const std::int32_t* prefix) {
            return static_cast<std::int32_t>(static_cast<std::uint32_t>(prefix[x + window]) -
                                             static_cast<std::uint32_t>(prefix[x]));
        };
        const WindowSums sums{sum(rows.value_prefix), sum(rows.square_prefix)};
        const float threshold = sauvola_threshold(sums, rows.columns[x] * static_cast<float>(window_rows), k);
        for (int channel = 0; channel < channels; ++channel)
            out[x * channels + channel] = static_cast<float>(gray[x]) > threshold ? 255 : 0;
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>

namespace framewire {

HWY_EXPORT(move_window);
HWY_EXPORT(sauvola_row);

namespace {

// Number of pixels of a window's side that lie in the image.
int inside(int middle, int radius, int size) {
    return std::min(middle + radius + 1, size) - std::max(middle - radius, 0);
}

// prefix[j] = sum of the columns before j - radius, clamped to the image. The sum over a window around column x is then
// prefix[x + window] - prefix[x] everywhere, including the edges. Prefix sums of squares may wrap around; their
// differences are still correct.
void add_up(const std::int32_t* columns, int width, int radius, std::int32_t* prefix) {
    std::fill_n(prefix, radius + 1, 0);
    std::uint32_t sum = 0;
    for (int x = 0; x < width; ++x) {
        sum += static_cast<std::uint32_t>(columns[x]);
        prefix[radius + 1 + x] = static_cast<std::int32_t>(sum);
    }
    std::fill_n(prefix + radius + 1 + width, radius, static_cast<std::int32_t>(sum));
}

}  // namespace

// Checks the parameters and allocates the running sums of all bands, or prepares the launch.
Sauvola::Sauvola(SauvolaParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "binarize's image");
    if (parameters.window < 3 || parameters.window > max_sauvola_window || parameters.window % 2 == 0)
        fail(ErrorCode::usage, "binarize's window is {}; allowed are odd numbers from 3 to {}", parameters.window,
             max_sauvola_window);
    if (!(parameters.k >= 0 && parameters.k <= 1))
        fail(ErrorCode::usage, "binarize's k is {}; allowed is 0 to 1", parameters.k);
    // Every band sums its first window from scratch, so bands are tall compared with the window.
    band_rows_ = std::min(std::max(64, 2 * parameters.window), shape.height);
    if constexpr (cuda::compiled)
        if (executor.backend() == Backend::cuda) on_device_ = plan_for_cuda();
    if (executor.backend() != Backend::cpu) return;
    const auto bands = (shape.height + band_rows_ - 1) / band_rows_;
    sums_ = HostBuffer(static_cast<std::size_t>(bands * SauvolaRows::numbers(shape.width, parameters.window)) *
                       sizeof(std::int32_t));
    if (shape.channels == 3)
        gray_ = HostBuffer(static_cast<std::size_t>(shape.with_frames(1).with_channels(1).bytes()));
}

// Frame by frame, because the gray values of one frame are reused for the next.
void Sauvola::run(const FilterImages<MemorySpace::host>& images) {
    validate(images.in, shape_, "binarize's image");
    validate(images.out, shape_, "binarize's result");
    const auto& pool = executor_->pool();
    const int radius = parameters_.window / 2;
    const auto frame_shape = shape_.with_frames(1);
    for (int frame = 0; frame < shape_.frames; ++frame) {
        auto gray = images.in.frames(frame, 1);
        if (shape_.channels == 3) {
            const HostView<std::uint8_t> plane(gray_.data(), frame_shape.with_channels(1));
            Gray({.channels = 1}, frame_shape, *executor_).run(FilterImages<MemorySpace::host>{gray, {}, plane});
            gray = plane;
        }
        pool.for_chunks(shape_.height, band_rows_, [&](std::int64_t band, std::int64_t first, std::int64_t end) {
            auto* memory = sums_.as<std::int32_t>() + band * SauvolaRows::numbers(shape_.width, parameters_.window);
            const SauvolaRows rows(memory, shape_.width, parameters_.window);
            std::fill_n(rows.values, shape_.width, 0);
            std::fill_n(rows.squares, shape_.width, 0);
            for (int x = 0; x < shape_.width; ++x)
                rows.columns[x] = static_cast<float>(inside(x, radius, shape_.width));
            // Add up the first window, except for the last row that enters.
            const auto begin = static_cast<int>(first);
            const auto row = [&](int y) { return y >= 0 && y < shape_.height ? gray.row(0, y) : nullptr; };
            for (int y = begin - radius; y < begin + radius; ++y)
                if (row(y)) HWY_DYNAMIC_DISPATCH(move_window)(rows, row(y), nullptr, shape_.width);
            for (int y = begin; y < end; ++y) {
                const auto* leaving = y == begin ? nullptr : row(y - radius - 1);
                HWY_DYNAMIC_DISPATCH(move_window)(rows, row(y + radius), leaving, shape_.width);
                add_up(rows.values, shape_.width, radius, rows.value_prefix);
                add_up(rows.squares, shape_.width, radius, rows.square_prefix);
                HWY_DYNAMIC_DISPATCH(sauvola_row)
                (rows, gray.row(0, y), shape_.width, parameters_.window, inside(y, radius, shape_.height),
                 static_cast<float>(parameters_.k), shape_.channels, images.out.row(frame, y));
            }
        });
    }
}

}  // namespace framewire

#endif
