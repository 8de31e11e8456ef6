#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::net::http {

class Feed;

enum class Method { get, head, put, post };

/// A request as routes see it: read whole, within its limits, and let in. Header fields that matter to who is let in
/// (Authorization, Origin, Host) were looked at before.
struct Request {
    Method method = Method::get;
    /// Decoded once, without empty, "." and ".." parts: those are refused, but for one "/" at the end. "/" is "/".
    std::string path;
    std::map<std::string, std::string, std::less<>> parameters{};  ///< what stands for {names} of the route's pattern
    std::map<std::string, std::string, std::less<>> query{};       ///< decoded; of a name that comes twice the first
    std::string body{};                                            ///< JSON as text where there is one
    std::string if_none_match{};
    std::string peer{};   ///< for people to read: "127.0.0.1:40312"
    bool let_in = false;  ///< has the right token, or none is needed; also told to routes of everybody
};

/// What a route answers.
struct Response {
    int status = 200;
    std::string content_type = "application/json";
    std::shared_ptr<const std::string> body{};                   ///< none: no bytes
    std::vector<std::pair<std::string, std::string>> headers{};  ///< beside, or in place of, those of every answer
    std::shared_ptr<Feed> feed{};                                ///< in place of a body: what comes, as it comes
};

Response json_response(std::string json, int status = 200);
/// {"error":{"status":404,"text":"..."}}.
Response error_response(int status, std::string_view text);

}  // namespace framewire::net::http
