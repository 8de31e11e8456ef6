#pragma once

#include "framewire/core/thread_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace framewire {

/// Writes by several threads at once into a file in memory whose pages are large: of a tmpfs mounted with
/// `huge=always`. write(2) lets one thread at a time into a file, and takes as long for its pages as for its bytes.
/// Mapped pages let all threads in, and large ones are 512 times fewer. docs/decisions/writing-files.md has what was
/// measured.
class LargePageFile {
public:
    /// From so many threads on they are faster together than one is with write(2): a mapped page is first made zero.
    static constexpr int least_threads = 6;
    /// Fewer bytes are not worth waking threads for.
    static constexpr std::size_t least_bytes = 512 << 10;

    /// Whether the file of a descriptor is one.
    static bool is(int descriptor);

    /// Of a regular file that is open for reading and writing. The descriptor stays the caller's and lives longer.
    LargePageFile(int descriptor, const ThreadPool& threads);
    /// Gives back the pages behind the file's end.
    ~LargePageFile();
    LargePageFile(const LargePageFile&) = delete;
    LargePageFile& operator=(const LargePageFile&) = delete;

    /// Writes at a position of the file, which gets longer where that is needed, by all threads. Gives how many bytes
    /// were written: fewer than asked for where there is no room, which write(2) then says with its reason. Pages are
    /// taken before they are touched, so a full file system ends nothing. Not for two threads at once.
    std::size_t write(const void* data, std::size_t bytes, std::int64_t position_bytes);

    /// The same by the calling thread alone. From any thread, several at once and beside write(), at places of their
    /// own. Nothing else makes the file longer or shorter meanwhile, but for what is in front of all those places.
    std::size_t write_alone(const void* data, std::size_t bytes, std::int64_t position_bytes);

private:
    struct Window;

    template <class Copy>
    std::size_t write_by_windows(const void* data, std::size_t bytes, std::int64_t position_bytes, Copy&& copy);
    std::shared_ptr<Window> window_for(std::int64_t position_bytes, std::int64_t end_bytes);
    std::shared_ptr<Window> mapped_at(std::int64_t begin_bytes);
    bool lengthen(std::int64_t end_bytes) const;
    void take_pages(Window& window, std::int64_t end_bytes) const;

    int descriptor_;
    const ThreadPool* threads_;
    std::mutex mutex_;
    // Guarded by mutex_.
    std::vector<std::shared_ptr<Window>> windows_;  // the newest that are mapped; others while they are in use
    std::int64_t taken_bytes_ = 0;                  // of the file, whose pages are its own
    bool full_ = false;                             // there is no more room for pages taken ahead
};

}  // namespace framewire
