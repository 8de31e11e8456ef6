#include "view/screen/saved_files.hpp"

#include "framewire/core/text.hpp"
#include "framewire/jobs/outputs.hpp"

#include <algorithm>
#include <string_view>

namespace framewire::app {
namespace {

constexpr std::size_t longest_name = 48;
constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

// Makes a file name from the last component of a path or URL.
std::string file_name_of(const std::string& camera) {
    auto name = address_without_credentials(camera);
    while (name.size() > 1 && name.back() == '/') name.pop_back();
    if (const auto slash = name.rfind('/'); slash != name.npos && slash + 1 < name.size()) name.erase(0, slash + 1);
    for (auto& letter : name)
        if (allowed.find(letter) == allowed.npos) letter = '-';
    name.resize(std::min(name.size(), longest_name));
    while (!name.empty() && (name.front() == '-' || name.front() == '.')) name.erase(0, 1);
    return name.empty() ? "camera" : name;
}

}  // namespace

std::string new_file_name(const std::string& folder, const std::string& camera, const std::string& ending) {
    return jobs::new_file_name(folder, file_name_of(camera), ending);
}

}  // namespace framewire::app
