#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/colour/yuv.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/colour/yuv_to_image.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd-inl.hpp"

#include <algorithm>
#include <cstring>

// Converts YUV pictures to BGR or gray images on the CPU. A thread takes one row of pixels, in segments:
//
//     join_rows()         interpolates chroma between two rows of samples (Chroma)
//     segment_to_image()  loads luma, interpolates chroma between columns, and writes pixels

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::ScalableTag<std::int16_t>;
using DU16 = hn::ScalableTag<std::uint16_t>;
using V16 = hn::VFromD<D16>;
using VU16 = hn::VFromD<DU16>;

// A vector's even and odd pixels. Because they are separate, bytes widen to 16 bits with a mask and a shift, chroma
// between two samples is a sum of adjacent lanes, and results narrow to bytes with a shift and an OR.
struct EvenOdd {
    VU16 even, odd;
};
struct EvenOddNumbers {
    V16 even, odd;
};

// Memory layout of samples.
enum class Samples { bytes, lower_words, upper_words };

// Returns the memory layout of a format's samples.
Samples samples_of(const YuvFormat& format) {
    if (format.bits == 8) return Samples::bytes;
    return format.interleaved ? Samples::upper_words : Samples::lower_words;
}

// Pixels per segment of a row; the chroma of a segment stays in L1.
constexpr int segment_px = 1024;
constexpr int lanes_at_most = HWY_MAX_BYTES / 2;

// Horizontal positions of the chroma samples: none, on the left of two pixels, centred between two pixels, or one per
// pixel.
enum class Columns { none, left, centred, each };

// Largest number of quarters that divides the weights of both samples beside a pixel. Stored samples have already been
// multiplied by it, and the same share of 2^15 has been subtracted from them, so that sums are signed.
constexpr int quarters_of(Columns columns) { return columns == Columns::each ? 4 : columns == Columns::left ? 2 : 1; }
constexpr int zero_of(Columns columns) { return quarters_of(columns) << 13; }

// Both components of a segment, already interpolated between the rows above and below. There is one additional sample
// on the left and at least one on the right.
struct Chroma {
    HWY_ALIGN std::uint16_t samples[2][segment_px + 2 * lanes_at_most];

    std::uint16_t* of(int component) { return samples[component] + lanes_at_most; }
};

// Returns sample `at` of a row.
template <Samples kind>
HWY_INLINE int value_at(const std::uint8_t* row, int at) {
    if constexpr (kind == Samples::bytes) {
        return row[at];
    } else {
        return word_value(reinterpret_cast<const std::uint16_t*>(row)[at], kind == Samples::upper_words);
    }
}

// Extracts the samples from a vector of 16-bit words; see word_value().
template <Samples kind>
HWY_INLINE VU16 value_of(VU16 word) {
    const DU16 d;
    if constexpr (kind == Samples::lower_words) return hn::Min(word, hn::Set(d, 1023));
    if constexpr (kind == Samples::upper_words) return hn::ShiftRight<6>(word);
    return word;
}

// The two rows of samples around a row of pixels, their weights scaled to 2^16, and the offset that is
// subtracted from their sum.
struct RowPair {
    const std::uint8_t* rows[2];
    int weights[2];
    int zero;
};

// Interpolates samples `begin` to `end` - 1 between the two rows, for a plane of one component.
template <Samples kind>
void join_rows(const RowPair& pair, int begin, int end, int count, std::uint16_t* to) {
    const DU16 d;
    const hn::Half<D8> d8;
    const auto lanes = static_cast<int>(hn::Lanes(d));
    const auto weight0 = hn::Set(d, static_cast<std::uint16_t>(pair.weights[0]));
    const auto weight1 = hn::Set(d, static_cast<std::uint16_t>(pair.weights[1]));
    const auto zero = hn::Set(d, static_cast<std::uint16_t>(pair.zero));
    const auto load = [&](const std::uint8_t* row, int at) HWY_ATTR {
        if constexpr (kind == Samples::bytes)
            return hn::PromoteTo(d, hn::LoadU(d8, row + at));
        else
            return value_of<kind>(hn::LoadU(d, reinterpret_cast<const std::uint16_t*>(row) + at));
    };
    const auto one = [&](int at) {
        const int held = held_index(at, count);
        to[at - begin] = static_cast<std::uint16_t>(pair.weights[0] * value_at<kind>(pair.rows[0], held) +
                                                    pair.weights[1] * value_at<kind>(pair.rows[1], held) - pair.zero);
    };
    int at = begin;
    for (; at + lanes <= end; at += lanes) {
        const auto sum = hn::Add(hn::Mul(load(pair.rows[0], at), weight0), hn::Mul(load(pair.rows[1], at), weight1));
        hn::StoreU(hn::Sub(sum, zero), d, to + at - begin);
    }
    for (; at < end; ++at) one(at);
    one(begin - 1);
    one(end);
}

