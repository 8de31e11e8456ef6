#include "framewire/filters/convolve.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/convolve.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd-inl.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

// The part that is compiled once, not once per instruction set.
#ifndef FRAMEWIRE_CONVOLVE_CPU_ONCE
#define FRAMEWIRE_CONVOLVE_CPU_ONCE

namespace framewire {

// Size of the ring in which each thread keeps rows of its tile, one per row of the matrix. The ring is on the stack,
// and tiles are narrow enough for it to fit the L1 cache.
inline constexpr int convolve_ring_bytes = 16 * 1024;
inline constexpr int convolve_most_tile_bytes = 4096;
// Vectors may read up to this many bytes beyond the end of a line.
inline constexpr int convolve_slack = 256;
inline constexpr int convolve_most_pairs = (max_convolve_size * max_convolve_size + 1) / 2;

// Returns the width of a tile, in bytes, for a matrix with the side `size`.
inline int convolve_tile_bytes(int size) { return std::min(convolve_ring_bytes / size, convolve_most_tile_bytes); }

// Parameters shared by all rows of one filter.
struct ConvolveTerms {
    const std::vector<ConvolveTap>& taps;
    int size, divisor, offset;
    Border border;
};

}  // namespace framewire

#endif

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Taps in pairs, as multiply_add_pairs() takes them. If their number is odd, the last pair has a second weight of 0.
struct TapPairs {
    // Number of pairs.
    int count;
    // For each tap, the address of the pixel that it reads for the first pixel of the tile's row.
    const std::uint8_t* first[convolve_most_pairs];
    const std::uint8_t* second[convolve_most_pairs];
    // Two 16-bit weights per pair, the first in the low half.
    std::int32_t weights[convolve_most_pairs];
};

// Turns 32-bit sums into (sum + divisor / 2) / divisor + offset, clamped to 0..255. Every sum starts with bias(), which
// accounts for the rounding and the offset.
class Quotient {
public:
    // Prepares the constants.
    Quotient(int divisor, int offset)
        : divisor_(hn::Set(d32_, divisor)),
          last_rest_(hn::Set(d32_, divisor - 1)),
          most_(hn::Set(d32_, 256 * divisor - 1)),
          inverse_(hn::Set(df_, 1.0f / static_cast<float>(divisor))),
          is_one_(divisor == 1),
          bias_(divisor / 2 + offset * divisor) {}

    // Returns the start value of every sum.
    int bias() const { return bias_; }

    // Returns the quotients of a vector of sums.
    HWY_INLINE hn::Vec<hn::ScalableTag<std::int32_t>> operator()(hn::Vec<hn::ScalableTag<std::int32_t>> sum) const {
        const auto held = hn::Min(hn::Max(sum, hn::Zero(d32_)), most_);
        if (is_one_) return held;
        // The quotients are below 256, so the floating-point result is off by one at most; the remainder corrects it.
        auto quotient = hn::ConvertTo(d32_, hn::Mul(hn::ConvertTo(df_, held), inverse_));
        const auto rest = hn::Sub(held, hn::Mul(quotient, divisor_));
        // A true lane of a mask is -1 as an integer.
        quotient = hn::Add(quotient, hn::VecFromMask(d32_, hn::Lt(rest, hn::Zero(d32_))));
        return hn::Sub(quotient, hn::VecFromMask(d32_, hn::Gt(rest, last_rest_)));
    }

private:
    static constexpr hn::ScalableTag<std::int32_t> d32_{};
    static constexpr hn::ScalableTag<float> df_{};
    hn::Vec<hn::ScalableTag<std::int32_t>> divisor_, last_rest_, most_;
    hn::Vec<hn::ScalableTag<float>> inverse_;
    bool is_one_;
    int bias_;
};

