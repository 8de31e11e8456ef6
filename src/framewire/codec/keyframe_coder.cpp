#include "framewire/codec/keyframe_coder.hpp"
#include "framewire/codec/coder_tables.hpp"
#include "framewire/codec/models.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/codec/keyframe_coder.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

// SIMD functions for planes and residuals of keyframe blocks, with scalar versions for partial sub-blocks. All
// arithmetic is modulo 256, so it is lossless and needs no clamping.

HWY_BEFORE_NAMESPACE();
namespace framewire::codec::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::ptrdiff_t plane_stride = BlockPlanes::stride;

// Folds signed residuals to nonnegative numbers, so that small absolute values become small numbers.
template <class V>
HWY_INLINE V fold(V residual) {
    const hn::DFromV<V> d;
    const hn::RebindToSigned<decltype(d)> d_signed;
    const auto negative =
        hn::BitCast(d, hn::VecFromMask(d_signed, hn::Lt(hn::BitCast(d_signed, residual), hn::Zero(d_signed))));
    return hn::Xor(hn::Add(residual, residual), negative);
}
// Inverse of fold().
template <class V>
HWY_INLINE V unfold(V folded) {
    const hn::DFromV<V> d;
    const hn::Repartition<std::uint16_t, decltype(d)> d16;
    const auto one = hn::Set(d, 1);
    const auto half = hn::And(hn::BitCast(d, hn::ShiftRight<1>(hn::BitCast(d16, folded))), hn::Set(d, 0x7f));
    return hn::Xor(half, hn::Sub(hn::Zero(d), hn::And(folded, one)));
}

// Returns the residuals of adjacent samples.
template <class D>
HWY_INLINE hn::VFromD<D> residual_of(D d, const std::uint8_t* sample, Predictor by) {
    const auto here = hn::LoadU(d, sample);
    if (by == Predictor::left) return hn::Sub(here, hn::LoadU(d, sample - 1));
    const auto rise = hn::Sub(here, hn::LoadU(d, sample - plane_stride));
    if (by == Predictor::above) return rise;
    return hn::Sub(rise, hn::Sub(hn::LoadU(d, sample - 1), hn::LoadU(d, sample - plane_stride - 1)));
}

}  // namespace

// Splits pixels into planes: green, blue - green, red - green.
void take_colours(const std::uint8_t* pixel, int width, std::uint8_t* green, std::uint8_t* blue, std::uint8_t* red) {
    const hn::CappedTag<std::uint8_t, 32> d;
    const int n = static_cast<int>(hn::Lanes(d));
    int x = 0;
    for (; x + n <= width; x += n) {
        hn::VFromD<decltype(d)> b, g, r;
        hn::LoadInterleaved3(d, pixel + 3 * x, b, g, r);
        hn::StoreU(g, d, green + x);
        hn::StoreU(hn::Sub(b, g), d, blue + x);
        hn::StoreU(hn::Sub(r, g), d, red + x);
    }
    for (; x < width; ++x) {
        green[x] = pixel[3 * x + 1];
        blue[x] = static_cast<std::uint8_t>(pixel[3 * x] - green[x]);
        red[x] = static_cast<std::uint8_t>(pixel[3 * x + 2] - green[x]);
    }
}

// Inverse of take_colours().
void give_colours(const std::uint8_t* green, const std::uint8_t* blue, const std::uint8_t* red, int width,
                  std::uint8_t* pixel) {
    const hn::CappedTag<std::uint8_t, 32> d;
    const int n = static_cast<int>(hn::Lanes(d));
    int x = 0;
    for (; x + n <= width; x += n) {
        const auto g = hn::LoadU(d, green + x);
        hn::StoreInterleaved3(hn::Add(hn::LoadU(d, blue + x), g), g, hn::Add(hn::LoadU(d, red + x), g), d,
                              pixel + 3 * x);
    }
    for (; x < width; ++x) {
        pixel[3 * x] = static_cast<std::uint8_t>(blue[x] + green[x]);
        pixel[3 * x + 1] = green[x];
        pixel[3 * x + 2] = static_cast<std::uint8_t>(red[x] + green[x]);
    }
}

