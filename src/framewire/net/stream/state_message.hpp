#pragma once

#include "framewire/delta/blocks/block_set.hpp"
#include "framewire/net/wire/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace framewire::net {

/// A picture or a step as it goes over the wire, made once for all who need it.
struct StateMessage {
    std::uint64_t version = 0;  ///< what a viewer holds once it has taken the message
    std::shared_ptr<const Bytes> bytes{};
    std::size_t packed_at = 0;  ///< where the packed bytes begin, of a step
};

/// Which blocks of a frame of `shape` the packed bytes have, as a number for each block.
delta::BlockSet blocks_of(ByteSpan packed, const Shape& shape);

}  // namespace framewire::net
