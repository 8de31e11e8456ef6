#include "framewire/net/stream/state_message.hpp"

#include "framewire/core/error.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/packing/packed.hpp"

namespace framewire::net {

namespace {

// Lists the coded blocks in a packed frame without decoding them.
std::vector<delta::CodedBlock> coded_blocks(ByteSpan packed, int blocks) {
    std::vector<delta::CodedBlock> coded;
    coded.reserve(static_cast<std::size_t>(blocks));
    if (packed.size() < delta::PackedHead::bytes ||
        !delta::read_directory(packed.subspan(delta::PackedHead::bytes), blocks, coded))
        fail(ErrorCode::internal, "a packed step whose blocks do not fit together");
    return coded;
}

}  // namespace

delta::BlockSet blocks_of(ByteSpan packed, const Shape& shape) {
    const delta::BlockGrid grid(shape);
    delta::BlockSet blocks(static_cast<std::size_t>(grid.count()));
    for (const auto& [block, bytes] : coded_blocks(packed, grid.count())) blocks[static_cast<std::size_t>(block)] = 1;
    return blocks;
}

}  // namespace framewire::net
