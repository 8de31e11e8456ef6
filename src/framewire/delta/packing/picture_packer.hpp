#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/packing/packed.hpp"
#include "framewire/delta/pictures/picture_coder.hpp"

#include <cstdint>
#include <vector>

namespace framewire::delta {

/// Encoder for lossless keyframes. Not thread-safe.
class PicturePacker {
public:
    /// For pictures of `shape`, whose `frames` must be 1. `pool` is optional and must outlive this object; its threads
    /// share the blocks of each picture.
    PicturePacker(const Shape& shape, const ThreadPool* pool);

    /// Appends a picture of this shape to `out` as a packed frame. `threshold` (0..254) is only written to the head.
    void pack(HostView<const std::uint8_t> picture, int threshold, std::vector<std::uint8_t>& out);

private:
    BlockGrid grid_;
    const ThreadPool* pool_;
    std::vector<int> blocks_;               // all of them
    std::vector<PictureEncoder> encoders_;  // one per worker
    BlockWriter writer_;
};

}  // namespace framewire::delta
