#include "framewire/media/output_file.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/simd.hpp"
#include "framewire/core/time.hpp"
#include "framewire/media/files.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/media/output_file.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <fcntl.h>
#include <hwy/cache_control.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

// Copies past the cache. A normal store first reads the cache line that it modifies. Non-temporal stores skip that read
// if the whole line is written, which saves a third of the memory traffic of a copy, and they do not evict other data.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {

// Copies whole cache lines with non-temporal stores and the unaligned ends with memcpy.
void copy_by_lines(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::ScalableTag<std::uint8_t> d;
    const std::size_t step = hn::Lanes(d), line = std::max<std::size_t>(step, 64);  // size of a cache line
    // Only lines that are written completely can bypass the cache.
    const auto head = std::min(bytes, (line - reinterpret_cast<std::uintptr_t>(to) % line) % line);
    std::memcpy(to, from, head);
    auto at = head;
    for (; at + line <= bytes; at += line)
        for (std::size_t part = at; part < at + line; part += step) hn::Stream(hn::LoadU(d, from + part), d, to + part);
    std::memcpy(to + at, from + at, bytes - at);
    hwy::FlushStream();  // the caller's lock does not order non-temporal stores
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(copy_by_lines);

void streaming_copy(void* to, const void* from, std::size_t bytes) {
    HWY_DYNAMIC_DISPATCH(copy_by_lines)
    (static_cast<std::uint8_t*>(to), static_cast<const std::uint8_t*>(from), bytes);
}

}  // namespace framewire

#endif

#if HWY_ONCE

// An output file has up to three names in its life:
// - NAME.part while it is written, locked by its process;
// - NAME.part.new for a moment, if rewrite() replaces the content;
// - NAME when it is complete.
//
// Every step is a rename within one folder, so if the process is killed at any time, either the old or the new file
// remains, never a mixture.

