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

/// Runs a site's handlers beside the loop that connections live in, a few at once. The caller limits how many wait.
class Handlers {
public:
    /// Answers by nothing until there is a site.
    Handlers() = default;
    ~Handlers();  ///< as stop()
    Handlers(const Handlers&) = delete;
    Handlers& operator=(const Handlers&) = delete;

    std::shared_ptr<const Site> site() const;
    /// Returns when no handler of the site before runs any more.
    void set_site(std::shared_ptr<const Site> site);
    /// What runs elsewhere; with false: nothing of the site, which is that of the server no more.
    using Task = std::function<void(bool may_use_site)>;
    /// Calls `task` once, a little later, and keeps `site` until then. Peers take turns, so that one with many requests
    /// does not delay the others'. Returns false if that is the site no more.
    bool run(const std::shared_ptr<const Site>& site, const std::string& peer, Task task);
    /// Calls `task` before it returns. Returns false if that is the site no more.
    bool run_here(const std::shared_ptr<const Site>& site, const Task& task);
    /// Calls nothing any more; returns when nothing runs.
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
    std::map<std::string, std::deque<Job>> waiting_;  // by peer; none is empty
    std::deque<std::string> turns_;                   // the peers with jobs, the next one first
    std::vector<const Site*> running_;
    std::vector<std::thread> threads_;
    bool stopped_ = false;
};

}  // namespace framewire::net::http
