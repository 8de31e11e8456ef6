#include "e2e/program.hpp"
#include "e2e/places.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

namespace framewire::e2e {
namespace {

using Time = std::chrono::steady_clock;
constexpr std::chrono::milliseconds pause{5}, longer_pause{20};  // pauses between two polls

// Redirects `descriptor` to a file in the child process, which exits on failure.
void redirect(int descriptor, const char* path, int flags) {
    const int file = open(path, flags, 0600);
    if (file < 0 || dup2(file, descriptor) < 0) _exit(127);
    close(file);
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
    auto name = (std::filesystem::temp_directory_path() / "framewire-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("cannot create a temporary folder");
    path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryFolder::names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    return all;
}

Program::Program(std::vector<std::string> arguments, const std::string& input, bool closed_output) {
    const auto out = folder_ / "out", err = folder_ / "err";
    std::vector<char*> raw;
    for (auto& argument : arguments) raw.push_back(argument.data());
    raw.push_back(nullptr);
    int unread[2] = {-1, -1};
    if (closed_output && pipe(unread) != 0) throw std::runtime_error("no pipe");
    process_ = fork();
    if (process_ < 0) throw std::runtime_error("no process");
    if (process_ == 0) {
        redirect(STDIN_FILENO, input.c_str(), O_RDONLY);
        redirect(STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
        redirect(STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
        if (closed_output) {
            close(unread[0]);
            dup2(unread[1], STDOUT_FILENO);
            close(unread[1]);
        }
        std::signal(SIGHUP, SIG_DFL);  // if nohup started the tests, the program would otherwise keep SIGHUP ignored
        execvp(raw[0], raw.data());
        _exit(127);
    }
    for (const int end : unread)
        if (end >= 0) close(end);
}

Program::~Program() {
    if (ended()) return;
    kill(process_, SIGKILL);
    waitpid(process_, &status_, 0);
}

void Program::signal(int number) const { kill(process_, number); }

std::string Program::err() const {
    std::ifstream file(folder_ / "err", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

bool Program::ended() {
    if (!ended_) ended_ = waitpid(process_, &status_, WNOHANG) == process_;
    return ended_;
}

bool Program::wait_for_err(std::string_view text, std::chrono::seconds deadline) {
    const auto end = Time::now() + deadline;
    while (err().find(text) == std::string::npos) {
        if (ended() || Time::now() > end) return err().find(text) != std::string::npos;
        std::this_thread::sleep_for(pause);
    }
    return true;
}

int Program::frames_reported() const {
    static constexpr std::string_view key = "\"frame\":";
    const auto words = err();
    const auto at = words.rfind(key);
    return at == words.npos ? 0 : std::atoi(words.c_str() + at + key.size());
}

bool Program::wait_for_frames(int frames) {
    const auto end = Time::now() + std::chrono::minutes(3);
    while (frames_reported() < frames) {
        if (ended() || Time::now() > end) return frames_reported() >= frames;
        std::this_thread::sleep_for(pause);
    }
    return true;
}

Result Program::wait(std::chrono::seconds deadline) {
    const auto end = Time::now() + deadline;
    while (!ended()) {
        if (Time::now() > end) {
            ADD_FAILURE() << "the program did not end within " << deadline.count() << " s; it wrote:\n" << err();
            kill(process_, SIGKILL);
            waitpid(process_, &status_, 0);
            ended_ = true;
            break;
        }
        std::this_thread::sleep_for(pause);
    }
    Result result;
    result.code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
    result.out = contents(folder_ / "out");
    result.err = err();
    return result;
}

std::vector<std::string> framewire(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), program_path);
    return arguments;
}

Result run_framewire(std::vector<std::string> arguments, const std::string& input) {
    return Program(framewire(std::move(arguments)), input).wait();
}

bool becomes_true(const std::function<bool()>& condition) {
    for (const auto end = Time::now() + std::chrono::minutes(3); Time::now() < end;
         std::this_thread::sleep_for(longer_pause))
        if (condition()) return true;
    return false;
}

std::string contents(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << "cannot read " << path;
    return {std::istreambuf_iterator<char>(file), {}};
}

int frames_in(const std::string& path) {
    const auto probed = Program({"ffprobe", "-v", "error", "-select_streams", "v:0", "-count_frames", "-show_entries",
                                 "stream=nb_read_frames", "-of", "csv=p=0", path})
                            .wait();
    return probed.code == 0 && !probed.out.empty() ? std::atoi(probed.out.c_str()) : -1;
}

}  // namespace framewire::e2e
