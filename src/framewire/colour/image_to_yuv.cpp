#include "framewire/colour/image_to_yuv.hpp"
#include "framewire/colour/yuv.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/colour/image_to_yuv.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

// Converts BGR or gray images to YUV on the CPU. A thread takes a row of chroma with its one or two rows of luma, in
// segments:
//
//     luma_and_sums()   reads each source row once: writes luma, adds up the rows per channel (Sums)
//     chroma_of_sums()  joins adjacent columns of the sums and writes chroma
//
// Vectors keep even and odd pixels apart, so that bytes widen to 16 bits with a mask and a shift.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::ScalableTag<std::int16_t>;
using V8 = hn::VFromD<D8>;
using V16 = hn::VFromD<D16>;

// Pixels per segment of a row; the sums of a segment stay in L1.
constexpr int segment_px = 1024;
constexpr int lanes_at_most = HWY_MAX_BYTES / 2;

// An image row that contributes to a row of chroma, starting at the first pixel of the segment. If `luma` is
// not null, the row's own luma is written there.
struct SourceRow {
    const std::uint8_t* pixels;
    int weight;
    std::uint8_t* luma;
};

// The rows that contribute to a row of chroma: one or two, and also the row above if chroma is sited on the
// upper row.
struct SourceRows {
    SourceRow rows[3];
    int count = 0;
};

// Weighted sums of the rows per channel: four times the mean over the rows. Even and odd pixels are separate; the odd
// ones include one additional pixel on the left.
struct Sums {
    HWY_ALIGN std::int16_t sums[3][2][segment_px / 2 + 2 * lanes_at_most];

    std::int16_t* of(int channel, int parity) { return sums[channel][parity] + lanes_at_most; }
};

// A vector's even and odd pixels, as 16-bit numbers.
struct EvenOdd {
    V16 even, odd;
};

// Widens bytes: even ones with a mask, odd ones with a shift.
HWY_INLINE EvenOdd halves(V8 bytes) {
    const hn::ScalableTag<std::uint16_t> d;
    const auto both = hn::BitCast(d, bytes);
    return {hn::BitCast(D16(), hn::And(both, hn::Set(d, 255))), hn::BitCast(D16(), hn::ShiftRight<8>(both))};
}

// Interleaves even and odd numbers of 0..255 as bytes.
HWY_INLINE V8 bytes(V16 even, V16 odd) { return hn::BitCast(D8(), hn::Or(even, hn::ShiftLeft<8>(odd))); }

// One of the components Y, U and V: the weights of B, G and R, and the offsets added before and after the lower 7 bits
// are dropped.
class Component {
public:
    HWY_INLINE Component(std::int16_t b, std::int16_t g, std::int16_t r, std::int16_t before, std::int16_t after)
        : b_(hn::Set(d, b)),
          g_(hn::Set(d, g)),
          r_(hn::Set(d, r)),
          before_(hn::Set(d, before)),
          after_(hn::Set(d, after)) {}

    // Computes the component from channels scaled to 15 bits.
    HWY_INLINE V16 operator()(V16 b, V16 g, V16 r) const {
        const auto sum = hn::Add(hn::Add(hn::MulFixedPoint15(b, b_), hn::MulFixedPoint15(g, g_)),
                                 hn::Add(hn::MulFixedPoint15(r, r_), before_));
        return hn::Add(hn::ShiftRight<to_yuv_shift>(sum), after_);
    }

private:
    static constexpr D16 d{};
    V16 b_, g_, r_, before_, after_;
};

// The three output components.
struct Components {
    Component y, u, v;

    explicit HWY_INLINE Components(const ToYuvCoefficients& by)
        : y(by.y_b, by.y_g, by.y_r, by.y_offset, 0),
          u(by.u_b, by.u_g, by.u_r, chroma_rounding, 128),
          v(by.v_b, by.v_g, by.v_r, chroma_rounding, 128) {}
};

// A vector of pixels, per channel.
struct Bgr {
    EvenOdd channels[3];
};

