#include "framewire/session/web/embedded_files.hpp"
#include "framewire/session/web/routes.hpp"

#include <fmt/format.h>

#include <functional>
#include <string>

namespace framewire::session::web {
namespace {

using net::http::Request;
using net::http::Response;

// A browser revalidates with the entity tag each time (RFC 9110, section 8.8.3), so an unchanged file costs no body
// bytes.
net::http::Handler handler_of(const EmbeddedFile& file) {
    const auto bytes = std::make_shared<const std::string>(file.bytes);
    const auto tag = fmt::format("\"{:016x}\"", std::hash<std::string_view>{}(file.bytes));
    return [bytes, tag, type = std::string(file.content_type)](const Request& request) {
        Response response{.content_type = type, .headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}}};
        if (request.if_none_match.find(tag) != std::string::npos)
            response.status = 304;
        else
            response.body = bytes;
        return response;
    };
}

}  // namespace

void add_file_routes(net::http::Site& site) {
    constexpr std::string_view index = "/index.html";
    for (const auto& file : embedded_files()) {
        const auto path = file.path == index ? "/" : std::string(file.path);
        site.add(
            {.pattern = path, .access = net::http::Access::everybody, .handler = handler_of(file), .at_once = true});
    }
}

}  // namespace framewire::session::web
