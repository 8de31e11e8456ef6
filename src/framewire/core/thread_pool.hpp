#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace framewire {

/// A fixed number of threads for the loops of one executor (oneTBB underneath). Move-only.
/// Several threads may run loops on one pool at the same time.
class ThreadPool {
public:
    /// `threads` 0 takes all the machine has. Throws Error{usage} below 0 or above 1024.
    explicit ThreadPool(int threads = 0);
    ~ThreadPool();
    ThreadPool(ThreadPool&&) noexcept;
    ThreadPool& operator=(ThreadPool&&) noexcept;

    int threads() const;

    /// Calls body(chunk, begin, end) for the chunks [0, grain), [grain, 2*grain), ... of 0..count, in any order, and
    /// returns when all are done. How a range is cut depends on count and grain alone, so results put together by
    /// chunk number are the same for every number of threads. What a body throws is thrown here.
    template <class Body>
    void for_chunks(std::int64_t count, std::int64_t grain, Body&& body) const {
        using Plain = std::remove_reference_t<Body>;
        run(
            count, grain,
            [](void* context, std::int64_t chunk, std::int64_t begin, std::int64_t end) {
                (*static_cast<Plain*>(context))(chunk, begin, end);
            },
            const_cast<void*>(static_cast<const void*>(&body)));
    }

private:
    using Trampoline = void (*)(void*, std::int64_t, std::int64_t, std::int64_t);
    void run(std::int64_t count, std::int64_t grain, Trampoline call, void* context) const;

    struct Arena;
    std::unique_ptr<Arena> arena_;
};

}  // namespace framewire
