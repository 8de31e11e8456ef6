#include "framewire/core/simd/simd.hpp"
#include "framewire/delta/delta.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/delta/encoder_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd/simd-inl.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

HWY_BEFORE_NAMESPACE();
namespace framewire::delta::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using namespace framewire::HWY_NAMESPACE;

constexpr std::int64_t block_bytes = 64;

// Appends the changes of one block of 64 bytes to `positions` and `differences`, which have room for `room` more after
// `count`.
void append_changes(std::uint64_t changed, std::uint32_t block_position, const std::uint8_t* block_differences,
                    std::int64_t room, std::uint32_t count, std::uint32_t* positions, std::uint8_t* differences) {
    positions += count;
    differences += count;
    if (changed == ~std::uint64_t{0}) {
        for (std::uint32_t bit = 0; bit < block_bytes; ++bit) positions[bit] = block_position + bit;
        std::copy_n(block_differences, block_bytes, differences);
        return;
    }
    // Four at a time, whether there are four or not: how many there are is what a branch predictor cannot guess.
    const auto changes = std::popcount(changed);
    int done = 0;
    for (; done < changes && done + 4 <= room; done += 4)
        for (int next = done; next < done + 4; ++next, changed &= changed - 1) {
            const auto bit = static_cast<std::uint32_t>(std::countr_zero(changed | std::uint64_t{1} << 63));
            positions[next] = block_position + bit;
            differences[next] = block_differences[bit];
        }
    for (; done < changes; ++done, changed &= changed - 1) {
        const auto bit = static_cast<std::uint32_t>(std::countr_zero(changed));
        positions[done] = block_position + bit;
        differences[done] = block_differences[bit];
    }
}

}  // namespace

namespace {

// The squares of a block's errors, as many as fall on one sum of two, fit 16 bits where none is more than this.
constexpr int small_error = 63;

template <bool small>
void encode_span_of(const std::uint8_t* current, std::uint8_t* reference, std::int64_t bytes, int threshold,
                    std::uint32_t position, std::uint32_t* positions, std::uint8_t* differences, Summary& summary) {
    const hn::CappedTag<std::uint8_t, block_bytes> d8;
    const hn::Repartition<std::int16_t, decltype(d8)> d16;
    const hn::Repartition<std::int32_t, decltype(d8)> d32;
    constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(d8));
    static_assert(block_bytes / lanes * 2 * small_error * small_error <= 0x7fff);
    const auto limit = hn::Set(d8, static_cast<std::uint8_t>(threshold));
    const auto zero = hn::Zero(d8);
    const auto distance_of = [](hn::VFromD<decltype(d8)> now, hn::VFromD<decltype(d8)> held)
                                 HWY_ATTR { return hn::Or(hn::SaturatedSub(now, held), hn::SaturatedSub(held, now)); };
    auto largest = zero;
    auto squares = hn::Zero(d32);
    HWY_ALIGN std::uint8_t block_differences[block_bytes] = {};

