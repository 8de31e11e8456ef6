#include "framewire/cuda/transfer.hpp"

#include "framewire/core/error.hpp"

// Copies on streams of their own, ordered with events:
//
//     up():    upload stream:   copy --end-->  work stream: later work
//     down():  work stream:  earlier work --begin-->  download stream: copy --end-->  wait()

namespace framewire::cuda {

// `begin` marks the point of the executor's stream that downloads wait for, `end` the end of the copies.
struct Transfer::Events {
    Event begin{Event::Timing::none}, end{Event::Timing::none};
    bool under_way = false;
};

Transfer::Transfer() = default;

Transfer::Transfer(const Executor& executor)
    : executor_(&executor), events_(executor.backend() == Backend::cuda ? std::make_unique<Events>() : nullptr) {}

Transfer::Transfer(Transfer&&) noexcept = default;

Transfer& Transfer::operator=(Transfer&& other) noexcept {
    std::swap(executor_, other.executor_);
    std::swap(events_, other.events_);
    return *this;
}

Transfer::~Transfer() {
    try {
        wait();
    } catch (const Error&) {
        // The caller that asked for the copies has seen the error, or will see it on its next call.
    }
}

void Transfer::finish_up() {
    events_->end.record(executor_->uploads());
    events_->under_way = true;
}

void Transfer::join_up() {
    if (events_) events_->end.make_wait(executor_->stream());
}

void Transfer::begin_down() {
    events_->begin.record(executor_->stream());
    events_->begin.make_wait(executor_->downloads());
}

void Transfer::finish_down() {
    events_->end.record(executor_->downloads());
    events_->under_way = true;
}

void Transfer::wait() {
    if (!events_ || !events_->under_way) return;
    events_->end.synchronize();
    events_->under_way = false;
}

}  // namespace framewire::cuda
