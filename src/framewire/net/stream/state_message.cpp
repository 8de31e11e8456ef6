#include "framewire/net/stream/state_message.hpp"

#include "framewire/core/error.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/packing/packed.hpp"

#include <algorithm>

namespace framewire::net {

namespace {

using Kind = delta::PackedHead::Kind;

std::vector<delta::CodedBlock> coded_blocks(ByteSpan packed, int blocks) {
    std::vector<delta::CodedBlock> coded;
    coded.reserve(static_cast<std::size_t>(blocks));
    if (packed.size() < delta::PackedHead::bytes ||
        !delta::read_directory(packed.subspan(delta::PackedHead::bytes), blocks, coded))
        fail(ErrorCode::internal, "a packed step whose blocks do not fit together");
    return coded;
}

bool lacks_around(const delta::BlockSet& lacking, const delta::BlockGrid& grid, int block) {
    const int x = block % grid.columns(), y = block / grid.columns();
    for (int row = std::max(0, y - 1); row <= std::min(y + 1, grid.rows() - 1); ++row)
        for (int column = std::max(0, x - 1); column <= std::min(x + 1, grid.columns() - 1); ++column)
            if (lacking[static_cast<std::size_t>(row * grid.columns() + column)]) return true;
    return false;
}

// Whether who lacks these can take a block of a step: changes need the block before, predictions those around it, too.
bool can_take(Kind kind, const delta::BlockSet& lacking, const delta::BlockGrid& grid, int block) {
    if (kind == Kind::blocks) return true;
    if (kind == Kind::changes) return !lacking[static_cast<std::size_t>(block)];
    return !lacks_around(lacking, grid, block);
}

}  // namespace

delta::BlockSet blocks_of(ByteSpan packed, const Shape& shape) {
    const delta::BlockGrid grid(shape);
    delta::BlockSet blocks(static_cast<std::size_t>(grid.count()));
    for (const auto& [block, bytes] : coded_blocks(packed, grid.count())) blocks[static_cast<std::size_t>(block)] = 1;
    return blocks;
}

StateMessage step_for(const StateMessage& step, const Shape& shape, delta::BlockSet& lacking, std::size_t budget) {
    if (step.bytes->size() <= budget && !delta::any(lacking)) return step;
    const delta::BlockGrid grid(shape);
    const auto packed = ByteSpan(*step.bytes).subspan(step.packed_at);
    const auto kind = static_cast<Kind>(packed[0]);
    const auto before = lacking;
    std::vector<delta::CodedBlock> sent;
    std::size_t bytes = step.packed_at;
    for (const auto& coded : coded_blocks(packed, grid.count())) {
        const auto needed = coded.bytes.size() + delta::place_bytes;
        const bool sends = bytes + needed <= budget && can_take(kind, before, grid, coded.block);
        lacking[static_cast<std::size_t>(coded.block)] = !sends;
        if (!sends) continue;
        bytes += needed;
        sent.push_back(coded);
    }
    Bytes message(step.bytes->begin(), step.bytes->begin() + static_cast<std::ptrdiff_t>(step.packed_at));
    message.reserve(bytes + delta::PackedHead::bytes);
    delta::append_packed({kind, packed[1]}, sent, grid.count(), message);
    if (delta::any(lacking)) mark_partial(message);
    end_state(message);
    return {step.version, std::make_shared<const Bytes>(std::move(message)), step.packed_at};
}

}  // namespace framewire::net
