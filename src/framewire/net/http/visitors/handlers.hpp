#pragma once

#include "framewire/net/http/site.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace framewire::net::http {

/// Runs a site's handlers on up to four worker threads. The caller limits how many wait. Thread-safe.
class Handlers {
public:
    /// Starts without a site and refuses every task until set_site().
    Handlers() = default;
    /// Stops, see stop().
    ~Handlers();
    Handlers(const Handlers&) = delete;
    Handlers& operator=(const Handlers&) = delete;

    /// The current site, or null.
    std::shared_ptr<const Site> site() const;
    /// Replaces the site. Waiting tasks of the previous one are called with false. Returns when no handler of the
    /// previous site runs.
    void set_site(std::shared_ptr<const Site> site);
    /// Work for a thread. If `may_use_site` is false, its site has been replaced and must not be used.
    using Task = std::function<void(bool may_use_site)>;
    /// Queues `task`, which is called once, and keeps `site` alive until then. Peers take turns, so a peer with many
    /// requests does not delay the others. Returns false if `site` is no longer current.
    bool run(const std::shared_ptr<const Site>& site, const std::string& peer, Task task);
    /// Calls `task` on this thread before it returns. Returns false if `site` is no longer current.
    bool run_here(const std::shared_ptr<const Site>& site, const Task& task);
    /// Discards waiting tasks and returns when none runs. Tasks are refused afterwards.
    void stop();

private:
    struct Job {
        std::shared_ptr<const Site> site;
        Task task;
    };
    Job take_next();
    void work();

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::shared_ptr<const Site> site_;
    std::map<std::string, std::deque<Job>> waiting_;  // by peer; no queue is empty
    std::deque<std::string> turns_;                   // peers with waiting jobs, the next one first
    std::vector<const Site*> running_;
    std::vector<std::thread> threads_;
    bool stopped_ = false;
};

}  // namespace framewire::net::http
