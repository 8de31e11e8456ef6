#include "framewire/delta/shared/common_launches.hpp"

#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::delta {
namespace common_launches_test {

// An item is its own number.
using Batch = std::vector<int>;

// A device whose launches last until they are let go. Threads come one after the other, each known to wait.
class Bench {
public:
    Bench(int places, int most_together)
        : launches_(
              places, most_together, [this](int place, std::span<int* const> items) { launch(place, items); },
              [this](int place) { wait(place); }) {}
    ~Bench() {
        let_all_go();
        threads_.clear();
    }

    // In a thread of its own; returns once it is launched or waits.
    void come(int item) {
        const auto before = launches_.waiting() + launched();
        threads_.emplace_back([this, item]() mutable {
            bool failed = false;
            try {
                launches_.run(item);
            } catch (const Error&) {
                failed = true;
            }
            const std::lock_guard lock(mutex_);
            (failed ? failed_ : over_).insert(item);
            changed_.notify_all();
        });
        while (launches_.waiting() + launched() == before) std::this_thread::yield();
    }
    void let_go(int place) {
        const std::lock_guard lock(mutex_);
        ++let_go_[place];
        changed_.notify_all();
    }
    void let_all_go() {
        const std::lock_guard lock(mutex_);
        all_go_ = true;
        changed_.notify_all();
    }
    void fail_launch_of(int item) { bad_at_launch_ = item; }
    void fail_wait_of(int item) { bad_at_wait_ = item; }

    // Waits until so many items are through, well or not.
    void until_through(std::size_t count) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return over_.size() + failed_.size() >= count; });
    }
    void until_launched(std::size_t batches) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return batches_.size() >= batches; });
    }
    std::vector<Batch> batches() {
        const std::lock_guard lock(mutex_);
        return batches_;
    }
    std::set<int> over() {
        const std::lock_guard lock(mutex_);
        return over_;
    }
    std::set<int> failed() {
        const std::lock_guard lock(mutex_);
        return failed_;
    }
    std::size_t waiting() { return launches_.waiting(); }

private:
    std::size_t launched() {
        const std::lock_guard lock(mutex_);
        std::size_t count = 0;
        for (const auto& batch : batches_) count += batch.size();
        return count;
    }
    void launch(int place, std::span<int* const> items) {
        const std::lock_guard lock(mutex_);
        Batch batch;
        for (const auto* item : items) batch.push_back(*item);
        batches_.push_back(batch);
        changed_.notify_all();
        if (std::ranges::find(batch, bad_at_launch_.load()) != batch.end()) fail(ErrorCode::internal, "no launch");
        EXPECT_FALSE(at_[place].has_value()) << "two launches in one place";
        at_[place] = batch;
    }
    void wait(int place) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return all_go_ || let_go_[place] > 0; });
        --let_go_[place];
        const auto batch = *std::exchange(at_[place], std::nullopt);
        if (std::ranges::find(batch, bad_at_wait_.load()) != batch.end()) fail(ErrorCode::internal, "it broke");
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Batch> batches_;
    std::map<int, std::optional<Batch>> at_;
    std::map<int, int> let_go_;
    bool all_go_ = false;
    std::atomic<int> bad_at_launch_ = -1, bad_at_wait_ = -1;
    std::set<int> over_, failed_;
    CommonLaunches<int> launches_;
    std::vector<std::jthread> threads_;
};

TEST(CommonLaunches, WhatComesAloneGoesAloneAndAtOnce) {
    Bench bench(1, 4);
    for (int item = 0; item < 3; ++item) {
        bench.come(item);
        EXPECT_EQ(bench.waiting(), 0u);
        EXPECT_EQ(bench.batches().back(), Batch{item});
        bench.let_go(0);
        bench.until_through(static_cast<std::size_t>(item) + 1);
    }
    EXPECT_EQ(bench.over(), (std::set{0, 1, 2}));
}

