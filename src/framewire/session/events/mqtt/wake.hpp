#pragma once

#include <chrono>

namespace framewire::session {

/// Wakes a thread that polls descriptors (eventfd(2)).
class Wake {
public:
    /// Throws Error{config} if no descriptor is available.
    Wake();
    ~Wake();
    Wake(const Wake&) = delete;
    Wake& operator=(const Wake&) = delete;

    /// Wakes the thread; from any thread.
    void wake() noexcept;
    /// Readable from wake() until clear().
    int descriptor() const { return descriptor_; }
    /// Makes the descriptor unreadable again.
    void clear() noexcept;
    /// Waits for wake(), but not longer than `longest`, then clears.
    void wait(std::chrono::milliseconds longest) noexcept;

private:
    int descriptor_;
};

}  // namespace framewire::session
