// A folder of images is sorted by the bytes of the names, so that the order does not depend on the locale or on the
// file system.

#include "framewire/media/images/image_folder.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/names.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace framewire {
namespace {

constexpr std::array<std::string_view, 10> endings{".png",  ".jpg",  ".jpeg", ".bmp", ".tif",
                                                   ".tiff", ".webp", ".pgm",  ".ppm", ".pnm"};

// True for regular files with an image extension.
bool is_image(const std::filesystem::directory_entry& entry) {
    std::error_code ignored;
    return is_image_name(entry.path().native()) && entry.is_regular_file(ignored);
}

// Content of a folder.
struct Listing {
    std::vector<std::string> images;
    int others = 0;
    std::string other;  // the first of the skipped names
    std::error_code error;
};

// Lists a folder without hidden files.
Listing list(const std::string& folder) {
    Listing listing;
    auto& error = listing.error;
    std::filesystem::directory_iterator entry(folder, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        const auto name = entry->path().filename().native();
        if (name.starts_with('.')) continue;
        if (is_image(*entry)) {
            listing.images.push_back(entry->path());
        } else if (++listing.others == 1 || name < listing.other) {
            listing.other = name;
        }
    }
    std::ranges::sort(listing.images);
    return listing;
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
    const auto [images, others, other, error] = list(folder);
    if (error) fail(ErrorCode::no_input, "cannot read the folder {}: {}", folder, error.message());
    if (images.empty()) fail(ErrorCode::no_input, "{} holds no images; known are {}", folder, fmt::join(endings, " "));
    if (others > 0)
        log_warning("{}: {} of {} entries are no images and left out, {} for one", folder, others,
                    others + static_cast<int>(images.size()), other);
    return images;
}

std::vector<std::string> image_paths(const std::string& folder) { return list(folder).images; }

}  // namespace framewire
