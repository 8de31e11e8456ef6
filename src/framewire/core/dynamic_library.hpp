#pragma once

#include <string>
#include <type_traits>

namespace framewire {

/// A dynamic library that only some jobs need, loaded when such a job starts and never unloaded. Some libraries load
/// dozens of others: if linked, libavdevice and libavfilter would make up half of the program's start-up time, and
/// SDL a fifth.
class DynamicLibrary {
public:
    /// Loads `file`, searched for as the dynamic linker does. Throws Error{config} if it cannot be loaded.
    explicit DynamicLibrary(const std::string& file);

    /// Returns the function called `name` as a pointer to the type Function, which is not checked. Throws
    /// Error{config} if the library has no such symbol.
    template <class Function>
    std::add_pointer_t<Function> function(const char* name) const {
        return reinterpret_cast<std::add_pointer_t<Function>>(address(name));
    }

private:
    void* address(const char* name) const;

    std::string file_;
    void* handle_;
};

}  // namespace framewire