    std::uint32_t count = 0;
    std::int64_t i = 0;
    for (; i + block_bytes <= bytes; i += block_bytes) {
        auto any_far = zero;
        auto block_squares = hn::Zero(d16);
#pragma GCC unroll 4
        for (std::int64_t at = i; at < i + block_bytes; at += lanes) {
            const auto now = hn::LoadU(d8, current + at), held = hn::LoadU(d8, reference + at);
            const auto distance = distance_of(now, held);
            const auto far = hn::SaturatedSub(distance, limit);
            any_far = hn::Or(any_far, far);
            const auto error = hn::IfThenElseZero(hn::Eq(far, zero), distance);
            largest = hn::Max(largest, error);
            if constexpr (small) {
                block_squares = hn::Add(block_squares, multiply_add_bytes(d16, error, error));
            } else {
                const auto low = hn::BitCast(d16, hn::InterleaveLower(d8, error, zero));
                const auto high = hn::BitCast(d16, hn::InterleaveUpper(d8, error, zero));
                squares =
                    hn::Add(squares, hn::Add(multiply_add_pairs(d32, low, low), multiply_add_pairs(d32, high, high)));
            }
        }
        if constexpr (small) squares = hn::Add(squares, multiply_add_pairs(d32, block_squares, hn::Set(d16, 1)));
        if (hn::AllTrue(d8, hn::Eq(any_far, zero))) continue;
        std::uint64_t changed = 0;
        for (std::int64_t at = 0; at < block_bytes; at += lanes) {
            const auto now = hn::LoadU(d8, current + i + at), held = hn::LoadU(d8, reference + i + at);
            const auto is_near = hn::Eq(hn::SaturatedSub(distance_of(now, held), limit), zero);
            hn::StoreU(hn::IfThenElse(is_near, held, now), d8, reference + i + at);
            hn::Store(hn::Sub(now, held), d8, block_differences + at);
            std::uint64_t bits = 0;
            hn::StoreMaskBits(d8, hn::Not(is_near), reinterpret_cast<std::uint8_t*>(&bits));
            changed |= bits << at;
        }
        append_changes(changed, position + static_cast<std::uint32_t>(i), block_differences, bytes - count, count,
                       positions, differences);
        count += static_cast<std::uint32_t>(std::popcount(changed));
    }
    HWY_ALIGN std::uint8_t largest_lanes[block_bytes];
    hn::Store(largest, d8, largest_lanes);
    std::uint32_t max_error = *std::max_element(largest_lanes, largest_lanes + lanes);
    HWY_ALIGN std::uint32_t square_lanes[block_bytes / 4];
    hn::Store(squares, d32, reinterpret_cast<std::int32_t*>(square_lanes));
    std::uint64_t squared_error = 0;
    for (std::size_t lane = 0; lane < hn::Lanes(d32); ++lane) squared_error += square_lanes[lane];

    for (; i < bytes; ++i) {
        const int difference = current[i] - reference[i];
        if (std::abs(difference) > threshold) {
            positions[count] = position + static_cast<std::uint32_t>(i);
            differences[count] = static_cast<std::uint8_t>(difference);
            ++count;
            reference[i] = current[i];
        } else {
            max_error = std::max(max_error, static_cast<std::uint32_t>(std::abs(difference)));
            squared_error += static_cast<std::uint64_t>(difference * difference);
        }
    }
    summary.count += count;
    summary.max_error = std::max(summary.max_error, max_error);
    summary.squared_error += squared_error;
}

}  // namespace

// Encodes `bytes` bytes of one frame, at most 64 KiB, the first of which has position `position`. Changes go to
// `positions` and `differences`; how many, and the errors, are added to `summary`.
void encode_span(const std::uint8_t* current, std::uint8_t* reference, std::int64_t bytes, int threshold,
                 std::uint32_t position, std::uint32_t* positions, std::uint8_t* differences, Summary& summary) {
    const auto encode = threshold <= small_error ? &encode_span_of<true> : &encode_span_of<false>;
    encode(current, reference, bytes, threshold, position, positions, differences, summary);
}

}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "framewire/delta/encoder_layout.hpp"

#include <cstring>
#include <utility>

namespace framewire::delta {

HWY_EXPORT(encode_span);

namespace {

// Chunks wrote their changes where they would lie if every byte before them had changed. The gaps are closed: first
// those of chunks that lie where changes go, in order, then all others side by side.
class Gaps {
public:
    Gaps(const Shape& shape, const CpuChunks& chunks, Summary* chunk_summaries,
         const ChangesView<MemorySpace::host>& changes)
        : chunk_bytes_(chunks.rows_each * shape.row_bytes()),
          per_frame_(chunks.per_frame),
          chunk_summaries_(chunk_summaries),
          changes_(changes) {}

