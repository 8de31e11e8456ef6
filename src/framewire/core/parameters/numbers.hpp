#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace framewire {

/// Reads the number at the start of `text` and removes it from `text`. Independent of the locale. Accepts digits, with
/// a leading '-' if the type is signed; for a real also a point, an exponent, "inf" and "nan". `base` applies to whole
/// numbers. On failure `text` and `number` are unchanged: std::errc::invalid_argument means that there is no number,
/// std::errc::result_out_of_range that the type cannot hold it.
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

/// Like take_number(), but all of `text` must be the number: std::errc::invalid_argument if anything follows it.
template <class Number>
std::errc read_number(std::string_view text, Number& number, int base = 10) {
    Number read{};
    const auto status = take_number(text, read, base);
    if (status != std::errc{}) return status;
    if (!text.empty()) return std::errc::invalid_argument;
    number = read;
    return {};
}

/// Returns the number that all of `text` is, or nothing if it is not a number or does not fit the type.
template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
    Number number{};
    return read_number(text, number, base) == std::errc{} ? std::optional(number) : std::nullopt;
}

}  // namespace framewire