// Loads a vector of interleaved pixels.
HWY_INLINE Bgr load_bgr(const std::uint8_t* at) {
    V8 b, g, r;
    hn::LoadInterleaved3(D8(), at, b, g, r);
    return {{halves(b), halves(g), halves(r)}};
}

// Returns the luma of a vector of pixels as bytes.
HWY_INLINE V8 luma_of(const Bgr& bgr, const Component& y) {
    const auto& [b, g, r] = bgr.channels;
    return bytes(y(hn::ShiftLeft<7>(b.even), hn::ShiftLeft<7>(g.even), hn::ShiftLeft<7>(r.even)),
                 y(hn::ShiftLeft<7>(b.odd), hn::ShiftLeft<7>(g.odd), hn::ShiftLeft<7>(r.odd)));
}

// Copy of a row's last pixels, fewer than a vector, padded by repeating the last one.
class LastPixels {
public:
    HWY_INLINE const std::uint8_t* copy(const std::uint8_t* from, int count) {
        const auto step = static_cast<int>(hn::Lanes(D8()));
        std::memcpy(bytes_, from, static_cast<std::size_t>(3 * count));
        for (int at = count; at < step; ++at) std::memcpy(bytes_ + 3 * at, from + 3 * (count - 1), 3);
        return bytes_;
    }

private:
    HWY_ALIGN std::uint8_t bytes_[3 * HWY_MAX_BYTES];
};

// Writes the luma of `count` pixels of each row that has a destination, and stores the sums of the rows.
template <bool with_sums>
void luma_and_sums(const SourceRows& source, int count, const Components& by, Sums& sums) {
    const D16 d;
    const auto step = static_cast<int>(hn::Lanes(D8()));
    LastPixels last;
    HWY_ALIGN std::uint8_t last_luma[HWY_MAX_BYTES];
    for (int x = 0; x < count; x += step) {
        const bool whole = x + step <= count;
        EvenOdd total[3] = {};
        if constexpr (with_sums)
            for (auto& channel : total) channel = {hn::Zero(d), hn::Zero(d)};
        for (int row = 0; row < source.count; ++row) {
            const auto& [pixels, weight, luma] = source.rows[row];
            const auto bgr = load_bgr(whole ? pixels + 3 * x : last.copy(pixels + 3 * x, count - x));
            if (luma && whole) {
                hn::StoreU(luma_of(bgr, by.y), D8(), luma + x);
            } else if (luma) {
                hn::StoreU(luma_of(bgr, by.y), D8(), last_luma);
                std::memcpy(luma + x, last_luma, static_cast<std::size_t>(count - x));
            }
            if constexpr (with_sums) {
                // Weight of the row in quarters: 1, 2 or 4.
                const auto times = hn::Set(d, static_cast<std::int16_t>(weight));
                for (int channel = 0; channel < 3; ++channel) {
                    const auto& from = bgr.channels[channel];
                    auto& to = total[channel];
                    to = {hn::Add(to.even, hn::Mul(from.even, times)), hn::Add(to.odd, hn::Mul(from.odd, times))};
                }
            }
        }
        if constexpr (with_sums)
            for (int channel = 0; channel < 3; ++channel) {
                hn::StoreU(total[channel].even, d, sums.of(channel, 0) + x / 2);
                hn::StoreU(total[channel].odd, d, sums.of(channel, 1) + x / 2);
            }
    }
}

// Destination of a row of chroma. If `interleaved`, U and V alternate at `u`.
struct ChromaRow {
    std::uint8_t *u, *v;
    bool interleaved;
};

