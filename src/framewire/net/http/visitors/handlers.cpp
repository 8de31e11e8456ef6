#include "framewire/net/http/visitors/handlers.hpp"

#include <algorithm>
#include <utility>

namespace framewire::net::http {

namespace {

// Threads are started on demand.
constexpr std::size_t most_threads = 4;

}  // namespace

Handlers::~Handlers() { stop(); }

std::shared_ptr<const Site> Handlers::site() const {
    const std::lock_guard lock(mutex_);
    return site_;
}

// Tasks of the previous site are dropped, but each is still called with false so that its request is answered.
void Handlers::set_site(std::shared_ptr<const Site> site) {
    std::map<std::string, std::deque<Job>> dropped;
    {
        std::unique_lock lock(mutex_);
        std::swap(site_, site);
        std::swap(waiting_, dropped);
        turns_.clear();
        changed_.wait(lock, [&] { return std::ranges::find(running_, site.get()) == running_.end(); });
    }
    for (const auto& [peer, jobs] : dropped)
        for (const auto& job : jobs) job.task(false);
}

// One queue per peer; `turns_` holds each peer with a non-empty queue once (round robin).
bool Handlers::run(const std::shared_ptr<const Site>& site, const std::string& peer, Task task) {
    const std::lock_guard lock(mutex_);
    if (stopped_ || site != site_) return false;
    auto& jobs = waiting_[peer];
    if (jobs.empty()) turns_.push_back(peer);
    jobs.push_back({site, std::move(task)});
    if (threads_.size() < most_threads) threads_.emplace_back([this] { work(); });
    changed_.notify_all();
    return true;
}

bool Handlers::run_here(const std::shared_ptr<const Site>& site, const Task& task) {
    {
        const std::lock_guard lock(mutex_);
        if (stopped_ || site != site_) return false;
        running_.push_back(site.get());
    }
    task(true);
    const std::lock_guard lock(mutex_);
    running_.erase(std::ranges::find(running_, site.get()));
    changed_.notify_all();
    return true;
}

// Takes one task of the peer whose turn it is, and moves the peer to the end if it has more.
Handlers::Job Handlers::take_next() {
    const auto found = waiting_.find(turns_.front());
    turns_.pop_front();
    auto job = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty())
        waiting_.erase(found);
    else
        turns_.push_back(found->first);
    return job;
}

// Body of a worker thread.
void Handlers::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
        if (stopped_) return;
        auto job = take_next();
        const auto* site = job.site.get();
        running_.push_back(site);
        lock.unlock();
        job.task(true);
        // Releases the task and the site before the lock is taken again.
        job = {};
        lock.lock();
        running_.erase(std::ranges::find(running_, site));
        changed_.notify_all();
    }
}

// The threads are joined without the lock, because they need it to end.
void Handlers::stop() {
    std::vector<std::thread> threads;
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
        std::swap(threads, threads_);
        waiting_.clear();
        turns_.clear();
        changed_.notify_all();
    }
    for (auto& thread : threads) thread.join();
}

}  // namespace framewire::net::http
