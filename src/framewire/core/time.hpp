#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace framewire {

/// The monotonic clock of every measured time.
using Clock = std::chrono::steady_clock;

/// Returns the milliseconds from `begin` to `end`, with their fraction.
inline double milliseconds(Clock::time_point begin, Clock::time_point end) {
    return std::chrono::duration<double, std::milli>(end - begin).count();
}

/// Returns the milliseconds from `begin` until now, with their fraction.
inline double milliseconds_since(Clock::time_point begin) { return milliseconds(begin, Clock::now()); }

/// Returns the clock's reading in whole microseconds, 0 if it is negative. On Linux the clock starts when the machine
/// boots.
inline std::uint64_t microseconds_since_start(Clock::time_point time) {
    const auto since = std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
    return since > 0 ? static_cast<std::uint64_t>(since) : 0;
}

/// A ratio of two whole numbers, such as the frame rate 30000/1001.
struct Rational {
    std::int64_t numerator = 0;
    std::int64_t denominator = 1;
    /// Returns the quotient. The denominator must not be 0.
    double value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
};

/// Parses "30", "29.97" or "30000/1001" as a frame rate. Returns nothing unless it is from 0.001 to 1000 frames per
/// second.
std::optional<Rational> parse_rate(std::string_view text);

/// Returns the frame rate that a file or stream claims, in lowest terms, or nothing if it is outside of 0.001 to 1000
/// frames per second. Rates with terms above 10^9, which no sink accepts, are rounded to thousandths.
std::optional<Rational> claimed_rate(std::int64_t numerator, std::int64_t denominator);

/// The values that parse_rate() accepts, as a phrase for messages.
inline constexpr std::string_view allowed_rates = "0.001 to 1000 frames per second, such as 30, 29.97 or 30000/1001";

/// Position of a frame in its source, and the time at which it was captured.
struct FrameTime {
    std::int64_t index = 0;        ///< 0-based number in the source; dropped frames leave gaps
    double seconds = 0;            ///< presentation time in seconds from the start of the source
    Clock::time_point captured{};  ///< time at which this machine received it
    double duration_seconds = 0;   ///< display duration if the file has it, else 0
};

/// Parses "90", "1.5", "1:30" or "1:02:03.5" as seconds. Returns nothing unless the time is from 0 to 10^9 seconds and
/// every part after a colon is below 60.
std::optional<double> parse_seconds(std::string_view text);

/// The values that parse_seconds() accepts, as a phrase for messages.
inline constexpr std::string_view allowed_seconds =
    "seconds, such as 90 or 1.5, or [HOURS:]MINUTES:SECONDS, such as 1:02:03.5";

/// Formats seconds for people, to the hundredth: "0:12.34", "1:02:03.50". Clamped to 0 to 10^9 seconds.
std::string to_clock_text(double seconds);

/// Pauses between attempts to reopen a source that is shown to viewers. They double from the first to the longest, so a
/// short interruption costs little time.
inline constexpr std::chrono::milliseconds first_retry_pause{100},  ///< pause before the second attempt
    longest_retry_pause{10'000};                                    ///< longest pause

}  // namespace framewire
