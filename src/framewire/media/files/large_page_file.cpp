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
constexpr std::int64_t share_bytes = 256 << 10;               // of a thread, one by one

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
    return true;
}

std::size_t LargePageFile::write(const void* data, std::size_t bytes, std::int64_t position_bytes,
                                 std::int64_t length_bytes) {
    const auto* from = static_cast<const unsigned char*>(data);
    std::size_t written = 0;
    while (written < bytes) {
        const auto at = position_bytes + static_cast<std::int64_t>(written);
        if (!covers(at) && !map_at(at)) break;
        const auto count = std::min(static_cast<std::int64_t>(bytes - written), window_begin_bytes_ + window_bytes - at);
        if (at + count > length_bytes) {
            if (::ftruncate(descriptor_, at + count) != 0) break;
            length_bytes = at + count;
        }
        auto* to = window_ + (at - window_begin_bytes_);
        threads_->for_chunks(count, share_bytes, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            std::memcpy(to + begin, from + written + begin, static_cast<std::size_t>(end - begin));
        });
        written += static_cast<std::size_t>(count);
    }
    return written;
}

}  // namespace framewire
