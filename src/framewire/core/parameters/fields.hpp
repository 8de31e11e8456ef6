#pragma once

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/info.hpp"
#include "framewire/core/parameters/named_value.hpp"
#include "framewire/core/parameters/numbers.hpp"
#include "framewire/core/parameters/values.hpp"

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

/// A member of an aggregate of parameters, as a parameter.
template <class Aggregate>
struct ParameterField {
    ParameterInfo info;
    std::function<std::string(const Aggregate&)> text;             ///< the member as text
    std::function<void(Aggregate&, const std::string& text)> set;  ///< the member from a text that was checked
};

template <class Member>
inline constexpr bool is_optional = false;
template <class Value>
inline constexpr bool is_optional<std::optional<Value>> = true;

/// The number of a text that was checked. What is too small for a float is 0, as of any other number.
template <class Number>
std::optional<Number> checked_number(std::string_view text) {
    auto number = number_in<Number>(text);
    if constexpr (std::same_as<Number, float>)
        if (!number) number = number_in<double>(text);
    return number;
}

/// Its type, and where that is a float no more than one holds.
template <class Number>
void set_type(ParameterInfo& info) {
    info.type = std::is_floating_point_v<Number> ? ParameterInfo::Type::real : ParameterInfo::Type::integer;
    if constexpr (std::same_as<Number, float>) {
        constexpr double largest = std::numeric_limits<float>::max();
        info.minimum = std::max(info.minimum, -largest);
        info.maximum = std::min(info.maximum, largest);
    }
}

/// The field of a number, a bool, a text or a number that may be left out: `access` is a pointer to the member, or a
/// function that gives a reference to it.
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

template <class Aggregate, class Member>
ParameterField<Aggregate> parameter_field(Member Aggregate::*member, ParameterInfo info) {
    return parameter_field<Aggregate, Member Aggregate::*>(member, std::move(info));
}

/// The field of one of several values; `values` live on.
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

/// What there is to say of an aggregate of parameters: names, ranges and help of its members, whose defaults are the
/// aggregate's own.
template <class Aggregate>
class ParameterFields {
public:
    ParameterFields(std::initializer_list<ParameterField<Aggregate>> fields) : fields_(fields) {
        const Aggregate defaults{};
        for (auto& field : fields_) {
            field.info.default_value = field.text(defaults);
            infos_.push_back(field.info);
        }
    }

    const std::vector<ParameterInfo>& infos() const { return infos_; }

    /// The members whose checked values were given, in turn those of a repeatable one; others stay as they are.
    void set(Aggregate& aggregate, const ParameterValues& values) const {
        for (const auto& field : fields_)
            if (values.is_given(field.info.name))
                for (const auto& text : values.texts(field.info.name)) field.set(aggregate, text);
    }

    Aggregate from(const ParameterValues& values) const {
        Aggregate aggregate{};
        set(aggregate, values);
        return aggregate;
    }

    /// All members as parse_parameters() reads them: "cell=8:bins=9". For values that need no quotes.
    std::string text(const Aggregate& aggregate) const {
        std::string all;
        for (const auto& field : fields_)
            all += fmt::format("{}{}={}", all.empty() ? "" : ":", field.info.name, field.text(aggregate));
        return all;
    }

    /// Calls `body(info, one's text, the other's)` for the members that differ.
    template <class Body>
    void for_differences(const Aggregate& one, const Aggregate& other, Body&& body) const {
        for (const auto& field : fields_)
            if (const auto first = field.text(one), second = field.text(other); first != second)
                body(field.info, first, second);
    }

    /// Throws Error{usage} on a member outside of its range, saying whose it is ("mixture") and what is allowed.
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
