#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace framewire {

/// A fixed number of threads for the loops of one executor, implemented with oneTBB. Move-only. Several threads may run
/// loops on one pool at the same time.
class ThreadPool {
public:
    /// Makes a pool of `threads` threads; 0 takes as many as the machine has. Throws Error{usage} below 0 or above
    /// 1024.
    explicit ThreadPool(int threads = 0);
    ~ThreadPool();
    ThreadPool(ThreadPool&&) noexcept;
    ThreadPool& operator=(ThreadPool&&) noexcept;

    /// Returns the number of threads.
    int threads() const;

    /// Calls body(chunk, begin, end) for the chunks [0, grain), [grain, 2*grain), ... of 0..count, in any order and on
    /// any thread of the pool, and returns when all are done. The chunks depend on `count` and `grain` only, so results
    /// that are combined by chunk number are the same for any number of threads. Rethrows an exception of the body.
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
