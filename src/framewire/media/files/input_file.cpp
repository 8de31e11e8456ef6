// Two ways to read. Regular files are read with pread() in parallel chunks, at positions that do not affect each
// other. Pipes and standard input are polled, so that a stop request ends the wait within stop_poll_ms.

#include "framewire/media/files/input_file.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/files/stop_poll.hpp"
#include "framewire/media/threads.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

namespace framewire {
namespace {

// Chunk size of parallel reads. One thread copies more slowly from the page cache than memory allows and a GPU
// accepts; larger chunks leave threads idle.
constexpr std::int64_t piece_bytes = 128 << 10;

// Result of a read.
struct Got {
    std::int64_t bytes = 0;
    int error = 0;  // errno if an error ended the read; 0 at the end of file
};

// Reads at a position until `bytes` have arrived, the file ends or an error occurs.
Got read_from(int descriptor, std::int64_t position_bytes, unsigned char* data, std::int64_t bytes) {
    std::int64_t there = 0;
    while (there < bytes) {
        const auto got =
            ::pread(descriptor, data + there, static_cast<std::size_t>(bytes - there), position_bytes + there);
        if (got > 0)
            there += got;
        else if (got == 0 || errno != EINTR)
            return {there, got == 0 ? 0 : errno};
    }
    return {there, 0};
}

}  // namespace

InputFile::InputFile(const std::string& path, std::stop_token stop)
    : name_(path == "-" ? "standard input" : path), stop_(std::move(stop)) {
    // With O_NONBLOCK, opening a named pipe does not wait for a writer; reads wait in poll().
    descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) fail(ErrorCode::no_input, "cannot open {}: {}", name_, std::strerror(errno));
    struct stat status {};
    if (::fstat(descriptor_, &status) == 0) {
        if (S_ISREG(status.st_mode)) length_bytes_ = status.st_size;
        has_places_ = S_ISREG(status.st_mode) && descriptor_ != STDIN_FILENO;
        if (S_ISDIR(status.st_mode)) {
            if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
            fail(ErrorCode::no_input, "{} is a directory; a file is needed", name_);
        }
    }
}

InputFile::~InputFile() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

// Reads chunks in parallel; returns the number of contiguous bytes from the start.
std::size_t InputFile::fill_from_file(unsigned char* data, std::size_t bytes) {
    std::atomic<std::int64_t> end_bytes = static_cast<std::int64_t>(bytes);  // end of the contiguous part
    std::atomic<int> error = 0;
    media_threads().for_chunks(
        static_cast<std::int64_t>(bytes), piece_bytes, [&](std::int64_t, std::int64_t at, std::int64_t piece_end) {
            const auto got = read_from(descriptor_, position_bytes_ + at, data + at, piece_end - at);
            // An error or the end of the file ends the contiguous part: keep the smallest end of all chunks.
            if (got.error != 0) error = got.error;
            if (at + got.bytes == piece_end) return;
            for (auto end = end_bytes.load(); at + got.bytes < end;)
                if (end_bytes.compare_exchange_weak(end, at + got.bytes)) break;
        });
    if (error != 0 && end_bytes == 0) fail(ErrorCode::source_lost, "cannot read {}: {}", name_, std::strerror(error));
    position_bytes_ += end_bytes;
    return static_cast<std::size_t>(end_bytes);
}

// Reads at least one byte unless the file ends or a stop is requested. Pipes are polled, so that a stop ends the wait.
std::size_t InputFile::fill(void* data, std::size_t bytes) {
    if (has_places_) return stopped() ? 0 : fill_from_file(static_cast<unsigned char*>(data), bytes);
    while (!stopped()) {
        pollfd waiting{descriptor_, POLLIN, 0};
        if (::poll(&waiting, 1, stop_poll_ms) == 0) continue;
        const auto got = ::read(descriptor_, data, std::min<std::size_t>(bytes, SSIZE_MAX));
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno != EINTR && errno != EAGAIN)
            fail(ErrorCode::source_lost, "cannot read {}: {}", name_, std::strerror(errno));
    }
    return 0;
}

// Large reads go past the buffer, which serves get().
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

bool InputFile::go_to(std::int64_t position_bytes) {
    if (!has_places_ || position_bytes < 0 || position_bytes > length_bytes_) return false;
    position_bytes_ = position_bytes;
    begin_ = end_ = 0;
    return true;
}

std::size_t InputFile::read_at(std::int64_t position_bytes, void* data, std::size_t bytes) const {
    const auto got =
        read_from(descriptor_, position_bytes, static_cast<unsigned char*>(data), static_cast<std::int64_t>(bytes));
    if (got.error != 0) fail(ErrorCode::source_lost, "cannot read {}: {}", name_, std::strerror(got.error));
    return static_cast<std::size_t>(got.bytes);
}

bool InputFile::skip(std::int64_t bytes) {
    const auto behind_bytes = position_bytes() + bytes;
    struct stat status {};
    if (!has_places_ || ::fstat(descriptor_, &status) != 0 || status.st_size < behind_bytes) return false;
    position_bytes_ = behind_bytes;
    begin_ = end_ = 0;
    return true;
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
