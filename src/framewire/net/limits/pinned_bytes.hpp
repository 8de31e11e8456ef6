#pragma once

#include "framewire/net/wire/wire.hpp"

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

namespace framewire::net {

/// Messages made once for all who are sent them.
using SharedMessages = std::vector<std::shared_ptr<const Bytes>>;

/// How many bytes the answers on their way to viewers keep in memory. Messages are shared, so each counts once.
class PinnedBytes {
public:
    void add(const SharedMessages& messages);
    /// Those were added before.
    void remove(const SharedMessages& messages);
    /// How much more it would be with these.
    std::size_t growth(const SharedMessages& messages) const;
    std::size_t total() const { return total_; }

private:
    std::unordered_map<const Bytes*, int> users_;
    std::size_t total_ = 0;
};

}  // namespace framewire::net
