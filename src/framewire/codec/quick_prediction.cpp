#include "framewire/codec/quick_prediction.hpp"
#include "framewire/codec/changes_coder.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/codec/quick_prediction.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

// Shared by all SIMD targets. The guard prevents one definition per target.
#ifndef FRAMEWIRE_QUICK_PREDICTION_SHARED
#define FRAMEWIRE_QUICK_PREDICTION_SHARED

namespace framewire::codec {
/// Maximum number of bytes of a vector of rows_beyond(). It stores whole vectors.
inline constexpr int column_vector = 64;
}  // namespace framewire::codec

#endif

// Comparison of a block with the previous picture, which finds all that the encoder has to know of a block before it
// codes it.

HWY_BEFORE_NAMESPACE();
namespace framewire::codec::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

}  // namespace

// Compares at most 8 rows of `bytes` bytes, at most 192. Stores the largest amount by which a column of bytes exceeds
// the threshold in `columns`, and adds the samples to `found`.
void rows_beyond(const std::uint8_t* camera, std::int64_t camera_stride, const std::uint8_t* before,
                 std::int64_t before_stride, int rows, int bytes, int threshold, std::uint8_t* columns,
                 BeyondThreshold& found) {
    const hn::CappedTag<std::uint8_t, column_vector> d8;
    const hn::Repartition<std::uint64_t, decltype(d8)> d64;
    const auto lanes = static_cast<int>(hn::Lanes(d8));
    const auto limit = hn::Set(d8, static_cast<std::uint8_t>(threshold)), one = hn::Set(d8, 1);
    auto samples = hn::Zero(d64), excess = hn::Zero(d64);
    for (int i = 0; i < bytes; i += lanes) {
        auto largest = hn::Zero(d8);
        // At the end of a row, a vector is padded with zeros.
        const int count = std::min(lanes, bytes - i);
        const auto load = [&](const std::uint8_t* from) HWY_ATTR {
            if (count == lanes) return hn::LoadU(d8, from);
            HWY_ALIGN std::uint8_t padded[column_vector] = {};
            std::memcpy(padded, from, static_cast<std::size_t>(count));
            return hn::Load(d8, padded);
        };
        for (int row = 0; row < rows; ++row) {
            const auto a = load(camera + row * camera_stride + i), b = load(before + row * before_stride + i);
            const auto beyond = hn::SaturatedSub(hn::Sub(hn::Max(a, b), hn::Min(a, b)), limit);
            largest = hn::Max(largest, beyond);
            samples = hn::Add(samples, hn::SumsOf8(hn::Min(beyond, one)));
            excess = hn::Add(excess, hn::SumsOf8(beyond));
        }
        hn::StoreU(largest, d8, columns + i);
    }
    found.samples += static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(d64, samples)));
    found.excess += static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(d64, excess)));
}

}  // namespace framewire::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::codec {

HWY_EXPORT(rows_beyond);

BeyondThreshold find_beyond(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before,
                            const BlockPlace& block, int threshold) {
    const int channels = camera.shape().channels;
    const auto from = std::int64_t{block.x} * channels;
    BeyondThreshold found;
    std::array<std::uint8_t, block_side * 3 + column_vector> columns;
    for (int row = 0; row < block.part_rows(); ++row) {
        const int y = block.y + row * part_side;
        HWY_DYNAMIC_DISPATCH(rows_beyond)
        (camera.row(0, y) + from, camera.row_stride_bytes(), before.row(0, y) + from, before.row_stride_bytes(),
         std::min(part_side, block.height - row * part_side), block.width * channels, threshold, columns.data(), found);
        for (int column = 0; column < block.part_columns(); ++column) {
            const auto* const first = columns.data() + column * part_side * channels;
            const int width = std::min(part_side, block.width - column * part_side);
            const int furthest = *std::max_element(first, first + width * channels);
            if (furthest > 0) found.parts |= part_bit(column, row);
            found.furthest = std::max(found.furthest, furthest);
        }
    }
    return found;
}

void QuickPredictionEncoder::encode(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before,
                                    std::span<const BlockPlace> blocks, int threshold, HostView<std::uint8_t> after,
                                    std::vector<std::uint8_t>& out, std::span<std::size_t> sizes) {
    for (std::size_t i = 0; i < blocks.size(); ++i) add_block(camera, before, blocks[i], threshold, after, symbols_[i]);
    Symbols::write(std::span(symbols_).first(blocks.size()), out, sizes);
}

void QuickPredictionEncoder::add_block(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before,
                                       const BlockPlace& block, int threshold, HostView<std::uint8_t> after,
                                       Symbols& symbols) {
    const int channels = camera.shape().channels;
    const auto found = find_beyond(camera, before, block, threshold);
    const Quantizer quantizer(threshold, quick_step_size(threshold, found.furthest, found.samples, found.excess));
    symbols.clear();
    symbols.add_bits(quantizer.size(), Quantizer::size_bits);
    copy_block(before, after, block);
    for (int row = 0; row < block.part_rows(); ++row)
        for (int column = 0; column < block.part_columns(); ++column) {
            const auto mode = found.parts & part_bit(column, row) ? PartMode::changes : PartMode::stays;
            symbols.add(modes_.mode_model(column, row) + static_cast<int>(mode));
            modes_.set(column, row, mode);
            if (mode == PartMode::stays) continue;
            const int left = column * part_side, top = row * part_side, x = block.x + left, y = block.y + top;
            const int width = std::min(part_side, block.width - left), height = std::min(part_side, block.height - top);
            camera_.load(camera, x, y, width, height);
            predicted_.move(before, x, y, {});
            quantize(quantizer, camera_.samples, camera_.mask, predicted_.first(), channels, height, quantized_);
            add_quantized_entries(quantized_, {left, top, width, height, Predicted::reference, quantizer.fine()},
                                  channels, planes_, symbols);
            for (int line = 0; line < height; ++line)
                std::memcpy(after.row(0, y + line) + std::int64_t{x} * channels,
                            &quantized_.samples[static_cast<std::size_t>(line * part_row)],
                            static_cast<std::size_t>(width * channels));
        }
    for_each_of(found.parts, block, [&](int left, int top, int, int) { planes_.clear_part(left, top); });
}

}  // namespace framewire::codec

#endif  // HWY_ONCE
