#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/packing/directory.hpp"

#include <algorithm>
#include <array>
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

/// The blocks of a frame are shared out among threads in so many shares at most; bytes do not depend on their number.
inline constexpr std::int64_t block_shares = 16;

/// Calls body(share, begin, end) for shares of `count` blocks, on the pool where there is one. Few threads get few
/// large shares: blocks of one share are coded side by side.
template <class Body>
void for_block_shares(const ThreadPool* pool, std::size_t count, Body&& body) {
    const auto all = static_cast<std::int64_t>(count);
    if (!pool) return all ? body(std::int64_t{0}, std::int64_t{0}, all) : void();
    const auto shares = std::min<std::int64_t>(block_shares, 4 * pool->threads());
    pool->for_chunks(all, std::max<std::int64_t>(1, (all + shares - 1) / shares), body);
}

/// Coded blocks of one frame, put together from what threads wrote side by side.
class BlockWriter {
public:
    /// Codes the blocks `coded` (ascending) of a frame of `blocks`, each by encode(share, block, bytes), which appends
    /// to `bytes`, and appends head, directory and blocks to `out`.
    template <class Encode>
    void write(const PackedHead& head, std::span<const int> coded, int blocks, const ThreadPool* pool,
               std::vector<std::uint8_t>& out, Encode&& encode) {
        write_shares(head, coded, blocks, pool, out,
                     [&](std::size_t share, std::span<const int> of, std::vector<std::uint8_t>& bytes,
                         std::span<std::size_t> sizes) {
                         for (std::size_t i = 0; i < of.size(); ++i) {
                             const auto before = bytes.size();
                             encode(share, of[i], bytes);
                             sizes[i] = bytes.size() - before;
                         }
                     });
    }
    /// The same by encode(share, coded, bytes, sizes), which codes several blocks and says how many bytes each takes.
    template <class Encode>
    void write_shares(const PackedHead& head, std::span<const int> coded, int blocks, const ThreadPool* pool,
                      std::vector<std::uint8_t>& out, Encode&& encode) {
        sizes_.resize(coded.size());
        for (auto& bytes : shares_) bytes.clear();
        for_block_shares(pool, coded.size(), [&](std::int64_t share, std::int64_t begin, std::int64_t end) {
            const auto from = static_cast<std::size_t>(begin), count = static_cast<std::size_t>(end - begin);
            encode(static_cast<std::size_t>(share), coded.subspan(from, count),
                   shares_[static_cast<std::size_t>(share)], std::span(sizes_).subspan(from, count));
        });
        out.push_back(static_cast<std::uint8_t>(head.kind));
        out.push_back(static_cast<std::uint8_t>(head.threshold));
        DirectoryWriter directory(out);
        for (std::size_t i = 0; i < coded.size(); ++i) directory.add(coded[i], sizes_[i]);
        directory.finish(blocks);
        for (const auto& bytes : shares_) out.insert(out.end(), bytes.begin(), bytes.end());
    }

private:
    std::vector<std::size_t> sizes_;  // of the blocks
    std::array<std::vector<std::uint8_t>, static_cast<std::size_t>(block_shares)> shares_;
};

/// Appends head, directory and bytes of blocks that were coded before: `coded`, ascending, of a frame of `blocks`.
void append_packed(const PackedHead& head, std::span<const CodedBlock> coded, int blocks,
                   std::vector<std::uint8_t>& out);

/// Throws Error{usage} unless `shape` is one frame; `what` names it.
void validate_one_frame(const Shape& shape, const char* what);

/// Throws Error{usage} unless `threshold` is one that packed bytes can tell.
void validate_packed_threshold(int threshold);

}  // namespace framewire::delta
