// Keeps the headers of the JSON library, which are slow to compile, out of the other files of the program.

#include "commands/json.hpp"

#include "framewire/core/json_text.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace framewire::app {

using Value = nlohmann::ordered_json;

Json::Json(std::nullptr_t) : value_(std::make_unique<Value>(nullptr)) {}
Json::Json(std::string_view text) : value_(std::make_unique<Value>(text)) {}
Json::Json(std::initializer_list<Member> members) : value_(std::make_unique<Value>(Value::object())) {
    for (const auto& [name, value] : members) add(name, value);
}
Json Json::array(std::initializer_list<Json> values) {
    Json json;
    *json.value_ = Value::array();
    for (const auto& value : values) json.push_back(value);
    return json;
}
Json Json::read(std::string_view json) {
    Json read;
    *read.value_ = Value::parse(json);
    return read;
}

Json::Json(const Json& other) : value_(std::make_unique<Value>(*other.value_)) {}
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(Json other) noexcept {
    value_ = std::move(other.value_);
    return *this;
}
Json::~Json() = default;

void Json::add(std::string_view name, const Json& value) { (*value_)[std::string(name)] = *value.value_; }
void Json::push_back(const Json& value) { value_->push_back(*value.value_); }
std::string Json::text() const { return json_text(*value_, 2); }

void Json::set_flag(bool value) { *value_ = value; }
void Json::set_integer(std::int64_t value) { *value_ = value; }
void Json::set_unsigned(std::uint64_t value) { *value_ = value; }
void Json::set_real(double value) { *value_ = value; }

}  // namespace framewire::app
