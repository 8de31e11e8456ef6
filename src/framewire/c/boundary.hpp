#pragma once

#include "framewire/core/error.hpp"
#include "framewire/framewire.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

namespace framewire::c {

/// Keeps the message of the current exception for fw_last_error(), and returns its status.
fw_status keep_error() noexcept;

/// Throws Error{usage} with `problem`, after the name of the function that the caller called.
[[noreturn]] void refuse(const std::string& problem);

/// One call of a function of the interface. Remembers its name for refuse(), and gives the caller's thread its current
/// GPU back at the end.
class Call {
public:
    explicit Call(const char* function) noexcept;
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
};

/// Remembers the current GPU of the caller's thread until the end of the call. To be called before a GPU is used, which
/// becomes the current one.
void keep_current_gpu() noexcept;

/// Body of every function that can fail: calls `body`, which may return a status, and turns exceptions into a status.
template <class Body>
fw_status guard(const char* function, Body&& body) noexcept {
    const Call call(function);
    try {
        if constexpr (std::is_same_v<decltype(body()), fw_status>) return body();
        body();
        return FW_OK;
    } catch (...) {
        return keep_error();
    }
}

/// Returns what a pointer argument points to. Throws Error{usage} if it is null.
template <class T>
T& at(T* pointer, const char* what) {
    if (!pointer) refuse(std::string(what) + " is NULL");
    return *pointer;
}

/// Body of every function that makes a handle: stores what make() returns, a std::unique_ptr, or null.
template <class Handle, class Make>
fw_status create(const char* function, Handle** handle, const char* what, Make&& make) noexcept {
    return guard(function, [&] {
        at(handle, what) = nullptr;
        *handle = make().release();
    });
}

/// Body of every function that destroys a handle.
template <class Handle>
void destroy(const char* function, Handle* handle) noexcept {
    const Call call(function);
    if (handle && handle->uses_gpu()) keep_current_gpu();
    delete handle;
}

/// Returns a copy of a struct that the caller passed, in which members that its version lacks are 0. `first_bytes` is
/// the size of the first version of the struct. Throws Error{usage} if its size is not allowed, or if it has members
/// that this version lacks and that are not 0.
template <class T>
T take(const T& given, const char* what, std::size_t first_bytes = sizeof(T)) {
    constexpr std::size_t most_bytes = 4096;  // a larger size was never set
    if (given.size < first_bytes || given.size > most_bytes)
        refuse(std::string(what) + ".size is " + std::to_string(given.size) + "; it must be sizeof(*" + what + "), " +
               std::to_string(sizeof(T)) + " in this version");
    const auto* const bytes = reinterpret_cast<const unsigned char*>(&given);
    if (given.size > sizeof(T) && std::any_of(bytes + sizeof(T), bytes + given.size, [](auto byte) { return byte; }))
        refuse(std::string(what) + " has members that version " FRAMEWIRE_VERSION " of the library lacks");
    T taken{};
    std::memcpy(&taken, &given, std::min(given.size, sizeof(T)));
    return taken;
}

/// The same for a struct that may be null, which stands for one with all members 0.
template <class T>
T take_optional(const T* given, const char* what) {
    return given ? take(*given, what) : T{};
}

/// Stores `value` in a struct of the caller, as far as its version has the members.
template <class T>
void put(T& to, T value, const char* what) {
    value.size = take(to, what).size;
    std::memcpy(&to, &value, std::min(value.size, sizeof(T)));
}

/// Returns `text`, or an empty text for null.
inline std::string text_or_empty(const char* text) { return text ? text : ""; }

/// Throws Error{usage} unless `value` is from `least` to `most`. `what` and `member` name it: "image" and "->width".
template <class Number>
void check_range(Number value, Number least, Number most, const char* what, const char* member = "") {
    if (!(value >= least && value <= most))
        refuse(std::string(what) + member + " is " + std::to_string(value) + "; allowed: " + std::to_string(least) +
               " to " + std::to_string(most));
}

}  // namespace framewire::c
