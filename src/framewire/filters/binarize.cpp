#include "framewire/filters/binarize.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/simd.hpp"
#include "framewire/filters/document.hpp"
#include "framewire/filters/gray.hpp"
#include "framewire/filters/gray_input.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/binarize.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd-inl.hpp"
#include "framewire/filters/gray_input-inl.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <numeric>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Adds both values of every pair to a histogram. pairs[values * a + b] is the number of times a was followed by b in a
// pair.
void add_pairs(const std::uint32_t* pairs, std::size_t values, std::uint32_t* histogram) {
    const hn::ScalableTag<std::uint32_t> d32;
    const auto step = hn::Lanes(d32);
    for (std::size_t first = 0; first < values; ++first) {
        auto sum = hn::Zero(d32);
        for (std::size_t second = 0; second < values; second += step) {
            const auto counts = hn::LoadU(d32, pairs + values * first + second);
            sum = hn::Add(sum, counts);
            hn::StoreU(hn::Add(hn::LoadU(d32, histogram + second), counts), d32, histogram + second);
        }
        histogram[first] += hn::GetLane(hn::SumOfLanes(d32, sum));
    }
}

// Returns the largest of `count` values; 0 if there are none.
std::uint8_t largest_of(const std::uint8_t* values, std::int64_t count) {
    const hn::ScalableTag<std::uint8_t> d;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d));
    auto most = hn::Zero(d);
    std::int64_t at = 0;
    for (; at + step <= count; at += step) most = hn::Max(most, hn::LoadU(d, values + at));
    HWY_ALIGN std::uint8_t lanes[HWY_MAX_BYTES];
    hn::Store(most, d, lanes);
    auto largest = *std::max_element(lanes, lanes + step);
    for (; at < count; ++at) largest = std::max(largest, values[at]);
    return largest;
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cstring>

namespace framewire {

HWY_EXPORT(add_pairs);
HWY_EXPORT(largest_of);

namespace {

constexpr std::int64_t piece_px = 4096;  // pixels converted and counted at a time; they fit a core's L1 cache

// Histogram of pairs of neighbouring values. A core stores at most one count per cycle, so counting pairs halves the
// time. Measured on a 1080p frame with one thread: 0.20 ms; eight histograms of single values take 0.5 ms, one takes
// 0.9 ms. Each pair is loaded separately; loading eight values at once and shifting takes 0.25 ms.
class PairHistogram {
public:
    // Clears the 256 KiB of pair counts, which is part of a call's fixed cost.
    PairHistogram() { std::memset(pairs_, 0, sizeof pairs_); }

    // Counts `values`. If `later` is given, prefetches three of its bytes per value, because counting leaves memory
    // bandwidth unused.
    void add(const std::uint8_t* values, std::int64_t count, const std::uint8_t* later = nullptr) {
        std::int64_t at = 0;
        for (; at + 16 <= count; at += 16) {
            if (later) hwy::Prefetch(later + 3 * at);
#pragma GCC unroll 8
            for (int pair = 0; pair < 8; ++pair) {
                std::uint16_t both;
                std::memcpy(&both, values + at + 2 * pair, sizeof both);
                ++pairs_[both];
            }
        }
        for (; at < count; ++at) ++singles_[values[at]];
    }

    // Adds up the pairs and the unpaired values into an ordinary histogram.
    void sum(Histogram& out) const {
        out = singles_;
        HWY_DYNAMIC_DISPATCH(add_pairs)(pairs_, 256, out.data());
    }

private:
    std::uint32_t pairs_[256 * 256];
    Histogram singles_{};
};

// Like PairHistogram, but counts groups of four values, so that the table of pairs fits the L1 cache. Neighbours are
// often equal, and an increment has to wait for the previous increment of the same counter; therefore four tables are
// used in turn.
class GroupHistogram {
public:
    // Clears the four tables.
    GroupHistogram() { std::memset(pairs_, 0, sizeof pairs_); }

    // Counts `values`, emptying the pair tables before their 16-bit counts can overflow.
    void add(const std::uint8_t* values, std::int64_t count, const std::uint8_t* later = nullptr) {
        for (std::int64_t at = 0; at < count; at += most_at_once) {
            const auto here = std::min(most_at_once, count - at);
            if (counted_ + here > most_at_once) empty_pairs();
            counted_ += here;
            add_some(values + at, here, later ? later + 3 * at : nullptr);
        }
        largest_ = std::max(largest_, HWY_DYNAMIC_DISPATCH(largest_of)(values, count));
    }

