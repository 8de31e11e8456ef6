#pragma once

#include "framewire/delta/blocks/block_set.hpp"
#include "framewire/net/stream/state_message.hpp"
#include "framewire/net/wire/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace framewire::net {

/// A state whose blocks stand for themselves, each coded once for all viewers that lack it. Does not change.
struct WholeState {
    StateHeader header{};
    std::vector<Component> objects{};
    std::vector<std::uint64_t> changed{};                ///< the version in which each block came last
    std::vector<std::shared_ptr<const Bytes>> blocks{};  ///< coded; none where nobody asked for it
    StateMessage picture{};                              ///< all of them, where somebody asked for all

    /// Adds the blocks that changed after `version`.
    void add_changed(std::uint64_t version, delta::BlockSet& lacking) const;
    /// A message with all blocks, which are coded.
    StateMessage whole_picture() const;
    struct Part {
        std::shared_ptr<const Bytes> bytes;  ///< a message
        std::size_t blocks = 0;              ///< in it
    };
    /// Those of `lacking` that are coded, of at most `budget` bytes but one block at least, from block `first` on round
    /// to it; they are not lacking any more, and `first` moves on.
    Part message(delta::BlockSet& lacking, std::size_t budget, std::size_t& first) const;
};

}  // namespace framewire::net
