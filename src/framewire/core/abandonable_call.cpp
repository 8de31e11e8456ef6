#include "framewire/core/abandonable_call.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace framewire {
namespace {

std::atomic<int> abandoned{0};

// Shared by the caller and the worker thread. Whichever of them finishes last frees it.
struct Call {
    std::function<void()> body;
    std::mutex mutex;
    std::condition_variable_any changed;
    bool done = false, left = false;
    std::exception_ptr failure{};
};

// Runs on the worker thread.
void run(const std::shared_ptr<Call>& call) {
    std::exception_ptr failure;
    try {
        call->body();
    } catch (...) {
        failure = std::current_exception();
    }
    call->body = nullptr;  // destroying what it owns can block too
    // The caller checks `done` and sets `left` under the same mutex.
    const std::lock_guard lock(call->mutex);
    call->failure = std::move(failure);
    call->done = true;
    if (call->left) --abandoned;
    call->changed.notify_all();
}

}  // namespace

bool run_abandonable(std::function<void()> body, const std::stop_token& stop) {
    // The thread is detached because nothing can end it: a blocked library call returns when it returns.
    if (stop.stop_requested()) return false;
    const auto call = std::make_shared<Call>();
    call->body = std::move(body);
    std::thread([call] { run(call); }).detach();
    std::unique_lock lock(call->mutex);
    if (!call->changed.wait(lock, stop, [&] { return call->done; })) {
        // The mutex is held and the thread has not stored `done` yet, so it will see `left` and decrement the counter.
        call->left = true;
        ++abandoned;
        return false;
    }
    if (call->failure) std::rethrow_exception(std::exchange(call->failure, nullptr));
    return true;
}

int abandoned_calls() { return abandoned; }

}  // namespace framewire