    // Writes each group's count to its first value. One pixel of the largest group moves to the largest value, so that
    // the caller can find that value.
    void sum(Histogram& out) {
        empty_pairs();
        out = {};
        for (std::size_t group = 0; group < group_count; ++group) out[4 * group] = groups_[group];
        if (out[largest_ / 4u * 4u] == 0) return;  // nothing was counted
        --out[largest_ / 4u * 4u];
        ++out[largest_];
    }

private:
    // Counts eight values at a time. Each value is reduced to its group by a shift; two groups form the index of a
    // pair.
    void add_some(const std::uint8_t* values, std::int64_t count, const std::uint8_t* later) {
        std::int64_t at = 0;
        for (; at + 8 <= count; at += 8) {
            if (later) hwy::Prefetch(later + 3 * at);
            std::uint64_t eight;
            std::memcpy(&eight, values + at, sizeof eight);
            // Two 6-bit groups next to each other in every 16 bits: the index of a pair.
            const auto groups = (eight >> 2 & 0x003F003F003F003F) | (eight >> 4 & 0x0FC00FC00FC00FC0);
            ++pairs_[0][groups & 65535];
            ++pairs_[1][groups >> 16 & 65535];
            ++pairs_[2][groups >> 32 & 65535];
            ++pairs_[3][groups >> 48];
        }
        for (; at < count; ++at) ++groups_[values[at] / 4u];
    }

    // Adds the pair tables to the groups and clears them.
    void empty_pairs() {
        std::uint32_t all[group_count * group_count];
        for (std::size_t pair = 0; pair < std::size(all); ++pair)
            all[pair] = std::uint32_t{pairs_[0][pair]} + pairs_[1][pair] + pairs_[2][pair] + pairs_[3][pair];
        HWY_DYNAMIC_DISPATCH(add_pairs)(all, group_count, groups_.data());
        std::memset(pairs_, 0, sizeof pairs_);
        counted_ = 0;
    }

    static constexpr std::size_t group_count = 64;
    // Number of values that can be counted before a pair's 16-bit count may overflow.
    static constexpr std::int64_t most_at_once = 8 * 65535;
    std::uint16_t pairs_[4][group_count * group_count];
    std::int64_t counted_ = 0;  // values counted since the pairs were emptied
    std::array<std::uint32_t, group_count> groups_{};
    std::uint8_t largest_ = 0;
};

// Counts rows begin..end-1 of the image, converting BGR rows to gray first, in chunks that stay in the L1 cache.
template <class Counts>
void add_rows(HostView<const std::uint8_t> image, int begin, int end, std::uint8_t* gray,
              std::int64_t gray_row_stride_bytes, Counts& counts) {
    const auto& shape = image.shape();
    const bool own_gray = shape.channels == 1;
    // Rows without gaps are processed as one long row.
    const bool one_run = image.dense_rows() && (own_gray || gray_row_stride_bytes == shape.width);
    const std::int64_t run_px = one_run ? std::int64_t{end - begin} * shape.width : shape.width;
    for (int y = begin; y < end; y += one_run ? end - begin : 1) {
        const auto* in = image.row(0, y);
        if (own_gray) {
            counts.add(in, run_px);
            continue;
        }
        auto* row = gray + (y - begin) * gray_row_stride_bytes;
        for (std::int64_t x = 0; x < run_px; x += piece_px) {
            const auto pixels = std::min(piece_px, run_px - x);
            gray_span(GrayMethod::weighted, in + 3 * x, 3, pixels, 1, row + x);
            counts.add(row + x, pixels, x + pixels < run_px ? in + 3 * (x + pixels) : nullptr);
        }
    }
}

}  // namespace

void count_gray(HostView<const std::uint8_t> image, int begin, int end, std::uint8_t* gray,
                std::int64_t gray_row_stride_bytes, Histogram& out) {
    PairHistogram pairs;
    add_rows(image, begin, end, gray, gray_row_stride_bytes, pairs);
    pairs.sum(out);
}

void count_gray_groups(HostView<const std::uint8_t> image, int begin, int end, std::uint8_t* gray,
                       std::int64_t gray_row_stride_bytes, Histogram& out) {
    GroupHistogram groups;
    add_rows(image, begin, end, gray, gray_row_stride_bytes, groups);
    groups.sum(out);
}

}  // namespace framewire

#endif

