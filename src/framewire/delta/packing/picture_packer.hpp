#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/packing/packed.hpp"
#include "framewire/delta/pictures/picture_coder.hpp"

#include <cstdint>
#include <vector>

namespace framewire::delta {

/// Packs whole pictures as they are. Not for two threads at once.
class PicturePacker {
public:
    /// Of `shape`, one frame. Where there is a `pool`, which lives longer, its threads share the blocks of each
    /// picture.
    PicturePacker(const Shape& shape, const ThreadPool* pool);

    /// Appends a picture of that shape to `out`; `threshold`, 0..254, is only told.
    void pack(HostView<const std::uint8_t> picture, int threshold, std::vector<std::uint8_t>& out);

private:
    BlockGrid grid_;
    const ThreadPool* pool_;
    std::vector<int> blocks_;               // all of them
    std::vector<PictureEncoder> encoders_;  // of each worker
    BlockWriter writer_;
};

}  // namespace framewire::delta
