#include "framewire/session/cameras/camera_text.hpp"

#include "framewire/net/address.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace framewire::session {
namespace {

CameraText split(std::string_view text) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) return {"", std::string(text)};
    // "." and ".." count as names here, so that they are rejected as invalid names later.
    const auto name = text.substr(0, equals);
    if (!net::is_stream_name(name) && name != "." && name != "..") return {"", std::string(text)};
    return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

}  // namespace

CameraText camera_source(std::string_view text) {
    std::error_code unknown;
    if (std::filesystem::exists(text, unknown)) return {"", std::string(text)};
    return split(text);
}

CameraText camera_text(std::string_view text, std::span<const std::string> names) {
    auto parts = split(text);
    if (std::ranges::find(names, parts.name) == names.end()) return {"", std::string(text)};
    return parts;
}

std::string with_camera_name(std::string_view text, std::string_view name) {
    constexpr std::string_view place = "{name}";
    std::string filled;
    for (auto at = text.find(place); at != text.npos; at = text.find(place)) {
        filled.append(text.substr(0, at)).append(name);
        text.remove_prefix(at + place.size());
    }
    return filled.append(text);
}

}  // namespace framewire::session