// Computes `count` chroma samples from the sums.
template <bool centred>
void chroma_of_sums(Sums& sums, int count, const Components& by, const ChromaRow& to) {
    const D16 d;
    const hn::Half<D8> half;
    const auto lanes = static_cast<int>(hn::Lanes(d));
    HWY_ALIGN std::uint8_t last[HWY_MAX_BYTES];
    for (int at = 0; at < count; at += lanes) {
        V16 mean[3];
        for (int channel = 0; channel < 3; ++channel) {
            const auto even = hn::LoadU(d, sums.of(channel, 0) + at), odd = hn::LoadU(d, sums.of(channel, 1) + at);
            // The sum of the columns scaled to 15 bits: 2 x 4 or 4 x 4 times the mean, shifted by 4 or 3.
            if constexpr (centred)
                mean[channel] = hn::ShiftLeft<4>(hn::Add(even, odd));
            else
                mean[channel] = hn::ShiftLeft<3>(
                    hn::Add(hn::Add(even, even), hn::Add(odd, hn::LoadU(d, sums.of(channel, 1) + at - 1))));
        }
        const auto u = by.u(mean[0], mean[1], mean[2]), v = by.v(mean[0], mean[1], mean[2]);
        const bool whole = at + lanes <= count;
        const auto rest = static_cast<std::size_t>(count - at);
        if (to.interleaved) {
            // Luma always fits a byte; chroma can exceed 255 by rounding.
            const auto most = hn::Set(d, 255);
            const auto both = bytes(hn::Min(u, most), hn::Min(v, most));
            hn::StoreU(both, D8(), whole ? to.u + 2 * at : last);
            if (!whole) std::memcpy(to.u + 2 * at, last, 2 * rest);
            continue;
        }
        hn::StoreU(hn::DemoteTo(half, u), half, whole ? to.u + at : last);
        if (!whole) std::memcpy(to.u + at, last, rest);
        hn::StoreU(hn::DemoteTo(half, v), half, whole ? to.v + at : last);
        if (!whole) std::memcpy(to.v + at, last, rest);
    }
}

// Converts a row to 4:4:4, with chroma for each pixel.
void row_to_444(const std::uint8_t* pixels, int count, const Components& by, std::uint8_t* luma, const ChromaRow& to) {
    const D16 d;
    const auto step = static_cast<int>(hn::Lanes(D8()));
    const auto most = hn::Set(d, 255);
    LastPixels last;
    // Converts one vector of pixels to three planes.
    const auto convert = [&](const std::uint8_t* from, std::uint8_t* y, std::uint8_t* u, std::uint8_t* v) HWY_ATTR {
        auto bgr = load_bgr(from);
        for (auto& channel : bgr.channels) channel = {hn::ShiftLeft<7>(channel.even), hn::ShiftLeft<7>(channel.odd)};
        const auto& [b, g, r] = bgr.channels;
        hn::StoreU(bytes(by.y(b.even, g.even, r.even), by.y(b.odd, g.odd, r.odd)), D8(), y);
        hn::StoreU(bytes(hn::Min(by.u(b.even, g.even, r.even), most), hn::Min(by.u(b.odd, g.odd, r.odd), most)), D8(),
                   u);
        hn::StoreU(bytes(hn::Min(by.v(b.even, g.even, r.even), most), hn::Min(by.v(b.odd, g.odd, r.odd), most)), D8(),
                   v);
    };
    int x = 0;
    for (; x + step <= count; x += step) convert(pixels + 3 * x, luma + x, to.u + x, to.v + x);
    if (x == count) return;
    HWY_ALIGN std::uint8_t last_yuv[3][HWY_MAX_BYTES];
    convert(last.copy(pixels + 3 * x, count - x), last_yuv[0], last_yuv[1], last_yuv[2]);
    const auto rest = static_cast<std::size_t>(count - x);
    std::memcpy(luma + x, last_yuv[0], rest);
    std::memcpy(to.u + x, last_yuv[1], rest);
    std::memcpy(to.v + x, last_yuv[2], rest);
}

// Computes the luma of a row of pixels whose three channels are equal.
void equal_channels_row(const std::uint8_t* values, int count, const Components& by, std::uint8_t* luma) {
    const auto step = static_cast<int>(hn::Lanes(D8()));
    const auto convert = [&](const std::uint8_t* from, std::uint8_t* to) HWY_ATTR {
        const auto both = halves(hn::LoadU(D8(), from));
        hn::StoreU(luma_of({{both, both, both}}, by.y), D8(), to);
    };
    int x = 0;
    for (; x + step <= count; x += step) convert(values + x, luma + x);
    HWY_ALIGN std::uint8_t last[HWY_MAX_BYTES] = {};
    std::memcpy(last, values + x, static_cast<std::size_t>(count - x));
    convert(last, last);
    std::memcpy(luma + x, last, static_cast<std::size_t>(count - x));
}