namespace framewire {
namespace {

constexpr std::size_t longest_name = 255;          // limit of every file system of Linux
constexpr std::string_view part_ending = ".part";  // extension of incomplete files

// Returns the name of the incomplete file. It is in the same folder, because a rename cannot cross file systems.
std::string part_of(const std::string& path) {
    const auto [folder, name] = split_path(path);
    return folder + name.substr(0, longest_name - part_ending.size()) + std::string(part_ending);
}

// Returns the temporary name of the content that replaces a .part file.
std::string rewritten_name(const std::string& path) { return path + ".new"; }

// Returns an unused name for a file left by a killed process: cam.mp4 becomes cam.rescued.mp4, cam.rescued-2.mp4 and so
// on.
std::string rescue_name(const std::string& path) {
    const auto [folder, name] = split_path(path);
    const auto dot = name.rfind('.') == 0 ? std::string::npos : name.rfind('.');
    const auto stem = name.substr(0, dot), ending = dot == std::string::npos ? "" : name.substr(dot);
    for (int number = 1;; ++number) {
        auto rescued =
            fmt::format("{}{}.rescued{}{}", folder, stem, number > 1 ? fmt::format("-{}", number) : "", ending);
        if (::access(rescued.c_str(), F_OK) != 0) return rescued;
    }
}

// Renames without replacing an existing file. Returns false and sets errno on failure.
bool rename_to_free_name(const std::string& from, const std::string& to) {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
    if (errno != EINVAL && errno != ENOSYS) return false;
    // On file systems without RENAME_NOREPLACE, create a hard link, which fails if the name exists, and remove the old
    // name.
    if (::link(from.c_str(), to.c_str()) == 0) return ::unlink(from.c_str()) == 0;
    if (errno != EPERM && errno != EOPNOTSUPP) return false;
    if (::access(to.c_str(), F_OK) == 0) {
        errno = EEXIST;
        return false;
    }
    return ::rename(from.c_str(), to.c_str()) == 0;
}

// Returns true if writes may block: to pipes, terminals and sockets, but not to regular files and memory devices such
// as /dev/null.
bool may_wait(const struct stat& status) {
    constexpr unsigned memory_devices = 1;  // their major number on Linux
    return !S_ISREG(status.st_mode) && !(S_ISCHR(status.st_mode) && major(status.st_rdev) == memory_devices);
}

}  // namespace

OutputFile::OutputFile(const std::string& path, OutputFileOptions options)
    : name_(is_standard_output(path) ? "standard output" : path), path_(path), options_(std::move(options)) {
    struct stat status {};
    if (is_standard_output(path)) {
        descriptor_ = STDOUT_FILENO;
        pipe_ = ::fstat(descriptor_, &status) == 0 && may_wait(status);
        if (pipe_ && S_ISFIFO(status.st_mode)) open_unblocked();
        return;
    }
    const bool exists = ::stat(path.c_str(), &status) == 0;
    if (!exists && errno != ENOENT) fail_io("create");
    if (exists && S_ISDIR(status.st_mode)) fail(ErrorCode::io, "{} is a directory; give the name of a file", name_);
    if (exists && !S_ISREG(status.st_mode)) {
        open_directly(S_ISFIFO(status.st_mode));
        return;
    }
    if (exists && !options_.replace)
        fail(ErrorCode::io, "{} already exists; use -y to replace it, -n to keep it and do nothing", name_);
    path_ = followed(path);
    if (exists && ::access(path_.c_str(), W_OK) != 0) fail_io("replace");
    open_part();
    if (exists) {
        static_cast<void>(!::fchown(descriptor_, status.st_uid, status.st_gid));  // succeeds only if this user is
                                                                                  // allowed to
        static_cast<void>(!::fchmod(descriptor_, status.st_mode & 07777));
    }
}

void OutputFile::open_directly(bool named_pipe) {
    // With O_NONBLOCK, opening a named pipe without a reader fails with ENXIO: retry, so that a stop request ends the
    // wait.
    for (;;) {
        descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        if (descriptor_ >= 0) break;
        if (!named_pipe || (errno != ENXIO && errno != EINTR)) fail_io("open");
        if (options_.stop.stop_requested()) fail(ErrorCode::io, "stopped before a reader opened {}", name_);
        ::poll(nullptr, 0, stop_poll_ms);
    }
    ::fcntl(descriptor_, F_SETFL, ::fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK);
    struct stat status {};
    pipe_ = ::fstat(descriptor_, &status) != 0 || may_wait(status);
    if (named_pipe) open_unblocked();
}

// Opens a separate file description: O_NONBLOCK on the existing one would affect all processes that share it.
void OutputFile::open_unblocked() {
    constexpr int wanted_bytes = 1 << 20;  // the default limit for unprivileged users
    ::fcntl(descriptor_, F_SETPIPE_SZ, wanted_bytes);
    unblocked_ = ::open(fmt::format("/proc/self/fd/{}", descriptor_).c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
}

// Creates and locks NAME.part, and handles one left by a killed process.
void OutputFile::open_part() {
    part_ = part_of(path_);
    for (;;) {
        descriptor_ = ::open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (descriptor_ < 0) {
            const int error = errno;
            part_.clear();
            errno = error;
            fail_io("create");
        }
        struct stat status {};
        if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
            ::close(std::exchange(descriptor_, -1));
            fail(ErrorCode::io, "cannot create {}: {} is not a regular file", name_, std::exchange(part_, {}));
        }
        if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            ::close(std::exchange(descriptor_, -1));
            part_.clear();
            fail(ErrorCode::io, "{} is being written by another run", name_);
        }
        // Another process may have renamed this file between open() and flock(): compare the inodes.
        struct stat named {};
        const bool ours = ::stat(part_.c_str(), &named) == 0 && named.st_ino == status.st_ino;
        if (ours && status.st_size == 0) break;
        if (ours && !options_.once_only) {
            log_warning("{} is an unfinished output of an earlier run, {} bytes; removed", part_, status.st_size);
            if (::ftruncate(descriptor_, 0) != 0) fail_io("begin");
            break;
        }
        if (ours) {
            const auto rescued = rescue_name(path_);
            if (!rename_to_free_name(part_, rescued)) fail_io("make room for");
            log_warning("{} is an unfinished output of an earlier run, {} bytes; kept as {}", part_, status.st_size,
                        rescued);
        }
        ::close(std::exchange(descriptor_, -1));
    }
    static_cast<void>(::unlink(rewritten_name(part_).c_str()));  // left by a process that was killed in rewrite()
    lock_ = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
}

OutputFile::~OutputFile() {
    if (unblocked_ >= 0) ::close(unblocked_);
    if (descriptor_ < 0 || descriptor_ == STDOUT_FILENO) return;
    if (!part_.empty() && whole_bytes_ > 0) {
        static_cast<void>(!::ftruncate(descriptor_, whole_bytes_));
        try {
            log_warning("{} was not finished; the incomplete output is in {}", name_, part_);
        } catch (...) {  // logging failed; the file is still there
        }
    } else if (!part_.empty()) {
        ::unlink(part_.c_str());
    }
    close_part();
}

// Closes the file; the lock is released last.
void OutputFile::close_part() noexcept {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    if (lock_ >= 0) ::close(std::exchange(lock_, -1));
}

void OutputFile::fail_io(const char* doing) const {
    fail(ErrorCode::io, "cannot {} {}: {}", doing, name_, std::strerror(errno));
}

