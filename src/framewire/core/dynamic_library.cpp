#include "framewire/core/dynamic_library.hpp"
#include "framewire/core/error.hpp"

#include <dlfcn.h>

namespace framewire {
namespace {

// Returns the error text of the last failed dlopen() or dlsym() on this thread.
std::string loader_complaint() {
    const char* text = dlerror();
    return text ? text : "no reason given";
}

}  // namespace

DynamicLibrary::DynamicLibrary(const std::string& file) : file_(file), handle_(dlopen(file.c_str(), RTLD_LAZY)) {
    if (!handle_) fail(ErrorCode::config, "cannot load {}: {}", file, loader_complaint());
}

void* DynamicLibrary::address(const char* name) const {
    void* const found = dlsym(handle_, name);
    if (!found) fail(ErrorCode::config, "{} has no function {}: {}", file_, name, loader_complaint());
    return found;
}

}  // namespace framewire
