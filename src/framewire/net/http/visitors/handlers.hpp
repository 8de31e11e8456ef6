#pragma once

#include "framewire/net/http/site.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace framewire::net::http {

/// Runs a site's handlers beside the loop that connections live in: a few at once, a bounded number waiting.
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
    /// Calls `task` a little later, once, and keeps `site` for so long. False where too many wait already, or that is
    /// the site no more.
    bool run(const std::shared_ptr<const Site>& site, Task task);
    /// Calls nothing any more; returns when nothing runs.
    void stop();

private:
    struct Job {
        std::shared_ptr<const Site> site;
        Task task;
    };
    void work();

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::shared_ptr<const Site> site_;
    std::deque<Job> waiting_;
    std::vector<const Site*> running_;
    std::vector<std::thread> threads_;
    bool stopped_ = false;
};

}  // namespace framewire::net::http