// Waits until a pipe accepts data. After a stop request, the reader has one more second.
void OutputFile::wait_until_writable() {
    auto since = Clock::now();
    pollfd waiting{descriptor_, POLLOUT, 0};
    while (::poll(&waiting, 1, stop_poll_ms) == 0) {
        if (!options_.stop.stop_requested())
            since = Clock::now();
        else if (milliseconds_since(since) > 1000)
            fail(ErrorCode::io, "stopped before a reader opened {}", name_);
    }
}

// Writes at least one byte and at most all of them. Throws Error{io}.
std::size_t OutputFile::write_some(const unsigned char* from, std::size_t bytes) {
    for (;;) {
        if (pipe_) wait_until_writable();
        // A writable pipe is only guaranteed to accept PIPE_BUF bytes without blocking.
        const auto put = unblocked_ >= 0 ? ::write(unblocked_, from, bytes)
                         : pipe_         ? ::write(descriptor_, from, std::min<std::size_t>(bytes, PIPE_BUF))
                                         : ::write(descriptor_, from, bytes);
        if (put >= 0) return static_cast<std::size_t>(put);
        if (errno != EINTR && errno != EAGAIN) fail_io("write");
    }
}

void OutputFile::write(const void* data, std::size_t bytes) {
    const auto* from = static_cast<const unsigned char*>(data);
    while (bytes > 0) {
        const auto put = write_some(from, bytes);
        from += put;
        bytes -= put;
        position_bytes_ += static_cast<std::int64_t>(put);
        bytes_ = std::max(bytes_, position_bytes_);
    }
}

void OutputFile::seek(std::int64_t position_bytes) {
    if (::lseek(descriptor_, position_bytes, SEEK_SET) < 0) fail_io("seek in");
    position_bytes_ = position_bytes;
}

void OutputFile::sync() {
    if (seekable() && ::fsync(descriptor_) != 0 && errno != EINVAL) fail_io("flush to disk");
}

void OutputFile::rewrite(const std::function<void(int from, int to)>& write) {
    if (!seekable()) return;
    const auto folder = split_path(part_).first;
    const int to = ::open(folder.empty() ? "." : folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
    if (to < 0) return;
    const auto name = rewritten_name(part_);
    try {
        write(descriptor_, to);
        struct stat status {};
        if (::fstat(descriptor_, &status) != 0) fail_io("complete");
        static_cast<void>(!::fchown(to, status.st_uid, status.st_gid));
        static_cast<void>(!::fchmod(to, status.st_mode & 07777));
        // Lock the file before it gets a name; see open_part().
        if (::flock(to, LOCK_EX | LOCK_NB) != 0 || ::linkat(AT_FDCWD, fmt::format("/proc/self/fd/{}", to).c_str(),
                                                            AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
            fail_io("complete");
        if (::rename(name.c_str(), part_.c_str()) != 0) {
            ::unlink(name.c_str());
            fail_io("complete");
        }
        bytes_ = ::lseek(to, 0, SEEK_END);
        whole_bytes_ = bytes_;
    } catch (...) {
        ::close(to);
        throw;
    }
    close_part();
    descriptor_ = to;
    lock_ = ::fcntl(to, F_DUPFD_CLOEXEC, 0);
}

void OutputFile::finish(Ending ending) {
    if (unblocked_ >= 0) ::close(std::exchange(unblocked_, -1));
    if (descriptor_ < 0 || descriptor_ == STDOUT_FILENO) return;
    const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
    const int error = errno;
    if (!part_.empty() && closed) appear(ending);
    close_part();
    if (closed) return;
    // close() may report write errors of network file systems.
    if (!part_.empty() && whole_bytes_ == 0) ::unlink(part_.c_str());
    errno = error;
    fail_io("complete");
}

// Renames NAME.part to NAME. A truncated file never replaces a complete one.
void OutputFile::appear(Ending ending) {
    const bool gives_way = ending == Ending::complete && options_.replace;
    const bool done = gives_way ? ::rename(part_.c_str(), path_.c_str()) == 0 : rename_to_free_name(part_, path_);
    if (done) return;
    const int error = errno;
    if (error == EEXIST && ending == Ending::broken_off) {
        log_warning("{} is unchanged because this run was interrupted; the output is in {}", name_, part_);
        return;
    }
    close_part();
    if (error == EEXIST)
        fail(ErrorCode::io, "another program created {} in the meantime; the output is in {}", name_, part_);
    errno = error;
    fail(ErrorCode::io, "cannot complete {}: {}; the incomplete output is in {}", name_, std::strerror(error), part_);
}

}  // namespace framewire

#endif  // HWY_ONCE
