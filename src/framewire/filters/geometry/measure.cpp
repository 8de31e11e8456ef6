#include "framewire/filters/geometry/measure.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/numbers.hpp"

#include <cmath>
#include <string>

namespace framewire {
namespace {

// Enough for any sensible measure, and little enough for any stack.
constexpr int most_nested = 32;

// Recursive-descent parser: sum = product {(+|-) product}; product = factor {(*|/) factor}; factor = [-] (NUMBER[%] |
// NAME | '(' sum ')').
class MeasureReader {
public:
    // `what` names the parameter in messages.
    MeasureReader(std::string_view text, std::string_view what, int whole, const MeasureNames& names)
        : text_(text), rest_(text), what_(what), whole_(whole), names_(names) {}

    // Evaluates the whole text.
    double read() {
        const double value = sum();
        if (!rest_.empty()) fail_here("is no operator");
        return value;
    }

private:
    // sum = product {(+|-) product}
    double sum() {
        double value = product();
        for (;;) {
            if (take('+'))
                value += product();
            else if (take('-'))
                value -= product();
            else
                return value;
        }
    }

    // product = factor {(*|/) factor}; a division by 0 becomes infinite or NaN, which measure() rejects.
    double product() {
        double value = factor();
        for (;;) {
            if (take('*'))
                value *= factor();
            else if (take('/'))
                value /= factor();
            else
                return value;
        }
    }

    // factor = [-] (NUMBER[%] | NAME | '(' sum ')'). The only recursion, so the depth is limited here.
    double factor() {
        if (++nested_ > most_nested) fail_here("lies too deep");
        double value;
        if (take('-')) {
            value = -factor();
        } else if (take('(')) {
            value = sum();
            if (!take(')')) fail_here("stands where ')' is missing");
        } else {
            value = number_or_name();
        }
        --nested_;
        return value;
    }

    // NUMBER[%] or NAME. Percentages refer to `whole`.
    double number_or_name() {
        skip_spaces();
        const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
        if (!rest_.empty() && is_digit(rest_[0])) {
            double number = 0;
            const auto before = rest_;
            if (take_number(rest_, number) != std::errc{} || !std::isfinite(number)) {
                rest_ = before;
                fail_here("is no number");
            }
            return take('%') ? number / 100 * whole_ : number;
        }
        const auto end = std::min(rest_.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), rest_.size());
        const auto value = value_of(rest_.substr(0, end));
        if (!value) fail_here("is no number and no name that is known here");
        rest_.remove_prefix(end);
        return *value;
    }

    // Pixels that a name stands for; nothing if the name is unknown or has no value here.
    std::optional<double> value_of(std::string_view name) const {
        if (name == "iw" || name == "in_w") return names_.in_width;
        if (name == "ih" || name == "in_h") return names_.in_height;
        if (name == "ow" || name == "out_w") return names_.out_width;
        if (name == "oh" || name == "out_h") return names_.out_height;
        return {};
    }

    void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }
    // Removes `c` and the spaces around it, if the text continues with it.
    bool take(char c) {
        skip_spaces();
        if (rest_.empty() || rest_[0] != c) return false;
        rest_.remove_prefix(1);
        skip_spaces();
        return true;
    }

    // Fails with the rest of the text as the position of the problem.
    [[noreturn]] void fail_here(std::string_view problem) const {
        const auto where = rest_.empty() ? std::string("its end") : fmt::format("'{}'", rest_);
        const bool sizes = names_.out_width || names_.out_height;
        fail(ErrorCode::usage,
             "{} '{}': {} {}; allowed are pixels (320), parts (50%) and sums like iw/2 with + - * / ( ) and the names "
             "iw, ih{}",
             what_, text_, where, problem, sizes ? ", ow, oh" : "");
    }

    std::string_view text_, rest_, what_;
    int whole_;
    const MeasureNames& names_;
    int nested_ = 0;
};

}  // namespace

int measure(std::string_view text, std::string_view what, int whole, const MeasureNames& names) {
    const double value = MeasureReader(text, what, whole, names).read();
    constexpr double most = 1e9;
    if (!(std::abs(value) <= most))
        fail(ErrorCode::usage, "{} '{}' comes to {}, which is no length", what, text, value);
    // A value that is an integer except for a double's rounding (29% of 100) counts as that integer.
    constexpr double rounding = 1e-6;
    return static_cast<int>(value < 0 ? value - rounding : value + rounding);
}

}  // namespace framewire
