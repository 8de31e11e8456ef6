#pragma once

#include "framewire/pipeline/source.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire {

/// "30", "29.97" or "30000/1001" as a frame rate; empty unless within 1/1000 to 1000 frames a second.
std::optional<Rational> parse_rate(std::string_view text);

/// The rate a medium claims, in lowest terms; nothing outside of 0.001 to 1000 frames a second. Terms above 10^9, which
/// no sink takes, make it a rate in thousandths.
std::optional<Rational> claimed_rate(std::int64_t numerator, std::int64_t denominator);

/// The `key=value:key=value` part of a source's text (`synth:...`, `raw:...`, `v4l2:...`).
/// Every reader throws Error{usage} on a value it does not allow, naming source, key and what is allowed.
class Parameters {
public:
    /// Reads `text`, all of which is parameters. Throws Error{usage} on a key not in `keys`, or given twice.
    Parameters(std::string source, std::string_view text, std::initializer_list<std::string_view> keys);

    /// Splits `text` into what comes first, which may hold colons (a path), and parameters with a key in `keys`.
    static std::pair<std::string, Parameters> after_path(std::string source, std::string_view text,
                                                         std::initializer_list<std::string_view> keys);

    /// Null when not given.
    const std::string* text(std::string_view key) const;
    std::int64_t integer(std::string_view key, std::int64_t otherwise, std::int64_t minimum,
                         std::int64_t maximum) const;
    /// A decimal fraction in thousandths.
    std::int64_t thousandths(std::string_view key, std::int64_t otherwise, std::int64_t maximum) const;
    Rational rate(std::string_view key, Rational otherwise) const;
    /// "1280x720": width and height, each 1 to 16384.
    std::optional<std::pair<int, int>> size(std::string_view key) const;
    std::string choice(std::string_view key, std::string_view otherwise,
                       std::initializer_list<std::string_view> choices) const;

private:
    std::string source_;
    std::vector<std::pair<std::string, std::string>> values_;
};

}  // namespace framewire
