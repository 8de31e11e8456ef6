#pragma once

#include "framewire/delta/blocks/block_set.hpp"
#include "framewire/net/stream/state_message.hpp"
#include "framewire/net/wire/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace framewire::net {

/// A complete state of independently coded blocks, each encoded once for all viewers that are missing it. Immutable
/// once built.
struct WholeState {
    /// Version and metadata.
    StateHeader header{};
    /// Objects detected in the frame.
    std::vector<Component> objects{};
    /// Version in which each block last changed.
    std::vector<std::uint64_t> changed{};
    /// Encoded blocks; null if nobody requested them.
    std::vector<std::shared_ptr<const Bytes>> blocks{};
    /// Keyframe of all blocks, if somebody requested all; otherwise its version is 0.
    StateMessage picture{};

    /// Adds the blocks that changed after `version` to `lacking`.
    void add_changed(std::uint64_t version, delta::BlockSet& lacking) const;
    /// Returns a keyframe message. Requires that all blocks are encoded.
    StateMessage whole_picture() const;
};

/// The state that one viewer is being brought to, with its blocks that have not been sent. Encoded blocks are shared
/// with other viewers and do not change when newer states arrive.
class PinnedState {
public:
    /// Takes the `missing` blocks of `whole`, all of which must be encoded. For `withdraws` see StateHeader.
    PinnedState(const WholeState& whole, const delta::BlockSet& missing, bool withdraws);

    /// Version of the state.
    std::uint64_t version() const { return header_.version; }
    /// Blocks that have not been sent.
    const std::vector<std::shared_ptr<const Bytes>>& unsent() const { return unsent_; }
    /// Returns a message with the next blocks, at most `budget` bytes but at least one block, and removes them from
    /// `missing`. The message is marked partial unless it completes the state.
    std::shared_ptr<const Bytes> next_message(std::size_t budget, delta::BlockSet& missing);

private:
    StateHeader header_;
    std::vector<Component> objects_;
    std::size_t blocks_;                                // number of blocks in a picture
    std::vector<int> numbers_;                          // numbers of the unsent blocks, ascending
    std::vector<std::shared_ptr<const Bytes>> unsent_;  // in the same order
};

}  // namespace framewire::net
