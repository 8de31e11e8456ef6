#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/block_set.hpp"
#include "framewire/delta/changes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace framewire::delta {

/// Puts the changes of one frame, or a whole picture, into bytes to send, as delta/format.md says. Servers and files
/// know the directory of these bytes, too. Move-only; not for two
/// threads at once.
class Packer {
public:
    /// For frames of `shape` (one frame). Where there is a `pool`, which lives longer, its threads share the blocks of
    /// each frame; the bytes are the same.
    explicit Packer(const Shape& shape, const ThreadPool* pool = nullptr);
    ~Packer();
    Packer(Packer&&) noexcept;
    Packer& operator=(Packer&&) noexcept;

    /// The changes of one stream (of `changes`, which holds one), each further than `threshold` from what was there, as
    /// bytes appended to `out`. Throws Error{usage} on a threshold not in 0..254, on more changes than bytes and on
    /// positions outside the frame.
    void pack_changes(const ChangesView<MemorySpace::host>& changes, int threshold, std::vector<std::uint8_t>& out);
    /// The whole picture, as it is, as bytes appended to `out`; `threshold` is only told. Throws likewise.
    void pack_picture(HostView<const std::uint8_t> picture, int threshold, std::vector<std::uint8_t>& out);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Undoes the Packer. Everything it reads is taken for hostile: it throws Error{source_lost} on bytes no Packer of this
/// shape makes, and allocates nothing by what they say.
class Unpacker {
public:
    /// `pool` as the Packer's.
    explicit Unpacker(const Shape& shape, const ThreadPool* pool = nullptr);
    ~Unpacker();
    Unpacker(Unpacker&&) noexcept;
    Unpacker& operator=(Unpacker&&) noexcept;

    /// Applies packed changes to `reference`; untouched when they are broken.
    void apply_changes(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference);
    /// Replaces `reference` by a packed picture; its content is unspecified when that is broken.
    void apply_picture(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference);
    /// The same where `left_out`, one number for each block of the frame, is not 0 for blocks that stay as they are:
    /// those whose bytes are damaged, and before changes those that are not as they should be. Blocks whose bytes make
    /// no sense, and those that are foretold by such before, stay as they are too, and are marked. Throws when head or
    /// directory are broken, with `reference` untouched, and Error{usage} on another number of blocks.
    void apply_changes(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference, BlockSet& left_out);
    void apply_picture(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference, BlockSet& left_out);
    /// What the last frame applied tells of the threshold it was made with; 0 before the first.
    int last_threshold() const;
    /// The count of changes the last apply_changes() made; 0 after a picture.
    std::uint32_t last_count() const;
    /// Those changes as the encoder gave them: positions, differences and count. Throws Error{usage} where `changes`
    /// have no room for every byte of the frame.
    void last_changes(const ChangesView<MemorySpace::host>& changes) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The most bytes a packed picture or packed changes of `shape` can take; what a reader accepts at most.
std::size_t max_packed_bytes(const Shape& shape);

}  // namespace framewire::delta
