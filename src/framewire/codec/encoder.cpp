#include "framewire/codec/encoder.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/codec/encoder.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd-inl.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

// Comparison of a frame with the reference picture R.

HWY_BEFORE_NAMESPACE();
namespace framewire::codec::HWY_NAMESPACE {
namespace comparing {

namespace hn = hwy::HWY_NAMESPACE;
using namespace framewire::HWY_NAMESPACE;

/// Number of bytes per call of on_changes().
constexpr std::int64_t step_bytes = 64;
/// Maximum number of bytes per Comparison. Each lane's sum of squares then fits into 32 bits.
constexpr std::int64_t most_bytes = 256 << 10;

/// Comparison of bytes with R, which accumulates the remaining errors. `small` selects a faster sum of squares, for
/// thresholds up to `small_error`.
template <bool small>
class Comparison {
public:
    /// Maximum error for which the squares of one step that are added up in a 16-bit lane cannot overflow.
    static constexpr int small_error = 63;

    /// Begins a comparison. `threshold` is 0..254, or at most `small_error` if `small` is set.
    explicit Comparison(int threshold)
        : threshold_(threshold), limit_(hn::Set(Bytes(), static_cast<std::uint8_t>(threshold))) {}

    /// Compares `bytes` bytes and updates those of R that are off by more than the threshold. Calls on_changes(i,
    /// changed, differences) for each group of `step_bytes` bytes that has changes; i is its first byte. Bit k of
    /// `changed` is set if byte i + k changed. `differences` has `step_bytes` entries, which are 0 for unchanged bytes
    /// and beyond `bytes`.
    template <class OnChanges>
    HWY_INLINE void add(const std::uint8_t* current, std::uint8_t* reference, std::int64_t bytes,
                        OnChanges& on_changes) {
        const Bytes d8;
        const Pairs d16;
        const auto limit = limit_, zero = hn::Zero(d8);
        // Local copies, which stay in registers; members would not, because a stored byte may alias them.
        auto largest = largest_;
        auto squares = squares_;
        alignas(step_bytes) std::uint8_t differences[step_bytes] = {};
        std::int64_t i = 0;
        for (; i + step_bytes <= bytes; i += step_bytes) {
            auto any_far = zero;
            auto step_squares = hn::Zero(d16);
#pragma GCC unroll 4
            for (std::int64_t at = i; at < i + step_bytes; at += lanes) {
                const auto now = hn::LoadU(d8, current + at), held = hn::LoadU(d8, reference + at);
                const auto distance = distance_of(now, held);
                const auto far = hn::SaturatedSub(distance, limit);
                any_far = hn::Or(any_far, far);
                const auto error = hn::IfThenElseZero(hn::Eq(far, zero), distance);
                largest = hn::Max(largest, error);
                if constexpr (small) {
                    step_squares = hn::Add(step_squares, multiply_add_bytes(d16, error, error));
                } else {
                    const auto low = hn::BitCast(d16, hn::InterleaveLower(d8, error, zero));
                    const auto high = hn::BitCast(d16, hn::InterleaveUpper(d8, error, zero));
                    squares = hn::Add(
                        squares, hn::Add(multiply_add_pairs(Sums(), low, low), multiply_add_pairs(Sums(), high, high)));
                }
            }
            if constexpr (small) squares = hn::Add(squares, multiply_add_pairs(Sums(), step_squares, hn::Set(d16, 1)));
            if (hn::AllTrue(d8, hn::Eq(any_far, zero))) continue;
            std::uint64_t changed = 0;
            for (std::int64_t at = 0; at < step_bytes; at += lanes) {
                const auto now = hn::LoadU(d8, current + i + at), held = hn::LoadU(d8, reference + i + at);
                const auto is_near = hn::Eq(hn::SaturatedSub(distance_of(now, held), limit), zero);
                hn::StoreU(hn::IfThenElse(is_near, held, now), d8, reference + i + at);
                hn::Store(hn::IfThenZeroElse(is_near, hn::Sub(now, held)), d8, differences + at);
                std::uint64_t bits = 0;
                hn::StoreMaskBits(d8, hn::Not(is_near), reinterpret_cast<std::uint8_t*>(&bits));
                changed |= bits << at;
            }
            on_changes(i, changed, differences);
        }
        largest_ = largest;
        squares_ = squares;
        if (i < bytes) add_rest(current, reference, i, bytes, differences, on_changes);
    }

