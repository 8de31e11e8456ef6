#include "framewire/media/files.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/text.hpp"
#include "framewire/media/media.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

// Reads in two ways. Regular files are read with pread() in parallel chunks, so no read moves the position of another.
// Pipes and standard input are polled, so that a stop request ends the wait within stop_poll_ms.

namespace framewire {
namespace {

// Chunk size of parallel reads. A single thread copies from the page cache more slowly than memory and a GPU can accept
// data; larger chunks leave threads idle.
constexpr std::int64_t piece_bytes = 128 << 10;

// Result of a read.
struct Got {
    std::int64_t bytes = 0;
    int error = 0;  // errno if an error ended the read; 0 at the end of file
};

// Reads from a position until `bytes` have arrived, the file ends or an error occurs.
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
            fail(ErrorCode::no_input, "{} is a directory, not a file", name_);
        }
    }
}

InputFile::~InputFile() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

// Reads chunks in parallel; returns the number of bytes that are contiguous from the start.
std::size_t InputFile::fill_from_file(unsigned char* data, std::size_t bytes) {
    std::atomic<std::int64_t> end_bytes = static_cast<std::int64_t>(bytes);  // end of the contiguous part
    std::atomic<int> error = 0;
    media_threads().for_chunks(
        static_cast<std::int64_t>(bytes), piece_bytes, [&](std::int64_t, std::int64_t at, std::int64_t piece_end) {
            const auto got = read_from(descriptor_, position_bytes_ + at, data + at, piece_end - at);
            // An error or the end of the file ends the contiguous part: keep the smallest end of any chunk.
            if (got.error != 0) error = got.error;
            if (at + got.bytes == piece_end) return;
            for (auto end = end_bytes.load(); at + got.bytes < end;)
                if (end_bytes.compare_exchange_weak(end, at + got.bytes)) break;
        });
    if (error != 0 && end_bytes == 0) fail(ErrorCode::source_lost, "cannot read {}: {}", name_, std::strerror(error));
    position_bytes_ += end_bytes;
    return static_cast<std::size_t>(end_bytes);
}

// Reads at least one byte unless the file ends or a stop is requested. Pipes are polled, so that a stop request ends
// the wait.
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

// Reads through the buffer, which serves get(); large reads bypass it.
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

int InputFile::get() {
    if (begin_ == end_) {
        begin_ = 0;
        end_ = fill(buffer_, sizeof buffer_);
        if (end_ == 0) return -1;
    }
    return buffer_[begin_++];
}

}  // namespace framewire

// Inserts secrets into URLs. The command line of a process is visible to all users, so credentials can be given as
// {file:PATH} or {env:NAME}, which are replaced when the source is opened.

namespace framewire {
namespace {

constexpr std::size_t longest_value_bytes = 4096;
constexpr std::string_view file_mark = "{file:", environment_mark = "{env:";

bool is_control(char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f; }

// Percent-encodes all characters except the unreserved ones of RFC 3986, section 2.3.
std::string percent_encoded(std::string_view text) {
    std::string encoded;
    for (const unsigned char letter : text)
        if (std::isalnum(letter) || std::string_view("-._~").find(static_cast<char>(letter)) != std::string_view::npos)
            encoded += static_cast<char>(letter);
        else
            encoded += fmt::format("%{:02X}", letter);
    return encoded;
}

// Returns the first line of a file with a secret; warns if other users may read the file.
std::string first_line(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & 077) != 0)
        log_warning("{} contains a secret, but other users can read it; restrict it with 'chmod 600'", path);
    InputFile file(path, {});
    std::string line;
    for (int letter = file.get(); letter >= 0 && letter != '\n' && line.size() <= longest_value_bytes;
         letter = file.get())
        line += static_cast<char>(letter);
    if (line.ends_with('\r')) line.pop_back();
    return line;
}

// Returns the value of an environment variable. Throws Error{no_input} if it does not exist.
std::string variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    if (!value) fail(ErrorCode::no_input, "the environment variable {} is not set", name);
    return value;
}

// Validates and encodes the value that replaces a placeholder `place` such as "{file:/run/secrets/door}".
std::string inserted(const std::string& value, std::string_view place, std::string_view text) {
    if (value.empty()) fail(ErrorCode::usage, "{} is empty", place);
    if (value.size() > longest_value_bytes)
        fail(ErrorCode::usage, "{} is longer than {} bytes", place, longest_value_bytes);
    if (std::ranges::any_of(value, is_control)) fail(ErrorCode::usage, "{} contains control characters", place);
    if (!text.starts_with("srt://")) return percent_encoded(value);
    // FFmpeg does not decode the values of SRT options, so they are inserted unencoded.
    if (value.find_first_of("&+#") != value.npos)
        fail(ErrorCode::usage, "{} contains '&', '+' or '#', which an srt:// address cannot contain", place);
    return value;
}

}  // namespace

