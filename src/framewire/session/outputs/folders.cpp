#include "framewire/session/outputs/folders.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/media/images/png.hpp"

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

namespace framewire::session {

bool is_output_folder(const std::string& output) { return output.ends_with('/') || is_folder(output); }

bool is_same_folder(const std::string& one, const std::string& other) {
    std::error_code not_there;
    return std::filesystem::equivalent(one, other, not_there);
}

void make_folder(const std::string& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) fail(ErrorCode::io, "cannot make the folder {}: {}", folder, failed.message());
}

// Detects collisions such as a.png and a.jpg.
std::vector<std::string> outputs_of(const std::vector<std::string>& images, const std::string& folder,
                                    std::string_view ending) {
    std::vector<std::string> outputs;
    std::map<std::string, std::string> image_of;
    for (const auto& image : images) {
        outputs.push_back(std::filesystem::path(folder) / std::filesystem::path(image).stem().concat(ending));
        const auto [other, is_new] = image_of.emplace(outputs.back(), image);
        if (!is_new) fail(ErrorCode::usage, "{} and {} would both be {}", other->second, image, outputs.back());
    }
    return outputs;
}

std::int64_t write_png(const std::string& path, HostView<const std::uint8_t> image, OutputFileOptions options) {
    const auto png = encode_png(image);
    OutputFile file(path, std::move(options));
    file.write(png.data(), png.size());
    file.finish();
    return file.bytes();
}

}  // namespace framewire::session
