#pragma once

#include <nlohmann/json_fwd.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>

namespace framewire::app {

/// A value for machines to read, whose members stay in the order in which they were added. What is slow to compile of
/// its library is behind it.
class Json {
public:
    struct Member;

    Json(std::nullptr_t = nullptr);
    Json(std::string_view text);
    Json(const std::string& text) : Json(std::string_view(text)) {}
    Json(const char* text) : Json(std::string_view(text)) {}
    template <class Number>
    requires std::is_arithmetic_v<Number> Json(Number number) : Json(nullptr) {
        if constexpr (std::same_as<Number, bool>)
            set_flag(number);
        else if constexpr (std::floating_point<Number>)
            set_real(static_cast<double>(number));
        else if constexpr (std::is_signed_v<Number>)
            set_integer(number);
        else
            set_unsigned(number);
    }
    /// An object.
    Json(std::initializer_list<Member> members);
    /// An array of what is in a range.
    template <std::ranges::input_range Range>
    requires(!std::convertible_to<Range, std::string_view> && !std::same_as<Range, Json>) Json(const Range& values)
        : Json(array({})) {
        for (const auto& value : values) push_back(value);
    }
    static Json array(std::initializer_list<Json> values = {});
    /// What the library wrote for machines.
    static Json read(std::string_view json);

    Json(const Json& other);
    Json(Json&&) noexcept;
    Json& operator=(Json other) noexcept;
    ~Json();

    /// Adds a member to an object.
    void add(std::string_view name, const Json& value);
    /// Adds an element to an array.
    void push_back(const Json& value);

    /// Indented by two; what is no UTF-8 is replaced.
    std::string text() const;

private:
    void set_flag(bool value);
    void set_integer(std::int64_t value);
    void set_unsigned(std::uint64_t value);
    void set_real(double value);

    std::unique_ptr<nlohmann::ordered_json> value_;
};

struct Json::Member {
    std::string_view name;
    Json value;
};

}  // namespace framewire::app
