// A thread pool without threads, because the module runs on one thread.

#include "framewire/core/thread_pool.hpp"

#include <algorithm>

namespace framewire {

// Returns 1, for the calling thread.
int ThreadPool::threads() const { return 1; }

// Runs the chunks in order.
void ThreadPool::run(std::int64_t count, std::int64_t grain, Trampoline call, void* context) const {
    for (std::int64_t begin = 0, chunk = 0; begin < count; begin += grain, ++chunk)
        call(context, chunk, begin, std::min(begin + grain, count));
}

}  // namespace framewire
