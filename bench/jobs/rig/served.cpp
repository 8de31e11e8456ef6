#include "jobs/rig/served.hpp"

#include "framewire/core/error.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>

namespace framewire::bench {
namespace served {

constexpr int longest_silence_ms = 60'000;

double seconds_used(pid_t process) {
    clockid_t clock{};
    timespec used{};
    if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &used) != 0)
        fail(ErrorCode::internal, "the server is no longer running");
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

// Reads a camera's counters. `sent_bytes` is missing before its first frame.
Served::CameraMark mark_of(const nlohmann::json& camera) {
    return {.frames = camera.at("frame"), .sent_bytes = camera.value("sent_bytes", std::int64_t{0})};
}

}  // namespace served

Served::Served(const MemoryFolder& folder, const std::vector<std::string>& arguments) : stats_(folder / "served.json") {
    std::filesystem::remove(stats_);  // a file from an earlier server
    std::vector<std::string> words{framewire_program(), "serve", "--listen",  "127.0.0.1:0", "--progress", "json",
                                   "--stats",           stats_,  "--viewers", "10000"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> raw;
    for (auto& word : words) raw.push_back(word.data());
    raw.push_back(nullptr);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail(ErrorCode::io, "no pipe: {}", std::strerror(errno));
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    const int error = ::posix_spawn(&process_, raw.front(), &actions, nullptr, raw.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    words_ = ends[0];
    if (error != 0) {
        ::close(words_);
        fail(ErrorCode::internal, "cannot run {}: {}", words.front(), std::strerror(error));
    }
    constexpr std::string_view before = " at tcp://";
    try {
        while (server_.empty()) {
            const auto line = next_line();
            const auto at = line.find(before);
            if (at == line.npos) continue;
            server_ = line.substr(at + before.size());
            server_.resize(server_.rfind('/'));
        }
    } catch (...) {
        end();
        throw;
    }
}

Served::~Served() { end(); }

void Served::end() {
    if (process_ > 0) {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
        process_ = -1;
    }
    if (words_ >= 0) ::close(words_);
    words_ = -1;
}

std::string Served::address(const std::string& stream, const std::string& scheme) const {
    return fmt::format("{}://{}/{}", scheme, server_, stream);
}

// Throws with the last line of the log if the server ends.
std::string Served::next_line() {
    for (;;) {
        if (const auto end = line_.find('\n'); end != line_.npos) {
            auto line = line_.substr(0, end);
            line_.erase(0, end + 1);
            if (!line.starts_with('{')) said_ = line;
            return line;
        }
        pollfd waiting{words_, POLLIN, 0};
        if (::poll(&waiting, 1, served::longest_silence_ms) == 0)
            fail(ErrorCode::internal, "the server has printed nothing for a minute; its last line: {}", said_);
        char piece[4096];
        const auto count = ::read(words_, piece, sizeof piece);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) fail(ErrorCode::internal, "the server exited; its last line: {}", said_);
        line_.append(piece, static_cast<std::size_t>(count));
    }
}

Served::Mark Served::next_mark() {
    auto line = next_line();
    while (!line.starts_with('{')) line = next_line();
    Mark mark{Clock::now(), served::seconds_used(process_), {}};
    const auto progress = nlohmann::json::parse(line);
    if (!progress.contains("cameras"))
        mark.cameras["main"] = served::mark_of(progress);
    else
        for (const auto& [name, camera] : progress.at("cameras").items()) mark.cameras[name] = served::mark_of(camera);
    return mark;
}

std::string Served::status(const std::string& name) const {
    std::ifstream file(fmt::format("/proc/{}/status", process_));
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(name + ":")) return line.substr(name.size() + 1);
    fail(ErrorCode::internal, "the server is no longer running; its last line: {}", said_);
}

double Served::memory_mib() const { return std::stod(status("VmRSS")) / 1024; }
int Served::threads() const { return std::stoi(status("Threads")); }

nlohmann::json Served::stop() {
    ::kill(process_, SIGINT);
    return figures();
}

nlohmann::json Served::wait() { return figures(); }

// Reads the server's output to the end, so that the server never blocks on it.
nlohmann::json Served::figures() {
    char piece[4096];
    for (;;) {
        const auto count = ::read(words_, piece, sizeof piece);
        if (count == 0 || (count < 0 && errno != EINTR)) break;
        if (count > 0) line_.append(piece, static_cast<std::size_t>(count));
    }
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    constexpr int interrupted = 128 + SIGINT;
    if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != interrupted))
        fail(ErrorCode::internal, "the server failed; its last output: {}", line_.empty() ? said_ : line_);
    return nlohmann::json::parse(std::ifstream(stats_));
}

int largest_error(const nlohmann::json& figures) {
    if (!figures.contains("cameras")) return figures.at("max_error");
    int largest = 0;
    for (const auto& [name, camera] : figures.at("cameras").items())
        largest = std::max(largest, camera.at("max_error").get<int>());
    return largest;
}

}  // namespace framewire::bench
