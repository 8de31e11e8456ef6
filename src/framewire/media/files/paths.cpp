#include "framewire/media/files/paths.hpp"

#include <filesystem>

namespace framewire {

std::pair<std::string, std::string> split_path(const std::string& path) {
    const auto slash = path.rfind('/');
    const auto begin = slash == std::string::npos ? 0 : slash + 1;
    return {path.substr(0, begin), path.substr(begin)};
}

bool is_standard_output(const std::string& path) { return path == "-" || path == "/dev/stdout"; }

std::string followed(std::string path) {
    constexpr int most_links = 40;  // Linux's limit
    std::error_code error;
    if (const auto real = std::filesystem::canonical(path, error); !error) return real.string();
    for (int link = 0; link < most_links; ++link) {
        const auto target = std::filesystem::read_symlink(path, error);
        if (error) break;
        path = (std::filesystem::path(path).parent_path() / target).string();
    }
    return path;
}

}  // namespace framewire
