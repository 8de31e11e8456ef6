#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/packing/directory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire::delta {

/// What packed bytes begin with: of which kind they are, and with which threshold they were made.
struct PackedHead {
    enum class Kind : std::uint8_t {
        changes = 0,        ///< differences from the picture before
        picture = 1,        ///< a whole picture as it is
        prediction = 2,     ///< what becomes of the picture before, within the threshold
        first_picture = 3,  ///< the same where there is none before
        blocks = 4          ///< some blocks of a picture as they are
    };
    static constexpr std::size_t bytes = 2;
    static constexpr int max_threshold = 254;

    Kind kind;
    int threshold;
};

/// So many threads take blocks of a frame at most; bytes do not depend on their number.
inline constexpr std::size_t most_block_workers = 16;
inline std::size_t block_workers(const ThreadPool* pool) {
    return pool ? std::min(most_block_workers, static_cast<std::size_t>(pool->threads())) : 1;
}

/// Calls body(worker, group) for so many groups of blocks, on the pool where there is one: who is done with one takes
/// the next. Of calls with the same worker one follows the other.
template <class Body>
void for_block_groups(const ThreadPool* pool, std::size_t groups, Body&& body) {
    std::atomic<std::size_t> next = 0;
    const auto work = [&](std::int64_t worker, std::int64_t, std::int64_t) {
        for (auto group = next++; group < groups; group = next++) body(static_cast<std::size_t>(worker), group);
    };
    if (pool)
        pool->for_chunks(static_cast<std::int64_t>(std::min(block_workers(pool), groups)), 1, work);
    else
        work(0, 0, 0);
}

/// Calls body(worker, begin, end) for groups of `count` blocks, of which each takes about as long as the others.
template <class Body>
void for_blocks(const ThreadPool* pool, std::size_t count, Body&& body) {
    constexpr std::size_t groups_each = 8;  // of a worker: the last ones end at nearly the same time
    const auto workers = block_workers(pool), groups = workers == 1 ? 1 : groups_each * workers;
    const auto each = std::max<std::size_t>(1, (count + groups - 1) / groups);
    for_block_groups(pool, (count + each - 1) / each, [&](std::size_t worker, std::size_t group) {
        body(worker, group * each, std::min(count, (group + 1) * each));
    });
}

/// Coded blocks of one frame, put together from what threads wrote side by side.
class BlockWriter {
public:
    /// Codes the blocks `coded` (ascending) of a frame of `blocks`, each by encode(worker, block, bytes), which appends
    /// to `bytes`, and appends head, directory and blocks to `out`.
    template <class Encode>
    void write(const PackedHead& head, std::span<const int> coded, int blocks, const ThreadPool* pool,
               std::vector<std::uint8_t>& out, Encode&& encode) {
        begin(blocks);
        for_blocks(pool, coded.size(), [&](std::size_t worker, std::size_t from, std::size_t to) {
            auto& bytes = bytes_[worker];
            for (auto i = from; i < to; ++i) {
                const auto before = bytes.size();
                encode(worker, coded[i], bytes);
                place_of(coded[i]) = {worker, before, bytes.size() - before};
            }
        });
        finish(head, coded, blocks, out);
    }
    /// The same of groups of blocks, each by encode(worker, of, bytes, sizes), which says how many bytes each block
    /// takes. `order`: which of `coded` come one after the other; `ends`: where in it groups end, of `most` at most.
    template <std::size_t most, class Encode>
    void write_groups(const PackedHead& head, std::span<const int> coded, std::span<const std::size_t> order,
                      std::span<const std::size_t> ends, int blocks, const ThreadPool* pool,
                      std::vector<std::uint8_t>& out, Encode&& encode) {
        begin(blocks);
        for_block_groups(pool, ends.size(), [&](std::size_t worker, std::size_t group) {
            const auto from = group ? ends[group - 1] : 0;
            const auto of = order.subspan(from, ends[group] - from);
            std::array<std::size_t, most> sizes;
            auto& bytes = bytes_[worker];
            auto at = bytes.size();
            encode(worker, of, bytes, std::span(sizes).first(of.size()));
            for (std::size_t i = 0; i < of.size(); at += sizes[i++]) place_of(coded[of[i]]) = {worker, at, sizes[i]};
        });
        finish(head, coded, blocks, out);
    }
    /// The same where it is seen only then which blocks are to be coded, in so many groups: encode(worker, group,
    /// bytes, took) calls took(block, bytes) for each that it appended, in the same order.
    template <class Encode>
    void write_found(const PackedHead& head, std::size_t groups, int blocks, const ThreadPool* pool,
                     std::vector<std::uint8_t>& out, Encode&& encode) {
        begin(blocks);
        std::fill(places_.begin(), places_.end(), Place{});
        for_block_groups(pool, groups, [&](std::size_t worker, std::size_t group) {
            auto& bytes = bytes_[worker];
            encode(worker, group, bytes, [&, at = bytes.size()](int block, std::size_t size) mutable {
                place_of(block) = {worker, at, size};
                at += size;
            });
        });
        found_.clear();
        for (int block = 0; block < blocks; ++block)
            if (place_of(block).bytes > 0) found_.push_back(block);
        finish(head, found_, blocks, out);
    }

private:
    void begin(int blocks) {
        places_.resize(static_cast<std::size_t>(blocks));
        for (auto& bytes : bytes_) bytes.clear();
    }
    void finish(const PackedHead& head, std::span<const int> coded, int blocks, std::vector<std::uint8_t>& out) const;

    struct Place {
        std::size_t worker = 0, from = 0, bytes = 0;
    };
    Place& place_of(int block) { return places_[static_cast<std::size_t>(block)]; }

    std::vector<Place> places_;  // of each block that is coded, in what workers wrote
    std::vector<int> found_;     // of write_found(): those blocks
    std::array<std::vector<std::uint8_t>, most_block_workers> bytes_;
};

/// Appends head, directory and bytes of blocks that were coded before: `coded`, ascending, of a frame of `blocks`.
void append_packed(const PackedHead& head, std::span<const CodedBlock> coded, int blocks,
                   std::vector<std::uint8_t>& out);

/// Throws Error{usage} unless `shape` is one frame; `what` names it.
void validate_one_frame(const Shape& shape, const char* what);

/// Throws Error{usage} unless `threshold` is one that packed bytes can tell.
void validate_packed_threshold(int threshold);

}  // namespace framewire::delta
