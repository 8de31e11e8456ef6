#pragma once

#include "framewire/core/thread_pool.hpp"

namespace framewire {

/// The threads that media share in the process: those that convert colours and copy large pieces of files.
const ThreadPool& media_threads();

}  // namespace framewire
