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
void binarize_span(const std::uint8_t* in, int channels, std::int64_t pixels, std::uint8_t threshold, std::uint8_t* out) {
    const hn::ScalableTag<std::uint8_t> d8;
    const auto threshold_vector = hn::Set(d8, threshold);
    for_gray(
        in, channels, pixels,
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

HWY_EXPORT(binarize_span);
HWY_EXPORT(gray_values);

void binarize_span(int level, const std::uint8_t* in, int channels, std::int64_t pixels, std::uint8_t* out) {
    HWY_DYNAMIC_DISPATCH(binarize_span)(in, channels, pixels, static_cast<std::uint8_t>(level), out);
}

namespace {

// Pixels alike stand side by side, and a count that was just stored is slow to load again: neighbours are counted in
// histograms of their own.
class NeighbourHistograms {
public:
    NeighbourHistograms() { std::memset(counts_, 0, sizeof counts_); }

    void add(const std::uint8_t* values, std::int64_t count) {
        std::int64_t at = 0;
        for (; at + ways <= count; at += ways) {
            std::uint64_t eight;
            std::memcpy(&eight, values + at, sizeof eight);
            for (int way = 0; way < ways; ++way) ++counts_[way][eight >> (8 * way) & 255];
        }
        for (; at < count; ++at) ++counts_[0][values[at]];
    }

    void sum(Histogram& out) const {
        for (std::size_t bin = 0; bin < out.size(); ++bin) {
            out[bin] = 0;
            for (const auto& way : counts_) out[bin] += way[bin];
        }
    }

private:
    static constexpr int ways = 8;
    std::uint32_t counts_[ways][256];
};

// Runs of pixels of a band of rows: one where the rows have no gaps, else one a row.
template <class Body>
void for_runs(const Shape& shape, bool dense_rows, int begin, int end, Body&& body) {
    if (dense_rows)
        body(begin, std::int64_t{end - begin} * shape.width);
    else
        for (int y = begin; y < end; ++y) body(y, std::int64_t{shape.width});
}

void add_run(NeighbourHistograms& histograms, const std::uint8_t* in, int channels, std::int64_t pixels) {
    if (channels == 1) return histograms.add(in, pixels);
    constexpr std::int64_t piece_px = 2048;
    std::uint8_t gray[piece_px];
    for (std::int64_t x = 0; x < pixels; x += piece_px) {
        const auto piece = std::min(piece_px, pixels - x);
        HWY_DYNAMIC_DISPATCH(gray_values)(in + 3 * x, piece, gray);
        histograms.add(gray, piece);
    }
}

}  // namespace

void Binarize::run(const FilterImages<MemorySpace::host>& images) {
    validate(images.in, shape_, "binarize's image");
    validate(images.out, shape_, "binarize's result");
    const auto& pool = executor_->pool();
    // Calls body(band, frame, first row, end row) for every band of every frame, in parallel.
    const auto for_bands = [&](auto&& body) {
        pool.for_chunks(std::int64_t{shape_.frames} * bands_per_frame_, 1, [&](std::int64_t band, std::int64_t, std::int64_t) {
            const auto number = band % bands_per_frame_;
            body(band, static_cast<int>(band / bands_per_frame_),
                 static_cast<int>(number * shape_.height / bands_per_frame_),
                 static_cast<int>((number + 1) * shape_.height / bands_per_frame_));
        });
    };
    if (parameters_.method) {
        auto* histograms = band_histograms_.as<Histogram>();
        for_bands([&](std::int64_t band, int frame, int begin, int end) {
            NeighbourHistograms neighbours;
            for_runs(shape_, images.in.dense_rows(), begin, end, [&](int y, std::int64_t pixels) {
                add_run(neighbours, images.in.row(frame, y), shape_.channels, pixels);
            });
            neighbours.sum(histograms[band]);
        });
        pool.for_chunks(shape_.frames, 1, [&](std::int64_t frame, std::int64_t, std::int64_t) {
            auto& sum = histograms[frame * bands_per_frame_];
            for (int band = 1; band < bands_per_frame_; ++band)
                for (std::size_t bin = 0; bin < sum.size(); ++bin) sum[bin] += histograms[frame * bands_per_frame_ + band][bin];
            thresholds_.data()[frame] = choose_threshold(*parameters_.method, sum);
        });
    }
    for_bands([&](std::int64_t, int frame, int begin, int end) {
        for_runs(shape_, images.in.dense_rows() && images.out.dense_rows(), begin, end, [&](int y, std::int64_t pixels) {
            HWY_DYNAMIC_DISPATCH(binarize_span)
            (images.in.row(frame, y), shape_.channels, pixels, thresholds_.data()[frame], images.out.row(frame, y));
        });
    });
    has_run_ = true;
}

}  // namespace framewire

#endif
