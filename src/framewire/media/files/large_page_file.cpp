#include "framewire/media/files/large_page_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace framewire {
namespace {

constexpr std::int64_t large_page_bytes = 2 << 20;
constexpr std::int64_t window_bytes = 32 * large_page_bytes;  // taken and mapped at once
constexpr std::int64_t share_bytes = 128 << 10;               // of a thread, as InputFile has it
constexpr std::size_t small_page_bytes = 4096;                // by which a large one is asked for

}  // namespace

// With huge=always, and only then, the kernel calls large pages the best size of an empty file's writes.
bool LargePageFile::is(int descriptor) {
    struct statfs system {};
    struct stat status {};
    return ::fstatfs(descriptor, &system) == 0 && system.f_type == TMPFS_MAGIC && ::fstat(descriptor, &status) == 0 &&
           status.st_blksize >= large_page_bytes;
}

LargePageFile::~LargePageFile() {
    unmap();
    struct stat status {};
    if (::fstat(descriptor_, &status) == 0) static_cast<void>(!::ftruncate(descriptor_, status.st_size));
}

void LargePageFile::unmap() {
    if (window_) ::munmap(std::exchange(window_, nullptr), window_bytes);
}

bool LargePageFile::covers(std::int64_t position_bytes) const {
    return window_ && position_bytes >= window_begin_bytes_ && position_bytes < window_begin_bytes_ + window_bytes;
}

// The file's length stays: of a run that is killed no page is left that nothing was written to.
bool LargePageFile::map_at(std::int64_t position_bytes) {
    unmap();
    const auto begin = position_bytes / window_bytes * window_bytes;
    if (::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, begin, window_bytes) != 0) return false;
    void* window = ::mmap(nullptr, window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, begin);
    if (window == MAP_FAILED) return false;
    window_ = static_cast<unsigned char*>(window);
    window_begin_bytes_ = begin;
    there_bytes_ = 0;
    return true;
}

// A large page is made zero when it is first touched, while all who want it wait. So each is asked for by one thread,
// as far as the file goes by now, before all copy. A kernel before Linux 5.14 refuses, and the copy asks.
void LargePageFile::take_pages(std::int64_t end_bytes) {
    const auto first = there_bytes_ / large_page_bytes;
    const auto count = (end_bytes + large_page_bytes - 1) / large_page_bytes - first;
    threads_->for_chunks(count, 1, [&](std::int64_t, std::int64_t page, std::int64_t) {
        static_cast<void>(
            ::madvise(window_ + (first + page) * large_page_bytes, small_page_bytes, MADV_POPULATE_WRITE));
    });
    there_bytes_ = std::max(there_bytes_, (first + std::max<std::int64_t>(count, 0)) * large_page_bytes);
}

std::size_t LargePageFile::write(const void* data, std::size_t bytes, std::int64_t position_bytes,
                                 std::int64_t length_bytes) {
    const auto* from = static_cast<const unsigned char*>(data);
    std::size_t written = 0;
    while (written < bytes) {
        const auto at = position_bytes + static_cast<std::int64_t>(written);
        if (!covers(at) && !map_at(at)) break;
        const auto count =
            std::min(static_cast<std::int64_t>(bytes - written), window_begin_bytes_ + window_bytes - at);
        if (at + count > length_bytes) {
            if (::ftruncate(descriptor_, at + count) != 0) break;
            length_bytes = at + count;
        }
        take_pages(at - window_begin_bytes_ + count);
        auto* to = window_ + (at - window_begin_bytes_);
        threads_->for_chunks(count, share_bytes, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            std::memcpy(to + begin, from + written + begin, static_cast<std::size_t>(end - begin));
        });
        written += static_cast<std::size_t>(count);
    }
    return written;
}

}  // namespace framewire
