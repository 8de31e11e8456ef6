#pragma once

#include "framewire/delta/blocks/block_set.hpp"
#include "framewire/net/wire/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace framewire::net {

/// An encoded keyframe or delta frame, shared by all viewers that need it.
struct StateMessage {
    /// The version that a viewer holds after the message.
    std::uint64_t version = 0;
    /// The whole message.
    std::shared_ptr<const Bytes> bytes{};
    /// Offset of the packed bytes in a delta frame's message.
    std::size_t packed_at = 0;
};

/// Returns which blocks of a frame of `shape` the packed bytes contain. Throws Error{internal} if their directory is
/// invalid.
delta::BlockSet blocks_of(ByteSpan packed, const Shape& shape);

}  // namespace framewire::net
