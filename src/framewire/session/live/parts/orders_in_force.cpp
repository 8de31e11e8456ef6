#include "framewire/session/live/parts/orders_in_force.hpp"

#include <algorithm>

namespace framewire::session {

void OrdersInForce::note_sent(std::uint64_t orders) {
    {
        const std::lock_guard lock(mutex_);
        any_sent_ = true;
        sent_ = std::max(sent_, orders);
    }
    changed_.notify_all();
}

void OrdersInForce::end() {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    changed_.notify_all();
}

// A request that came into force counts even if the stream ended afterwards.
OrdersInForce::Outcome OrdersInForce::wait_for(std::uint64_t orders) const {
    std::unique_lock lock(mutex_);
    const auto is_sent = [&] { return any_sent_ && sent_ >= orders; };
    changed_.wait_for(lock, patience, [&] { return ended_ || is_sent(); });
    return is_sent() ? Outcome::in_force : ended_ ? Outcome::ended : Outcome::late;
}

}  // namespace framewire::session