// Implements sum_residuals() for a row of sub-blocks.
void sum_parts(const std::uint8_t* sample, std::array<ResidualSums, parts_per_row>& sums) {
    const hn::CappedTag<std::uint8_t, 32> d;
    const hn::RebindToSigned<decltype(d)> d_signed;
    const hn::Repartition<std::uint64_t, decltype(d)> d64;
    const int n = static_cast<int>(hn::Lanes(d));
    for (int x = 0; x < block_side; x += n) {
        hn::VFromD<decltype(d64)> sum[predictors] = {hn::Zero(d64), hn::Zero(d64), hn::Zero(d64)};
        for (int y = 0; y < part_side; ++y)
            for (int by = 0; by < predictors; ++by) {
                const auto residual = residual_of(d, sample + y * plane_stride + x, static_cast<Predictor>(by));
                const auto far = hn::BitCast(d, hn::Abs(hn::BitCast(d_signed, residual)));
                sum[by] = hn::Add(sum[by], hn::SumsOf8(far));
            }
        for (int by = 0; by < predictors; ++by) {
            HWY_ALIGN std::uint64_t of[4];
            hn::Store(sum[by], d64, of);
            for (int part = 0; part < n / part_side; ++part)
                sums[static_cast<std::size_t>(x / part_side + part)][static_cast<std::size_t>(by)] =
                    static_cast<std::uint32_t>(of[part]);
        }
    }
}

// Implements take_residuals() for 8x8 samples.
void take_part(const std::uint8_t* sample, Predictor by, std::uint8_t* residuals) {
    const hn::CappedTag<std::uint8_t, part_side> d;
    for (int y = 0; y < part_side; ++y)
        hn::StoreU(fold(residual_of(d, sample + y * plane_stride, by)), d, residuals + y * part_side);
}

// Implements add_residuals() for 8x8 samples. Within a row, prediction from the left amounts to a prefix sum, which
// takes three steps.
void add_part(std::uint8_t* sample, Predictor by, const std::uint8_t* residuals) {
    const hn::CappedTag<std::uint8_t, part_side> d;
    const hn::Repartition<std::uint64_t, decltype(d)> d64;
    // Returns the prefix sums of the eight samples of a row.
    const auto along = [&](hn::VFromD<decltype(d)> v) HWY_ATTR {
        v = hn::Add(v, hn::BitCast(d, hn::ShiftLeft<8>(hn::BitCast(d64, v))));
        v = hn::Add(v, hn::BitCast(d, hn::ShiftLeft<16>(hn::BitCast(d64, v))));
        return hn::Add(v, hn::BitCast(d, hn::ShiftLeft<32>(hn::BitCast(d64, v))));
    };
    // `above` holds the row that was reconstructed last, so it need not be loaded again.
    auto above = hn::LoadU(d, sample - plane_stride);
    for (int y = 0; y < part_side; ++y, sample += plane_stride) {
        const auto residual = unfold(hn::LoadU(d, residuals + y * part_side));
        switch (by) {
            case Predictor::left: above = hn::Add(along(residual), hn::Set(d, sample[-1])); break;
            case Predictor::above: above = hn::Add(above, residual); break;
            case Predictor::slope:
                above = hn::Add(hn::Add(above, along(residual)),
                                hn::Set(d, static_cast<std::uint8_t>(sample[-1] - sample[-plane_stride - 1])));
                break;
        }
        hn::StoreU(above, d, sample);
    }
}

}  // namespace framewire::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::codec {

HWY_EXPORT(take_colours);
HWY_EXPORT(give_colours);
HWY_EXPORT(sum_parts);
HWY_EXPORT(take_part);
HWY_EXPORT(add_part);

namespace {

// Returns the prediction of one sample.
std::uint8_t predicted_by(Predictor by, const std::uint8_t* sample) {
    constexpr std::ptrdiff_t above = -BlockPlanes::stride;
    switch (by) {
        case Predictor::left: return sample[-1];
        case Predictor::above: return sample[above];
        case Predictor::slope: break;
    }
    return static_cast<std::uint8_t>(sample[-1] + sample[above] - sample[above - 1]);
}

bool is_full(int width, int height) { return width == part_side && height == part_side; }

// Calls body(sample, i) for each sample of a sub-block, with its address and its number.
template <class Sample, class Body>
void for_samples(Sample* sample, int width, int height, Body&& body) {
    for (int y = 0, i = 0; y < height; ++y, sample += BlockPlanes::stride)
        for (int x = 0; x < width; ++x, ++i) body(sample + x, i);
}

}  // namespace

void BlockPlanes::take(HostView<const std::uint8_t> picture, const BlockPlace& block) {
    const int channels = picture.shape().channels;
    for (int y = 0; y < block.height; ++y) {
        const auto* pixel = picture.row(0, block.y + y) + std::int64_t{block.x} * channels;
        if (channels == 1)
            std::copy_n(pixel, block.width, row(0, y));
        else
            HWY_DYNAMIC_DISPATCH(take_colours)(pixel, block.width, row(0, y), row(1, y), row(2, y));
    }
}