std::string network_address(const std::string& text) {
    std::string address;
    for (std::size_t at = 0; at < text.size();) {
        const auto rest = std::string_view(text).substr(at);
        const bool is_file = rest.starts_with(file_mark);
        if (!is_file && !rest.starts_with(environment_mark)) {
            address += text[at] == ' ' ? "%20" : std::string(1, text[at]);
            ++at;
            continue;
        }
        const auto end = rest.find('}');
        if (end == rest.npos)
            fail(ErrorCode::usage, "{}: {{file:PATH}} and {{env:NAME}} must end in '}}'",
                 address_without_credentials(text));
        const auto name_begin = (is_file ? file_mark : environment_mark).size();
        const std::string name(rest.substr(name_begin, end - name_begin));
        address += inserted(is_file ? first_line(name) : variable(name), rest.substr(0, end + 1), text);
        at += end + 1;
    }
    return address;
}

std::pair<std::string, std::string> split_path(const std::string& path) {
    const auto slash = path.rfind('/');
    const auto begin = slash == std::string::npos ? 0 : slash + 1;
    return {path.substr(0, begin), path.substr(begin)};
}

bool is_standard_output(const std::string& path) { return path == "-" || path == "/dev/stdout"; }

std::string followed(std::string path) {
    constexpr int most_links = 40;  // Linux's limit
    std::error_code error;
    if (const auto real = std::filesystem::canonical(path, error); !error) return real.string();
    for (int link = 0; link < most_links; ++link) {
        const auto target = std::filesystem::read_symlink(path, error);
        if (error) break;
        path = (std::filesystem::path(path).parent_path() / target).string();
    }
    return path;
}

}  // namespace framewire

// Output files are compared by device and inode, because different paths, symbolic links and hard links can denote the
// same file, and writing to an input would destroy it.

namespace framewire {
namespace {

// Identity of a file: device, inode and an empty name. For a file that does not exist: device and inode of its folder,
// and its name.
using Identity = std::tuple<dev_t, ino_t, std::string>;

// Returns the identity of a file. Nullopt for what may be named several times: devices, pipes of the shell, and paths
// that cannot be files.
std::optional<Identity> identity_of(const RunFile& file, int standard_descriptor) {
    struct stat status {};
    if (file.path == "-") {
        if (::fstat(standard_descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return {};
        return Identity{status.st_dev, status.st_ino, {}};
    }
    if (::stat(file.path.c_str(), &status) == 0) {
        if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) return {};
        return Identity{status.st_dev, status.st_ino, {}};
    }
    const auto [folder, name] = split_path(followed(file.path));
    if (::stat(folder.empty() ? "." : folder.c_str(), &status) != 0) return {};
    return Identity{status.st_dev, status.st_ino, name};
}

}  // namespace

void require_different_files(std::span<const RunFile> inputs, std::span<const RunFile> outputs) {
    std::map<Identity, const RunFile*> read, written;
    for (const auto& input : inputs)
        if (const auto identity = identity_of(input, STDIN_FILENO)) read.emplace(*identity, &input);
    for (const auto& output : outputs) {
        const auto identity = identity_of(output, STDOUT_FILENO);
        if (!identity) continue;
        if (const auto found = read.find(*identity); found != read.end())
            fail(ErrorCode::usage, "{} {} is the input {} {}, which would be overwritten", output.option, output.path,
                 found->second->option, found->second->path);
        const auto [other, is_new] = written.emplace(*identity, &output);
        if (!is_new)
            fail(ErrorCode::usage, "{} {} and {} {} are the same file, so one would overwrite the other",
                 other->second->option, other->second->path, output.option, output.path);
    }
}

std::vector<RunFile> files_there(std::span<const RunFile> outputs) {
    std::vector<RunFile> there;
    for (const auto& output : outputs) {
        struct stat status {};
        if (!is_standard_output(output.path) && ::stat(output.path.c_str(), &status) == 0 && S_ISREG(status.st_mode))
            there.push_back(output);
    }
    return there;
}

}  // namespace framewire
