#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace framewire::net::http {

/// Settings of a feed.
struct FeedOptions {
    /// Handling of a client that is slower than the feed. True: it gets only the newest part (for pictures). False: it
    /// gets every part, and a client with more than `queued_limit_bytes` pending is disconnected (for lines).
    bool newest_only = false;
    std::size_t queued_limit_bytes = 1 << 20;
};

/// Source of an endless HTTP response or of WebSocket messages. Each part is encoded once and shared by all clients.
/// Thread-safe; publishing never waits for clients.
class Feed {
public:
    /// One immutable chunk of a response, or one WebSocket message.
    using Part = std::shared_ptr<const std::string>;

    /// Creates a feed without clients.
    explicit Feed(const FeedOptions& options = {});
    /// Ends the feed, see end().
    ~Feed();
    Feed(const Feed&) = delete;
    Feed& operator=(const Feed&) = delete;

    /// Sends the part to all current clients.
    void publish(Part part);
    /// Sets the part that clients receive first when they connect. Null: none.
    void set_first(Part part);
    /// Ends the responses of all clients after the parts already published. From then on the function of on_wanted() is
    /// not called; end() waits for a call in progress, unless that call itself calls end().
    void end();

    /// Number of clients.
    int clients() const;
    /// Sets a function that is called, on any thread, with true when the first client has connected and with false when
    /// the last one has left. Set it once, before the first client.
    void on_wanted(std::function<void(bool wanted)> told);

private:
    friend class FeedClient;
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace framewire::net::http
