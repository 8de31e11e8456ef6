#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace framewire::bench {

/// A folder in memory for what whole jobs read and write; it goes with this object. FRAMEWIRE_BENCH_FOLDER says where
/// else it is made. Throws Error{io}.
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

/// The program framewire beside this one, or where the build has it. Throws Error{no_input}.
std::string framewire_program();

/// Whether a shell would find a program of that name.
bool there_is_program(const std::string& name);

/// What a run of a program took.
struct ProgramUse {
    double seconds = 0;
    double cpu_seconds = 0;  ///< of all its threads, for itself and in the kernel
};

/// Runs a program, found as a shell finds it, to its end; its standard output goes to the file `output`. Throws
/// Error{config} where there is none of that name, Error{internal} naming the command where it fails.
ProgramUse run_program(const std::vector<std::string>& arguments, const std::string& output = "/dev/null");

}  // namespace framewire::bench