TEST(CommonLaunches, WhatComesMeanwhileGoesTogetherInItsOrder) {
    Bench bench(1, 4);
    for (int item = 0; item < 7; ++item) bench.come(item);
    EXPECT_EQ(bench.waiting(), 6u);
    EXPECT_EQ(bench.batches(), std::vector<Batch>{{0}});
    bench.let_go(0);
    bench.until_launched(2);
    EXPECT_EQ(bench.batches().back(), (Batch{1, 2, 3, 4})) << "no more than four";
    bench.until_through(1);
    EXPECT_EQ(bench.over(), std::set{0}) << "the others are still under way, or wait";
    bench.come(7);
    bench.let_go(0);
    bench.until_launched(3);
    EXPECT_EQ(bench.batches().back(), (Batch{5, 6, 7})) << "nobody is left behind";
    bench.let_go(0);
    bench.until_through(8);
    EXPECT_EQ(bench.waiting(), 0u);
}

TEST(CommonLaunches, EachPlaceTakesALaunch) {
    Bench bench(2, 4);
    for (int item = 0; item < 5; ++item) bench.come(item);
    EXPECT_EQ(bench.batches(), (std::vector<Batch>{{0}, {1}})) << "two go at once, each alone";
    EXPECT_EQ(bench.waiting(), 3u);
    bench.let_go(1);  // the second one is over first
    bench.until_launched(3);
    EXPECT_EQ(bench.batches().back(), (Batch{2, 3, 4}));
    bench.until_through(1);
    EXPECT_EQ(bench.over(), std::set{1});
    bench.let_all_go();
    bench.until_through(5);
}

TEST(CommonLaunches, AFailureIsThatOfItsLaunchOnly) {
    Bench bench(1, 2);
    bench.fail_launch_of(2);
    bench.fail_wait_of(5);
    for (int item = 0; item < 7; ++item) bench.come(item);
    bench.let_all_go();
    bench.until_through(7);
    EXPECT_EQ(bench.batches(), (std::vector<Batch>{{0}, {1, 2}, {3, 4}, {5, 6}}));
    EXPECT_EQ(bench.failed(), (std::set{1, 2, 5, 6}));
    EXPECT_EQ(bench.over(), (std::set{0, 3, 4}));
    bench.come(8);
    bench.until_through(8);
    EXPECT_TRUE(bench.over().contains(8));
}

// Threads that come as they like, against a device with some work and one with next to none: all are served, each
// launch is of what waited, and whenever nothing is under way nothing waits.
TEST(CommonLaunches, ServesAllWhoeverComesWhen) {
    constexpr int threads = 8, turns = 300, most_together = 5;
    for (const int places : {1, 2})
        for (const auto work : {std::chrono::microseconds(0), std::chrono::microseconds(50)}) {
            struct Item {
                int thread, turn;
            };
            std::mutex mutex;
            std::vector<int> done(threads, 0);
            int under_way = 0, most_under_way = 0, largest = 0, launched = 0;
            CommonLaunches<Item> launches(
                places, most_together,
                [&](int, std::span<Item* const> items) {
                    const std::lock_guard lock(mutex);
                    most_under_way = std::max(most_under_way, ++under_way);
                    largest = std::max(largest, static_cast<int>(items.size()));
                    launched += static_cast<int>(items.size());
                    for (const auto* item : items) EXPECT_EQ(done[static_cast<std::size_t>(item->thread)], item->turn);
                },
                [&](int) {
                    std::this_thread::sleep_for(work);
                    const std::lock_guard lock(mutex);
                    --under_way;
                });
            {
                std::vector<std::jthread> all;
                for (int thread = 0; thread < threads; ++thread)
                    all.emplace_back([&, thread] {
                        std::mt19937 random(static_cast<unsigned>(thread));
                        for (int turn = 0; turn < turns; ++turn) {
                            Item item{thread, turn};
                            launches.run(item);
                            {
                                const std::lock_guard lock(mutex);
                                ++done[static_cast<std::size_t>(thread)];
                            }
                            if (random() % 8 == 0)
                                std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
                        }
                    });
            }
            EXPECT_EQ(launched, threads * turns);
            EXPECT_LE(most_under_way, places);
            EXPECT_LE(largest, most_together);
            EXPECT_EQ(under_way, 0);
            EXPECT_EQ(launches.waiting(), 0u);
        }
}

}  // namespace common_launches_test
}  // namespace framewire::delta
