// Fuzzes an HTTP server with everything that a client can send, in pieces: valid and invalid requests, and WebSockets
// of feeds and of streams. Responses must begin as HTTP responses do, and a route that needs the token must never run
// without it.

#include "fuzz/net/posting_loop.hpp"
#include "fuzz/net/small_stream.hpp"

#include "framewire/core/log.hpp"
#include "framewire/net/http.hpp"
#include "framewire/net/http_connections.hpp"
#include "framewire/net/sessions.hpp"

#include <cstdlib>

namespace framewire::http_fuzz {
namespace {

using namespace net;

constexpr std::string_view token = "correct-horse-battery";

// Returns a site with one route per kind of access.
std::shared_ptr<const http::Site> small_site(bool token_was_said) {
    using http::Access;
    using http::Method;
    auto site = std::make_shared<http::Site>();
    const auto answer = [](const http::Request& request) { return http::json_response(request.path + request.body); };
    const auto guarded = [token_was_said, answer](const http::Request& request) {
        if (!token_was_said || !request.let_in) std::abort();
        return answer(request);
    };
    const auto feed = std::make_shared<http::Feed>();
    feed->set_first(std::make_shared<const std::string>("a part"));
    const auto feeding = [feed](const http::Request&) {
        http::Response response;
        response.feed = feed;
        return response;
    };
    site->add({Method::get, "/", Access::everybody, answer});
    site->add({Method::get, "/{name}", Access::viewers, guarded});
    site->add({Method::put, "/{name}", Access::control, guarded});
    site->add({Method::get, "/feed", Access::everybody, feeding});
    site->add({Method::get, "/feed", Access::everybody, feeding, true});
    return site;
}

}  // namespace
}  // namespace framewire::http_fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    using namespace framewire::http_fuzz;
    set_log_output({.least = LogLevel::off});
    if (size < 2) return 0;
    static fuzz::SmallStream stream;
    const std::string_view said(reinterpret_cast<const char*>(data) + 1, size - 1);
    fuzz::PostingLoop loop;
    http::HttpConnections* visitors = nullptr;
    Sessions sessions(
        {.viewers = 4,
         .pending_connections = {4, 4, std::chrono::milliseconds(5'000), std::chrono::milliseconds(10'000)},
         .viewer_deadlines = {std::chrono::milliseconds(10'000), std::chrono::milliseconds(1'000)},
         .pinned_bytes = 1 << 20},
        loop, token,
        [&](ConnectionPointer connection, ByteSpan heard) { visitors->come(std::move(connection), heard); });
    auto& served = sessions.add("main", stream.state);
    http::HttpConnections all(
        {.waiting = 4,
         .waiting_per_peer = 4,
         .under_way = 4,
         .request_deadline = std::chrono::milliseconds(5'000),
         .idle_deadline = std::chrono::milliseconds(5'000),
         .write_deadline = std::chrono::milliseconds(5'000)},
        {}, loop, http::Admission({}, sessions.gate()),
        [&](ConnectionPointer connection, std::string name) { sessions.come(std::move(connection), std::move(name)); });
    visitors = &all;
    const auto site = small_site(said.find(token) != said.npos || said.find("Basic") != said.npos);
    all.set_site(site);
    const auto peer = std::make_shared<fuzz::SpokenConnection::Peer>();
    peer->says = ByteSpan(data + 1, size - 1);
    peer->piece_bytes = std::size_t{1} << (data[0] % 12);
    peer->closes = data[0] % 2 == 0;
    sessions.come(std::make_unique<fuzz::SpokenConnection>(loop, peer));
    // A turn ends when all pending handlers have run; the responses are posted to the next turn.
    for (std::size_t turns = 0; turns < 8; ++turns) {
        loop.run();
        all.set_site(nullptr);
        all.set_site(site);
    }
    for (int i = 0; i < 4; ++i) {
        loop.pass(std::chrono::milliseconds(6'000));
        all.check_deadlines();
        sessions.check_deadlines();
        loop.run();
    }
    const bool http_answer = peer->heard.starts_with("HTTP/1.1 ");
    if (!peer->heard.empty() && !http_answer && !peer->heard.starts_with("FWIR")) std::abort();
    if (sessions.metrics().viewers > 1) std::abort();
    sessions.cut_off(served);
    loop.run();
    return 0;
}
