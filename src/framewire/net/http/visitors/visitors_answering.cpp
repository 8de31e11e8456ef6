// HTTP connections: responses and feeds. A response is written in one operation from its header and its body, which may
// be shared with other connections. A feed writes all pending parts at once and continues when they have been taken.

#include "framewire/net/http/visitors/visitors.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/http/visitors/response_text.hpp"

#include <array>
#include <exception>
#include <utility>

namespace framewire::net::http {

namespace {

using Phase = Visitor::Phase;

ByteSpan bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

// If the proxy is not configured as trusted, all its clients count as one peer and share one limit.
std::string_view advice_on(const Visitor& visitor, const Refused& why) {
    const bool is_locked_out = why.status == 429 && !visitor.is_proxy && visitor.raw.count("x-forwarded-for") > 0;
    return is_locked_out ? "; if it is your reverse proxy, serve with --trusted-proxy ADDRESS" : "";
}

}  // namespace

// `last` closes the connection after the response.
void Visitors::refuse(const VisitorPointer& visitor, const Refused& why, bool last) {
    refusals_.line_of(visitor->peer, "{} refused: {}{}", visitor->name, why.text, advice_on(*visitor, why));
    auto response = error_response(why.status, why.text);
    if (why.status == 401) {
        response.headers.emplace_back("WWW-Authenticate", R"(Bearer realm="framewire")");
        // Basic makes a browser open its own login dialog, so it is not offered to scripts.
        if (visitor->raw.field("sec-fetch-dest") != "empty")
            response.headers.emplace_back("WWW-Authenticate", R"(Basic realm="framewire")");
    }
    if (why.status == 426) response.headers.emplace_back("Upgrade", "websocket");
    // The request may not have been read completely, so the connection cannot be used again.
    if (last) visitor->raw = {}, visitor->head_only = visitor->keep_alive = false;
    try {
        answer(visitor, response);
    } catch (const std::exception& error) {
        trouble(*visitor, error.what());
        close(visitor);
    }
}

void Visitors::trouble(const Visitor& visitor, std::string_view what) { trouble_.line("{}: {}", visitor.name, what); }

// Sends a response or starts a feed. Throws Refused if there is no room for another feed.
void Visitors::answer(const VisitorPointer& visitor, const Response& response) {
    auto& it = *visitor;
    const bool feeds = response.feed && !it.head_only;
    if (feeds && !make_room(it, true)) throw Refused{503, "too many streams and feeds are under way"};
    it.chunked = feeds && it.raw.version_1_1;
    if (feeds) it.keep_alive = false;  // bytes read during the feed are discarded
    // HTTP/1.0 has no chunks: the body ends with the connection.
    const auto form = !response.feed ? BodyForm::whole : it.raw.version_1_1 ? BodyForm::chunked : BodyForm::to_the_end;
    it.head = header_text(response, form, it.keep_alive);
    it.body = it.head_only || response.status == 204 || response.status == 304 ? nullptr : response.body;
    enter(it, Phase::answering);
    if (feeds) return begin_feed(visitor, response.feed);
    const std::array pieces{bytes_of(it.head), it.body ? bytes_of(*it.body) : ByteSpan()};
    write(visitor, pieces, &Visitors::answered);
}

// The list of pieces may be temporary; the bytes that it refers to must stay until `done`.
void Visitors::write(const VisitorPointer& visitor, std::span<const std::span<const std::uint8_t>> pieces,
                     void (Visitors::*done)(const VisitorPointer&, const std::error_code&)) {
    auto& it = *visitor;
    it.writing = true;
    it.taken_bytes = 0;
    it.progress = loop_.now();
    it.connection->write(
        pieces,
        [this, &it](std::size_t bytes) {
            if (bytes > it.taken_bytes) it.progress = loop_.now();
            it.taken_bytes = bytes;
        },
        [this, &it, done](const std::error_code& error, std::size_t) {
            const auto held = it.shared_from_this();
            it.writing = false;
            if (error)
                close(held);
            else
                (this->*done)(held, error);
        });
}

// Waits for the next request, or closes after the last response.
void Visitors::answered(const VisitorPointer& visitor, const std::error_code&) {
    visitor->head.clear();
    visitor->body.reset();
    if (visitor->keep_alive)
        await_request(visitor);
    else
        leave(visitor);
}

// The peer closes after it has received everything. If the server closed first, unread bytes could reset the connection
// and lose data.
void Visitors::leave(const VisitorPointer& visitor) {
    enter(*visitor, Phase::leaving);
    visitor->feed.reset();
    give_up(leaving_.enter(visitor->number, place_holder(visitor->number, visitor->peer, visitor->is_proxy)), "leave");
    if (visitor->phase == Phase::gone) return;
    visitor->connection->end_writing();
    read_on(*visitor);
}

// --- feeds ---

// Parts are sent on the loop's thread: `wake` is called on any thread and only posts.
void Visitors::begin_feed(const VisitorPointer& visitor, const std::shared_ptr<Feed>& feed) {
    enter(*visitor, Phase::feeding);
    visitor->discarded_bytes = 0;
    auto wake = [self = std::weak_ptr(self_), weak = std::weak_ptr(visitor), &loop = loop_] {
        loop.post([self, weak] {
            const auto held = self.lock();
            const auto client = weak.lock();
            if (held && client) (*held)->send_parts(client);
        });
    };
    visitor->feed = std::make_unique<FeedClient>(feed, std::move(wake));
    read_on(*visitor);  // detects when the peer disconnects
    send_parts(visitor);
}

// Writes all pending parts in one operation, with the header in front if it was not sent yet.
void Visitors::send_parts(const VisitorPointer& visitor) {
    auto& it = *visitor;
    if (it.phase != Phase::feeding || it.writing) return;
    auto taken = it.feed->take();
    if (taken.too_slow) {
        refusals_.line_of(it.peer, "{} cut off: it is too slow for what it asked for", it.name);
        return close(visitor);
    }
    it.parts = std::move(taken.parts);
    it.feed_ended = taken.ended;
    it.chunk_heads.clear();
    if (it.chunked)
        for (const auto& part : it.parts) it.chunk_heads.push_back(fmt::format("{:x}\r\n", part->size()));
    std::vector<ByteSpan> pieces;
    if (!it.head.empty()) pieces.push_back(bytes_of(it.head));
    for (std::size_t i = 0; i < it.parts.size(); ++i) {
        if (it.parts[i]->empty()) continue;  // an empty chunk would end the body
        if (it.chunked) pieces.push_back(bytes_of(it.chunk_heads[i]));
        pieces.push_back(bytes_of(*it.parts[i]));
        if (it.chunked) pieces.push_back(bytes_of("\r\n"));
    }
    if (it.feed_ended && it.chunked) pieces.push_back(bytes_of("0\r\n\r\n"));
    if (!pieces.empty()) return write(visitor, pieces, &Visitors::parts_taken);
    if (it.feed_ended) parts_taken(visitor, {});
}

// Continues with the parts that have arrived during the write.
void Visitors::parts_taken(const VisitorPointer& visitor, const std::error_code&) {
    visitor->head.clear();
    visitor->parts.clear();
    if (visitor->feed_ended)
        leave(visitor);
    else
        send_parts(visitor);
}

}  // namespace framewire::net::http
