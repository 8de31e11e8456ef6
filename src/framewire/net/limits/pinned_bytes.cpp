#include "framewire/net/limits/pinned_bytes.hpp"

namespace framewire::net {

void PinnedBytes::add(const SharedMessages& messages) {
    for (const auto& message : messages)
        if (++users_[message.get()] == 1) total_ += message->size();
}

void PinnedBytes::remove(const SharedMessages& messages) {
    for (const auto& message : messages) {
        const auto found = users_.find(message.get());
        if (found == users_.end() || --found->second > 0) continue;
        total_ -= message->size();
        users_.erase(found);
    }
}

std::size_t PinnedBytes::growth(const SharedMessages& messages) const {
    std::size_t bytes = 0;
    for (const auto& message : messages)
        if (!users_.contains(message.get())) bytes += message->size();
    return bytes;
}

}  // namespace framewire::net