    /// Returns the remaining errors. `count` is 0, because on_changes() counts the changes.
    Summary summary() const {
        auto summary = of_rest_;
        alignas(step_bytes) std::uint8_t largest[step_bytes];
        hn::Store(largest_, Bytes(), largest);
        summary.max_error = std::max<std::uint32_t>(summary.max_error, *std::max_element(largest, largest + lanes));
        alignas(step_bytes) std::uint32_t squares[step_bytes / 4];
        hn::Store(squares_, Sums(), reinterpret_cast<std::int32_t*>(squares));
        for (std::size_t lane = 0; lane < hn::Lanes(Sums()); ++lane) summary.squared_error += squares[lane];
        return summary;
    }

private:
    using Bytes = hn::CappedTag<std::uint8_t, step_bytes>;
    using Pairs = hn::Repartition<std::int16_t, Bytes>;
    using Sums = hn::Repartition<std::int32_t, Bytes>;
    static constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(Bytes()));
    static_assert(step_bytes / lanes * 2 * small_error * small_error <= 0x7fff);

    // Returns |now - held| of unsigned bytes: one of the two saturated differences is 0.
    static HWY_INLINE hn::VFromD<Bytes> distance_of(hn::VFromD<Bytes> now, hn::VFromD<Bytes> held) {
        return hn::Or(hn::SaturatedSub(now, held), hn::SaturatedSub(held, now));
    }

    // Compares the last bytes, which are fewer than a group, one by one.
    template <class OnChanges>
    void add_rest(const std::uint8_t* current, std::uint8_t* reference, std::int64_t first, std::int64_t end,
                  std::uint8_t* differences, OnChanges& on_changes) {
        std::uint64_t changed = 0;
        for (auto i = first; i < end; ++i) {
            const int difference = current[i] - reference[i];
            const bool is_far = std::abs(difference) > threshold_;
            differences[i - first] = static_cast<std::uint8_t>(is_far ? difference : 0);
            changed |= std::uint64_t{is_far} << (i - first);
            if (is_far) {
                reference[i] = current[i];
                continue;
            }
            of_rest_.max_error = std::max(of_rest_.max_error, static_cast<std::uint32_t>(std::abs(difference)));
            of_rest_.squared_error += static_cast<std::uint64_t>(difference * difference);
        }
        std::fill(differences + (end - first), differences + step_bytes, std::uint8_t{0});
        if (changed) on_changes(first, changed, differences);
    }

    int threshold_;
    hn::VFromD<Bytes> limit_, largest_ = hn::Zero(Bytes());
    hn::VFromD<Sums> squares_ = hn::Zero(Sums());
    Summary of_rest_;  // errors of the bytes that add_rest() has compared
};

/// Calls body(comparison) with a Comparison of the type that suits the threshold, and returns its summary.
template <class Body>
HWY_INLINE Summary compare(int threshold, Body&& body) {
    const auto run = [&](auto comparison) HWY_ATTR {
        body(comparison);
        return comparison.summary();
    };
    return threshold <= Comparison<true>::small_error ? run(Comparison<true>(threshold))
                                                      : run(Comparison<false>(threshold));
}

}  // namespace comparing
}  // namespace framewire::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

// Difference encoder on the CPU. Chunks of rows are compared in parallel. The changes of each chunk are written where
// they would be if all bytes before the chunk had changed. Afterwards, the gaps between the chunks are closed.
HWY_BEFORE_NAMESPACE();
namespace framewire::codec::HWY_NAMESPACE {
namespace {

// Callback for Comparison::add() that appends changes to a list.
class ListChanges {
public:
    // `position` is the position of the first compared byte. The list must have room for `bytes` changes.
    ListChanges(std::uint32_t position, std::int64_t bytes, std::uint32_t* positions, std::uint8_t* differences)
        : position_(position), bytes_(bytes), positions_(positions), differences_(differences) {}

