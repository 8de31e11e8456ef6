#include "framewire/media/threads.hpp"

namespace framewire {

const ThreadPool& media_threads() {
    static const ThreadPool threads;
    return threads;
}

}  // namespace framewire
