#include "framewire/media/image_folder.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/names.hpp"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace framewire {
namespace {

constexpr std::array<std::string_view, 10> endings{".png",  ".jpg",  ".jpeg", ".bmp", ".tif",
                                                   ".tiff", ".webp", ".pgm",  ".ppm", ".pnm"};

bool is_image(const std::filesystem::directory_entry& entry) {
    std::error_code ignored;
    return is_image_name(entry.path().native()) && entry.is_regular_file(ignored);
}

}  // namespace

bool is_image_name(const std::string& path) {
    const auto ending = lower_case(std::filesystem::path(path).extension().native());
    return std::ranges::find(endings, ending) != endings.end();
}

bool is_folder(const std::string& path) {
    std::error_code unknown;
    return std::filesystem::is_directory(path, unknown);
}

std::vector<std::string> images_in(const std::string& folder) {
    std::vector<std::string> images;
    std::string other;  // the first by name of what is left out
    int others = 0;
    std::error_code error;
    std::filesystem::directory_iterator entry(folder, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        const auto name = entry->path().filename().native();
        if (name.starts_with('.')) continue;
        if (is_image(*entry)) {
            images.push_back(entry->path());
        } else if (++others == 1 || name < other) {
            other = name;
        }
    }
    if (error) fail(ErrorCode::no_input, "cannot read the folder {}: {}", folder, error.message());
    if (images.empty()) fail(ErrorCode::no_input, "{} holds no images; known are {}", folder, fmt::join(endings, " "));
    if (others > 0)
        spdlog::warn("{}: {} of {} entries are no images and left out, {} for one", folder, others,
                     others + static_cast<int>(images.size()), other);
    std::ranges::sort(images);
    return images;
}

}  // namespace framewire