// Computes the luma of a row of gray.
void gray_row(const std::uint8_t* gray, int count, const ToYuvCoefficients& by, std::uint8_t* luma) {
    if (by.y_gray == 1 << 15) {  // the factor 1, which does not fit 16 bits
        std::memcpy(luma, gray, static_cast<std::size_t>(count));
        return;
    }
    const D16 d;
    const auto step = static_cast<int>(hn::Lanes(D8()));
    const auto factor = hn::Set(d, static_cast<std::int16_t>(by.y_gray)), offset = hn::Set(d, by.y_offset);
    const auto convert = [&](const std::uint8_t* from, std::uint8_t* to) HWY_ATTR {
        const auto one = [&](V16 value) HWY_ATTR {
            return hn::ShiftRight<to_yuv_shift>(hn::Add(hn::MulFixedPoint15(hn::ShiftLeft<7>(value), factor), offset));
        };
        const auto values = halves(hn::LoadU(D8(), from));
        hn::StoreU(bytes(one(values.even), one(values.odd)), D8(), to);
    };
    int x = 0;
    for (; x + step <= count; x += step) convert(gray + x, luma + x);
    HWY_ALIGN std::uint8_t last[HWY_MAX_BYTES] = {};
    std::memcpy(last, gray + x, static_cast<std::size_t>(count - x));
    convert(last, last);
    std::memcpy(luma + x, last, static_cast<std::size_t>(count - x));
}

// The images to convert. Row 0 of the view is row `first` of the image. If the view has one channel, it is gray or, if
// `equal_channels` is set, all three channels.
struct SourceImage {
    HostView<const std::uint8_t> view;
    int first;
    bool equal_channels;

    HWY_INLINE const std::uint8_t* row(int frame, int y) const { return view.row(frame, y - first); }
};

// Converts row `row` of chroma, or of luma if there is no chroma, together with its rows of luma.
void one_row(const SourceImage& image, const HostYuv<std::uint8_t>& picture, const ToYuvCoefficients& by,
             const Components& components, int frame, int row) {
    const auto& info = picture.info;
    const auto chroma = info.format.chroma;
    const bool halved_y = chroma == ChromaSampling::s420;
    const int first = halved_y ? 2 * row : row, end = std::min(first + (halved_y ? 2 : 1), info.height);
    const auto luma = [&](int y) { return picture.planes[0].row(frame, y); };
    // Without chroma both pointers stay null.
    ChromaRow to{nullptr, nullptr, info.format.interleaved};
    if (chroma != ChromaSampling::none) {
        to.u = picture.planes[1].row(frame, row);
        if (!to.interleaved) to.v = picture.planes[2].row(frame, row);
    }
    if (image.view.shape().channels == 1) {
        for (int y = first; y < end; ++y)
            if (image.equal_channels)
                equal_channels_row(image.row(frame, y), info.width, components, luma(y));
            else
                gray_row(image.row(frame, y), info.width, by, luma(y));
        if (to.u) std::memset(to.u, 128, static_cast<std::size_t>(info.plane_row_bytes(1)));
        if (to.v) std::memset(to.v, 128, static_cast<std::size_t>(info.plane_row_bytes(2)));
        return;
    }
    if (chroma == ChromaSampling::s444) return row_to_444(image.row(frame, row), info.width, components, luma(row), to);

    const auto taps = pixel_taps(row, halved_y, info.siting.centred_y);
    Sums sums;
    for (int x = 0; x < info.width; x += segment_px) {
        const int count = std::min(segment_px, info.width - x);
        SourceRows source;
        if (chroma == ChromaSampling::none) {
            source = {{{image.row(frame, row) + 3 * x, 0, luma(row) + x}}, 1};
            luma_and_sums<false>(source, count, components, sums);
            continue;
        }
        for (int tap = 0; tap < 3; ++tap) {
            if (taps.weights[tap] == 0) continue;
            const int y = taps.first + tap;
            // Luma is written only together with the row of chroma that it belongs to.
            const bool own = y >= first && y < end;
            source.rows[source.count++] = {image.row(frame, held_index(y, info.height)) + 3 * x, taps.weights[tap],
                                           own ? luma(y) + x : nullptr};
        }
        // The sample at the start of a segment needs the sum of one pixel to its left; at the border that pixel
        // is replicated.
        for (int channel = 0; channel < 3; ++channel) {
            int sum = 0;
            for (int at = 0; at < source.count; ++at)
                sum += source.rows[at].weight * source.rows[at].pixels[(x > 0 ? -3 : 0) + channel];
            sums.of(channel, 1)[-1] = static_cast<std::int16_t>(sum);
        }
        luma_and_sums<true>(source, count, components, sums);
        const ChromaRow part{to.u + x / 2 * (to.interleaved ? 2 : 1), to.v ? to.v + x / 2 : nullptr, to.interleaved};
        if (info.siting.centred_x)
            chroma_of_sums<true>(sums, (count + 1) / 2, components, part);
        else
            chroma_of_sums<false>(sums, (count + 1) / 2, components, part);
    }
}

}  // namespace

