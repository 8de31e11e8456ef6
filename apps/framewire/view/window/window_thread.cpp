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

// How long a call waits for the window's thread when another thread, such as a driver's, saw the display go first.
constexpr std::chrono::seconds driver_grace{2};

struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    // All guarded by mutex.
    const std::function<void()>* work = nullptr;  // to be done, or being done
    std::exception_ptr failure;                   // of the last work
    bool ending = false;
    std::thread::id window_thread;
    bool lost = false, parked = false;  // the display is gone; the window's thread is parked
};

// Never destroyed: a parked thread may be left at the program's end.
Shared& shared() {
    static auto& all = *new Shared;
    return all;
}

// Xlib's own types; SDL loads the library itself, so that there is nothing to link.
using Display = void;
using IoErrorHandler = int (*)(Display*);

int park(Display*) {
    auto& all = shared();
    {
        const std::lock_guard lock(all.mutex);
        // Exit handlers of drivers would wait for locks that a parked thread holds.
        if (!std::exchange(all.lost, true))
            on_exit([](int status, void*) { std::fflush(nullptr), std::_Exit(status); }, nullptr);
        if (std::this_thread::get_id() == all.window_thread) all.parked = true;
    }
    all.changed.notify_all();
    for (;;) pause();
}

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

void WindowThread::run(const std::function<void()>& work) {
    auto& all = shared();
    std::unique_lock lock(all.mutex);
    if (!all.lost) {
        all.work = &work;
        all.changed.notify_all();
        all.changed.wait(lock, [&] { return !all.work || all.lost; });
        if (all.work) all.changed.wait_for(lock, driver_grace, [&] { return !all.work || all.parked; });
        if (auto failure = std::exchange(all.failure, nullptr)) std::rethrow_exception(failure);
        if (!all.lost) return;
    }
    fail(ErrorCode::io, "the display is gone, and the window with it");
}

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