    void close_first(int stream) {
        Summary total;
        for (std::int64_t chunk = 0; chunk < per_frame_; ++chunk) {
            auto& part = chunk_summaries_[stream * per_frame_ + chunk];
            // From here on a chunk's count is where its changes go, so that nobody adds them up again.
            total.count += std::exchange(part.count, total.count);
            total.max_error = std::max(total.max_error, part.max_error);
            total.squared_error += part.squared_error;
        }
        changes_.summaries[stream] = total;
        for_chunks(stream, 0, first_apart(stream));
    }
    void close_others(int stream, std::int64_t begin, std::int64_t end) {
        for_chunks(stream, std::max(begin, first_apart(stream)), end);
    }

private:
    std::int64_t place(int stream, std::int64_t chunk) const {
        return chunk < per_frame_ ? chunk_summaries_[stream * per_frame_ + chunk].count
                                  : changes_.summaries[stream].count;
    }
    /// The first chunk that lies behind all changes.
    std::int64_t first_apart(int stream) const {
        return std::min(per_frame_, (changes_.summaries[stream].count + chunk_bytes_ - 1) / chunk_bytes_);
    }
    void for_chunks(int stream, std::int64_t first, std::int64_t end) const {
        auto* const positions = changes_.positions + stream * changes_.capacity;
        auto* const differences = changes_.differences + stream * changes_.capacity;
        for (auto chunk = first; chunk < end; ++chunk) {
            const auto from = chunk * chunk_bytes_, to = place(stream, chunk), count = place(stream, chunk + 1) - to;
            if (count == 0 || from == to) continue;
            std::memmove(positions + to, positions + from, static_cast<std::size_t>(count) * sizeof(*positions));
            std::memmove(differences + to, differences + from, static_cast<std::size_t>(count));
        }
    }

    std::int64_t chunk_bytes_, per_frame_;
    Summary* chunk_summaries_;
    const ChangesView<MemorySpace::host>& changes_;
};

}  // namespace

void Encoder::encode(HostView<const std::uint8_t> current, HostView<std::uint8_t> reference,
                     const ChangesView<MemorySpace::host>& changes, std::optional<int> of_frame) {
    validate(current, shape_, "the encoder's frame");
    validate(reference, shape_, "the encoder's reference");
    validate(changes, shape_, "the encoder's changes");
    const CpuChunks chunks(shape_);
    const auto threshold = threshold_of_frame(of_frame);
    auto* chunk_summaries = workspace_.as<Summary>();
    executor_->pool().for_chunks(shape_.frames * chunks.per_frame, 1,
                                 [&](std::int64_t index, std::int64_t, std::int64_t) {
                                     const auto stream = static_cast<int>(index / chunks.per_frame);
                                     const auto first_row = index % chunks.per_frame * chunks.rows_each;
                                     const auto rows = std::min(chunks.rows_each, shape_.height - first_row);
                                     const auto begin = first_row * shape_.row_bytes();
                                     auto* positions = changes.positions + stream * changes.capacity + begin;
                                     auto* differences = changes.differences + stream * changes.capacity + begin;
                                     Summary summary;
                                     const auto encode_rows = [&](std::int64_t row, std::int64_t bytes) {
                                         const auto y = static_cast<int>(row);
                                         HWY_DYNAMIC_DISPATCH(encode_span)
                                         (current.row(stream, y), reference.row(stream, y), bytes, threshold,
                                          static_cast<std::uint32_t>(row * shape_.row_bytes()),
                                          positions + summary.count, differences + summary.count, summary);
                                     };
                                     if (current.dense_rows() && reference.dense_rows())
                                         encode_rows(first_row, rows * shape_.row_bytes());
                                     else
                                         for (auto row = first_row; row < first_row + rows; ++row)
                                             encode_rows(row, shape_.row_bytes());
                                     chunk_summaries[index] = summary;
                                 });
    Gaps gaps(shape_, chunks, chunk_summaries, changes);
    executor_->pool().for_chunks(shape_.frames, 1, [&](std::int64_t stream, std::int64_t, std::int64_t) {
        gaps.close_first(static_cast<int>(stream));
    });
    constexpr std::int64_t each = 16;  // chunks moved by one thread
    const auto parts = (chunks.per_frame + each - 1) / each;
    executor_->pool().for_chunks(shape_.frames * parts, 1, [&](std::int64_t index, std::int64_t, std::int64_t) {
        const auto begin = index % parts * each;
        gaps.close_others(static_cast<int>(index / parts), begin, std::min(begin + each, chunks.per_frame));
    });
}

}  // namespace framewire::delta

#endif
