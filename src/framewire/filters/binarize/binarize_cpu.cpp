#include "framewire/core/simd.hpp"
#include "framewire/filters/binarize/binarize.hpp"
#include "framewire/filters/gray/gray.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/binarize/binarize_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/filters/gray/gray-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Pixels of `channels` with the gray values `gray`, from vectors: out(x, gray) for whole vectors, rest(x, gray) for the
// pixels that fill none.
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

// White where gray is above the threshold.
void binarize_span(const std::uint8_t* in, int in_channels, std::int64_t pixels, std::uint8_t threshold, int channels,
                   std::uint8_t* out) {
    const hn::ScalableTag<std::uint8_t> d8;
    const auto threshold_vector = hn::Set(d8, threshold);
    for_gray(
        in, in_channels, pixels,
        [&](std::int64_t x, auto gray) HWY_ATTR {
            // gray - threshold, held to 0, is 0 where gray is not above.
            const auto above = hn::SaturatedSub(gray, threshold_vector);
            const auto white = hn::VecFromMask(d8, hn::Ne(above, hn::Zero(d8)));
            if (channels == 1)
                hn::StoreU(white, d8, out + x);
            else
                hn::StoreInterleaved3(white, white, white, d8, out + 3 * x);
        },
        [&](std::int64_t x, std::uint8_t gray) HWY_ATTR {
            for (int channel = 0; channel < channels; ++channel) out[x * channels + channel] = gray > threshold ? 255 : 0;
        });
}

// Adds both values of all pairs to a histogram; pairs[256 * a + b] counts how often a and b stood side by side.
void add_pairs(const std::uint32_t* pairs, std::uint32_t* histogram) {
    const hn::ScalableTag<std::uint32_t> d32;
    const auto step = hn::Lanes(d32);
    for (std::size_t first = 0; first < 256; ++first) {
        auto sum = hn::Zero(d32);
        for (std::size_t second = 0; second < 256; second += step) {
            const auto counts = hn::LoadU(d32, pairs + 256 * first + second);
            sum = hn::Add(sum, counts);
            hn::StoreU(hn::Add(hn::LoadU(d32, histogram + second), counts), d32, histogram + second);
        }
        histogram[first] += hn::GetLane(hn::SumOfLanes(d32, sum));
    }
}

// The gray values of BGR pixels.
void gray_values(const std::uint8_t* bgr, std::int64_t pixels, std::uint8_t* out) {
    const hn::ScalableTag<std::uint8_t> d8;
    for_gray(
        bgr, 3, pixels, [&](std::int64_t x, auto gray) HWY_ATTR { hn::StoreU(gray, d8, out + x); },
        [&](std::int64_t x, std::uint8_t gray) HWY_ATTR { out[x] = gray; });
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <cstring>

namespace framewire {

HWY_EXPORT(add_pairs);
HWY_EXPORT(binarize_span);
HWY_EXPORT(gray_values);

void binarize_span(int level, const std::uint8_t* in, int channels, std::int64_t pixels, std::uint8_t* out) {
    HWY_DYNAMIC_DISPATCH(binarize_span)(in, channels, pixels, static_cast<std::uint8_t>(level), channels, out);
}

namespace {

constexpr std::int64_t piece_px = 4096;  // pixels made gray and counted at a time, in a core's L1

// Counts gray values two neighbours at a time: a core stores one count a cycle at best, so half as many counts take half
// the time. (1080p, one thread: 0.27 ms; eight histograms of single values 0.5 ms, one 0.9 ms.)
class PairHistogram {
public:
    PairHistogram() { std::memset(pairs_, 0, sizeof pairs_); }

    void add(const std::uint8_t* values, std::int64_t count) {
        std::int64_t at = 0;
        for (; at + 8 <= count; at += 8) {
            std::uint64_t eight;
            std::memcpy(&eight, values + at, sizeof eight);
            ++pairs_[eight & 65535];
            ++pairs_[eight >> 16 & 65535];
            ++pairs_[eight >> 32 & 65535];
            ++pairs_[eight >> 48];
        }
        for (; at < count; ++at) ++singles_[values[at]];
    }

    void sum(Histogram& out) const {
        out = singles_;
        HWY_DYNAMIC_DISPATCH(add_pairs)(pairs_, out.data());
    }

private:
    std::uint32_t pairs_[256 * 256];
    Histogram singles_{};
};

// Runs of pixels of a band of rows: one where the rows have no gaps, else one a row.
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
    // Calls body(band, frame, first row, end row) for so many bands of every frame, in parallel.
    const auto for_bands = [&](int bands, auto&& body) {
        pool.for_chunks(std::int64_t{shape_.frames} * bands, 1, [&](std::int64_t band, std::int64_t, std::int64_t) {
            const auto number = band % bands;
            body(band, static_cast<int>(band / bands), static_cast<int>(number * shape_.height / bands),
                 static_cast<int>((number + 1) * shape_.height / bands));
        });
    };
    // The second pass takes the gray values that the first one made: a third of the bytes, and nearer.
    auto gray = images.in;
    if (parameters_.method && shape_.channels == 3) gray = {gray_.data(), shape_.with_channels(1)};
    if (parameters_.method) {
        auto* histograms = band_histograms_.as<Histogram>();
        for_bands(histogram_bands_, [&](std::int64_t band, int frame, int begin, int end) {
            PairHistogram pairs;
            for_runs(shape_, images.in.dense_rows(), begin, end, [&](int y, std::int64_t pixels) {
                if (shape_.channels == 1) return pairs.add(images.in.row(frame, y), pixels);
                for (std::int64_t x = 0; x < pixels; x += piece_px) {
                    const auto piece = std::min(piece_px, pixels - x);
                    auto* values = gray_.data() + (std::int64_t{frame} * shape_.height + y) * shape_.width + x;
                    HWY_DYNAMIC_DISPATCH(gray_values)(images.in.row(frame, y) + 3 * x, piece, values);
                    pairs.add(values, piece);
                }
            });
            pairs.sum(histograms[band]);
        });
        pool.for_chunks(shape_.frames, 1, [&](std::int64_t frame, std::int64_t, std::int64_t) {
            auto& sum = histograms[frame * histogram_bands_];
            for (int band = 1; band < histogram_bands_; ++band)
                for (std::size_t bin = 0; bin < sum.size(); ++bin) sum[bin] += histograms[frame * histogram_bands_ + band][bin];
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
