#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <utility>

namespace framewire::delta {

/// Turns that are taken in an order by one thread and had in that order by others, each when all before it have ended.
/// One may end without having been waited for. Lives longer than its turns.
class Turns {
public:
    /// Ends at the latest with its life. Move-only; by one thread at a time.
    class Turn {
    public:
        Turn() = default;
        Turn(Turn&& other) noexcept : of_(std::exchange(other.of_, nullptr)), number_(other.number_) {}
        Turn& operator=(Turn&& other) noexcept {
            end();
            of_ = std::exchange(other.of_, nullptr);
            number_ = other.number_;
            return *this;
        }
        ~Turn() { end(); }

        /// Whether it was taken and has not ended.
        explicit operator bool() const { return of_ != nullptr; }
        /// Returns when all turns taken before have ended.
        void wait() const {
            std::unique_lock lock(of_->mutex_);
            of_->next_.wait(lock, [this] { return of_->first_open_ == number_; });
        }
        void end() {
            if (auto* of = std::exchange(of_, nullptr)) of->end(number_);
        }

    private:
        friend class Turns;
        Turn(Turns& of, std::int64_t number) : of_(&of), number_(number) {}

        Turns* of_ = nullptr;
        std::int64_t number_ = 0;
    };

    Turns() = default;
    Turns(const Turns&) = delete;
    Turns& operator=(const Turns&) = delete;

    Turn take() {
        const std::lock_guard lock(mutex_);
        return {*this, taken_++};
    }
    bool any_open() const {
        const std::lock_guard lock(mutex_);
        return first_open_ != taken_;
    }

private:
    void end(std::int64_t number) {
        const std::lock_guard lock(mutex_);
        if (number != first_open_) {
            ended_early_.insert(number);
            return;
        }
        do ++first_open_;
        while (ended_early_.erase(first_open_) > 0);
        next_.notify_all();
    }

    mutable std::mutex mutex_;
    std::condition_variable next_;
    std::int64_t taken_ = 0, first_open_ = 0;
    std::set<std::int64_t> ended_early_;  // before one that was taken earlier
};

}  // namespace framewire::delta