// Converts rows `begin` to `end` - 1 of chroma, or of luma if there is no chroma, numbered across all frames.
void image_to_yuv_rows(HostView<const std::uint8_t> image, int first, bool equal_channels,
                       const HostYuv<std::uint8_t>& picture, const ToYuvCoefficients& by, std::int64_t begin,
                       std::int64_t end) {
    const Components components(by);
    const SourceImage source{image, first, equal_channels};
    const auto rows = picture.info.chroma_height();
    for (auto row = begin; row < end; ++row)
        one_row(source, picture, by, components, static_cast<int>(row / rows), static_cast<int>(row % rows));
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "framewire/colour/yuv.hpp"

namespace framewire {

HWY_EXPORT(image_to_yuv_rows);

// Chunks are rows of chroma, so that no two threads write the same row of luma or chroma.
void ImageToYuv::run(HostView<const std::uint8_t> image, const HostYuv<std::uint8_t>& picture) const {
    validate(image, image_shape(), "the image to convert to YUV");
    validate(picture, picture_, "the YUV picture");
    const auto by = to_yuv_coefficients(picture_.coding);
    const auto rows = std::int64_t{picture_.frames} * picture_.chroma_height();
    const int high = picture_.format.chroma == ChromaSampling::s420 ? 2 : 1;
    threads_->for_chunks(rows, rows_each(high * image_shape().row_bytes()),
                         [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                             HWY_DYNAMIC_DISPATCH(image_to_yuv_rows)(image, 0, false, picture, by, begin, end);
                         });
}

RowRange ImageToYuv::rows_needed(const RowRange& made) const {
    const bool row_above = picture_.format.chroma == ChromaSampling::s420 && !picture_.siting.centred_y;
    return {row_above ? std::max(made.begin - 1, 0) : made.begin, made.end};
}

// Checks the image rows before it writes anything.
void ImageToYuv::run_rows(const ImageRows<const std::uint8_t>& rows, const RowRange& made,
                          const HostYuv<std::uint8_t>& picture) const {
    validate(picture, picture_, "the YUV picture");
    const bool equal_channels = channels_ == 3 && rows.view.shape().channels == 1;
    validate_rows(rows, image_shape().with_channels(equal_channels ? 1 : channels_), "the rows to convert to YUV");
    const auto need = rows_needed(made), have = rows.range();
    const int high = picture_.format.chroma == ChromaSampling::s420 ? 2 : 1;
    if (made.begin < 0 || made.end > picture_.height || made.begin % high != 0 ||
        (made.end % high != 0 && made.end != picture_.height) || need.begin < have.begin || need.end > have.end)
        fail(ErrorCode::usage, "cannot compute YUV rows {} to {} from rows {} to {} of a {} image", made.begin,
             made.end, have.begin, have.end, to_string(image_shape()));
    HWY_DYNAMIC_DISPATCH(image_to_yuv_rows)
    (rows.view, rows.first, equal_channels, picture, to_yuv_coefficients(picture_.coding), made.begin / high,
     (made.end + high - 1) / high);
}

}  // namespace framewire

#endif