void BlockPlanes::give(HostView<std::uint8_t> picture, const BlockPlace& block) {
    const int channels = picture.shape().channels;
    for (int y = 0; y < block.height; ++y) {
        auto* pixel = picture.row(0, block.y + y) + std::int64_t{block.x} * channels;
        if (channels == 1)
            std::copy_n(row(0, y), block.width, pixel);
        else
            HWY_DYNAMIC_DISPATCH(give_colours)(row(0, y), row(1, y), row(2, y), block.width, pixel);
    }
}

void sum_residuals(const std::uint8_t* sample, std::array<ResidualSums, parts_per_row>& sums) {
    HWY_DYNAMIC_DISPATCH(sum_parts)(sample, sums);
}

ResidualSums sum_residuals(const std::uint8_t* sample, int width, int height) {
    ResidualSums sums{};
    for_samples(sample, width, height, [&](const std::uint8_t* at, int) {
        for (int by = 0; by < predictors; ++by) {
            const auto residual = static_cast<std::int8_t>(*at - predicted_by(static_cast<Predictor>(by), at));
            sums[static_cast<std::size_t>(by)] += static_cast<std::uint32_t>(std::abs(residual));
        }
    });
    return sums;
}

void take_residuals(const std::uint8_t* sample, Predictor by, int width, int height, std::uint8_t* residuals) {
    if (is_full(width, height)) return HWY_DYNAMIC_DISPATCH(take_part)(sample, by, residuals);
    for_samples(sample, width, height, [&](const std::uint8_t* at, int i) {
        const auto residual = static_cast<std::int8_t>(*at - predicted_by(by, at));
        residuals[i] = static_cast<std::uint8_t>(residual < 0 ? -2 * residual - 1 : 2 * residual);
    });
}

void add_residuals(std::uint8_t* sample, Predictor by, int width, int height, const std::uint8_t* residuals) {
    if (is_full(width, height)) return HWY_DYNAMIC_DISPATCH(add_part)(sample, by, residuals);
    for_samples(sample, width, height, [&](std::uint8_t* at, int i) {
        const int folded = residuals[i];
        *at = static_cast<std::uint8_t>(predicted_by(by, at) + (folded & 1 ? ~(folded >> 1) : folded >> 1));
    });
}

}  // namespace framewire::codec

#endif

#if HWY_ONCE

// Coding of keyframe blocks in the forms "whole" and "plain" (format.md, "Pictures"). The plain form bounds the size
// of blocks that do not compress, such as noise.

