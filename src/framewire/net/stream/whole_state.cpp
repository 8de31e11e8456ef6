#include "framewire/net/stream/whole_state.hpp"

#include "framewire/delta/packing/packed.hpp"

#include <utility>

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

// Copies only pointers: the encoded blocks are shared.
PinnedState::PinnedState(const WholeState& whole, const delta::BlockSet& missing, bool withdraws)
    : header_(whole.header), objects_(whole.objects), blocks_(whole.blocks.size()) {
    header_.withdraws = withdraws;
    for (std::size_t block = 0; block < missing.size(); ++block) {
        if (!missing[block]) continue;
        numbers_.push_back(static_cast<int>(block));
        unsent_.push_back(whole.blocks[block]);
    }
}

// The first block is always taken, even if it exceeds the budget: otherwise a small window would stop the viewer.
std::shared_ptr<const Bytes> PinnedState::next_message(std::size_t budget, delta::BlockSet& missing) {
    std::vector<delta::CodedBlock> sent;
    std::size_t bytes = state_header_bytes + objects_.size() * object_bytes;
    for (std::size_t i = 0; i < unsent_.size(); ++i) {
        bytes += unsent_[i]->size() + delta::place_bytes;
        if (i > 0 && bytes > budget) break;
        sent.push_back({numbers_[i], *unsent_[i]});
        missing[static_cast<std::size_t>(numbers_[i])] = 0;
    }
    header_.partial = sent.size() < unsent_.size();
    Bytes message;
    begin_state(MessageType::changes, header_, objects_, message);
    delta::append_packed({delta::PackedHead::Kind::blocks, 0}, sent, static_cast<int>(blocks_), message);
    end_state(message);
    numbers_.erase(numbers_.begin(), numbers_.begin() + static_cast<std::ptrdiff_t>(sent.size()));
    unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(sent.size()));
    return std::make_shared<const Bytes>(std::move(message));
}

}  // namespace framewire::net