    HWY_INLINE void operator()(std::int64_t i, std::uint64_t changed, const std::uint8_t* step_differences) {
        const auto position = position_ + static_cast<std::uint32_t>(i);
        auto* const positions = positions_ + count_;
        auto* const differences = differences_ + count_;
        const auto room = bytes_ - count_;
        const auto changes = std::popcount(changed);
        count_ += static_cast<std::uint32_t>(changes);
        if (changes == comparing::step_bytes) {
            for (std::uint32_t bit = 0; bit < comparing::step_bytes; ++bit) positions[bit] = position + bit;
            std::copy_n(step_differences, comparing::step_bytes, differences);
            return;
        }
        // Write four changes at a time, even if fewer remain: their number is unpredictable, so the branch of a loop
        // per change is mispredicted. Surplus entries are overwritten later.
        int done = 0;
        for (; done < changes && done + 4 <= room; done += 4)
            for (int next = done; next < done + 4; ++next, changed &= changed - 1) {
                const auto bit = static_cast<std::uint32_t>(std::countr_zero(changed | std::uint64_t{1} << 63));
                positions[next] = position + bit;
                differences[next] = step_differences[bit];
            }
        for (; done < changes; ++done, changed &= changed - 1) {
            const auto bit = static_cast<std::uint32_t>(std::countr_zero(changed));
            positions[done] = position + bit;
            differences[done] = step_differences[bit];
        }
    }
    std::uint32_t count() const { return count_; }

private:
    std::uint32_t position_, count_ = 0;
    std::int64_t bytes_;
    std::uint32_t* positions_;
    std::uint8_t* differences_;
};

}  // namespace

// Encodes `bytes` bytes of one frame, at most comparing::most_bytes, from position `position` on. Writes the changes to
// `positions` and `differences`, and adds their number and the errors to `summary`.
void encode_span(const std::uint8_t* current, std::uint8_t* reference, std::int64_t bytes, int threshold,
                 std::uint32_t position, std::uint32_t* positions, std::uint8_t* differences, Summary& summary) {
    ListChanges changes(position, bytes, positions, differences);
    auto found = comparing::compare(
        threshold, [&](auto& comparison) HWY_ATTR { comparison.add(current, reference, bytes, changes); });
    found.count = changes.count();
    add(summary, found);
}

}  // namespace framewire::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "framewire/codec/encoder.hpp"

#include <cstring>
#include <utility>

namespace framewire::codec {

HWY_EXPORT(encode_span);

namespace {

// Closes the gaps between the changes of the chunks. The chunks in the range that the final list will occupy are moved
// first, in order, by one thread per stream. All others can then be moved in parallel, because their destination is
// free.
class Gaps {
public:
    Gaps(const Shape& shape, const CpuChunks& chunks, Summary* chunk_summaries,
         const ChangesView<MemorySpace::host>& changes)
        : chunk_bytes_(chunks.rows_each * shape.row_bytes()),
          per_frame_(chunks.per_frame),
          chunk_summaries_(chunk_summaries),
          changes_(changes) {}

    // Turns the counts of a stream's chunks into places, adds up the errors, and moves the first chunks.
    void close_first(int stream) {
        Summary total;
        for (std::int64_t chunk = 0; chunk < per_frame_; ++chunk) {
            auto& part = chunk_summaries_[stream * per_frame_ + chunk];
            // From here on, a chunk's count is the place of its first change, so that the counts need not be added up
            // again.
            total.count += std::exchange(part.count, total.count);
            total.max_error = std::max(total.max_error, part.max_error);
            total.squared_error += part.squared_error;
        }
        changes_.summaries[stream] = total;
        for_chunks(stream, 0, first_apart(stream));
    }
    // Moves the chunks from `begin` to `end` - 1 that close_first() did not move.
    void close_others(int stream, std::int64_t begin, std::int64_t end) {
        for_chunks(stream, std::max(begin, first_apart(stream)), end);
    }

private:
    // Returns the place of a chunk's first change, or the number of changes if `chunk` is one after the last.
    std::int64_t place(int stream, std::int64_t chunk) const {
        return chunk < per_frame_ ? chunk_summaries_[stream * per_frame_ + chunk].count
                                  : changes_.summaries[stream].count;
    }
    // Returns the first chunk that begins after the end of the final list.
    std::int64_t first_apart(int stream) const {
        return std::min(per_frame_, (changes_.summaries[stream].count + chunk_bytes_ - 1) / chunk_bytes_);
    }
    // Moves the changes of chunks `first` to `end` - 1 to their places. A place never lies after the original one, so
    // moves in ascending order do not overwrite changes that have yet to move.
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

}  // namespace framewire::codec

#endif

// Comparison of a strip of blocks with R. The blocks are compared as one area with long rows, and the changes are
// recorded per block and sub-block.
//
//     step        0          1          2          3       ...   64 bytes each
//     1 channel   block 0  | block 1  | block 2  | block 3
//     3 channels  block 0 ...                    | block 1 ...

HWY_BEFORE_NAMESPACE();
namespace framewire::codec::HWY_NAMESPACE {
namespace {

using comparing::step_bytes;
static_assert(block_side == step_bytes);  // a row of a block then has one step per channel
constexpr int rows_at_once = block_side / 2;
static_assert(Strip::most_blocks * rows_at_once * block_side * 3 <= comparing::most_bytes);

// Masks of the bytes of a step that lie in each column of sub-blocks, from column `first` on. With 3 channels, a step
// of 64 bytes covers a third of a block's row, so it may begin or end within a column.
template <int channels>
struct StepColumns {
    static constexpr int most = channels == 1 ? parts_per_row : step_bytes / (part_side * channels) + 2;

