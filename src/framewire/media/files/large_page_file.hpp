#pragma once

#include "framewire/core/thread_pool.hpp"

#include <cstddef>
#include <cstdint>

namespace framewire {

/// Writes by several threads at once into a file in memory whose pages are large: of a tmpfs mounted with
/// `huge=always`. write(2) lets one thread at a time into a file, and takes as long for its pages as for its bytes.
/// Mapped pages let all threads in, and large ones are 512 times fewer. docs/decisions/frames-under-way.md has what was
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
    LargePageFile(int descriptor, const ThreadPool& threads) : descriptor_(descriptor), threads_(&threads) {}
    /// Gives back the pages behind the file's end.
    ~LargePageFile();
    LargePageFile(const LargePageFile&) = delete;
    LargePageFile& operator=(const LargePageFile&) = delete;

    /// Writes at a position of the file, which has `length_bytes` and gets longer where that is needed. Gives how many
    /// bytes were written: fewer than asked for where there is no room, which write(2) then says with its reason.
    /// Pages are taken before they are touched, so a full file system ends nothing.
    std::size_t write(const void* data, std::size_t bytes, std::int64_t position_bytes, std::int64_t length_bytes);

private:
    bool covers(std::int64_t position_bytes) const;
    bool map_at(std::int64_t position_bytes);
    void take_pages(std::int64_t end_bytes);
    void unmap();

    int descriptor_;
    const ThreadPool* threads_;
    unsigned char* window_ = nullptr;
    std::int64_t window_begin_bytes_ = 0;  // in the file
    std::int64_t there_bytes_ = 0;         // of the window, whose pages were asked for
};

}  // namespace framewire
