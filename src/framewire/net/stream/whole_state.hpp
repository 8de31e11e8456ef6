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
};

/// One state that a viewer is being brought to, with the coded blocks that it has not been sent yet. Blocks are shared
/// with other viewers and do not change while newer states come.
class PinnedState {
public:
    /// Keeps the blocks of `whole` that are missing, all of which are coded. `withdraws`: see StateHeader.
    PinnedState(const WholeState& whole, const delta::BlockSet& missing, bool withdraws);

    std::uint64_t version() const { return header_.version; }
    /// Blocks not sent yet.
    const std::vector<std::shared_ptr<const Bytes>>& unsent() const { return unsent_; }
    /// Takes the next blocks, at most `budget` bytes of them but at least one block, into a message, and removes them
    /// from `missing`. The message is marked partial unless it completes the state.
    std::shared_ptr<const Bytes> next_message(std::size_t budget, delta::BlockSet& missing);

private:
    StateHeader header_;
    std::vector<Component> objects_;
    std::size_t blocks_;                                // of a picture
    std::vector<int> numbers_;                          // of the unsent blocks, ascending
    std::vector<std::shared_ptr<const Bytes>> unsent_;  // in the same order
};

}  // namespace framewire::net
