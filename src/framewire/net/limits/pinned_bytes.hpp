#pragma once

#include "framewire/net/wire/wire.hpp"

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

namespace framewire::net {

/// Encoded messages, shared by all viewers that they are sent to.
using SharedMessages = std::vector<std::shared_ptr<const Bytes>>;

/// Counts the bytes of memory that messages hold until they are sent. A message that several viewers share counts once.
/// Not thread-safe.
class PinnedBytes {
public:
    /// Adds one use of each message.
    void add(const SharedMessages& messages);
    /// Removes one use of each message. The messages were added before.
    void remove(const SharedMessages& messages);
    /// Returns by how many bytes add() would increase total().
    std::size_t growth(const SharedMessages& messages) const;
    /// Bytes of all messages in use.
    std::size_t total() const { return total_; }

private:
    // The number of uses of each message.
    std::unordered_map<const Bytes*, int> users_;
    std::size_t total_ = 0;
};

}  // namespace framewire::net
