#pragma once

#include <chrono>

namespace framewire::session {

/// Wakes a thread that waits for descriptors.
class Wake {
public:
    /// Throws Error{config} where there are no descriptors left.
    Wake();
    ~Wake();
    Wake(const Wake&) = delete;
    Wake& operator=(const Wake&) = delete;

    /// From any thread.
    void wake() noexcept;
    /// Can be read from wake() to clear().
    int descriptor() const { return descriptor_; }
    void clear() noexcept;
    /// Until wake(), for at most so long; clears it.
    void wait(std::chrono::milliseconds longest) noexcept;

private:
    int descriptor_;
};

}  // namespace framewire::session
