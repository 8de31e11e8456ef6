#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace framewire {

/// Reads the number at the beginning of `text`, in any locale, and takes it off: digits, a '-' before them where the
/// type has negative numbers; of a real also a point, an exponent, "inf" and "nan". Where there is none
/// (std::errc::invalid_argument) and where the type cannot hold it (std::errc::result_out_of_range) both stay as they
/// were. `base` is of whole numbers.
template <class Number>
std::errc take_number(std::string_view& text, Number& number, int base = 10) {
    const auto* const end = text.data() + text.size();
    std::from_chars_result read;
    if constexpr (std::is_floating_point_v<Number>)
        read = std::from_chars(text.data(), end, number);
    else
        read = std::from_chars(text.data(), end, number, base);
    if (read.ec == std::errc{}) text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    return read.ec;
}

/// The same of a number that all of `text` is: std::errc::invalid_argument where anything is behind it.
template <class Number>
std::errc read_number(std::string_view text, Number& number, int base = 10) {
    Number read{};
    const auto status = take_number(text, read, base);
    if (status != std::errc{}) return status;
    if (!text.empty()) return std::errc::invalid_argument;
    number = read;
    return {};
}

/// The number that all of `text` is, nothing where it is none or none that the type holds.
template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
    Number number{};
    return read_number(text, number, base) == std::errc{} ? std::optional(number) : std::nullopt;
}

}  // namespace framewire
