#include "framewire/net/http.hpp"
#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace framewire::net::http {
namespace {

using namespace std::chrono_literals;

Route route(Method method, const std::string& pattern, bool websocket = false, const std::string& query = "") {
    return {method, pattern, Access::everybody, [](const Request&) { return json_response("{}"); }, websocket, query};
}

std::string matched(const Site& site, const std::string& path, bool websocket = false, Method method = Method::get) {
    const auto match = site.match(method, path, {}, websocket);
    return match.route ? match.route->pattern : "";
}

TEST(Site, FindsTheMostSpecificRoute) {
    Site site;
    site.add(route(Method::get, "/{a}/{b}"));
    site.add(route(Method::get, "/api/{b}"));
    site.add(route(Method::get, "/{a}/stats"));
    site.add(route(Method::get, "/"));
    site.add(route(Method::get, "/{camera}/"));
    site.add(route(Method::get, "/events", true));
    EXPECT_EQ(matched(site, "/"), "/");
    EXPECT_EQ(matched(site, "/x/y"), "/{a}/{b}");
    EXPECT_EQ(matched(site, "/api/y"), "/api/{b}");
    EXPECT_EQ(matched(site, "/api/stats"), "/api/{b}");
    EXPECT_EQ(matched(site, "/x/stats"), "/{a}/stats");
    EXPECT_EQ(matched(site, "/door/"), "/{camera}/");
    EXPECT_EQ(matched(site, "/door"), "");
    EXPECT_EQ(matched(site, "/x/y/z"), "");
    EXPECT_EQ(matched(site, "/events"), "");
    EXPECT_EQ(matched(site, "/events", true), "/events");
    EXPECT_EQ(matched(site, "/x/y", true), "");
    EXPECT_EQ(site.match(Method::get, "/door/", {}, false).parameters.at("camera"), "door");
    EXPECT_EQ(site.match(Method::get, "/x/y", {}, false).parameters.at("b"), "y");
}

TEST(Site, ListsTheAllowedMethods) {
    Site site;
    site.add(route(Method::get, "/a"));
    site.add(route(Method::put, "/a"));
    EXPECT_EQ(matched(site, "/a", false, Method::head), "/a");
    const auto match = site.match(Method::post, "/a", {}, false);
    EXPECT_EQ(match.route, nullptr);
    EXPECT_EQ(match.allowed, (std::vector{Method::get, Method::head, Method::put}));
    EXPECT_TRUE(site.match(Method::get, "/b", {}, false).allowed.empty());
}

TEST(Site, SelectsRoutesByTheQuery) {
    Site site;
    site.add(route(Method::get, "/"));
    site.add(route(Method::get, "/", false, "action"));
    EXPECT_EQ(site.match(Method::get, "/", {{"x", ""}}, false).route->query, "");
    EXPECT_EQ(site.match(Method::get, "/", {{"action", "stream"}}, false).route->query, "action");
}

TEST(Site, RejectsShadowedAndInvalidRoutes) {
    Site site;
    site.add(route(Method::get, "/a/{x}"));
    EXPECT_NO_THROW(site.add(route(Method::put, "/a/{x}")));
    EXPECT_NO_THROW(site.add(route(Method::get, "/a/{x}", true)));
    for (const auto& wrong : {route(Method::get, "/a/{y}"), route(Method::get, "a"), route(Method::head, "/b"),
                              route(Method::put, "/b", true), Route{Method::get, "/b", Access::everybody, nullptr}})
        EXPECT_THROW(site.add(wrong), Error) << wrong.pattern;
}

// Parts of a feed of coded video: entries in upper case.
struct VideoFeed {
    std::uint64_t oldest = 0;
    std::shared_ptr<Feed> feed = std::make_shared<Feed>(
        FeedOptions{.queued_limit_bytes = 8, .starts_at_entry = true, .oldest_version = [this] { return oldest; }});