// Binarize on the CPU. With a method that needs a histogram, threads first count bands of every frame into separate
// histograms (writing gray values as they go), then add these up per frame, and finally threshold. A fixed level needs
// the last step only.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Reads `pixels` pixels of `channels` as gray values. Calls out(x, gray) with whole vectors and rest(x, gray) with the
// single pixels that remain.
template <class Out, class Rest>
void for_gray(const std::uint8_t* in, int channels, std::int64_t pixels, Out&& out, Rest&& rest) {
    const hn::ScalableTag<std::uint8_t> d8;
    const auto weights = gray_weights(GrayMethod::weighted);
    const auto step = static_cast<std::int64_t>(hn::Lanes(d8));
    std::int64_t x = 0;
    if (channels == 3) {
        const GrayOfBgr gray_of(d8, weights);
        for (; x + gray_of.readable_px() <= pixels; x += step) out(x, gray_of(in + 3 * x));
        for (; x < pixels; ++x) rest(x, gray_of_pixel(in + 3 * x, weights));
    } else {
        for (; x + step <= pixels; x += step) out(x, hn::LoadU(d8, in + x));
        for (; x < pixels; ++x) rest(x, in[x]);
    }
}

}  // namespace

// Makes pixels white if their gray value is above the threshold, and black otherwise.
void binarize_span(const std::uint8_t* in, int in_channels, std::int64_t pixels, std::uint8_t threshold, int channels,
                   std::uint8_t* out) {
    const hn::ScalableTag<std::uint8_t> d8;
    const auto threshold_vector = hn::Set(d8, threshold);
    for_gray(
        in, in_channels, pixels,
        [&](std::int64_t x, auto gray) HWY_ATTR {
            // The saturating difference gray - threshold is 0 unless gray is above.
            const auto above = hn::SaturatedSub(gray, threshold_vector);
            const auto white = hn::VecFromMask(d8, hn::Ne(above, hn::Zero(d8)));
            if (channels == 1)
                hn::StoreU(white, d8, out + x);
            else
                hn::StoreInterleaved3(white, white, white, d8, out + 3 * x);
        },
        [&](std::int64_t x, std::uint8_t gray) HWY_ATTR {
            for (int channel = 0; channel < channels; ++channel)
                out[x * channels + channel] = gray > threshold ? 255 : 0;
        });
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(binarize_span);

void binarize_span(int level, const std::uint8_t* in, int channels, std::int64_t pixels, int out_channels,
                   std::uint8_t* out) {
    HWY_DYNAMIC_DISPATCH(binarize_span)(in, channels, pixels, static_cast<std::uint8_t>(level), out_channels, out);
}

namespace {

// Calls body(y, pixels) on runs that cover a band of rows: a single run if the rows have no gaps, otherwise one per
// row.
template <class Body>
void for_runs(const Shape& shape, bool dense_rows, int begin, int end, Body&& body) {
    if (dense_rows)
        body(begin, std::int64_t{end - begin} * shape.width);
    else
        for (int y = begin; y < end; ++y) body(y, std::int64_t{shape.width});
}

}  // namespace

void Binarize::run(const FilterImages<MemorySpace::host>& images) {
    validate(images.in, shape_, "binarize's image");
    validate(images.out, shape_, "binarize's result");
    const auto& pool = executor_->pool();
    // Calls body(band, frame, first row, end row) in parallel for `bands` bands of every frame.
    const auto for_bands = [&](int bands, auto&& body) {
        pool.for_chunks(std::int64_t{shape_.frames} * bands, 1, [&](std::int64_t band, std::int64_t, std::int64_t) {
            const auto number = band % bands;
            body(band, static_cast<int>(band / bands), static_cast<int>(number * shape_.height / bands),
                 static_cast<int>((number + 1) * shape_.height / bands));
        });
    };
    // The second pass reads the gray values that the first one stored: a third of the bytes, and more likely still in
    // cache.
    auto gray = images.in;
    if (parameters_.method && shape_.channels == 3) gray = {gray_.data(), shape_.with_channels(1)};
    if (parameters_.method) {
        auto* histograms = histograms_.as<Histogram>();
        for_bands(histogram_bands_, [&](std::int64_t band, int frame, int begin, int end) {
            auto* values = gray_.data();
            if (shape_.channels == 3) values += (std::int64_t{frame} * shape_.height + begin) * shape_.width;
            count_gray(images.in.frames(frame, 1), begin, end, values, shape_.width, histograms[band]);
        });
        // Add up the bands' histograms and choose the threshold of each frame.
        pool.for_chunks(shape_.frames, 1, [&](std::int64_t frame, std::int64_t, std::int64_t) {
            auto& sum = histograms[frame * histogram_bands_];
            for (int band = 1; band < histogram_bands_; ++band)
                for (std::size_t bin = 0; bin < sum.size(); ++bin)
                    sum[bin] += histograms[frame * histogram_bands_ + band][bin];
            thresholds_.data()[frame] = choose_threshold(*parameters_.method, sum);
        });
    }
    for_bands(bands_, [&](std::int64_t, int frame, int begin, int end) {
        for_runs(shape_, gray.dense_rows() && images.out.dense_rows(), begin, end, [&](int y, std::int64_t pixels) {
            HWY_DYNAMIC_DISPATCH(binarize_span)
            (gray.row(frame, y), gray.shape().channels, pixels, thresholds_.data()[frame], shape_.channels,
             images.out.row(frame, y));
        });
    });
    has_run_ = true;
}

}  // namespace framewire

