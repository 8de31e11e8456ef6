#include "framewire/net/http/site.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <utility>

namespace framewire::net::http {

namespace {

using Parameters = std::map<std::string, std::string, std::less<>>;

// Splits "/a/b" into "a" and "b"; "/" has one empty segment.
std::vector<std::string_view> parts_of(std::string_view path) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 1; begin <= path.size();) {
        const auto end = std::min(path.find('/', begin), path.size());
        parts.push_back(path.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

bool in_braces(std::string_view part) { return part.size() > 2 && part.front() == '{' && part.back() == '}'; }

// One digit per segment, 1 for a segment in braces. If two patterns match a path, the lexicographically smaller shape
// is more specific.
std::string shape_of(std::string_view pattern) {
    std::string shape;
    for (const auto part : parts_of(pattern)) shape += in_braces(part) ? "1" : "0";
    return shape;
}

// Returns the same text for all patterns that match the same paths.
std::string paths_of(std::string_view pattern) {
    std::string paths;
    for (const auto part : parts_of(pattern)) paths.append("/").append(in_braces(part) ? "{}" : part);
    return paths;
}

// Matches a path against a pattern and stores the segments that braces matched.
bool takes(std::string_view pattern, std::string_view path, Parameters& parameters) {
    const auto wanted = parts_of(pattern), given = parts_of(path);
    if (wanted.size() != given.size()) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (in_braces(wanted[i]) ? given[i].empty() : wanted[i] != given[i]) return false;
        if (in_braces(wanted[i]))
            parameters.insert_or_assign(std::string(wanted[i].substr(1, wanted[i].size() - 2)), std::string(given[i]));
    }
    return true;
}

}  // namespace

// Routes are checked when they are added, so a mistake shows at start-up and not at a request.
void Site::add(Route route) {
    if (!route.pattern.starts_with('/'))
        fail(ErrorCode::internal, "the route '{}' does not begin with /", route.pattern);
    if (!route.handler) fail(ErrorCode::internal, "the route '{}' has no handler", route.pattern);
    if (route.method == Method::head || (route.websocket && route.method != Method::get))
        fail(ErrorCode::internal, "the route '{}' is of a method that routes cannot have", route.pattern);
    for (const auto& other : routes_)
        if (other.method == route.method && other.websocket == route.websocket && other.query == route.query &&
            paths_of(other.pattern) == paths_of(route.pattern))
            fail(ErrorCode::internal, "the route '{}' is hidden by '{}'", route.pattern, other.pattern);
    routes_.push_back(std::move(route));
}

// Goes through all routes: the methods of the other routes are needed for the Allow field of a 405 response.
Site::Match Site::match(Method method, std::string_view path, const Parameters& query, bool websocket) const {
    Match match;
    const auto wanted = method == Method::head ? Method::get : method;
    // A route that names a query parameter precedes one of the same shape that does not.
    const auto rank = [](const Route& route) { return std::pair(shape_of(route.pattern), route.query.empty()); };
    for (const auto& route : routes_) {
        Parameters parameters;
        if (route.websocket != websocket || !takes(route.pattern, path, parameters)) continue;
        if (!route.query.empty() && !query.contains(route.query)) continue;
        match.allowed.push_back(route.method);
        if (route.method == Method::get && !websocket) match.allowed.push_back(Method::head);
        if (route.method != wanted || (match.route && rank(*match.route) <= rank(route))) continue;
        match.route = &route;
        match.parameters = std::move(parameters);
    }
    std::ranges::sort(match.allowed);
    match.allowed.erase(std::unique(match.allowed.begin(), match.allowed.end()), match.allowed.end());
    return match;
}

}  // namespace framewire::net::http
