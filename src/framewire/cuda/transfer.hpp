#pragma once

#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/stream.hpp"

#include <memory>
#include <utility>

namespace framewire::cuda {

/// Copies between the host and the GPU, beside the work of an executor's stream and in order with it. Whoever has it
/// waits for them before what they read or write goes: so does its destructor. On the CPU backend there is nothing to
/// copy. Used by one thread at a time; several of them may be under way at once. Move-only.
class Transfer {
public:
    Transfer();
    /// Keeps a reference to `executor`.
    explicit Transfer(const Executor& executor);
    Transfer(Transfer&&) noexcept;
    Transfer& operator=(Transfer&&) noexcept;
    ~Transfer();

    /// Calls queue(stream), which queues copies to the GPU; all work queued later on the executor's stream waits for
    /// them. They wait for nothing: what they write is no longer in use.
    template <class Queue>
    void up(Queue&& queue) {
        begin_up(queue);
        join_up();
    }
    /// The two steps of up(): queues the copies, or other work that writes what they would; lets the executor's stream
    /// wait for them. The first may be taken by a thread that does not queue the work.
    template <class Queue>
    void begin_up(Queue&& queue) {
        if (!events_) return;
        queue(executor_->uploads());
        finish_up();
    }
    void join_up();

    /// Calls queue(stream), which queues copies to the host; they wait for all work queued so far on the executor's
    /// stream, and none waits for them.
    template <class Queue>
    void down(Queue&& queue) {
        if (!events_) return;
        begin_down();
        queue(executor_->downloads());
        finish_down();
    }

    /// Returns when the last copies are over; throws what they or the work before them failed with.
    void wait();

private:
    struct Events;

    void begin_down();
    void finish_up();
    void finish_down();

    const Executor* executor_ = nullptr;
    std::unique_ptr<Events> events_;
};

}  // namespace framewire::cuda