#endif

// Compiled with -ffp-contract=off: see sauvola_threshold().

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

// Returns how many pixels of a window's side lie inside the image.
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
        fail(ErrorCode::usage, "binarize's window is {}; allowed: odd numbers from 3 to {}", parameters.window,
             max_sauvola_window);
    if (!(parameters.k >= 0 && parameters.k <= 1))
        fail(ErrorCode::usage, "binarize's k is {}; allowed: 0 to 1", parameters.k);
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

// Processes frame by frame, because there is one buffer of gray values for all frames.
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
            // Add up the first window, except for its last row, which enters below.
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

#if HWY_ONCE

// Compiled with -ffp-contract=off: see otsu_sequence().

namespace framewire {
namespace {

// Returns the number of pixels in a histogram.
std::uint32_t pixels_in(const Histogram& histogram) {
    return std::accumulate(histogram.begin(), histogram.end(), std::uint32_t{0});
}

// Returns the histogram after one smoothing pass of two_peaks.
Histogram smoothed(const Histogram& from) {
    Histogram to;
    to.front() = (3 * from[0] + from[1] + 2) >> 2;
    for (std::size_t bin = 1; bin < 255; ++bin) to[bin] = (from[bin - 1] + 2 * from[bin] + from[bin + 1] + 2) >> 2;
    to.back() = (from[254] + 3 * from[255] + 2) >> 2;
    return to;
}

// Returns the number of peaks. A peak is a run of equal bins with lower bins, or the end of the histogram, on both
// sides.
int peaks_of(const Histogram& histogram) {
    int peaks = 0;
    bool rising = true;
    for (std::size_t bin = 1; bin < 256; ++bin) {
        if (histogram[bin] < histogram[bin - 1]) {
            peaks += rising;
            rising = false;
        } else if (histogram[bin] > histogram[bin - 1]) {
            rising = true;
        }
    }
    return peaks + rising;
}

// Returns the valley of a histogram with two peaks: the middle of the lowest bins between them, which start at the last
// fall before the second rise and end before that rise.
std::uint8_t valley_of(const Histogram& histogram) {
    std::size_t bottom = 0;
    bool fallen = false;
    for (std::size_t bin = 1; bin < 256; ++bin) {
        if (histogram[bin] < histogram[bin - 1]) {
            bottom = bin;
            fallen = true;
        } else if (fallen && histogram[bin] > histogram[bin - 1]) {
            return static_cast<std::uint8_t>((bottom + bin - 1) / 2);
        }
    }
    return static_cast<std::uint8_t>(bottom);
}

}  // namespace

// Among equally frequent values the first wins, which is the darkest.
std::uint8_t two_max_threshold(const Histogram& histogram) {
    const auto fullest = std::max_element(histogram.begin(), histogram.end()) - histogram.begin();
    std::ptrdiff_t second = fullest == 0 ? 1 : 0;
    for (std::ptrdiff_t bin = second + 1; bin < 256; ++bin)
        if (bin != fullest && histogram[static_cast<std::size_t>(bin)] > histogram[static_cast<std::size_t>(second)])
            second = bin;
    return static_cast<std::uint8_t>(std::clamp<std::ptrdiff_t>((fullest + second) / 2, 50, 200));
}

std::uint8_t otsu_threshold(const Histogram& histogram) {
    return static_cast<std::uint8_t>(otsu_sequence(histogram.data(), pixels_in(histogram)));
}

// The shift leaves room for the sums of a smoothing pass and gives the rounding enough precision.
std::uint8_t two_peaks_threshold(const Histogram& histogram) {
    auto bins = histogram;
    const int shift = two_peaks_bits - static_cast<int>(std::bit_width(pixels_in(histogram)));
    for (auto& bin : bins) bin <<= shift;
    for (int pass = 0;; ++pass) {
        const int peaks = peaks_of(bins);
        if (peaks == 2) return valley_of(bins);
        if (peaks < 2 || pass == two_peaks_most_passes) return otsu_threshold(histogram);
        bins = smoothed(bins);
    }
}

std::uint8_t choose_threshold(ThresholdMethod method, const Histogram& histogram) {
    switch (method) {
        case ThresholdMethod::two_max: return two_max_threshold(histogram);
        case ThresholdMethod::otsu: return otsu_threshold(histogram);
        case ThresholdMethod::ink:
            return static_cast<std::uint8_t>(ink_threshold(histogram.data(), otsu_threshold(histogram)));
        case ThresholdMethod::two_peaks: break;
    }
    return two_peaks_threshold(histogram);
}

}  // namespace framewire

