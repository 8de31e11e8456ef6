#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace framewire::bench {

/// A folder in memory for the files of whole jobs, removed with this object. FRAMEWIRE_BENCH_FOLDER selects another
/// parent folder. Throws Error{io}.
class MemoryFolder {
public:
    MemoryFolder();
    ~MemoryFolder();
    MemoryFolder(const MemoryFolder&) = delete;
    MemoryFolder& operator=(const MemoryFolder&) = delete;

    std::string operator/(const std::string& name) const { return path_ / name; }
    std::int64_t free_bytes() const;

private:
    std::filesystem::path path_;
};

/// Returns the path of the program framewire beside this one, or in the build folder. Throws Error{no_input}.
std::string framewire_program();

/// Returns true if a shell would find a program of that name.
bool there_is_program(const std::string& name);

/// Resource use of one run of a program.
struct ProgramUse {
    double seconds = 0;
    double cpu_seconds = 0;  ///< CPU time of all threads, user and kernel
};

/// Runs a program, found as a shell finds it, to its end; its standard output goes to the file `output`. Throws
/// Error{config} if there is no such program, Error{internal} with the command if it fails.
ProgramUse run_program(const std::vector<std::string>& arguments, const std::string& output = "/dev/null");

}  // namespace framewire::bench
