// Error handling without exceptions: a failed call throws in JavaScript, because nothing in this module can catch it.

#include "framewire/core/error.hpp"

#include <cstddef>
#include <cstdlib>
#include <string>
#include <typeinfo>

extern "C" {

/// Throws a StreamError in JavaScript. The module's state is undefined afterwards, and it must not be called again.
[[noreturn]] __attribute__((import_module("framewire"), import_name("failed"))) void framewire_failed(
    const char* text, std::size_t bytes);

// Allocates memory for the exception object; traps if there is none.
void* __cxa_allocate_exception(std::size_t bytes) noexcept {
    void* const room = std::malloc(bytes);
    if (!room) __builtin_trap();
    return room;
}

// Reports framewire's own errors as text and traps on all others.
[[noreturn]] void __cxa_throw(void* thrown, std::type_info* type, void (*)(void*)) {
    if (*type != typeid(framewire::Error)) __builtin_trap();
    const auto& error = *static_cast<const framewire::Error*>(thrown);
    framewire_failed(error.what(), std::char_traits<char>::length(error.what()));
}
}