    int first = 0;
    std::array<std::uint64_t, most> bytes{};

    static constexpr auto of_steps() {
        constexpr int part_bytes = part_side * channels;
        std::array<StepColumns, channels> steps;
        for (int step = 0; step < channels; ++step) {
            auto& to = steps[static_cast<std::size_t>(step)];
            const int begin = step * static_cast<int>(step_bytes);
            to.first = begin / part_bytes;
            for (int byte = 0; byte < step_bytes; ++byte)
                to.bytes[static_cast<std::size_t>((begin + byte) / part_bytes - to.first)] |= std::uint64_t{1} << byte;
        }
        return steps;
    }
    // Returns a bit set of the columns that contain a changed byte.
    unsigned changed(std::uint64_t bits) const {
        unsigned columns = 0;
        for (std::size_t i = 0; i < most; ++i) columns |= unsigned{(bits & bytes[i]) != 0} << i;
        return columns << first;
    }
};

// Callback for Comparison::add() that stores the differences of one row and records the changed sub-blocks of each
// block.
template <int channels>
class RowChanges {
public:
    RowChanges(std::uint8_t* differences, int row_of_parts, BlockChanges* blocks)
        : differences_(differences), first_bit_(parts_per_row * row_of_parts), blocks_(blocks) {}

    HWY_INLINE void operator()(std::int64_t i, std::uint64_t changed, const std::uint8_t* differences) {
        static constexpr auto steps = StepColumns<channels>::of_steps();
        std::memcpy(differences_ + i, differences, step_bytes);
        const auto step = static_cast<std::size_t>(i / step_bytes);
        auto& block = blocks_[step / channels];
        block.parts |= PartSet{steps[step % channels].changed(changed)} << first_bit_;
        block.count += static_cast<std::uint32_t>(std::popcount(changed));
    }

private:
    std::uint8_t* differences_;
    int first_bit_;
    BlockChanges* blocks_;
};

}  // namespace

template <int channels>
Summary compare_rows_of_strip(HostView<const std::uint8_t> current, HostView<std::uint8_t> reference,
                              const BlockPlace& strip, int threshold, HostView<std::uint8_t> differences,
                              BlockChanges* changes) {
    const auto begin = std::int64_t{strip.x} * channels, bytes = std::int64_t{strip.width} * channels;
    Summary found;
    for (int first = 0; first < strip.height; first += rows_at_once)
        add(found, comparing::compare(threshold, [&](auto& comparison) HWY_ATTR {
                for (int y = first; y < std::min(first + rows_at_once, strip.height); ++y) {
                    RowChanges<channels> row(differences.row(0, y), y / part_side, changes);
                    comparison.add(current.row(0, strip.y + y) + begin, reference.row(0, strip.y + y) + begin, bytes,
                                   row);
                }
            }));
    return found;
}

Summary compare_strip_rows(HostView<const std::uint8_t> current, HostView<std::uint8_t> reference,
                           const BlockPlace& strip, int threshold, HostView<std::uint8_t> differences,
                           BlockChanges* changes) {
    return current.shape().channels == 1
               ? compare_rows_of_strip<1>(current, reference, strip, threshold, differences, changes)
               : compare_rows_of_strip<3>(current, reference, strip, threshold, differences, changes);
}

}  // namespace framewire::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::codec {

HWY_EXPORT(compare_strip_rows);

Summary compare_strip(HostView<const std::uint8_t> current, HostView<std::uint8_t> reference, const Strip& strip,
                      int threshold, HostView<std::uint8_t> differences, std::span<BlockChanges> changes) {
    auto summary = HWY_DYNAMIC_DISPATCH(compare_strip_rows)(current, reference, strip.place, threshold, differences,
                                                            changes.data());
    for (const auto& block : changes) summary.count += block.count;
    return summary;
}

}  // namespace framewire::codec

#endif