// Interpolates samples `begin` to `end` - 1 between the two rows, for a plane in which U and V alternate.
template <Samples kind>
void join_rows_of_pairs(const RowPair& pair, int begin, int end, int count, std::uint16_t* to_u, std::uint16_t* to_v) {
    const DU16 d;
    const auto lanes = static_cast<int>(hn::Lanes(d));
    const auto weight0 = hn::Set(d, static_cast<std::uint16_t>(pair.weights[0]));
    const auto weight1 = hn::Set(d, static_cast<std::uint16_t>(pair.weights[1]));
    const auto zero = hn::Set(d, static_cast<std::uint16_t>(pair.zero));
    const auto load = [&](const std::uint8_t* row, int at) HWY_ATTR {
        EvenOdd uv;
        if constexpr (kind == Samples::bytes) {
            const auto both = hn::BitCast(d, hn::LoadU(D8(), row + 2 * at));
            uv = {hn::And(both, hn::Set(d, 255)), hn::ShiftRight<8>(both)};
        } else {
            hn::LoadInterleaved2(d, reinterpret_cast<const std::uint16_t*>(row) + 2 * at, uv.even, uv.odd);
            uv = {value_of<kind>(uv.even), value_of<kind>(uv.odd)};
        }
        return uv;
    };
    const auto one = [&](int at) {
        const int held = 2 * held_index(at, count);
        for (int component = 0; component < 2; ++component)
            (component ? to_v : to_u)[at - begin] = static_cast<std::uint16_t>(
                pair.weights[0] * value_at<kind>(pair.rows[0], held + component) +
                pair.weights[1] * value_at<kind>(pair.rows[1], held + component) - pair.zero);
    };
    int at = begin;
    for (; at + lanes <= end; at += lanes) {
        const auto first = load(pair.rows[0], at), second = load(pair.rows[1], at);
        const auto sum = [&](VU16 upper, VU16 lower) HWY_ATTR {
            return hn::Sub(hn::Add(hn::Mul(upper, weight0), hn::Mul(lower, weight1)), zero);
        };
        hn::StoreU(sum(first.even, second.even), d, to_u + at - begin);
        hn::StoreU(sum(first.odd, second.odd), d, to_v + at - begin);
    }
    for (; at < end; ++at) one(at);
    one(begin - 1);
    one(end);
}

// Loads the luma of a vector's pairs of pixels, scaled to 15 bits.
template <Samples kind>
HWY_INLINE EvenOdd load_luma(const std::uint8_t* at) {
    const DU16 d;
    if constexpr (kind == Samples::bytes) {
        const auto both = hn::BitCast(d, hn::LoadU(D8(), at));
        return {hn::ShiftLeft<7>(hn::And(both, hn::Set(d, 255))),
                hn::And(hn::ShiftRight<1>(both), hn::Set(d, 255 << 7))};
    } else {
        EvenOdd words;
        hn::LoadInterleaved2(d, reinterpret_cast<const std::uint16_t*>(at), words.even, words.odd);
        return {hn::ShiftLeft<5>(value_of<kind>(words.even)), hn::ShiftLeft<5>(value_of<kind>(words.odd))};
    }
}

