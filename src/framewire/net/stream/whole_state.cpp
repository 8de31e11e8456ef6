#include "framewire/net/stream/whole_state.hpp"

#include "framewire/delta/packing/packed.hpp"

#include <algorithm>

namespace framewire::net {

void WholeState::add_changed(std::uint64_t version, delta::BlockSet& lacking) const {
    for (std::size_t block = 0; block < changed.size(); ++block)
        if (changed[block] > version) lacking[block] = 1;
}

StateMessage WholeState::whole_picture() const {
    std::vector<delta::CodedBlock> all;
    for (std::size_t block = 0; block < blocks.size(); ++block)
        all.push_back({static_cast<int>(block), *blocks[block]});
    Bytes message;
    begin_state(MessageType::picture, header, objects, message);
    delta::append_packed({delta::PackedHead::Kind::picture, 0}, all, static_cast<int>(blocks.size()), message);
    end_state(message);
    return {header.version, std::make_shared<const Bytes>(std::move(message))};
}

WholeState::Part WholeState::message(delta::BlockSet& lacking, std::size_t budget, std::size_t& first) const {
    const auto count = blocks.size();
    std::vector<delta::CodedBlock> sent;
    std::size_t bytes = state_header_bytes;
    const auto begin = first;
    for (std::size_t i = 0; i < count; ++i) {
        const auto block = (begin + i) % count;
        if (!lacking[block] || !blocks[block]) continue;
        const auto needed = blocks[block]->size() + delta::place_bytes;
        if (!sent.empty() && bytes + needed > budget) break;
        bytes += needed;
        lacking[block] = 0;
        first = (block + 1) % count;
        sent.push_back({static_cast<int>(block), *blocks[block]});
    }
    std::ranges::sort(sent, {}, &delta::CodedBlock::block);
    auto front = header;
    front.partial = delta::any(lacking);
    Bytes message;
    begin_state(MessageType::changes, front, objects, message);
    delta::append_packed({delta::PackedHead::Kind::blocks, 0}, sent, static_cast<int>(count), message);
    end_state(message);
    return {std::make_shared<const Bytes>(std::move(message)), sent.size()};
}

}  // namespace framewire::net
