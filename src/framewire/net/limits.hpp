#pragma once

#include "framewire/core/log.hpp"
#include "framewire/core/time.hpp"
#include "framewire/net/wire.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace framewire::net {

/// Handshake limiter: bounds how many connections may be open before they have sent their hello or request. A new
/// connection always gets a place; if none is free, an older connection loses its place. Silent connections, however
/// many, therefore cannot exclude a client that completes its handshake. Not thread-safe.
class HandshakeLimiter {
public:
    /// Number of a connection; later connections have greater numbers.
    using Number = std::uint64_t;

    /// Sets the number of places in total and per peer; both are at least 1.
    HandshakeLimiter(int limit, int limit_per_peer);

    /// The connection that lost its place.
    struct Eviction {
        Number connection = 0;
        /// True if the peer had reached its limit; false if all places were taken.
        bool of_same_peer = false;
    };
    /// Gives `connection` of `peer` a place and returns the connection that lost its place, if any: the peer's oldest
    /// if the peer has reached its limit; otherwise, if all places are taken, the oldest connection of the peer that
    /// holds the most.
    std::optional<Eviction> enter(Number connection, const std::string& peer);
    /// Frees the place of `connection`. Does nothing if it has none.
    void leave(Number connection);

private:
    struct Place {
        Number connection = 0;
        std::string peer;
    };
    using Places = std::vector<Place>;
    void free(Places::const_iterator place);

    int limit_, limit_per_peer_;
    Places places_;                     // by age, the oldest first
    std::map<std::string, int> taken_;  // places per peer; no count is 0
};

/// Returns the peer as which a connection enters the limiter. A trusted proxy holds connections of many clients, so
/// each of its connections counts as a separate peer.
std::string pending_name(HandshakeLimiter::Number connection, const std::string& peer, bool is_proxy);

/// Rate-limited log for one kind of line that peers can trigger at will. Each period lets a few lines through; the
/// others are counted, and their number is logged when the period is over. Use it from one thread.
class LimitedLog {
public:
    /// Maximum number of lines per period, in total and per peer.
    static constexpr int lines_a_period = 20,  ///< in total
        lines_of_a_peer = 10;                  ///< per peer
    /// Length of a period.
    static constexpr std::chrono::seconds period{10};

    /// `about` names what the lines report, for example "new viewers".
    LimitedLog(LogLevel level, std::string about) : level_(level), about_(std::move(about)) {}
    /// Logs how many lines were suppressed since the last report.
    ~LimitedLog() { tell(left_out_); }
    LimitedLog(const LimitedLog&) = delete;
    LimitedLog& operator=(const LimitedLog&) = delete;

    /// Logs a line unless the period's limit is reached. Takes the arguments of fmt::format().
    template <class... Values>
    void line(fmt::format_string<Values...> text, Values&&... values) {
        const auto now = Clock::now();
        tell_left_out(now);
        if (takes(now)) log_at(level_, text, std::forward<Values>(values)...);
    }

    /// Like line(), for a line that `peer` caused. At most half of a period's lines may come from one peer, so it
    /// cannot suppress the lines about others.
    template <class... Values>
    void line_of(const std::string& peer, fmt::format_string<Values...> text, Values&&... values) {
        const auto now = Clock::now();
        tell_left_out(now);
        if (takes(now, peer)) log_at(level_, text, std::forward<Values>(values)...);
    }

    /// Logs how many lines were suppressed in a period that is over. Does nothing during the period. Call it
    /// periodically.
    void tell_left_out(Clock::time_point now);

    // The functions above are built from the ones below:

    /// Returns true if a line may be logged at `now`, and counts it as suppressed otherwise. An empty `peer` means no
    /// peer.
    bool takes(Clock::time_point now, const std::string& peer = {});
    /// Returns how many lines were suppressed in a period that ended before `now`, and resets the count. Returns 0
    /// during the period.
    std::int64_t take_left_out(Clock::time_point now);

private:
    void tell(std::int64_t left_out) const;

    LogLevel level_;
    std::string about_;
    Clock::time_point period_end_ = Clock::time_point::min();
    int lines_ = 0;
    std::map<std::string, int> lines_of_;  // line counts by peer in this period; at most lines_a_period entries
    std::int64_t left_out_ = 0;
};

/// Counts the attempts of each peer (Connection::peer()) in a window that starts with the first attempt. Memory is
/// bounded: if too many peers are known, the one whose window started first is forgotten. Not thread-safe.
class PeerAttempts {
public:
    /// `limit` attempts are allowed per `window`; at most `most_peers` peers are known. Both counts are at least 1.
    PeerAttempts(int limit, Clock::duration window, std::size_t most_peers);

    /// Returns true if the peer has used all attempts of its current window.
    bool exhausted(const std::string& peer, Clock::time_point now) const;
    /// Counts one attempt of the peer and starts a window if it has none.
    void add(const std::string& peer, Clock::time_point now);
    /// Forgets the peer and its attempts.
    void forget(const std::string& peer);

private:
    struct Window {
        std::string peer;
        Clock::time_point end;
        int attempts = 0;
    };
    using Windows = std::list<Window>;

    const int limit_;
    const Clock::duration window_;
    const std::size_t most_peers_;
    Windows windows_;  // by start, the oldest first
    std::unordered_map<std::string, Windows::iterator> by_peer_;
};

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
    /// Returns the number of bytes of all messages in use.
    std::size_t total() const { return total_; }

private:
    // Use count of each message.
    std::unordered_map<const Bytes*, int> users_;
    std::size_t total_ = 0;
};

}  // namespace framewire::net