    void publish(char name, std::uint64_t version) const {
        feed->publish(std::make_shared<const std::string>(1, name),
                      {.version = version, .entry = name >= 'A' && name <= 'Z'});
    }
};

// Takes all parts, which come one at a time.
std::string taken_by(FeedClient& client) {
    std::string text;
    for (;;) {
        const auto taken = client.take();
        if (taken.too_slow) return text + "!";
        if (taken.parts.empty()) return text + (taken.ended ? "." : "");
        EXPECT_EQ(taken.parts.size(), 1);
        text += *taken.parts.front();
    }
}

TEST(Feed, ClientsStartAtAnEntry) {
    VideoFeed video;
    video.feed->set_first(std::make_shared<const std::string>("0"));
    int woken = 0;
    FeedClient early(video.feed, [&] { ++woken; });
    EXPECT_EQ(taken_by(early), "0");
    video.publish('a', 1);
    EXPECT_EQ(taken_by(early), "");
    EXPECT_EQ(woken, 1);
    for (const char name : {'B', 'c', 'D', 'e'}) video.publish(name, 1);
    EXPECT_EQ(woken, 2);
    FeedClient late(video.feed, [] {});
    EXPECT_EQ(taken_by(late), "0De");
    video.feed->forget_entry();
    FeedClient last(video.feed, [] {});
    video.publish('f', 1);
    video.publish('G', 1);
    video.feed->end();
    EXPECT_EQ(taken_by(last), "0G.");
    EXPECT_EQ(taken_by(late), "fG.");
    EXPECT_EQ(taken_by(early), "BcDefG.");
}

// A client that is late continues with the newest entry, and one that has taken everything loses nothing.
TEST(Feed, LateClientsContinueWithAnEntry) {
    const auto feed = std::make_shared<Feed>(FeedOptions{.starts_at_entry = true, .late_after = 20ms});
    const auto publish = [&](char name) {
        feed->publish(std::make_shared<const std::string>(1, name), {.entry = name >= 'A' && name <= 'Z'});
    };
    const auto all_of = [](FeedClient& client) {
        std::string text;
        for (const auto& part : client.take().parts) text += *part;
        return text;
    };
    feed->set_first(std::make_shared<const std::string>("0"));
    FeedClient late(feed, [] {}), quick(feed, [] {});
    for (const char name : {'A', 'b'}) publish(name);
    EXPECT_EQ(all_of(quick), "0Ab");
    std::this_thread::sleep_for(40ms);
    publish('c');
    EXPECT_EQ(all_of(quick), "c");
    for (const char name : {'D', 'e'}) publish(name);
    EXPECT_EQ(all_of(quick), "De");
    EXPECT_EQ(all_of(late), "0De");
}

TEST(Feed, FirstPartPrecedesTheFirstEntry) {
    VideoFeed video;
    FeedClient client(video.feed, [] {});
    video.feed->set_first(std::make_shared<const std::string>("0"));
    EXPECT_EQ(taken_by(client), "");
    for (const char name : {'a', 'B', 'c', 'D'}) video.publish(name, 1);
    EXPECT_EQ(taken_by(client), "0BcD");
}

TEST(Feed, PassesPartsThroughAFunctionOfTheClient) {
    const auto feed = std::make_shared<Feed>(FeedOptions{.for_client = [] {
        return [count = 0](const Feed::Part& part) mutable {
            return std::make_shared<const std::string>(*part + std::to_string(++count));
        };
    }});
    FeedClient early(feed, [] {});
    feed->publish(std::make_shared<const std::string>("a"));
    FeedClient late(feed, [] {});
    feed->publish(std::make_shared<const std::string>("b"));
    const auto texts = [](FeedClient& client) {
        std::string text;
        for (const auto& part : client.take().parts) text += *part;
        return text;
    };
    EXPECT_EQ(texts(early), "a1b2");
    EXPECT_EQ(texts(late), "b1");
}

TEST(Feed, WithdrawsOldVersionsAndWhatNeedsThem) {
    VideoFeed video;
    video.feed->set_first(std::make_shared<const std::string>("0"));
    FeedClient client(video.feed, [] {});
    for (const char name : {'A', 'b', 'c'}) video.publish(name, 1);
    video.publish('d', 2);
    video.oldest = 2;
    FeedClient late(video.feed, [] {});
    EXPECT_EQ(taken_by(client), "0");
    EXPECT_EQ(taken_by(late), "0");
    video.publish('e', 2);
    video.publish('F', 2);
    video.publish('g', 3);
    EXPECT_EQ(taken_by(client), "Fg");
    EXPECT_EQ(taken_by(late), "Fg");
    video.publish('h', 3);
    video.publish('I', 3);
    video.publish('j', 4);
    video.oldest = 4;
    video.publish('K', 4);
    EXPECT_EQ(taken_by(client), "K");
}

TEST(Feed, BytesOfWithdrawnPartsDoNotCount) {
    VideoFeed video;
    FeedClient client(video.feed, [] {});
    for (int i = 0; i < 8; ++i) video.publish('A', 1);
    video.oldest = 2;
    EXPECT_EQ(taken_by(client), "");
    for (int i = 0; i < 8; ++i) video.publish('B', 2);
    EXPECT_EQ(taken_by(client), "BBBBBBBB");
    for (int i = 0; i < 9; ++i) video.publish('C', 2);
    EXPECT_EQ(taken_by(client), "!");
}

}  // namespace
}  // namespace framewire::net::http