// Loads the signed chroma of a vector's pairs of pixels.
template <Columns columns>
HWY_INLINE EvenOdd load_chroma(const std::uint16_t* samples, int pair) {
    const DU16 d;
    EvenOdd sum;
    if constexpr (columns == Columns::each) {
        hn::LoadInterleaved2(d, samples + 2 * pair, sum.even, sum.odd);
    } else {
        const auto here = hn::LoadU(d, samples + pair), next = hn::LoadU(d, samples + pair + 1);
        const auto twice = hn::Add(here, here);
        if constexpr (columns == Columns::left) {
            sum = {twice, hn::Add(here, next)};
        } else {
            const auto thrice = hn::Add(twice, here);
            sum = {hn::Add(thrice, hn::LoadU(d, samples + pair - 1)), hn::Add(thrice, next)};
        }
    }
    return sum;
}

// The matrix of the conversion. Results are in 1/64 of a byte.
class Pixels {
public:
    // Broadcasts the coefficients to vectors once per segment.
    explicit HWY_INLINE Pixels(const FromYuvCoefficients& by)
        : y_(hn::Set(d, by.y)),
          y_offset_(hn::Set(d, by.y_offset)),
          b_u_(hn::Set(d, by.b_u)),
          g_u_(hn::Set(d, by.g_u)),
          g_v_(hn::Set(d, by.g_v)),
          r_v_(hn::Set(d, by.r_v)) {}

    // Returns the contribution of luma to all channels, including the rounding of the final shift.
    HWY_INLINE V16 gray(VU16 luma) const { return hn::Add(hn::MulFixedPoint15(hn::BitCast(d, luma), y_), y_offset_); }
    // Returns the sum for blue. Sums beyond 16 bits are far above white and saturate.
    HWY_INLINE V16 blue(V16 gray, VU16 u) const {
        return hn::SaturatedAdd(gray, hn::MulFixedPoint15(hn::BitCast(d, u), b_u_));
    }
    // Returns the sum for green. Its coefficients are negative, so the sum stays within 16 bits.
    HWY_INLINE V16 green(V16 gray, VU16 u, VU16 v) const {
        return hn::Add(
            gray, hn::Add(hn::MulFixedPoint15(hn::BitCast(d, u), g_u_), hn::MulFixedPoint15(hn::BitCast(d, v), g_v_)));
    }
    HWY_INLINE V16 red(V16 gray, VU16 v) const {
        return hn::SaturatedAdd(gray, hn::MulFixedPoint15(hn::BitCast(d, v), r_v_));
    }

    // Converts numbers in 1/64 of a byte to 0..255.
    static HWY_INLINE V16 level(V16 number) { return hn::ShiftRight<from_yuv_shift>(held(number)); }
    // Converts two vectors like level() and interleaves the results as bytes.
    static HWY_INLINE hn::VFromD<D8> bytes(V16 even, V16 odd) {
        const D8 d8;
        return hn::OddEven(hn::BitCast(d8, hn::ShiftLeft<8 - from_yuv_shift>(held(odd))), hn::BitCast(d8, level(even)));
    }

private:
    // Clamps to the range of a byte, including the fractional bits.
    static HWY_INLINE V16 held(V16 number) {
        return hn::Max(hn::Min(number, hn::Set(d, (256 << from_yuv_shift) - 1)), hn::Zero(d));
    }

    static constexpr D16 d{};
    V16 y_, y_offset_, b_u_, g_u_, g_v_, r_v_;
};

#if HWY_TARGET == HWY_AVX3_DL
// Indices for the permutation of two vectors of sums: for each of 64 pixels, the third byte of its 32-bit sum among the
// sums of the 32 even, or odd, pixels. Interleaving puts the lower half of each 16-byte block into the first vector and
// the upper half into the second.
struct PlacesOfSums {
    HWY_ALIGN std::uint8_t bytes[64];
    constexpr PlacesOfSums() : bytes() {
        for (int pixel = 0; pixel < 64; ++pixel) {
            const int number = pixel / 2, block = number / 8, upper = number % 8 / 4;
            bytes[pixel] = static_cast<std::uint8_t>(64 * upper + 16 * block + 4 * (number % 4) + 2);
        }
    }
};
constexpr PlacesOfSums places_of_sums;
#endif

