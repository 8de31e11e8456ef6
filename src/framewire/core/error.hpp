#pragma once

#include <stdexcept>
#include <string>

#ifndef __CUDACC__  // nvcc cannot read fmt 9 as C++20; kernels have no messages to format
#include <fmt/core.h>
#endif

namespace framewire {

/// Kinds of errors. The value is the exit code of the program, from sysexits.h if it has a fitting one.
enum class ErrorCode : int {
    usage = 2,         ///< wrong command line, or wrong argument of a call
    no_input = 66,     ///< the source does not exist or is not a video
    source_lost = 69,  ///< the source ended too early: truncated, broken or disconnected
    internal = 70,     ///< a bug in framewire
    io = 74,           ///< writing failed
    config = 78,       ///< the request cannot be met on this machine: no GPU, no such camera control, ...
};

/// The only exception type that framewire throws itself: a code and a text that names what is wrong, where, and what is
/// allowed.
class Error : public std::runtime_error {
public:
    /// `text` is the whole message: what is wrong, where, and what is allowed.
    Error(ErrorCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
    /// Returns the kind of the error, which is also the exit code of the program.
    ErrorCode code() const noexcept { return code_; }

private:
    ErrorCode code_;
};

/// Throws an Error with `text` unchanged.
[[noreturn]] inline void fail(ErrorCode code, const char* text) { throw Error(code, text); }

#ifndef __CUDACC__
/// Throws an Error whose text is formatted as fmt::vformat() does.
[[noreturn]] inline void fail_formatted(ErrorCode code, fmt::string_view text, fmt::format_args values) {
    throw Error(code, fmt::vformat(text, values));
}

/// Throws an Error whose text is formatted as fmt::format() does.
template <class First, class... Rest>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest) {
    fail_formatted(code, text, fmt::make_format_args(first, rest...));
}
#endif

}  // namespace framewire
