#include "framewire/core/thread_pool.hpp"
#include "framewire/core/error.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

// Parallel loops over chunks with oneTBB. Chunks are numbered and cut independently of the number of threads, so
// results that are combined by chunk number are reproducible.

namespace framewire {

// The oneTBB task arena of one pool.
struct ThreadPool::Arena {
    explicit Arena(int threads) : count(threads), tbb(threads) {
        // By default oneTBB starts no more threads than the machine has cores.
        if (threads > oneapi::tbb::info::default_concurrency())
            more_than_default.emplace(oneapi::tbb::global_control::max_allowed_parallelism, threads);
    }
    int count;
    std::optional<oneapi::tbb::global_control> more_than_default;
    oneapi::tbb::task_arena tbb;
};

#if defined(__SANITIZE_THREAD__)
namespace {

// The system's oneTBB is not built with ThreadSanitizer, which therefore cannot see how oneTBB orders its threads and
// reports every loop. Under ThreadSanitizer, loops run on std::jthread instead.
template <class One>
void run_on_plain_threads(int threads, std::int64_t chunks, const One& one) {
    std::atomic<std::int64_t> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    const auto work = [&] {
        try {
            for (auto chunk = next++; chunk < chunks; chunk = next++) one(chunk);
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> helpers;
        for (int i = 1; i < std::min<std::int64_t>(threads, chunks); ++i) helpers.emplace_back(work);
        work();
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace
#endif

ThreadPool::ThreadPool(int threads) {
    if (threads < 0 || threads > 1024)
        fail(ErrorCode::usage, "{} threads requested; allowed: 1 to 1024, or 0 for one per CPU", threads);
    arena_ = std::make_unique<Arena>(threads ? threads : oneapi::tbb::info::default_concurrency());
}

ThreadPool::~ThreadPool() = default;
ThreadPool::ThreadPool(ThreadPool&&) noexcept = default;
ThreadPool& ThreadPool::operator=(ThreadPool&&) noexcept = default;

int ThreadPool::threads() const { return arena_->count; }

// With a single chunk or a single thread the loop runs on the calling thread, which allocates nothing.
void ThreadPool::run(std::int64_t count, std::int64_t grain, Trampoline call, void* context) const {
    if (count <= 0) return;
    // A grain below 1 would never advance.
    grain = std::max<std::int64_t>(grain, 1);
    const auto chunks = (count + grain - 1) / grain;
    const auto one = [=](std::int64_t chunk) {
        call(context, chunk, chunk * grain, std::min(count, (chunk + 1) * grain));
    };
    if (chunks == 1 || arena_->count == 1) {
        for (std::int64_t chunk = 0; chunk < chunks; ++chunk) one(chunk);
        return;
    }
#if defined(__SANITIZE_THREAD__)
    run_on_plain_threads(arena_->count, chunks, one);
#else
    arena_->tbb.execute([&] {
        oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::int64_t>(0, chunks), [&](const auto& range) {
            for (auto chunk = range.begin(); chunk != range.end(); ++chunk) one(chunk);
        });
    });
#endif
}

}  // namespace framewire
