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

/// A JSON value whose members keep their order of insertion. Hides the JSON library, whose headers are slow to compile.
class Json {
public:
    struct Member;

    /// Makes null.
    Json(std::nullptr_t = nullptr);
    /// Makes a string.
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
    /// Makes an object.
    Json(std::initializer_list<Member> members);
    /// Makes an array from a range.
    template <std::ranges::input_range Range>
    requires(!std::convertible_to<Range, std::string_view> && !std::same_as<Range, Json>) Json(const Range& values)
        : Json(array({})) {
        for (const auto& value : values) push_back(value);
    }
    /// Makes an array from values.
    static Json array(std::initializer_list<Json> values = {});
    /// Parses JSON that the library wrote.
    static Json read(std::string_view json);

    Json(const Json& other);
    Json(Json&&) noexcept;
    Json& operator=(Json other) noexcept;
    ~Json();

    /// Adds a member to an object.
    void add(std::string_view name, const Json& value);
    /// Appends an element to an array.
    void push_back(const Json& value);

    /// Returns the JSON text, indented by two spaces. Invalid UTF-8 is replaced.
    std::string text() const;

private:
    void set_flag(bool value);
    void set_integer(std::int64_t value);
    void set_unsigned(std::uint64_t value);
    void set_real(double value);

    std::unique_ptr<nlohmann::ordered_json> value_;
};

/// Named member of an object.
struct Json::Member {
    std::string_view name;
    Json value;
};

}  // namespace framewire::app
