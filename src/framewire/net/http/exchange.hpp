#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::net::http {

class Feed;

/// Methods that routes support. HEAD is answered by the routes of GET.
enum class Method { get, head, put, post };

/// A complete request that passed the limits and the admission checks. Authorization, Origin and Host were checked
/// before, so they are not part of it.
struct Request {
    Method method = Method::get;
    /// Percent-decoded once. Empty, "." and ".." segments are refused, except for one "/" at the end. The root is "/".
    std::string path;
    /// Values of the {names} in the route's pattern.
    std::map<std::string, std::string, std::less<>> parameters{};
    /// Decoded. If a name occurs twice, the first value counts.
    std::map<std::string, std::string, std::less<>> query{};
    /// JSON text, if the request has a body.
    std::string body{};
    /// The If-None-Match field (RFC 9110, 13.1.2), or empty.
    std::string if_none_match{};
    /// The client, for messages: "127.0.0.1:40312".
    std::string peer{};
    /// True if the request has the right token or the server needs none. Also set for routes that everybody may use.
    bool let_in = false;
};

/// The response of a route.
struct Response {
    int status = 200;
    std::string content_type = "application/json";
    /// The body. Null: no bytes.
    std::shared_ptr<const std::string> body{};
    /// Additional fields. They replace the common field of the same name.
    std::vector<std::pair<std::string, std::string>> headers{};
    /// If set, the response is a stream of this feed's parts instead of `body`.
    std::shared_ptr<Feed> feed{};
};

/// Returns a response with a JSON body.
Response json_response(std::string json, int status = 200);
/// Returns a response with the body {"error":{"status":404,"text":"..."}}. `text` may hold any characters.
Response error_response(int status, std::string_view text);

}  // namespace framewire::net::http
