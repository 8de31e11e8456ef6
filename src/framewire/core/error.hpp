#pragma once

#ifndef __CUDACC__  // nvcc cannot read fmt 9 as C++20; kernels have no messages to format
#include <fmt/core.h>
#endif

#include <stdexcept>
#include <string>

namespace framewire {

/// What went wrong, as the exit code the program ends with (sysexits.h where it has one).
enum class ErrorCode : int {
    usage = 2,         ///< the command line or an argument of a call
    no_input = 66,     ///< the source does not exist or is no video
    source_lost = 69,  ///< the source ended before its end: truncated, broken, disconnected
    internal = 70,     ///< a bug of framewire
    io = 74,           ///< writing failed
    config = 78,       ///< what was asked cannot be done here: no GPU, no such camera control, ...
};

/// The one exception type: a code and a text that says what, where and what is allowed.
class Error : public std::runtime_error {
public:
    Error(ErrorCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
    ErrorCode code() const noexcept { return code_; }

private:
    ErrorCode code_;
};

/// Throws an Error.
[[noreturn]] inline void fail(ErrorCode code, const char* text) { throw Error(code, text); }

#ifndef __CUDACC__
/// Throws an Error whose text is formatted as by fmt::vformat.
[[noreturn]] void fail_formatted(ErrorCode code, fmt::string_view text, fmt::format_args values);

/// Throws an Error whose text is formatted as by fmt::format.
template <class First, class... Rest>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest) {
    fail_formatted(code, text, fmt::make_format_args(first, rest...));
}
#endif

}  // namespace framewire
