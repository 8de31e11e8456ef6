// What ends a call that failed: there is nobody in this module to catch it, so whoever called from outside is told.

#include "framewire/core/error.hpp"

#include <cstddef>
#include <cstdlib>
#include <string>
#include <typeinfo>

extern "C" {

/// Throws in the language outside. What the module holds then nobody knows; it is not to be called again.
[[noreturn]] __attribute__((import_module("framewire"), import_name("failed"))) void framewire_failed(
    const char* text, std::size_t bytes);

void* __cxa_allocate_exception(std::size_t bytes) noexcept {
    void* const room = std::malloc(bytes);
    if (!room) __builtin_trap();
    return room;
}

[[noreturn]] void __cxa_throw(void* thrown, std::type_info* type, void (*)(void*)) {
    if (*type != typeid(framewire::Error)) __builtin_trap();
    const auto& error = *static_cast<const framewire::Error*>(thrown);
    framewire_failed(error.what(), std::char_traits<char>::length(error.what()));
}
}
