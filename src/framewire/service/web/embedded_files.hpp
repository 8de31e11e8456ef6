#pragma once

#include <span>
#include <string_view>

namespace framewire::service::web {

/// A file that is compiled into the program: a file of the page, or the API's OpenAPI document.
struct EmbeddedFile {
    /// Path at which it is served, such as "/index.html".
    std::string_view path;
    /// Value of the Content-Type header.
    std::string_view content_type;
    /// Contents; valid for the life of the program.
    std::string_view bytes;
};

/// Returns all embedded files, ordered by path. cmake/FramewireEmbed.cmake generates the definition.
std::span<const EmbeddedFile> embedded_files();

}  // namespace framewire::service::web