// Registry entry of `binarize` and the part of Binarize that does not depend on the backend. The entry covers three
// classes: Binarize for fixed thresholds and thresholds from a histogram, Document and Sauvola for uneven paper.

namespace framewire {
namespace {

// Size of a band: small compared with a core's L2 cache, but large enough that handing a band to a thread costs little.
constexpr std::int64_t band_bytes = 128 * 1024;

// Values of the option `method`.
enum class BinarizeMethod { two_max, otsu, two_peaks, document, sauvola, fixed };

constexpr NamedValue<BinarizeMethod> binarize_method_names[] = {
    {"two-max", BinarizeMethod::two_max},     {"otsu", BinarizeMethod::otsu},
    {"two-peaks", BinarizeMethod::two_peaks}, {"document", BinarizeMethod::document},
    {"sauvola", BinarizeMethod::sauvola},     {"fixed", BinarizeMethod::fixed}};

// All parameters of the registry entry, for every method.
struct BinarizeSettings {
    BinarizeMethod method = BinarizeMethod::two_max;
    BinarizeParameters binarize{};
    SauvolaParameters sauvola{};
    DocumentParameters document{};
};
static_assert(DocumentParameters{}.window == SauvolaParameters{}.window, "both methods share the default window");

const ParameterFields<BinarizeSettings>& binarize_fields() {
    using S = BinarizeSettings;
    static const ParameterFields<S> fields = {
        parameter_field(
            &S::method, binarize_method_names,
            {.name = "method",
             .help = "two-max: mean of the two most frequent values, clamped to 50..200; otsu: as in OpenCV; "
                     "two-peaks: the valley of the smoothed histogram; document: for ink on uneven paper, otsu after "
                     "dividing by the paper's brightness, without specks, and white if nothing stands out from the "
                     "paper's noise; sauvola: local, for documents; fixed: the value of level"}),
        parameter_field<S>([](auto& all) -> auto& { return all.binarize.level; },
                           {.name = "level", .help = "threshold for method=fixed", .maximum = 255}),
        parameter_field<S>([](auto& all) -> auto& { return all.sauvola.window; },
                           {.name = "window",
                            .help = "side of the square around each pixel for method=document (up to 63) and "
                                    "method=sauvola; should be wider than two strokes",
                            .minimum = 3,
                            .maximum = max_sauvola_window,
                            .odd_only = true}),
        parameter_field<S>([](auto& all) -> auto& { return all.sauvola.k; },
                           {.name = "k",
                            .help = "for method=sauvola: larger values leave less black in areas of low contrast",
                            .maximum = 1}),
    };
    return fields;
}

// Throws Error{usage} if a parameter that the chosen method does not read has another value than its default.
BinarizeSettings settings_from(const ParameterValues& values) {
    auto settings = binarize_fields().from(values);
    const auto refuse = [&](std::string_view name, std::string_view methods) {
        fail(ErrorCode::usage, "{} {} requires {}, not method={}", name, values.text(name), methods,
             values.text("method"));
    };
    const BinarizeSettings defaults;
    const auto method = settings.method;
    const int window = settings.sauvola.window;
    if (method != BinarizeMethod::fixed && settings.binarize.level != defaults.binarize.level)
        refuse("level", "method=fixed");
    if (method == BinarizeMethod::document) {
        if (window > max_document_window)
            fail(ErrorCode::usage, "window {} requires method=sauvola; with method=document it is at most {}", window,
                 max_document_window);
        settings.document.window = window;
    } else if (method != BinarizeMethod::sauvola && window != defaults.sauvola.window) {
        refuse("window", "method=document or method=sauvola");
    }
    if (method != BinarizeMethod::sauvola && settings.sauvola.k != defaults.sauvola.k) refuse("k", "method=sauvola");
    return settings;
}

// Returns nothing for methods that do not take a threshold from a histogram.
std::optional<ThresholdMethod> threshold_method(BinarizeMethod method) {
    switch (method) {
        case BinarizeMethod::two_max: return ThresholdMethod::two_max;
        case BinarizeMethod::otsu: return ThresholdMethod::otsu;
        case BinarizeMethod::two_peaks: return ThresholdMethod::two_peaks;
        default: return {};
    }
}

}  // namespace

// Allocates everything that runs need, depending on the backend. A fixed level needs no histograms.
Binarize::Binarize(BinarizeParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "binarize's image");
    binarize_fields().check({.binarize = parameters}, "binarize");
    // The result is thresholded in bands of about band_bytes.
    const auto frames = static_cast<std::size_t>(shape.frames);
    bands_ = static_cast<int>(std::clamp<std::int64_t>(shape.frame_bytes() / band_bytes, 1, shape.height));
    // Every band has a fixed cost, as much as counting 50,000 pixels, so there are only enough bands to keep the
    // threads busy.
    const auto bands_for_all = (2 * executor.pool().threads() + shape.frames - 1) / shape.frames;
    histogram_bands_ = std::clamp(bands_for_all, 1, bands_);
    thresholds_ = BackendBuffer(frames, executor);
    thresholds_.fill(parameters.level);
    if (!parameters.method) return;
    // On the GPU a single histogram per frame is shared by all blocks.
    const bool on_cpu = executor.backend() == Backend::cpu;
    const auto histograms = on_cpu ? frames * static_cast<std::size_t>(histogram_bands_) : frames;
    histograms_ = BackendBuffer(histograms * sizeof(Histogram), executor);
    histograms_.fill(0);
    if (on_cpu && shape.channels == 3) gray_ = HostBuffer(static_cast<std::size_t>(shape.with_channels(1).bytes()));
}

