#include "framewire/net/access/secret_file.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace framewire::net {

namespace {

constexpr std::size_t most_secret_bytes = 64 * 1024;

// Owns a file descriptor.
class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    int number() const { return number_; }

private:
    int number_;
};

// Returns the folder that the environment variable names with `below` appended, or an empty string.
std::string folder_from(const char* variable, std::string_view below) {
    const char* folder = std::getenv(variable);
    // The XDG Base Directory Specification says to ignore relative paths:
    // https://specifications.freedesktop.org/basedir-spec
    if (!folder || folder[0] != '/') return {};
    return std::string(folder) + std::string(below);
}

void write_all(int file, std::string_view text, const std::string& path) {
    while (!text.empty()) {
        const auto written = ::write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) fail(ErrorCode::io, "{} cannot be written: {}", path, std::strerror(errno));
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(file) != 0) fail(ErrorCode::io, "{} cannot be written: {}", path, std::strerror(errno));
}

// Creates the folder and its missing parents with the mode that the XDG specification asks for, 0700. Folders that
// exist keep their mode.
void make_private_folders(const std::filesystem::path& folder) {
    std::error_code ignored;
    if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return;
    if (folder.has_relative_path()) make_private_folders(folder.parent_path());
    if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST)
        fail(ErrorCode::io, "the folder {} cannot be made: {}", folder.string(), std::strerror(errno));
}

}  // namespace

std::string read_small_file(const std::string& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.number() < 0) fail(ErrorCode::no_input, "{} cannot be read: {}", path, std::strerror(errno));
    std::string text(most_secret_bytes + 1, '\0');
    std::size_t bytes = 0;
    while (bytes < text.size()) {
        const auto got = ::read(file.number(), text.data() + bytes, text.size() - bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail(ErrorCode::no_input, "{} cannot be read: {}", path, std::strerror(errno));
        if (got == 0) break;
        bytes += static_cast<std::size_t>(got);
    }
    if (bytes > most_secret_bytes)
        fail(ErrorCode::no_input, "{} is longer than {} bytes: it is no token, key or certificate", path,
             most_secret_bytes);
    text.resize(bytes);
    return text;
}

std::string read_secret_file(const std::string& path) {
    auto text = read_small_file(path);
    struct stat about {};
    // Only regular files are checked, so that pipes and devices give no warning.
    constexpr mode_t others = S_IRGRP | S_IROTH;
    if (::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && (about.st_mode & others) != 0)
        log_warning("{} may be read by others than its owner: chmod 600 {}", path, path);
    return text;
}

std::string kept_file(const std::string& name) {
    auto folder = folder_from("XDG_STATE_HOME", "/framewire/");
    if (folder.empty()) folder = folder_from("HOME", "/.local/state/framewire/");
    if (folder.empty()) fail(ErrorCode::config, "neither XDG_STATE_HOME nor HOME names a folder to keep '{}' in", name);
    return folder + name;
}

// mkostemp(), write, fsync and link: readers see the complete file or none, also after a crash.
bool keep_secret(const std::string& path, const std::function<std::string()>& make) {
    const auto folder = std::filesystem::path(path).parent_path();
    std::error_code error;
    if (std::filesystem::exists(path, error)) return false;
    make_private_folders(folder);

    auto unfinished = path + ".XXXXXX";
    const Descriptor file(::mkostemp(unfinished.data(), O_CLOEXEC));  // mode 0600
    if (file.number() < 0) fail(ErrorCode::io, "{} cannot be written: {}", path, std::strerror(errno));
    try {
        write_all(file.number(), make(), path);
    } catch (...) {
        ::unlink(unfinished.c_str());
        throw;
    }
    // Unlike rename(), link() fails if another program has created the file meanwhile, so the first one wins.
    const bool kept = ::link(unfinished.c_str(), path.c_str()) == 0;
    const int problem = errno;
    ::unlink(unfinished.c_str());
    if (!kept && problem != EEXIST) fail(ErrorCode::io, "{} cannot be written: {}", path, std::strerror(problem));
    return kept;
}

}  // namespace framewire::net
