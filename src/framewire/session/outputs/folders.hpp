#pragma once

#include "framewire/core/view.hpp"
#include "framewire/media/files/output_file.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::session {

/// Whether a text names a folder to write into: one that is there, or a name that ends in a slash.
bool is_output_folder(const std::string& output);

/// Whether two paths lead to one folder.
bool is_same_folder(const std::string& one, const std::string& other);

/// Makes a folder, and those it lies in, where they are missing. Throws Error{io}.
void make_folder(const std::string& folder);

/// Where something of each image goes: of an image NAME.png into NAME and `ending` in `folder`. Throws Error{usage}
/// when two images have one name but for their endings.
std::vector<std::string> outputs_of(const std::vector<std::string>& images, const std::string& folder,
                                    std::string_view ending);

/// A PNG file of any name, which is there when it is whole; gives its bytes. Throws Error{io}.
std::int64_t write_png(const std::string& path, HostView<const std::uint8_t> image, OutputFileOptions options);

}  // namespace framewire::session
