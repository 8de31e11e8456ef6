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

/// Head of a packed frame: its kind and the threshold of its encoder (format.md, "A frame").
struct PackedHead {
    /// The kinds of packed frames. The values are those of the format.
    enum class Kind : std::uint8_t {
        changes = 0,        ///< delta frame: differences from the previous picture
        picture = 1,        ///< lossless keyframe
        prediction = 2,     ///< delta frame: the new picture, predicted from the previous one
        first_picture = 3,  ///< keyframe: like `prediction`, but predicted only within the blocks themselves
        blocks = 4          ///< some blocks of a lossless keyframe
    };
    /// Size of the head.
    static constexpr std::size_t bytes = 2;
    /// Maximum threshold that a head can have.
    static constexpr int max_threshold = 254;

    Kind kind;
    int threshold;
};

/// Maximum number of threads that share the blocks of a frame. The bytes do not depend on the number of threads.
inline constexpr std::size_t most_block_workers = 16;
/// Returns the number of workers for a pool; 1 if it is null.
inline std::size_t block_workers(const ThreadPool* pool) {
    return pool ? std::min(most_block_workers, static_cast<std::size_t>(pool->threads())) : 1;
}

/// Calls body(worker, group) for each group of blocks, on the threads of the pool if it is not null. A worker that is
/// done with a group takes the next one. Calls with the same worker never overlap. Returns when all are done.
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

/// Calls body(worker, begin, end) for ranges of `count` blocks that take about equally long.
template <class Body>
void for_blocks(const ThreadPool* pool, std::size_t count, Body&& body) {
    constexpr std::size_t groups_each = 8;  // groups per worker: workers then finish at nearly the same time
    const auto workers = block_workers(pool), groups = workers == 1 ? 1 : groups_each * workers;
    const auto each = std::max<std::size_t>(1, (count + groups - 1) / groups);
    for_block_groups(pool, (count + each - 1) / each, [&](std::size_t worker, std::size_t group) {
        body(worker, group * each, std::min(count, (group + 1) * each));
    });
}

/// Joins the blocks of one frame, which several threads code, to a packed frame. Not thread-safe; keeps its memory
/// between frames.
class BlockWriter {
public:
    /// Codes the blocks `coded` (ascending) of a frame with `blocks` blocks and appends head, directory and blocks to
    /// `out`. encode(worker, block, bytes) must append the coded block to `bytes`; calls with the same worker never
    /// overlap.
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
    /// Variant of write() that codes blocks in groups: encode(worker, of, bytes, sizes) appends the blocks `of` and
    /// stores their sizes. `order` lists indices into `coded` in the order of coding; `ends` are the ends of the groups
    /// in `order`, at most `most` blocks each.
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
    /// Variant of write() for blocks that are found only while coding, in `groups` groups: encode(worker, group, bytes,
    /// took) calls took(block, bytes) for each block that it appended, in the same order.
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

    std::vector<Place> places_;  // per block: its place in the bytes of a worker
    std::vector<int> found_;     // the blocks that write_found() found
    std::array<std::vector<std::uint8_t>, most_block_workers> bytes_;
};

/// Appends a frame made of blocks that are coded already: head, directory, and the bytes of `coded` (ascending). The
/// frame has `blocks` blocks.
void append_packed(const PackedHead& head, std::span<const CodedBlock> coded, int blocks,
                   std::vector<std::uint8_t>& out);

/// Throws Error{usage} unless `shape` is valid and a single frame. `what` names it in the message.
void validate_one_frame(const Shape& shape, const char* what);

/// Throws Error{usage} unless `threshold` is in 0..254, the range that a head can have.
void validate_packed_threshold(int threshold);

}  // namespace framewire::delta
