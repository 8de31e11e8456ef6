#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace framewire::net::http {

struct FeedOptions {
    /// Clients that are slower than what comes: true gives them the newest part when they are ready (pictures), false
    /// every part in turn, and who has more than `queued_limit_bytes` waiting is cut off (lines).
    bool newest_only = false;
    std::size_t queued_limit_bytes = 1 << 20;
};

/// Parts of an answer without an end, or messages of a WebSocket, the same for any number of clients: encoded once,
/// shared by all. Thread-safe; publishing never waits for clients.
class Feed {
public:
    using Part = std::shared_ptr<const std::string>;

    explicit Feed(const FeedOptions& options = {});
    ~Feed();  ///< as end()
    Feed(const Feed&) = delete;
    Feed& operator=(const Feed&) = delete;

    /// To all clients that there are now.
    void publish(Part part);
    /// What who comes later is sent first; none: nothing.
    void set_first(Part part);
    /// Ends the answers of all clients once they have what was published. From then on on_wanted()'s function is not
    /// called any more; one that runs is waited for.
    void end();

    int clients() const;
    /// Is called, from any thread, when the first client has come and when the last has gone. Set once, before the
    /// first client.
    void on_wanted(std::function<void(bool wanted)> told);

private:
    friend class FeedClient;
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace framewire::net::http