// Computes one row of results and writes its `count` bytes to `out`.
void convolve_row(const TapPairs& pairs, const Quotient& quotient, int count, std::uint8_t* out) {
    const hn::ScalableTag<std::int16_t> d16;
    const hn::RepartitionToWide<decltype(d16)> d32;
    const hn::Rebind<std::uint8_t, decltype(d16)> d8;
    const auto half = static_cast<int>(hn::Lanes(d16)), step = 2 * half;
    // Products of bytes and 16-bit weights need 32 bits, so pixels are widened and weighed in pairs.
    const auto load = [&](const std::uint8_t* from) HWY_ATTR { return hn::PromoteTo(d16, hn::LoadU(d8, from)); };
    const auto bias = hn::Set(d32, quotient.bias());
    const auto convolve_to = [&](int x, std::uint8_t* to) HWY_ATTR {
        auto sum_0 = bias, sum_1 = bias, sum_2 = bias, sum_3 = bias;
        // Add up the weighed pixels, two taps at a time.
        for (int pair = 0; pair < pairs.count; ++pair) {
            const auto *first = pairs.first[pair] + x, *second = pairs.second[pair] + x;
            const auto weight = hn::BitCast(d16, hn::Set(d32, pairs.weights[pair]));
            const auto first_0 = load(first), second_0 = load(second);
            const auto first_1 = load(first + half), second_1 = load(second + half);
            sum_0 = hn::Add(sum_0, multiply_add_pairs(d32, hn::InterleaveLower(d16, first_0, second_0), weight));
            sum_1 = hn::Add(sum_1, multiply_add_pairs(d32, hn::InterleaveUpper(d16, first_0, second_0), weight));
            sum_2 = hn::Add(sum_2, multiply_add_pairs(d32, hn::InterleaveLower(d16, first_1, second_1), weight));
            sum_3 = hn::Add(sum_3, multiply_add_pairs(d32, hn::InterleaveUpper(d16, first_1, second_1), weight));
        }
        // Packing restores the order that interleaving changed.
        const auto bytes = [&](auto low, auto high) HWY_ATTR {
            return hn::DemoteTo(d8, hn::ReorderDemote2To(d16, quotient(low), quotient(high)));
        };
        hn::StoreU(bytes(sum_0, sum_1), d8, to);
        hn::StoreU(bytes(sum_2, sum_3), d8, to + half);
    };
    int x = 0;
    for (; x + step <= count; x += step) convolve_to(x, out + x);
    if (x == count) return;
    HWY_ALIGN std::uint8_t last[HWY_MAX_BYTES];
    convolve_to(x, last);
    std::memcpy(out + x, last, static_cast<std::size_t>(count - x));
}

}  // namespace

