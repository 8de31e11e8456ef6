#pragma once

#include "framewire/core/error.hpp"
#include "framewire/core/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace framewire {

/// One member of an aggregate, described as a parameter.
template <class Aggregate>
struct ParameterField {
    ParameterInfo info;
    std::function<std::string(const Aggregate&)> text;             ///< returns the member as text
    std::function<void(Aggregate&, const std::string& text)> set;  ///< sets the member from text that was validated
};

/// True for std::optional types.
template <class Member>
inline constexpr bool is_optional = false;
template <class Value>
inline constexpr bool is_optional<std::optional<Value>> = true;

/// Parses a number whose text was validated. A number that a double holds but that is too small for a float becomes 0.
template <class Number>
std::optional<Number> checked_number(std::string_view text) {
    auto number = number_in<Number>(text);
    if constexpr (std::same_as<Number, float>)
        if (!number) number = number_in<double>(text);
    return number;
}

/// Sets the parameter's type. For floats it also narrows the range to finite floats.
template <class Number>
void set_type(ParameterInfo& info) {
    info.type = std::is_floating_point_v<Number> ? ParameterInfo::Type::real : ParameterInfo::Type::integer;
    if constexpr (std::same_as<Number, float>) {
        constexpr double largest = std::numeric_limits<float>::max();
        info.minimum = std::max(info.minimum, -largest);
        info.maximum = std::min(info.maximum, largest);
    }
}

/// Describes a member that is a number, a bool, a text or an optional number. `access` is a pointer to the member, or a
/// function that returns a reference to it.
template <class Aggregate, class Access>
ParameterField<Aggregate> parameter_field(Access access, ParameterInfo info) {
    using Member = std::remove_cvref_t<std::invoke_result_t<Access, Aggregate&>>;
    using Type = ParameterInfo::Type;
    if constexpr (std::same_as<Member, bool>) {
        info.type = Type::flag;
        return {std::move(info), [access](const Aggregate& all) { return std::invoke(access, all) ? "1" : "0"; },
                [access](Aggregate& all, const std::string& text) { std::invoke(access, all) = text == "1"; }};
    } else if constexpr (std::same_as<Member, std::string>) {
        info.type = Type::text;
        return {std::move(info), access,
                [access](Aggregate& all, const std::string& text) { std::invoke(access, all) = text; }};
    } else if constexpr (is_optional<Member>) {
        using Value = typename Member::value_type;
        set_type<Value>(info);
        info.optional = true;
        return {std::move(info),
                [access](const Aggregate& all) {
                    const auto& value = std::invoke(access, all);
                    return value ? fmt::to_string(*value) : std::string();
                },
                [access](Aggregate& all, const std::string& text) {
                    std::invoke(access, all) = checked_number<Value>(text);
                }};
    } else {
        set_type<Member>(info);
        return {std::move(info), [access](const Aggregate& all) { return fmt::to_string(std::invoke(access, all)); },
                [access](Aggregate& all, const std::string& text) {
                    const auto number = checked_number<Member>(text);
                    if (!number) fail(ErrorCode::internal, "'{}' was not checked", text);
                    std::invoke(access, all) = *number;
                }};
    }
}

/// Describes a member that `member` points to.
template <class Aggregate, class Member>
ParameterField<Aggregate> parameter_field(Member Aggregate::*member, ParameterInfo info) {
    return parameter_field<Aggregate, Member Aggregate::*>(member, std::move(info));
}

/// Describes a member that takes one of several named values. `values` must outlive the field.
template <class Aggregate, class Member, std::size_t count>
ParameterField<Aggregate> parameter_field(Member Aggregate::*member, const NamedValue<Member> (&values)[count],
                                          ParameterInfo info) {
    info.type = ParameterInfo::Type::choice;
    info.choices = names_of(values);
    return {std::move(info),
            [member, &values](const Aggregate& all) { return std::string(name_of(values, all.*member)); },
            [member, &values](Aggregate& all, const std::string& text) {
                const auto* value = value_named(values, text);
                if (!value) fail(ErrorCode::internal, "'{}' was not checked", text);
                all.*member = *value;
            }};
}

/// Describes all members of an aggregate as parameters: names, ranges and help. The defaults are those of a
/// value-initialised aggregate. Immutable after construction, hence safe to share between threads.
template <class Aggregate>
class ParameterFields {
public:
    /// Takes the defaults from a value-initialised aggregate.
    ParameterFields(std::initializer_list<ParameterField<Aggregate>> fields) : fields_(fields) {
        const Aggregate defaults{};
        for (auto& field : fields_) {
            field.info.default_value = field.text(defaults);
            infos_.push_back(field.info);
        }
    }

    /// Returns the description of each member, in the order of the fields.
    const std::vector<ParameterInfo>& infos() const { return infos_; }

    /// Sets the members that `values` gives explicitly; a repeatable member is set once per value, in order. All other
    /// members keep their value. The values must have been validated.
    void set(Aggregate& aggregate, const ParameterValues& values) const {
        for (const auto& field : fields_)
            if (values.is_given(field.info.name))
                for (const auto& text : values.texts(field.info.name)) field.set(aggregate, text);
    }

    /// Returns a default aggregate with the given members set.
    Aggregate from(const ParameterValues& values) const {
        Aggregate aggregate{};
        set(aggregate, values);
        return aggregate;
    }

    /// Returns all members as text that parse_parameters() reads: "cell=8:bins=9". For values that need no quotes.
    std::string text(const Aggregate& aggregate) const {
        std::string all;
        for (const auto& field : fields_)
            all += fmt::format("{}{}={}", all.empty() ? "" : ":", field.info.name, field.text(aggregate));
        return all;
    }

    /// Calls `body(info, text)` for every member.
    template <class Body>
    void for_each(const Aggregate& aggregate, Body&& body) const {
        for (const auto& field : fields_) body(field.info, field.text(aggregate));
    }

    /// Calls `body(info, text of one, text of other)` for every member that differs.
    template <class Body>
    void for_differences(const Aggregate& one, const Aggregate& other, Body&& body) const {
        for (const auto& field : fields_)
            if (const auto first = field.text(one), second = field.text(other); first != second)
                body(field.info, first, second);
    }

    /// Throws Error{usage} if a member is outside of its range. The message begins with `who` ("mixture") and says what
    /// is allowed.
    void check(const Aggregate& aggregate, std::string_view who) const {
        for (const auto& field : fields_) {
            const auto text = field.text(aggregate);
            if (text.empty() && (field.info.optional || field.info.repeatable)) continue;
            if (const auto refusal = refusal_of(field.info, text); !refusal.empty())
                fail(ErrorCode::usage, "{}: {}", who, refusal);
        }
    }

private:
    std::vector<ParameterField<Aggregate>> fields_;
    std::vector<ParameterInfo> infos_;
};

}  // namespace framewire
