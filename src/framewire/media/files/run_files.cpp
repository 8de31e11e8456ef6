// Output files are compared by device and inode, because different paths, symbolic links and hard links can denote the
// same file, and writing to an input would destroy it.

#include "framewire/media/files/run_files.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/files/paths.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <optional>
#include <string_view>
#include <tuple>

namespace framewire {
namespace {

// Device and inode of a file; for a file that does not exist, those of its folder, and its name.
using Identity = std::tuple<dev_t, ino_t, std::string>;

// Identity of a file. Nullopt for what may be named several times: devices, pipes of the shell, and paths that cannot
// be files.
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
            fail(ErrorCode::usage, "{} {} is the input {} {}; it would be lost", output.option, output.path,
                 found->second->option, found->second->path);
        const auto [other, is_new] = written.emplace(*identity, &output);
        if (!is_new)
            fail(ErrorCode::usage, "{} {} and {} {} are one file; one of them would be lost", other->second->option,
                 other->second->path, output.option, output.path);
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
