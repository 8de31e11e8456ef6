#include "framewire/net/session/viewers/viewer.hpp"

#include "framewire/net/session/stream.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <utility>

namespace framewire::net {

namespace {

// A write younger than this does not show how fast its viewer reads.
constexpr std::chrono::milliseconds judged_after{250};

}  // namespace

std::size_t Answer::bytes() const {
    return std::accumulate(messages.begin(), messages.end(), std::size_t{0},
                           [](std::size_t sum, const auto& message) { return sum + message->size(); });
}

bool Answer::shares_a_message_with(const SharedMessages& others) const {
    return std::any_of(messages.begin(), messages.end(), [&](const auto& message) {
        return std::find(others.begin(), others.end(), message) != others.end();
    });
}

Viewer::Viewer(ConnectionPointer connection_, Stream& stream_, Clock::time_point now)
    : connection(std::move(connection_)),
      stream(stream_),
      came_at(now),
      lacking(stream_.state.blocks(), 1),
      drawn_at(now),
      progress(now),
      states_progress(now) {}

double Viewer::pace(Clock::time_point now) const {
    const auto age = now - answered_at;
    if (age < judged_after) return std::numeric_limits<double>::infinity();
    return static_cast<double>(taken_bytes) / std::chrono::duration<double>(age).count();
}

}  // namespace framewire::net