// Reduces each pixel to one number; see ChannelWeights.
class Weighted {
public:
    // Chooses between the general sum and the faster form around green, which needs weights that add up to 1.
    explicit HWY_INLINE Weighted(const ChannelWeights& by)
        : weights_bg_(pairs(by.b, by.g)),
          weights_r1_(pairs(by.r, by.rounding)),
          one_(hn::Set(D16(), 1)),
          around_green_(by.b + by.g + by.r == 1 << 15 && by.b < 1 << 14 && by.r < 1 << 14),
          weights_br_(around_green_ ? pairs(2 * by.b, 2 * by.r) : hn::Zero(D16())),
          rounding_(hn::Set(D16(), static_cast<std::int16_t>(2 * by.rounding))) {}

    HWY_INLINE hn::VFromD<D8> operator()(const EvenOddNumbers& b, const EvenOddNumbers& g,
                                         const EvenOddNumbers& r) const {
#if HWY_TARGET == HWY_AVX3_DL
        if (around_green_) return around_green(b, g, r);
#endif
        return hn::BitCast(D8(), hn::Or(number(b.even, g.even, r.even), hn::ShiftLeft<8>(number(b.odd, g.odd, r.odd))));
    }

private:
    using D32 = hn::RepartitionToWide<D16>;

    static HWY_INLINE V16 pairs(int even, int odd) { return hn::BitCast(D16(), hn::Set(D32(), even | odd << 16)); }

    // Returns the weighted number of each pixel. Interleaving puts two channels of each pixel side by side; packing
    // restores the order.
    HWY_INLINE V16 number(V16 b, V16 g, V16 r) const {
        const D16 d;
        return hn::ReorderDemote2To(d, weighted(hn::InterleaveLower(d, b, g), hn::InterleaveLower(d, r, one_)),
                                    weighted(hn::InterleaveUpper(d, b, g), hn::InterleaveUpper(d, r, one_)));
    }
    HWY_INLINE hn::VFromD<D32> weighted(V16 bg, V16 r1) const {
        return hn::ShiftRight<15>(hn::Add(multiply_add_pairs(D32(), bg, weights_bg_),  //
                                          multiply_add_pairs(D32(), r1, weights_r1_)));
    }

#if HWY_TARGET == HWY_AVX3_DL
    // Computes the numbers if the weights add up to 1: green plus the weighted differences of blue and red from green.
    // With doubled weights, the number is the third byte of each sum, which a byte permutation of two vectors moves to
    // its place. The weights of blue and red must be below 1/2, so that their doubles fit 16 bits.
    HWY_INLINE hn::VFromD<D8> around_green(const EvenOddNumbers& b, const EvenOddNumbers& g,
                                           const EvenOddNumbers& r) const {
        // Selects, from both vectors of sums, the byte with the weighted number of each pixel.
        const auto places = hn::Load(D8(), places_of_sums.bytes).raw;
        const auto numbers = [&](V16 blue, V16 green, V16 red) HWY_ATTR {
            const D16 d;
            // Differences have a sign; their products with doubled weights fit 32 bits.
            const auto from_blue = hn::Sub(blue, green), from_red = hn::Sub(red, green);
            const auto sums = [&](V16 away, V16 rest) HWY_ATTR {
                return hn::Add(multiply_add_pairs(D32(), away, weights_br_), hn::BitCast(D32(), rest)).raw;
            };
            const auto lower =
                sums(hn::InterleaveLower(d, from_blue, from_red), hn::InterleaveLower(d, rounding_, green));
            const auto upper =
                sums(hn::InterleaveUpper(d, from_blue, from_red), hn::InterleaveUpper(d, rounding_, green));
            return hn::VFromD<D8>{_mm512_permutex2var_epi8(lower, places, upper)};
        };
        return hn::OddEven(numbers(b.odd, g.odd, r.odd), numbers(b.even, g.even, r.even));
    }
#endif

    V16 weights_bg_, weights_r1_, one_;
    bool around_green_;
    V16 weights_br_, rounding_;
};

// Destination of a row of an image.
struct ImageRow {
    std::uint8_t* data;
    int channels;

    std::uint8_t* at(int x) const { return data + std::int64_t{x} * channels; }
};

// Kinds of output: pixels, or one number per pixel. Each kind has its own instance of the loops, because code for the
// other kind would occupy registers.
enum class Made { pixels, numbers };

