#pragma once

#include <string>
#include <type_traits>

namespace framewire {

/// A shared library that few jobs need, loaded when one does, for good. Some bring dozens of others along: libavdevice
/// and libavfilter would take half of every start of the program, SDL a fifth.
class LateLibrary {
public:
    /// `file` is looked for as the dynamic linker does. Throws Error{config} where it cannot be loaded.
    explicit LateLibrary(const std::string& file);

    /// A function by its name and, as Function, its declaration. Throws Error{config} where there is none.
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
