#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace framewire::e2e {

/// Folder below the system's temporary one, removed with the object.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::string operator/(const std::string& name) const { return path_ / name; }
    /// Returns the names of all entries of the folder, sorted.
    std::vector<std::string> names() const;

private:
    std::filesystem::path path_;
};

/// Result of a program that has ended.
struct Result {
    int code = -1;  ///< exit code; 128+n if signal n killed the program
    std::string out, err;
};

/// Running program, killed with the object if it has not ended by then.
class Program {
public:
    /// Starts arguments[0] with standard input from the path `input`. If `closed_output` is true, nobody reads its
    /// standard output.
    explicit Program(std::vector<std::string> arguments, const std::string& input = "/dev/null",
                     bool closed_output = false);
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    pid_t id() const { return process_; }
    void signal(int number) const;
    /// Returns what the program has written to standard error so far.
    std::string err() const;
    /// Waits until standard error holds `text`; returns false if the program ends or `deadline` passes first.
    bool wait_for_err(std::string_view text, std::chrono::seconds deadline = std::chrono::seconds(180));
    /// Returns the number of frames that the program's --progress json last reported; 0 before the first report.
    int frames_reported() const;
    /// Waits until the program has reported this many frames; returns false if it ends or three minutes pass first.
    bool wait_for_frames(int frames);
    /// Waits for the program to end; kills it after `deadline` and reports a test failure.
    Result wait(std::chrono::seconds deadline = std::chrono::seconds(300));

private:
    bool ended();

    TemporaryFolder folder_;
    pid_t process_ = -1;
    int status_ = 0;
    bool ended_ = false;
};

/// Returns the command line that runs framewire with these arguments.
std::vector<std::string> framewire(std::vector<std::string> arguments);
/// Runs framewire with these arguments until it ends.
Result run_framewire(std::vector<std::string> arguments, const std::string& input = "/dev/null");

/// Polls a condition until it holds; returns false after three minutes.
bool becomes_true(const std::function<bool()>& condition);

/// Returns the bytes of a file; fails the test if it cannot be read.
std::string contents(const std::filesystem::path& path);
/// Returns the number of frames that ffprobe decodes from a file; -1 if it finds no video.
int frames_in(const std::string& path);

}  // namespace framewire::e2e
