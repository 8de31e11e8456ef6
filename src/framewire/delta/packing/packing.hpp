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

/// Encoder that turns a list of changes, or a picture, into a packed frame as delta/format.md specifies. Servers
/// and recordings read the directory of these frames, too. Keeps its memory between frames. Move-only; not thread-safe.
class Packer {
public:
    /// For frames of `shape`, whose `frames` must be 1. `pool` is optional and must outlive this object; its threads
    /// share the blocks of each frame, and the bytes are the same. Throws Error{usage} if the shape is invalid.
    explicit Packer(const Shape& shape, const ThreadPool* pool = nullptr);
    ~Packer();
    Packer(Packer&&) noexcept;
    Packer& operator=(Packer&&) noexcept;

    /// Packs the changes of one stream as a delta frame and appends it to `out`. `changes` has one stream; its
    /// positions must ascend, and each change must be larger than `threshold`. Throws Error{usage} if `threshold` is
    /// not in 0..254, if there are more changes than bytes, or if a position is outside the frame.
    void pack_changes(const ChangesView<MemorySpace::host>& changes, int threshold, std::vector<std::uint8_t>& out);
    /// Packs `picture` as a lossless keyframe and appends it to `out`. Any strides. `threshold` is only written to the
    /// head. Throws Error{usage} if it is not in 0..254 or the shape is wrong.
    void pack_picture(HostView<const std::uint8_t> picture, int threshold, std::vector<std::uint8_t>& out);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Decoder for packed frames. Treats its input as hostile: throws Error{source_lost} on bytes that no encoder for this
/// shape writes, never accesses memory out of bounds, and never allocates according to sizes in the input. Move-only;
/// not thread-safe.
class Unpacker {
public:
    /// For frames of `shape`, whose `frames` must be 1. `pool` as for Packer. Throws Error{usage} if the shape is
    /// invalid.
    explicit Unpacker(const Shape& shape, const ThreadPool* pool = nullptr);
    ~Unpacker();
    Unpacker(Unpacker&&) noexcept;
    Unpacker& operator=(Unpacker&&) noexcept;

    /// Applies a delta frame (kinds changes, prediction and blocks) to `reference`. If the bytes are broken, throws
    /// Error{source_lost} and leaves `reference` as it was.
    void apply_changes(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference);
    /// Replaces `reference` by a keyframe (kinds picture and first picture). If the bytes are broken, throws
    /// Error{source_lost}; the content of `reference` is then unspecified.
    void apply_picture(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference);
    /// Variant for damaged streams. `left_out` has one entry per block of the frame. On entry, nonzero entries mark
    /// blocks that must stay as they are: those whose bytes are damaged and, for delta frames, those whose pixels are
    /// already wrong. On return, blocks that could not be decoded, or that would be predicted from blocks marked on
    /// entry, are marked too; they stay as they are. Throws Error{source_lost}, with `reference` untouched, if head or
    /// directory are broken, and Error{usage} if `left_out` has the wrong size.
    void apply_changes(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference, BlockSet& left_out);
    /// Variant for damaged streams; see apply_changes().
    void apply_picture(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference, BlockSet& left_out);
    /// Returns the threshold in the head of the last frame; 0 before the first one.
    int last_threshold() const;
    /// Returns the number of bytes that the last apply_changes() changed; 0 after a keyframe.
    std::uint32_t last_count() const;
    /// Writes those changes to `changes` as an Encoder would: positions, differences and count. Throws Error{usage}
    /// unless `changes` has a capacity for every byte of the frame.
    void last_changes(const ChangesView<MemorySpace::host>& changes) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Returns an upper bound for the size in bytes of a packed frame of `shape`. Readers reject longer ones.
std::size_t max_packed_bytes(const Shape& shape);

}  // namespace framewire::delta
