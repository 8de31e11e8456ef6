#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace framewire::delta {

/// Lets items of many threads share launches, as databases let transactions share a write of their log ("group
/// commit"). Where a place is free an item is launched at once, alone. What comes meanwhile waits, and goes in one
/// launch, in its order, as soon as a place is free. So nothing waits for an item that is not there yet, and launches
/// get larger as they have to. Launching, and waiting for a launch, is done by the threads whose items they are: one
/// that stands still elsewhere keeps nobody.
template <class Item>
class CommonLaunches {
public:
    /// Begins the work of 1 to `most_together` items. The place, from 0 on, is free until wait() for it has returned.
    using Launch = std::function<void(int place, std::span<Item* const> items)>;
    /// Returns when what was launched in that place is over.
    using Wait = std::function<void(int place)>;

    /// `places`: launches that may be under way at once. Launch and Wait are called from several threads, for
    /// different places at the same time.
    CommonLaunches(int places, int most_together, Launch launch, Wait wait)
        : most_together_(static_cast<std::size_t>(most_together)),
          launch_(std::move(launch)),
          wait_(std::move(wait)),
          under_way_(static_cast<std::size_t>(places)) {
        for (auto& place : under_way_) {
            place.entries.reserve(most_together_);
            place.items.reserve(most_together_);
        }
        for (int place = places - 1; place >= 0; --place) free_places_.push_back(place);
    }
    CommonLaunches(const CommonLaunches&) = delete;
    CommonLaunches& operator=(const CommonLaunches&) = delete;

    /// Returns when the item's work is over. Throws what its launch failed with, as all do that shared it. Allocates
    /// nothing unless more items wait than ever before.
    void run(Item& item) {
        Entry own{&item};
        std::unique_lock lock(mutex_);
        waiting_.push_back(&own);
        if (!free_places_.empty()) {
            const int place = free_places_.back();
            free_places_.pop_back();
            launch_waiting(place, lock);
        }
        own.told.wait(lock, [&] { return own.over || own.leads; });
        if (!own.over) finish(own.place, lock);
        if (own.failure) std::rethrow_exception(own.failure);
    }

    /// Items that wait to be launched.
    std::size_t waiting() const {
        const std::lock_guard lock(mutex_);
        return waiting_.size();
    }

private:
    struct Entry {
        Item* item;
        std::condition_variable told{};
        int place = 0;
        bool leads = false;  // its thread waits for the launch
        bool over = false;
        std::exception_ptr failure{};
    };
    struct UnderWay {
        std::vector<Entry*> entries;
        std::vector<Item*> items;
    };

    UnderWay& at(int place) { return under_way_[static_cast<std::size_t>(place)]; }

    template <class Body>
    static std::exception_ptr failure_of(const Body& body) {
        try {
            body();
        } catch (...) {
            return std::current_exception();
        }
        return nullptr;
    }

    // Launches what waits, in a place that is the caller's, or frees the place.
    void launch_waiting(int place, std::unique_lock<std::mutex>& lock) {
        auto& entries = at(place).entries;
        auto& items = at(place).items;
        while (!waiting_.empty()) {
            const auto count = std::min(waiting_.size(), most_together_);
            const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
            entries.assign(waiting_.begin(), end);
            waiting_.erase(waiting_.begin(), end);
            items.clear();
            for (const auto* entry : entries) items.push_back(entry->item);
            lock.unlock();
            const auto failure = failure_of([&] { launch_(place, items); });
            lock.lock();
            if (!failure) {
                auto& leader = *entries.front();
                leader.place = place;
                leader.leads = true;
                leader.told.notify_one();
                return;
            }
            end_all(entries, failure);
        }
        free_places_.push_back(place);
    }

    // By the thread that leads what is under way there.
    void finish(int place, std::unique_lock<std::mutex>& lock) {
        lock.unlock();
        const auto failure = failure_of([&] { wait_(place); });
        lock.lock();
        end_all(at(place).entries, failure);
        launch_waiting(place, lock);
    }

    // Under the lock: an entry is gone as soon as its thread has it.
    static void end_all(const std::vector<Entry*>& entries, const std::exception_ptr& failure) {
        for (auto* entry : entries) {
            entry->failure = failure;
            entry->over = true;
            entry->told.notify_one();
        }
    }

    const std::size_t most_together_;
    const Launch launch_;
    const Wait wait_;
    mutable std::mutex mutex_;  // of the following; never held while something is launched or waited for
    std::vector<Entry*> waiting_;
    std::vector<UnderWay> under_way_;  // by place; one that is not free is the thread's that launches or leads
    std::vector<int> free_places_;
};

}  // namespace framewire::delta
