// Lets the program survive the loss of an X display.
//
//    caller                     window's thread                   Xlib
//    run(work) ---------------> serve_calls(): work() ----------> ...
//    waits for `changed`                                          I/O error
//              <--------------- park(): lost = true, never returns
//    throws Error{io}
//
// If park() returned, Xlib would call exit() and recordings would stay incomplete.

#include "view/window/window_thread.hpp"

#include "framewire/core/error.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <utility>

namespace framewire::app {
namespace {

// How long a call waits for the window's thread if another thread (such as a driver's) noticed the lost display first.
constexpr std::chrono::seconds driver_grace{2};

// State shared with the window's thread.
struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    // All members below are guarded by `mutex`.
    const std::function<void()>* work = nullptr;  // work to be done or in progress
    std::exception_ptr failure;                   // exception thrown by the last work
    bool ending = false;
    std::thread::id window_thread;
    bool lost = false, parked = false;  // the display is lost; the window's thread is blocked forever
};

// Returns the shared state, which is never destroyed because a blocked thread may outlive main().
Shared& shared() {
    static auto& all = *new Shared;
    return all;
}

// Types of Xlib. SDL loads that library itself, so this program does not link it.
using Display = void;
using IoErrorHandler = int (*)(Display*);

// Xlib's handler for a lost display. It must not return, because Xlib would then call exit().
int park(Display*) {
    auto& all = shared();
    {
        const std::lock_guard lock(all.mutex);
        // Exit handlers of drivers would wait for locks that the blocked thread holds, so they are skipped.
        if (!std::exchange(all.lost, true))
            on_exit([](int status, void*) { std::fflush(nullptr), std::_Exit(status); }, nullptr);
        if (std::this_thread::get_id() == all.window_thread) all.parked = true;
    }
    all.changed.notify_all();
    for (;;) pause();
}

// Body of the thread: runs the work that run() passes to it.
void serve_calls() {
    auto& all = shared();
    std::unique_lock lock(all.mutex);
    for (;;) {
        all.changed.wait(lock, [&] { return all.work || all.ending; });
        if (!all.work) return;
        const auto* work = all.work;
        lock.unlock();
        std::exception_ptr failure;
        try {
            (*work)();
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        all.failure = failure;
        all.work = nullptr;
        all.changed.notify_all();
    }
}

}  // namespace

WindowThread::WindowThread() {
    auto& all = shared();
    const std::lock_guard lock(all.mutex);
    all.ending = false;
    thread_ = std::thread(serve_calls);
    all.window_thread = thread_.get_id();
}

WindowThread::~WindowThread() {
    auto& all = shared();
    {
        const std::lock_guard lock(all.mutex);
        if (all.lost) {
            thread_.detach();
            return;
        }
        all.ending = true;
    }
    all.changed.notify_all();
    thread_.join();
}

// Passes the work to the thread and waits until it is done or the display is lost.
void WindowThread::run(const std::function<void()>& work) {
    auto& all = shared();
    std::unique_lock lock(all.mutex);
    if (!all.lost) {
        all.work = &work;
        all.changed.notify_all();
        all.changed.wait(lock, [&] { return !all.work || all.lost; });
        // Another thread noticed the loss first: the window's thread may still finish, or it is parked.
        if (all.work) all.changed.wait_for(lock, driver_grace, [&] { return !all.work || all.parked; });
        if (auto failure = std::exchange(all.failure, nullptr)) std::rethrow_exception(failure);
        if (!all.lost) return;
    }
    fail(ErrorCode::io, "the window closed because the display was lost");
}

// RTLD_NOLOAD finds Xlib only if SDL has already loaded it.
void survive_display_loss() {
    void* xlib = dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (!xlib) return;
    const auto set_handler = reinterpret_cast<IoErrorHandler (*)(IoErrorHandler)>(dlsym(xlib, "XSetIOErrorHandler"));
    if (set_handler) set_handler(park);
    dlclose(xlib);
}

bool display_lost() {
    auto& all = shared();
    const std::lock_guard lock(all.mutex);
    return all.lost;
}

}  // namespace framewire::app
