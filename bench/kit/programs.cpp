#include "kit/programs.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/time.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace framewire::bench {
namespace {

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

MemoryFolder::MemoryFolder() {
    const char* at = std::getenv("FRAMEWIRE_BENCH_FOLDER");
    auto pattern = std::string(at ? at : "/dev/shm") + "/framewire-jobs-XXXXXX";
    if (!::mkdtemp(pattern.data())) fail(ErrorCode::io, "cannot create a temporary folder {}", pattern);
    path_ = pattern;
}

MemoryFolder::~MemoryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::int64_t MemoryFolder::free_bytes() const {
    return static_cast<std::int64_t>(std::filesystem::space(path_).available);
}

std::string framewire_program() {
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    for (const auto& place : {here / "framewire", here.parent_path() / "framewire"})
        if (std::filesystem::is_regular_file(place)) return place;
    fail(ErrorCode::no_input, "there is no framewire program in {} or in the folder above it", here.native());
}

bool there_is_program(const std::string& name) {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (::access((folder + "/" + name).c_str(), X_OK) == 0) return true;
    return false;
}

ProgramUse run_program(const std::vector<std::string>& arguments, const std::string& output) {
    std::vector<char*> words;
    for (const auto& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const auto begin = Clock::now();
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, words.front(), &actions, nullptr, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error == ENOENT) fail(ErrorCode::config, "the program '{}' is needed, but not installed", arguments.front());
    if (error != 0) fail(ErrorCode::internal, "cannot run {}: {}", arguments.front(), std::strerror(error));
    int status = 0;
    rusage used{};
    while (::wait4(child, &status, 0, &used) < 0)
        if (errno != EINTR) fail(ErrorCode::internal, "cannot wait for {}", arguments.front());
    const double seconds = milliseconds_since(begin) / 1000;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail(ErrorCode::internal, "the command failed: {}", fmt::join(arguments, " "));
    return {seconds, seconds_of(used.ru_utime) + seconds_of(used.ru_stime)};
}

}  // namespace framewire::bench
