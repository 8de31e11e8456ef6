#include "framewire/media/files/large_page_file.hpp"

#include "framewire/media/files/streaming_copy.hpp"

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
constexpr std::size_t most_windows = 4;                       // kept mapped: what is under way of large frames
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

// A part of the file in memory, for as long as somebody writes there.
struct LargePageFile::Window {
    Window(unsigned char* first_byte, std::int64_t position_bytes) : bytes(first_byte), begin_bytes(position_bytes) {}
    ~Window() { ::munmap(bytes, window_bytes); }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    unsigned char* bytes;
    std::int64_t begin_bytes;      // in the file
    std::int64_t there_bytes = 0;  // whose pages write() asked for
};

LargePageFile::LargePageFile(int descriptor, const ThreadPool& threads) : descriptor_(descriptor), threads_(&threads) {}

LargePageFile::~LargePageFile() {
    windows_.clear();
    struct stat status {};
    if (::fstat(descriptor_, &status) == 0) static_cast<void>(!::ftruncate(descriptor_, status.st_size));
}

// The window of a position, in a file that goes to `end_bytes` or the window's end. None where there is no room.
std::shared_ptr<LargePageFile::Window> LargePageFile::window_for(std::int64_t position_bytes, std::int64_t end_bytes) {
    const auto begin = position_bytes / window_bytes * window_bytes;
    std::shared_ptr<Window> oldest;  // unmapped when others may go on
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find(windows_, begin, [](const auto& window) { return window->begin_bytes; });
    auto window = at != windows_.end() ? *at : mapped_at(begin);
    if (!window || !lengthen(std::min(end_bytes, begin + window_bytes))) return nullptr;
    if (at != windows_.end()) return window;
    windows_.push_back(window);
    if (windows_.size() > most_windows) {
        oldest = std::move(windows_.front());
        windows_.erase(windows_.begin());
    }
    return window;
}

// Pages are taken in the file's order, whoever asks first: what there is room for is what comes first. The file's
// length stays: of a run that is killed no page is left that nothing was to be written to.
std::shared_ptr<LargePageFile::Window> LargePageFile::mapped_at(std::int64_t begin_bytes) {
    const auto end = begin_bytes + window_bytes;
    if (end > taken_bytes_) {
        full_ = full_ || ::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, taken_bytes_, end - taken_bytes_) != 0;
        if (full_) return nullptr;  // and is not tried again: it takes all room for a moment, which others want
        taken_bytes_ = end;
    }
    void* bytes = ::mmap(nullptr, window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, begin_bytes);
    if (bytes == MAP_FAILED) return nullptr;
    return std::make_shared<Window>(static_cast<unsigned char*>(bytes), begin_bytes);
}

// Never makes the file shorter: others may have written further on.
bool LargePageFile::lengthen(std::int64_t end_bytes) const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) return false;
    return status.st_size >= end_bytes || ::ftruncate(descriptor_, end_bytes) == 0;
}

// A large page is made zero when it is first touched, while all who want it wait. So each is asked for by one thread,
// as far as the file goes by now, before all copy. A kernel before Linux 5.14 refuses, and the copy asks.
void LargePageFile::take_pages(Window& window, std::int64_t end_bytes) const {
    const auto first = window.there_bytes / large_page_bytes;
    const auto count = (end_bytes + large_page_bytes - 1) / large_page_bytes - first;
    threads_->for_chunks(count, 1, [&](std::int64_t, std::int64_t page, std::int64_t) {
        static_cast<void>(
            ::madvise(window.bytes + (first + page) * large_page_bytes, small_page_bytes, MADV_POPULATE_WRITE));
    });
    window.there_bytes = std::max(window.there_bytes, (first + std::max<std::int64_t>(count, 0)) * large_page_bytes);
}

// Calls copy(window, offset in it, from, count) for the part of each window.
template <class Copy>
std::size_t LargePageFile::write_by_windows(const void* data, std::size_t bytes, std::int64_t position_bytes,
                                            Copy&& copy) {
    const auto* from = static_cast<const unsigned char*>(data);
    const auto end = position_bytes + static_cast<std::int64_t>(bytes);
    for (auto at = position_bytes; at < end;) {
        const auto window = window_for(at, end);
        if (!window) return static_cast<std::size_t>(at - position_bytes);
        const auto offset = at - window->begin_bytes, count = std::min(end - at, window_bytes - offset);
        copy(*window, offset, from + (at - position_bytes), count);
        at += count;
    }
    return bytes;
}

std::size_t LargePageFile::write(const void* data, std::size_t bytes, std::int64_t position_bytes) {
    return write_by_windows(data, bytes, position_bytes,
                            [&](Window& window, std::int64_t offset, const unsigned char* from, std::int64_t count) {
                                take_pages(window, offset + count);
                                auto* to = window.bytes + offset;
                                threads_->for_chunks(
                                    count, share_bytes, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                                        std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
                                    });
                            });
}

// Large pages are asked for by the copy: most are this thread's alone. Past the caches, which have other frames.
std::size_t LargePageFile::write_alone(const void* data, std::size_t bytes, std::int64_t position_bytes) {
    return write_by_windows(data, bytes, position_bytes,
                            [](Window& window, std::int64_t offset, const unsigned char* from, std::int64_t count) {
                                streaming_copy(window.bytes + offset, from, static_cast<std::size_t>(count));
                            });
}

}  // namespace framewire
