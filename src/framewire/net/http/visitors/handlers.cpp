#include "framewire/net/http/visitors/handlers.hpp"

#include <algorithm>
#include <utility>

namespace framewire::net::http {

namespace {

constexpr std::size_t most_threads = 4, most_waiting = 64;

}  // namespace

Handlers::~Handlers() { stop(); }

std::shared_ptr<const Site> Handlers::site() const {
    const std::lock_guard lock(mutex_);
    return site_;
}

void Handlers::set_site(std::shared_ptr<const Site> site) {
    std::deque<Job> dropped;
    {
        std::unique_lock lock(mutex_);
        std::swap(site_, site);
        std::swap(waiting_, dropped);
        changed_.wait(lock, [&] { return std::ranges::find(running_, site.get()) == running_.end(); });
    }
    for (const auto& job : dropped) job.task(false);
}

bool Handlers::run(const std::shared_ptr<const Site>& site, Task task) {
    const std::lock_guard lock(mutex_);
    if (stopped_ || site != site_ || waiting_.size() >= most_waiting) return false;
    waiting_.push_back({site, std::move(task)});
    if (threads_.size() < most_threads && waiting_.size() + running_.size() > threads_.size())
        threads_.emplace_back([this] { work(); });
    changed_.notify_all();
    return true;
}

void Handlers::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
        if (stopped_) return;
        auto job = std::move(waiting_.front());
        waiting_.pop_front();
        const auto* site = job.site.get();
        running_.push_back(site);
        lock.unlock();
        job.task(true);
        job = {};
        lock.lock();
        running_.erase(std::ranges::find(running_, site));
        changed_.notify_all();
    }
}

void Handlers::stop() {
    std::vector<std::thread> threads;
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
        std::swap(threads, threads_);
        waiting_.clear();
        changed_.notify_all();
    }
    for (auto& thread : threads) thread.join();
}

}  // namespace framewire::net::http
