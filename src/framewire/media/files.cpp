#include "framewire/media/files.hpp"

#include "framewire/core/clock.hpp"
#include "framewire/core/error.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <utility>

namespace framewire {
namespace {

constexpr int poll_ms = 100;  // how often a wait looks whether it shall stop

}  // namespace

InputFile::InputFile(const std::string& path, std::stop_token stop)
    : name_(path == "-" ? "standard input" : path), stop_(std::move(stop)) {
    // O_NONBLOCK: opening a named pipe does not wait for its writer; reads wait in poll().
    descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) fail(ErrorCode::no_input, "cannot open {}: {}", name_, std::strerror(errno));
    struct stat status {};
    if (::fstat(descriptor_, &status) == 0) {
        if (S_ISREG(status.st_mode)) length_bytes_ = status.st_size;
        if (S_ISDIR(status.st_mode)) {
            if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
            fail(ErrorCode::no_input, "{} is a directory; a file is needed", name_);
        }
    }
}

InputFile::~InputFile() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

std::size_t InputFile::fill(void* data, std::size_t bytes) {
    while (!stopped()) {
        pollfd waiting{descriptor_, POLLIN, 0};
        if (::poll(&waiting, 1, poll_ms) == 0) continue;
        const auto got = ::read(descriptor_, data, std::min<std::size_t>(bytes, SSIZE_MAX));
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno != EINTR && errno != EAGAIN)
            fail(ErrorCode::source_lost, "cannot read {}: {}", name_, std::strerror(errno));
    }
    return 0;
}

std::size_t InputFile::read(void* data, std::size_t bytes) {
    auto* to = static_cast<unsigned char*>(data);
    std::size_t got = std::min(bytes, end_ - begin_);
    std::memcpy(to, buffer_ + begin_, got);
    begin_ += got;
    while (got < bytes) {
        const auto more = fill(to + got, bytes - got);
        if (more == 0) break;
        got += more;
    }
    return got;
}

int InputFile::get() {
    if (begin_ == end_) {
        begin_ = 0;
        end_ = fill(buffer_, sizeof buffer_);
        if (end_ == 0) return -1;
    }
    return buffer_[begin_++];
}

OutputFile::OutputFile(const std::string& path, std::stop_token stop)
    : name_(path == "-" ? "standard output" : path), path_(path), stop_(std::move(stop)) {
    struct stat status {};
    if (path == "-") {
        descriptor_ = STDOUT_FILENO;
        pipe_ = ::fstat(descriptor_, &status) == 0 && !S_ISREG(status.st_mode);
        return;
    }
    if (::stat(path.c_str(), &status) == 0) {
        if (S_ISDIR(status.st_mode)) fail(ErrorCode::io, "{} is a directory; the name of a file is needed", name_);
        if (!S_ISREG(status.st_mode)) {
            descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
            if (descriptor_ < 0) fail_io("open");
            pipe_ = true;
            return;
        }
        std::error_code ignored;
        if (const auto real = std::filesystem::canonical(path, ignored); !ignored) path_ = real.string();
    }
    // In the same folder, so that the rename cannot cross file systems.
    const auto slash = path_.rfind('/');
    const auto name_begin = slash == std::string::npos ? 0 : slash + 1;
    static std::atomic<int> counter{0};
    for (int attempt = 0; descriptor_ < 0 && attempt < 100; ++attempt) {
        temporary_ = fmt::format("{}.{}.{}-{}.part", path_.substr(0, name_begin), path_.substr(name_begin), ::getpid(),
                                 counter++);
        descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ < 0 && errno != EEXIST) break;
    }
    if (descriptor_ < 0) fail_io("create");
}

OutputFile::~OutputFile() {
    if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) ::close(descriptor_);
    if (descriptor_ >= 0 && !temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::fail_io(const char* doing) const {
    fail(ErrorCode::io, "cannot {} {}: {}", doing, name_, std::strerror(errno));
}

void OutputFile::wait_until_writable() {
    auto since = Clock::now();
    pollfd waiting{descriptor_, POLLOUT, 0};
    while (::poll(&waiting, 1, poll_ms) == 0) {
        if (!stop_.stop_requested())
            since = Clock::now();
        else if (milliseconds_since(since) > 1000)
            fail(ErrorCode::io, "stopped while nobody read {}", name_);
    }
}

void OutputFile::write(const void* data, std::size_t bytes) {
    const auto* from = static_cast<const unsigned char*>(data);
    while (bytes > 0) {
        // A pipe that is writable takes PIPE_BUF bytes without blocking, and only that many for sure.
        if (pipe_) wait_until_writable();
        const auto put = ::write(descriptor_, from, pipe_ ? std::min<std::size_t>(bytes, PIPE_BUF) : bytes);
        if (put < 0) {
            if (errno == EINTR || errno == EAGAIN) continue;
            fail_io("write");
        }
        from += put;
        bytes -= static_cast<std::size_t>(put);
        position_bytes_ += put;
        bytes_ = std::max(bytes_, position_bytes_);
    }
}

void OutputFile::seek(std::int64_t position_bytes) {
    if (::lseek(descriptor_, position_bytes, SEEK_SET) < 0) fail_io("seek in");
    position_bytes_ = position_bytes;
}

void OutputFile::finish() {
    if (descriptor_ < 0 || descriptor_ == STDOUT_FILENO) return;
    if (::close(std::exchange(descriptor_, -1)) < 0) {
        if (!temporary_.empty()) ::unlink(temporary_.c_str());
        fail_io("complete");
    }
    if (temporary_.empty()) return;
    if (::rename(temporary_.c_str(), path_.c_str()) < 0) {
        const int error = errno;
        ::unlink(temporary_.c_str());
        errno = error;
        fail_io("complete");
    }
}

}  // namespace framewire
