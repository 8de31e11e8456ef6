#pragma once

#include <span>
#include <string_view>

namespace framewire::session::web {

/// A file that is part of the program: of the page, or the document of the API.
struct EmbeddedFile {
    std::string_view path;  ///< where it is served: "/index.html"
    std::string_view content_type;
    std::string_view bytes;
};

/// All of them, by path. cmake/FramewireEmbed.cmake writes what defines it.
std::span<const EmbeddedFile> embedded_files();

}  // namespace framewire::session::web
