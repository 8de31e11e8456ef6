#pragma once

#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/stream.hpp"

#include <memory>
#include <utility>

namespace framewire::cuda {

/// Copies between host and GPU that run in parallel to the executor's stream but in a defined order with it.
/// The owner must wait before it frees memory that the copies use; the destructor waits too. On the CPU backend
/// nothing is copied and every call returns at once. An object is used by one thread at a time; several objects
/// may have copies in flight at once. Move-only.
class Transfer {
public:
    Transfer();
    /// Keeps a reference to `executor`, which must outlive the object.
    explicit Transfer(const Executor& executor);
    Transfer(Transfer&&) noexcept;
    Transfer& operator=(Transfer&&) noexcept;
    ~Transfer();

    /// Calls queue(stream), which queues copies to the GPU on the upload stream. Work queued later on the
    /// executor's stream waits for them. The copies themselves wait for nothing, so the memory that they write
    /// must no longer be in use.
    template <class Queue>
    void up(Queue&& queue) {
        begin_up(queue);
        join_up();
    }
    /// The two halves of up(). begin_up() queues the copies, or other work that writes the same memory;
    /// join_up() makes the executor's stream wait for them. begin_up() may be called by a thread other than the
    /// one that queues the work.
    template <class Queue>
    void begin_up(Queue&& queue) {
        if (!events_) return;
        queue(executor_->uploads());
        finish_up();
    }
    void join_up();

    /// Calls queue(stream), which queues copies to the host on the download stream. They wait for all work
    /// queued so far on the executor's stream; nothing on that stream waits for them.
    template <class Queue>
    void down(Queue&& queue) {
        if (!events_) return;
        begin_down();
        queue(executor_->downloads());
        finish_down();
    }

    /// Blocks until the last copies are done. Throws if they, or the work before them, failed.
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
