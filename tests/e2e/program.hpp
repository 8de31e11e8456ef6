#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace framewire::e2e {

/// A folder of its own under the system's temporary one, gone with the object.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::string operator/(const std::string& name) const { return path_ / name; }
    /// Names of all there is in it, sorted.
    std::vector<std::string> names() const;

private:
    std::filesystem::path path_;
};

/// What a program that ended left.
struct Result {
    int code = -1;  ///< exit code; 128+n when signal n killed it
    std::string out, err;
};

/// A program that runs, killed with the object when it has not ended by then.
class Program {
public:
    /// Starts arguments[0], standard input from `input` (a path). `closed_output` gives it a standard output nobody
    /// reads.
    explicit Program(std::vector<std::string> arguments, const std::string& input = "/dev/null",
                     bool closed_output = false);
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    pid_t id() const { return process_; }
    void signal(int number) const;
    /// What it has written to standard error so far.
    std::string err() const;
    /// Waits until standard error holds `text`; false when the program ended or `deadline` passed before.
    bool wait_for_err(std::string_view text, std::chrono::seconds deadline = std::chrono::seconds(180));
    /// How many frames its --progress json told of last; 0 before the first.
    int frames_told() const;
    /// Waits until it told of so many; false when it ended or three minutes passed before.
    bool wait_for_frames(int frames);
    /// Waits for its end; a program that has not ended after `deadline` is killed and reported as a failure.
    Result wait(std::chrono::seconds deadline = std::chrono::seconds(300));

private:
    bool ended();

    TemporaryFolder folder_;
    pid_t process_ = -1;
    int status_ = 0;
    bool ended_ = false;
};

/// The framewire program with these arguments, as a command line.
std::vector<std::string> framewire(std::vector<std::string> arguments);
/// Runs the framewire program to its end.
Result run_framewire(std::vector<std::string> arguments, const std::string& input = "/dev/null");

/// Looks at a condition until it holds; returns false after three minutes.
bool becomes_true(const std::function<bool()>& condition);

/// The bytes of a file; a test failure when it cannot be read.
std::string contents(const std::filesystem::path& path);
/// How many frames ffprobe decodes from a file; -1 when it finds no video.
int frames_in(const std::string& path);

}  // namespace framewire::e2e
