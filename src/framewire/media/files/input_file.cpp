#include "framewire/media/files/input_file.hpp"

#include "framewire/core/error.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
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

}  // namespace framewire
