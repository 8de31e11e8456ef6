// Lossless keyframes: every block of the frame is coded, each by whichever worker is free.

#include "framewire/delta/packing/picture_packer.hpp"

#include <cstddef>
#include <numeric>

namespace framewire::delta {

PicturePacker::PicturePacker(const Shape& shape, const ThreadPool* pool)
    : grid_(shape), pool_(pool), blocks_(static_cast<std::size_t>(grid_.count())), encoders_(block_workers(pool)) {
    std::iota(blocks_.begin(), blocks_.end(), 0);
}

void PicturePacker::pack(HostView<const std::uint8_t> picture, int threshold, std::vector<std::uint8_t>& out) {
    writer_.write({PackedHead::Kind::picture, threshold}, blocks_, grid_.count(), pool_, out,
                  [&](std::size_t worker, int block, std::vector<std::uint8_t>& bytes) {
                      encoders_[worker].encode(picture, grid_.place(block), bytes);
                  });
}

}  // namespace framewire::delta
