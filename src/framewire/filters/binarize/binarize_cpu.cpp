#include "framewire/core/simd/simd.hpp"
#include "framewire/filters/binarize/binarize.hpp"
#include "framewire/filters/binarize/gray_histogram.hpp"
#include "framewire/filters/gray_input/gray_weights.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/binarize/binarize_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/filters/gray_input/gray_vectors-inl.hpp"

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

// White where the gray value is above the threshold.
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
