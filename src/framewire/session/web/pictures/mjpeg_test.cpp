#include "framewire/session/web/pictures/mjpeg.hpp"

#include "framewire/net/http/feed_client.hpp"
#include "framewire/session/web/testing/fake_camera.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

namespace framewire::session::web {
namespace mjpeg_test {

using namespace std::chrono_literals;

struct Watched {
    std::shared_ptr<FakeCamera> camera = std::make_shared<FakeCamera>("door");
    CameraPictures pictures{camera};
    Mjpeg mjpeg{*camera, pictures};
};

// The next part for a client; empty when the feed has ended.
std::string next_part(net::http::FeedClient& client) {
    for (int look = 0; look < 30'000; ++look) {
        const auto taken = client.take();
        if (!taken.parts.empty()) return *taken.parts.back();
        if (taken.ended) return "";
        std::this_thread::sleep_for(10ms);
    }
    ADD_FAILURE() << "nothing came";
    return "";
}

std::unique_ptr<net::http::FeedClient> watch(Watched& watched) {
    return std::make_unique<net::http::FeedClient>(watched.mjpeg.feed(), [] {});
}

void wait_until_it_rests(const Watched& watched) {
    while (!watched.mjpeg.rests()) std::this_thread::sleep_for(1ms);
}

TEST(Mjpeg, SendsEachPictureOnceToAll) {
    Watched watched;
    watched.camera->show(50);
    const auto one = watch(watched), other = watch(watched);
    const auto first = next_part(*one);
    EXPECT_TRUE(first.starts_with("--framewire\r\nContent-Type: image/jpeg\r\nContent-Length: "));
    EXPECT_NE(first.find("\r\n\r\n\xff\xd8"), std::string::npos);
    EXPECT_TRUE(first.ends_with("\xff\xd9\r\n"));
    EXPECT_EQ(next_part(*other), first);
    watched.camera->show(200);
    const auto second = next_part(*one);
    EXPECT_NE(second, first);
    EXPECT_EQ(next_part(*other), second);
    EXPECT_EQ(watched.camera->pictures_taken(), 2) << "encoded once for all who watch";
}

TEST(Mjpeg, RestsWhileNobodyWatches) {
    Watched watched;
    wait_until_it_rests(watched);
    for (std::uint8_t value = 1; value < 20; ++value) watched.camera->show(value);
    EXPECT_TRUE(watched.mjpeg.rests());
    EXPECT_EQ(watched.camera->pictures_taken(), 0);
    auto client = watch(watched);
    next_part(*client);
    client.reset();
    wait_until_it_rests(watched);
    watched.camera->show(100);
    EXPECT_TRUE(watched.mjpeg.rests());
    EXPECT_EQ(watched.camera->pictures_taken(), 1);
    client = watch(watched);
    next_part(*client);
    EXPECT_EQ(watched.camera->pictures_taken(), 2);
}

TEST(Mjpeg, EndsWithItsCamera) {
    auto watched = std::make_unique<Watched>();
    const auto client = watch(*watched);
    watched.reset();
    EXPECT_EQ(next_part(*client), "");
}

TEST(CameraPictures, AreEncodedOncePerVersion) {
    const auto camera = std::make_shared<FakeCamera>("door", Shape{1, 8, 8, 1});
    CameraPictures pictures(camera);
    EXPECT_THROW(pictures.jpeg(), Error);
    camera->show(30);
    const auto jpeg = pictures.jpeg();
    EXPECT_EQ(pictures.jpeg(), jpeg) << "the same bytes in memory";
    EXPECT_TRUE(pictures.png()->starts_with("\x89PNG"));
    EXPECT_EQ(camera->pictures_taken(), 2);
    camera->show(30);
    EXPECT_NE(pictures.jpeg(), jpeg);
}

}  // namespace mjpeg_test
}  // namespace framewire::session::web