// Copies the thresholds to the host only now, so that runs do not wait for them.
std::vector<FilterFigure> Binarize::figures() const {
    if (!has_run_) return {};
    std::vector<std::uint8_t> thresholds(static_cast<std::size_t>(shape_.frames));
    thresholds_.get(thresholds.data(), thresholds.size());
    std::vector<FilterFigure> figures;
    for (int frame = 0; frame < shape_.frames; ++frame)
        figures.push_back({"threshold", frame, static_cast<double>(thresholds[static_cast<std::size_t>(frame)])});
    return figures;
}

FilterInfo binarize_info() {
    return {
        .name = "binarize",
        .summary = "converts to black and white: pixels brighter than a threshold become white",
        .parameters = binarize_fields().infos(),
        .examples = {"binarize=otsu", "binarize=document", "binarize=fixed:level=100",
                     "binarize=sauvola:window=31:k=0.3"},
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                settings_from(values);
                return shape;
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            auto settings = settings_from(values);
            if (settings.method == BinarizeMethod::document)
                return std::make_unique<FilterOf<Document>>(settings.document, shape, executor);
            if (settings.method == BinarizeMethod::sauvola)
                return std::make_unique<FilterOf<Sauvola>>(settings.sauvola, shape, executor);
            settings.binarize.method = threshold_method(settings.method);
            return std::make_unique<FilterOf<Binarize>>(settings.binarize, shape, executor);
        },
        .pointwise = [](const ParameterValues& values) -> std::optional<PointwiseOp> {
            const auto settings = settings_from(values);
            if (settings.method != BinarizeMethod::fixed) return {};
            return PointwiseOp{.filter = "binarize",
                               .values = {settings.binarize.level},
                               .run =
                                   [](const PointwiseOp& op, const PointwiseSpan& span) {
                                       binarize_span(op.values[0], span.in, span.channels, span.pixels,
                                                     span.out_channels, span.out);
                                   },
                               .figure = "threshold",
                               .gives_gray = true,
                               .needs_gray = GrayMethod::weighted};
        },
    };
}

}  // namespace framewire

#endif  // HWY_ONCE