namespace framewire::codec {
namespace {

// Appends the number that identifies the form of a block.
void put_form(std::vector<std::uint8_t>& out, std::uint32_t form) {
    for (int byte = 0; byte < form_bytes; ++byte) out.push_back(static_cast<std::uint8_t>(form >> (8 * byte)));
}

// Returns the number that identifies the form of a block, or 0 if there are too few bytes.
std::uint32_t form_of(std::span<const std::uint8_t> bytes) {
    if (bytes.size() < form_bytes) return 0;
    return bytes[0] | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 | std::uint32_t{bytes[3]} << 24;
}

// Calls body(plane, left, top, width, height) for each sub-block in coding order.
template <class Body>
void for_each_part(const BlockPlace& block, int planes, Body&& body) {
    for (int plane = 0; plane < planes; ++plane)
        for (int top = 0; top < block.height; top += part_side)
            for (int left = 0; left < block.width; left += part_side)
                body(plane, left, top, std::min(part_side, block.width - left),
                     std::min(part_side, block.height - top));
}

}  // namespace

// Chooses the predictor with the smallest sum of absolute residuals for each sub-block, and folds the residuals.
void PictureEncoder::choose(const BlockPlace& block, int planes) {
    std::array<ResidualSums, parts_per_row> sums;
    std::size_t part = 0;
    auto* residuals = parts_.residuals.data();
    for_each_part(block, planes, [&](int plane, int left, int top, int width, int height) {
        const auto* sample = planes_.row(plane, top) + left;
        const auto column = static_cast<std::size_t>(left / part_side);
        // Compute the sums of a whole row of sub-blocks at once, and those of partial sub-blocks separately.
        if (left == 0) sum_residuals(sample, sums);
        if (width < part_side || height < part_side) sums[column] = sum_residuals(sample, width, height);
        const auto& of = sums[column];
        const auto least = std::min_element(of.begin(), of.end());
        const auto by = static_cast<Predictor>(least - of.begin());
        parts_.by[part] = by;
        parts_.sizes[part++] = {static_cast<std::uint8_t>(residual_class(*least, width * height)),
                                static_cast<std::uint8_t>(width * height)};
        take_residuals(sample, by, width, height, residuals);
        residuals += width * height;
    });
}

void PictureEncoder::encode(HostView<const std::uint8_t> picture, const BlockPlace& block,
                            std::vector<std::uint8_t>& out) {
    const int planes = picture.shape().channels;
    planes_.take(picture, block);
    choose(block, planes);

    // rANS codes the last symbol first: the residuals, their states, and then the predictors and classes of the
    // sub-blocks.
    const auto& models = trained_picture_models();
    const auto parts = static_cast<std::size_t>(planes * block.part_columns() * block.part_rows());
    const auto samples = static_cast<std::size_t>(planes * block.pixels());
    words_.resize(samples * 2 + parts + 2 * residual_lanes + 4 + words_below);
    auto* const end = words_.data() + words_.size();
    auto* word = put_residuals(std::span(parts_.sizes).first(parts), std::span(parts_.residuals).first(samples), end);
    auto state = rans::least_state;
    for (auto part = parts; part-- > 0;) {
        const int before = part ? parts_.sizes[part - 1].part_class : 0;
        const int symbol = static_cast<int>(parts_.by[part]) * picture_models::classes + parts_.sizes[part].part_class;
        state = rans::put(state, models.symbol(picture_models::part.at(before) + symbol), word);
    }
    *--word = static_cast<std::uint16_t>(state >> 16);
    *--word = static_cast<std::uint16_t>(state);

    // Use the plain form if coding does not save anything.
    const auto coded = static_cast<std::size_t>(end - word) * 2;
    const auto plain = static_cast<std::size_t>(block.pixels()) * static_cast<std::size_t>(planes);
    if (coded < plain) {
        put_form(out, form_whole);
        rans::append(word, end, out);
        return;
    }
    put_form(out, form_plain);
    for (int y = 0; y < block.height; ++y) {
        const auto* row = picture.row(0, block.y + y) + std::int64_t{block.x} * planes;
        out.insert(out.end(), row, row + std::int64_t{block.width} * planes);
    }
    if (plain % 2) out.push_back(0);
}

bool PictureDecoder::decode(std::span<const std::uint8_t> bytes, const BlockPlace& block,
                            HostView<std::uint8_t> picture) {
    const int planes = picture.shape().channels;
    const auto rest = bytes.subspan(std::min<std::size_t>(bytes.size(), form_bytes));
    if (form_of(bytes) == form_whole) {
        if (!decode_whole(rest, block, planes)) return false;
        planes_.give(picture, block);
        return true;
    }
    const auto plain = static_cast<std::size_t>(block.pixels()) * static_cast<std::size_t>(planes);
    if (form_of(bytes) != form_plain || rest.size() != plain + plain % 2) return false;
    const auto row_bytes = static_cast<std::size_t>(block.width) * static_cast<std::size_t>(planes);
    for (int y = 0; y < block.height; ++y)
        std::memcpy(picture.row(0, block.y + y) + std::int64_t{block.x} * planes,
                    rest.data() + static_cast<std::size_t>(y) * row_bytes, row_bytes);
    return true;
}

bool PictureDecoder::decode_whole(std::span<const std::uint8_t> bytes, const BlockPlace& block, int planes) {
    const auto& models = trained_picture_models();
    rans::Words words(bytes);
    rans::Reader reader(words);
    if (!rans::is_state(reader.state())) return false;
    int before = 0;
    std::size_t part = 0;
    for_each_part(block, planes, [&](int, int, int, int width, int height) {
        const int symbol = models.read(reader, picture_models::part.at(before), picture_models::part.symbols);
        before = symbol % picture_models::classes;
        parts_.by[part] = static_cast<Predictor>(symbol / picture_models::classes);
        parts_.sizes[part++] = {static_cast<std::uint8_t>(before), static_cast<std::uint8_t>(width * height)};
    });
    const auto samples = static_cast<std::size_t>(planes * block.pixels());
    if (!reader.at_end() || words.overrun() ||
        !read_residuals(words.rest(), std::span(parts_.sizes).first(part), std::span(parts_.residuals).first(samples)))
        return false;

    const auto* residuals = parts_.residuals.data();
    part = 0;
    for_each_part(block, planes, [&](int plane, int left, int top, int width, int height) {
        add_residuals(planes_.row(plane, top) + left, parts_.by[part++], width, height, residuals);
        residuals += width * height;
    });
    return true;
}

}  // namespace framewire::codec

#endif  // HWY_ONCE
