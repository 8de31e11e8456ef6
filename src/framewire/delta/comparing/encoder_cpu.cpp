#include "framewire/core/simd/simd.hpp"
#include "framewire/delta/delta.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/delta/comparing/encoder_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/delta/comparing/compare-inl.hpp"

#include <algorithm>
#include <bit>

// Difference encoder on the CPU. Chunks of rows are compared in parallel, and each appends its changes at the place
// that it would have if every byte before it had changed. Then the gaps between the chunks are closed.
HWY_BEFORE_NAMESPACE();
namespace framewire::delta::HWY_NAMESPACE {
namespace {

// Callback for Comparison::add() that appends changes to a list.
class ListChanges {
public:
    // `position` is that of the first byte. The list has a capacity for all `bytes`.
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
        // Written in fours, even if fewer remain: their number is unpredictable, so a loop per change mispredicts.
        // Surplus entries are overwritten by the next ones.
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

// Encodes `bytes` bytes of one frame, at most comparing::most_bytes, beginning at position `position`. Writes the
// changes to `positions` and `differences`, and adds their number and the errors to `summary`.
void encode_span(const std::uint8_t* current, std::uint8_t* reference, std::int64_t bytes, int threshold,
                 std::uint32_t position, std::uint32_t* positions, std::uint8_t* differences, Summary& summary) {
    ListChanges changes(position, bytes, positions, differences);
    auto found = comparing::compare(
        threshold, [&](auto& comparison) HWY_ATTR { comparison.add(current, reference, bytes, changes); });
    found.count = changes.count();
    add(summary, found);
}

}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "framewire/delta/comparing/encoder_layout.hpp"

#include <cstring>
#include <utility>

namespace framewire::delta {

HWY_EXPORT(encode_span);

namespace {

// Moves the changes of the chunks together. The chunks in the range that the final list occupies are moved in order by
// one thread per stream; all others can then be moved in parallel, because their destination is free.
class Gaps {
public:
    Gaps(const Shape& shape, const CpuChunks& chunks, Summary* chunk_summaries,
         const ChangesView<MemorySpace::host>& changes)
        : chunk_bytes_(chunks.rows_each * shape.row_bytes()),
          per_frame_(chunks.per_frame),
          chunk_summaries_(chunk_summaries),
          changes_(changes) {}

    // Turns the counts of a stream's chunks into places, sums up the errors, and moves the first chunks.
    void close_first(int stream) {
        Summary total;
        for (std::int64_t chunk = 0; chunk < per_frame_; ++chunk) {
            auto& part = chunk_summaries_[stream * per_frame_ + chunk];
            // From here on a chunk's count is the place of its first change, so that later steps need not add up again.
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
    // Returns the place of a chunk's first change; for the number after the last chunk, the number of changes.
    std::int64_t place(int stream, std::int64_t chunk) const {
        return chunk < per_frame_ ? chunk_summaries_[stream * per_frame_ + chunk].count
                                  : changes_.summaries[stream].count;
    }
    // Returns the first chunk that begins after the end of the final list.
    std::int64_t first_apart(int stream) const {
        return std::min(per_frame_, (changes_.summaries[stream].count + chunk_bytes_ - 1) / chunk_bytes_);
    }
    // Moves the changes of chunks `first` to `end` - 1 to their places. A place is never after the chunk's beginning,
    // so moves
    // in ascending order do not overwrite changes that have yet to move.
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