// Convolves one tile. Row y of the image is stored in line (y - y_begin + reach) % size of the ring.
void convolve_tile(const ConvolveTerms& terms, HostView<const std::uint8_t> in, HostView<std::uint8_t> out,
                   const WindowTile& tile) {
    const auto& shape = in.shape();
    const int channels = shape.channels, size = terms.size, reach = size / 2;
    const TileColumns columns(tile, {reach, reach}, shape, terms.border);
    const int tile_bytes = (tile.x_end - tile.x_begin) * channels;
    const int line_stride = columns.count();

    constexpr int most_line_bytes = convolve_ring_bytes + max_convolve_size * (tile_step_px + max_convolve_size) * 3;
    HWY_ALIGN std::uint8_t ring[most_line_bytes + convolve_slack];
    // Bytes beyond the ring do not affect the result, but vectors read them; keep them initialised.
    std::memset(ring + size * line_stride, 0, convolve_slack);
    const auto line_of = [&](int y) { return ring + (y - tile.y_begin + reach) % size * line_stride; };
    const auto add_row = [&](int y) {
        auto* line = line_of(y);
        const int from = border_index(y, shape.height, terms.border);
        if (from < 0) {
            std::memset(line, 0, static_cast<std::size_t>(line_stride));
            return;
        }
        std::memcpy(line + columns.line_begin(), in.row(tile.frame, from) + columns.image_begin(),
                    static_cast<std::size_t>(columns.image_count()));
        columns.fill_border(line);
    };

    const Quotient quotient(terms.divisor, terms.offset);
    TapPairs pairs;
    pairs.count = static_cast<int>(terms.taps.size() + 1) / 2;
    // Load all rows of the first window except the last.
    for (int y = tile.y_begin - reach; y < tile.y_begin + reach; ++y) add_row(y);
    for (int y = tile.y_begin; y < tile.y_end; ++y) {
        add_row(y + reach);
        for (int pair = 0; pair < pairs.count; ++pair) {
            const auto at = static_cast<std::size_t>(2 * pair);
            const auto& first = terms.taps[at];
            const bool alone = at + 1 == terms.taps.size();
            const auto& second = alone ? first : terms.taps[at + 1];
            const auto bytes = [&](const ConvolveTap& tap) {
                return line_of(y + tap.down) + (tap.right + reach) * channels;
            };
            pairs.first[pair] = bytes(first);
            pairs.second[pair] = bytes(second);
            const auto high = alone ? 0u : static_cast<std::uint32_t>(second.weight) << 16;
            pairs.weights[pair] = static_cast<std::int32_t>(high | static_cast<std::uint16_t>(first.weight));
        }
        convolve_row(pairs, quotient, tile_bytes, out.row(tile.frame, y) + tile.x_begin * channels);
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(convolve_tile);

// Tiles are at least eight times as high as the matrix, so that loading the rows above each tile again costs little.
void Convolve::run(const FilterImages<MemorySpace::host>& images) const {
    validate(images.in, shape_, "convolve's image");
    validate(images.out, shape_, "convolve's result");
    const ConvolveTerms terms{taps_, size_, divisor_, offset_, border_};
    for_window_tiles(executor_->pool(), shape_, convolve_tile_bytes(size_) / shape_.channels, 8 * size_,
                     [&](const WindowTile& tile) {
                         HWY_DYNAMIC_DISPATCH(convolve_tile)(terms, images.in, images.out, tile);
                     });
}

}  // namespace framewire

#endif

#if HWY_ONCE

namespace framewire {
namespace {

// Returns the side of the matrix. Throws Error{usage} unless it is square, odd and not too large.
int side_of(const std::vector<int>& matrix) {
    const auto side = static_cast<int>(std::lround(std::sqrt(static_cast<double>(matrix.size()))));
    if (side % 2 == 0 || side > max_convolve_size || static_cast<std::size_t>(side * side) != matrix.size())
        fail(ErrorCode::usage, "matrix has {} numbers; allowed: 1, 9, 25 and so on to {} (a square with an odd side)",
             matrix.size(), max_convolve_size * max_convolve_size);
    return side;
}

// Throws Error{usage} if a value is out of range.
void check_range(std::string_view what, int value, int least, int most) {
    if (value < least || value > most)
        fail(ErrorCode::usage, "convolve's {} is {}; allowed: {} to {}", what, value, least, most);
}

// Parameters of the registry entry, with the matrix as text.
struct ConvolveSettings {
    std::string matrix = "0 -1 0  -1 5 -1  0 -1 0";
    int divisor = ConvolveParameters{}.divisor;
    int offset = ConvolveParameters{}.offset;
    Border border = ConvolveParameters{}.border;
};

const ParameterFields<ConvolveSettings>& convolve_fields() {
    using S = ConvolveSettings;
    static const ParameterFields<S> fields = {
        parameter_field(&S::matrix, {.name = "matrix",
                                     .help = "whole numbers separated by spaces, row by row, in quotes; the matrix is "
                                             "square, with an odd side of up to 15"}),
        parameter_field(&S::divisor, {.name = "divisor",
                                      .help = "divisor of the sum; the quotient is rounded to nearest",
                                      .minimum = 1,
                                      .maximum = max_convolve_divisor}),
        parameter_field(&S::offset,
                        {.name = "offset", .help = "value added to the quotient", .minimum = -255, .maximum = 255}),
        parameter_field(&S::border, border_names, border_parameter()),
    };
    return fields;
}

ConvolveParameters convolve_parameters(const ParameterValues& values) {
    const auto settings = convolve_fields().from(values);
    return {parse_matrix(settings.matrix), settings.divisor, settings.offset, settings.border};
}

}  // namespace

// Checks the number of values while reading, so that a long text cannot allocate much.
std::vector<int> parse_matrix(std::string_view text) {
    constexpr std::string_view spaces = " \t\r\n";
    constexpr std::size_t most = max_convolve_size * max_convolve_size;
    std::vector<int> matrix;
    for (auto begin = text.find_first_not_of(spaces); begin != text.npos; begin = text.find_first_not_of(spaces)) {
        text.remove_prefix(begin);
        const auto word = text.substr(0, text.find_first_of(spaces));
        text.remove_prefix(word.size());
        const auto number = number_in<int>(word);
        if (!number || *number < -max_convolve_weight || *number > max_convolve_weight)
            fail(ErrorCode::usage,
                 "matrix contains '{}'; allowed: whole numbers from {} to {} separated by spaces (use divisor for "
                 "fractions)",
                 word, -max_convolve_weight, max_convolve_weight);
        if (matrix.size() == most) fail(ErrorCode::usage, "matrix has more than {} numbers", most);
        matrix.push_back(*number);
    }
    side_of(matrix);
    return matrix;
}

// Only numbers of the matrix that are not zero become taps, so sparse matrices cost less on the CPU.
Convolve::Convolve(const ConvolveParameters& parameters, const Shape& shape, Executor& executor)
    : size_(side_of(parameters.matrix)),
      divisor_(parameters.divisor),
      offset_(parameters.offset),
      border_(parameters.border),
      shape_(shape),
      executor_(&executor) {
    validate(shape, "convolve's image");
    check_range("divisor", divisor_, 1, max_convolve_divisor);
    check_range("offset", offset_, -255, 255);
    // Collect the taps, relative to the middle of the matrix.
    for (int index = 0; index < size_ * size_; ++index) {
        const int weight = parameters.matrix[static_cast<std::size_t>(index)];
        check_range("matrix", weight, -max_convolve_weight, max_convolve_weight);
        if (weight != 0)
            taps_.push_back({index % size_ - size_ / 2, index / size_ - size_ / 2, static_cast<std::int16_t>(weight)});
    }
    if constexpr (cuda::compiled)
        if (executor.backend() == Backend::cuda) on_device_ = plan_for_cuda();
}

FilterInfo convolve_info() {
    return {
        .name = "convolve",
        .summary = "weighted sum of each pixel's neighbourhood: sharpen, find edges, emboss",
        .parameters = convolve_fields().infos(),
        .examples = {"convolve='-1 0 0  0 0 0  0 0 1':offset=128", "convolve='1 2 1  2 4 2  1 2 1':divisor=16"},
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                convolve_parameters(values);
                return shape;
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Convolve>>(convolve_parameters(values), shape, executor);
        },
    };
}

}  // namespace framewire

#endif  // HWY_ONCE