// Converts a segment of `count` pixels whose luma starts at `luma` and whose chroma is in `chroma`. `weights`
// applies to Made::numbers only.
template <Samples kind, Columns columns, Made made>
void segment_to_image(const std::uint8_t* luma, Chroma& chroma, int count, const FromYuvCoefficients& by,
                      const ChannelWeights* weights, const ImageRow& out) {
    const D8 d8;
    constexpr int sample_bytes = kind == Samples::bytes ? 1 : 2;
    const auto step = static_cast<int>(hn::Lanes(d8));
    const Pixels pixels(by);
    const Weighted weighted(made == Made::numbers ? *weights : ChannelWeights{});
    const auto convert = [&](const std::uint8_t* from, int x, std::uint8_t* to) HWY_ATTR {
        const auto put = [&](hn::VFromD<D8> b, hn::VFromD<D8> g, hn::VFromD<D8> r)
                             HWY_ATTR { hn::StoreInterleaved3(b, g, r, d8, to); };
        const auto y = load_luma<kind>(from);
        const auto even = pixels.gray(y.even), odd = pixels.gray(y.odd);
        if constexpr (columns == Columns::none) {
            const auto gray = Pixels::bytes(even, odd);
            if (out.channels == 1)
                hn::StoreU(gray, d8, to);
            else
                put(gray, gray, gray);
        } else {
            const auto u = load_chroma<columns>(chroma.of(0), x / 2), v = load_chroma<columns>(chroma.of(1), x / 2);
            const EvenOddNumbers b{pixels.blue(even, u.even), pixels.blue(odd, u.odd)},
                g{pixels.green(even, u.even, v.even), pixels.green(odd, u.odd, v.odd)},
                r{pixels.red(even, v.even), pixels.red(odd, v.odd)};
            if constexpr (made == Made::numbers) {
                const auto levels = [](const EvenOddNumbers& n) HWY_ATTR {
                    return EvenOddNumbers{Pixels::level(n.even), Pixels::level(n.odd)};
                };
                hn::StoreU(weighted(levels(b), levels(g), levels(r)), d8, to);
            } else {
                put(Pixels::bytes(b.even, b.odd), Pixels::bytes(g.even, g.odd), Pixels::bytes(r.even, r.odd));
            }
        }
    };
    int x = 0;
    for (; x + step <= count; x += step) convert(luma + x * sample_bytes, x, out.at(x));
    if (x < count) {  // loads and stores of a whole vector would cross the end of the row
        HWY_ALIGN std::uint8_t last_luma[2 * HWY_MAX_BYTES] = {}, last_out[3 * HWY_MAX_BYTES];
        std::memcpy(last_luma, luma + x * sample_bytes, static_cast<std::size_t>((count - x) * sample_bytes));
        convert(last_luma, x, last_out);
        std::memcpy(out.at(x), last_out, static_cast<std::size_t>((count - x) * out.channels));
    }
}

// Converts row `y` of frame `frame`, segment by segment: chroma first, then pixels.
template <Samples kind, Made made>
void row_to_image(const HostYuv<const std::uint8_t>& picture, int frame, int y, const FromYuvCoefficients& by,
                  const ChannelWeights* weights, const ImageRow& out) {
    const auto& info = picture.info;
    const auto& format = info.format;
    // Gray pictures and gray results need no chroma.
    const bool coloured = format.chroma != ChromaSampling::none && (out.channels == 3 || made == Made::numbers);
    const bool each = format.chroma == ChromaSampling::s444;
    const auto columns = each ? Columns::each : info.siting.centred_x ? Columns::centred : Columns::left;
    const auto taps = chroma_taps(y, format.chroma == ChromaSampling::s420, info.siting.centred_y);
    // Returns the two rows of a plane around this row of pixels, clamped to the plane, with weights scaled to the bits
    // of a sample.
    const auto pair_of = [&](std::size_t plane) {
        const auto row = [&](int at) { return picture.planes[plane].row(frame, held_index(at, info.chroma_height())); };
        const int unit = quarters_of(columns) << (12 - format.bits);
        return RowPair{{row(taps.first), row(taps.second)},
                       {taps.first_weight * unit, taps.second_weight * unit},
                       zero_of(columns)};
    };
    const auto* luma = picture.planes[0].row(frame, y);
    const int count = info.chroma_width();

    Chroma chroma;
    for (int x = 0; x < info.width; x += segment_px) {
        const int pixels = std::min(segment_px, info.width - x);
        const auto* from = luma + x * info.sample_bytes();
        const ImageRow to{out.at(x), out.channels};
        if (!coloured) {
            segment_to_image<kind, Columns::none, made>(from, chroma, pixels, by, weights, to);
            continue;
        }
        // Chroma samples of the segment.
        const int begin = each ? x : x / 2;
        const int end = begin + (each ? pixels : (pixels + 1) / 2);
        if (format.interleaved) {
            join_rows_of_pairs<kind>(pair_of(1), begin, end, count, chroma.of(0), chroma.of(1));
        } else {
            join_rows<kind>(pair_of(1), begin, end, count, chroma.of(0));
            join_rows<kind>(pair_of(2), begin, end, count, chroma.of(1));
        }
        if (columns == Columns::each)
            segment_to_image<kind, Columns::each, made>(from, chroma, pixels, by, weights, to);
        else if (columns == Columns::centred)
            segment_to_image<kind, Columns::centred, made>(from, chroma, pixels, by, weights, to);
        else
            segment_to_image<kind, Columns::left, made>(from, chroma, pixels, by, weights, to);
    }
}

