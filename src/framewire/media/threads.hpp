#pragma once

#include "framewire/core/thread_pool.hpp"

namespace framewire {

/// The process-wide thread pool of the media module, for colour conversion and large file copies.
const ThreadPool& media_threads();

}  // namespace framewire
