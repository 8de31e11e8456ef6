#include "framewire/session/outputs/new_file_name.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <filesystem>

namespace framewire::session {

std::string new_file_name(const std::string& folder, std::string_view name, std::string_view ending) {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    const auto begin = fmt::format("{}-{:%Y%m%d-%H%M%S}", name, local);
    for (int number = 1;; ++number) {
        const auto file =
            number == 1 ? fmt::format("{}.{}", begin, ending) : fmt::format("{}-{}.{}", begin, number, ending);
        const auto path = std::filesystem::path(folder) / file;
        if (!std::filesystem::exists(path) && !std::filesystem::exists(path.string() + ".part")) return path.string();
    }
}

}  // namespace framewire::session
