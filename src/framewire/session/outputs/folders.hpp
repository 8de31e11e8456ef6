#pragma once

#include "framewire/core/view.hpp"
#include "framewire/media/files/output_file.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::session {

/// Returns true if the text names an output folder: an existing folder, or a name that ends in a slash.
bool is_output_folder(const std::string& output);

/// Returns true if both paths lead to the same existing folder.
bool is_same_folder(const std::string& one, const std::string& other);

/// Creates a folder and its missing parents. Throws Error{io}.
void make_folder(const std::string& folder);

/// Returns one output path in `folder` per image: image NAME.png becomes NAME followed by `ending`. Throws Error{usage}
/// if two images differ only in their file name endings.
std::vector<std::string> outputs_of(const std::vector<std::string>& images, const std::string& folder,
                                    std::string_view ending);

/// Writes an image as a PNG file, which appears only when it is complete. Returns its size in bytes. Throws Error{io}.
std::int64_t write_png(const std::string& path, HostView<const std::uint8_t> image, OutputFileOptions options);

}  // namespace framewire::session