// Returns the instance of row_to_image() for a format.
template <Made made>
auto row_converter(const YuvFormat& format) {
    const auto kind = samples_of(format);
    return kind == Samples::bytes         ? row_to_image<Samples::bytes, made>
           : kind == Samples::lower_words ? row_to_image<Samples::lower_words, made>
                                          : row_to_image<Samples::upper_words, made>;
}

}  // namespace

// Converts rows `begin` to `end` - 1, numbered across all frames; row 0 of `image` is row `first`.
void yuv_rows_to_image(const HostYuv<const std::uint8_t>& picture, HostView<std::uint8_t> image, std::int64_t first,
                       const FromYuvCoefficients& by, const ChannelWeights* weights, std::int64_t begin,
                       std::int64_t end) {
    const auto& format = picture.info.format;
    const auto convert = weights ? row_converter<Made::numbers>(format) : row_converter<Made::pixels>(format);
    for (auto row = begin; row < end; ++row)
        convert(picture, static_cast<int>(row / picture.info.height), static_cast<int>(row % picture.info.height), by,
                weights, {image.batch_row(row - first), image.shape().channels});
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "framewire/colour/yuv.hpp"

namespace framewire {

HWY_EXPORT(yuv_rows_to_image);

void YuvToImage::run(const HostYuv<const std::uint8_t>& picture, HostView<std::uint8_t> image) const {
    validate(picture, picture_, "the YUV picture");
    validate(image, image_shape(), "the image converted from YUV");
    const auto by = from_yuv_coefficients(picture_.coding, picture_.format.bits);
    threads_->for_chunks(image_shape().rows(), rows_each(image_shape().row_bytes()),
                         [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                             HWY_DYNAMIC_DISPATCH(yuv_rows_to_image)(picture, image, 0, by, nullptr, begin, end);
                         });
}

void YuvToImage::run_rows(const HostYuv<const std::uint8_t>& picture, const ImageRows<std::uint8_t>& rows) const {
    validate(picture, picture_, "the YUV picture");
    validate_rows(rows, image_shape(), "the rows converted from YUV");
    HWY_DYNAMIC_DISPATCH(yuv_rows_to_image)
    (picture, rows.view, rows.first, from_yuv_coefficients(picture_.coding, picture_.format.bits), nullptr,
     rows.range().begin, rows.range().end);
}

void YuvToImage::run_rows(const HostYuv<const std::uint8_t>& picture, const ImageRows<std::uint8_t>& rows,
                          const ChannelWeights& weights) const {
    validate(picture, picture_, "the YUV picture");
    validate_rows(rows, image_shape().with_channels(1), "the weighted rows converted from YUV");
    HWY_DYNAMIC_DISPATCH(yuv_rows_to_image)
    (picture, rows.view, rows.first, from_yuv_coefficients(picture_.coding, picture_.format.bits), &weights,
     rows.range().begin, rows.range().end);
}

}  // namespace framewire

#endif
