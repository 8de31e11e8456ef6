#include "framewire/session/web/pictures/mjpeg.hpp"

#include "framewire/net/http/feed_client.hpp"
#include "framewire/session/web/testing/fake_camera.hpp"
#include "kit/eventually.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace framewire::session::web {
namespace mjpeg_test {

using namespace std::chrono_literals;

struct Watched {
    std::shared_ptr<FakeCamera> camera = std::make_shared<FakeCamera>("door");
    CameraPictures pictures{camera};
    Mjpeg mjpeg{*camera, pictures};
};

class Viewer {
public:
    explicit Viewer(Watched& watched) : client_(watched.mjpeg.feed(), [this] { wake(); }) {}

    // Returns the next part; empty when the feed has ended.
    std::string next_part() {
        for (;;) {
            const auto taken = client_.take();
            if (!taken.parts.empty()) return *taken.parts.back();
            if (taken.ended) return "";
            std::unique_lock lock(mutex_);
            if (!woken_.wait_for(lock, 60s, [&] { return std::exchange(wakes_, false); })) break;
        }
        ADD_FAILURE() << "nothing came";
        return "";
    }

private:
    void wake() {
        {
            const std::lock_guard lock(mutex_);
            wakes_ = true;
        }
        woken_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable woken_;
    bool wakes_ = false;
    // last member: it is called back until it is destroyed
    net::http::FeedClient client_;
};

std::unique_ptr<Viewer> watch(Watched& watched) { return std::make_unique<Viewer>(watched); }

void wait_until_it_rests(const Watched& watched) {
    ASSERT_TRUE(kit::eventually([&] { return watched.mjpeg.rests(); }));
}

TEST(Mjpeg, SendsEachPictureOnceToEveryClient) {
    Watched watched;
    watched.camera->show(50);
    const auto one = watch(watched), other = watch(watched);
    const auto first = one->next_part();
    EXPECT_TRUE(first.starts_with("--framewire\r\nContent-Type: image/jpeg\r\nContent-Length: "));
    EXPECT_NE(first.find("\r\n\r\n\xff\xd8"), std::string::npos);
    EXPECT_TRUE(first.ends_with("\xff\xd9\r\n"));
    EXPECT_EQ(other->next_part(), first);
    watched.camera->show(200);
    const auto second = one->next_part();
    EXPECT_NE(second, first);
    EXPECT_EQ(other->next_part(), second);
    EXPECT_EQ(watched.camera->pictures_taken(), 2) << "encoded once for all who watch";
}

// A client that connects after a completed request must not see a picture from before it.
TEST(Mjpeg, StartsNewClientsWithTheNewestPicture) {
    Watched watched;
    watched.camera->show(1);
    const auto one = watch(watched);
    for (std::uint8_t value = 2; value < 40; ++value) {
        SCOPED_TRACE(int{value});
        const auto older = one->next_part();
        watched.camera->show(static_cast<std::uint8_t>(5 * value));
        const auto other = watch(watched);
        EXPECT_NE(other->next_part(), older);
    }
}

TEST(Mjpeg, SleepsWithoutClients) {
    Watched watched;
    wait_until_it_rests(watched);
    for (std::uint8_t value = 1; value < 20; ++value) watched.camera->show(value);
    EXPECT_TRUE(watched.mjpeg.rests());
    EXPECT_EQ(watched.camera->pictures_taken(), 0);
    auto client = watch(watched);
    client->next_part();
    client.reset();
    wait_until_it_rests(watched);
    watched.camera->show(100);
    EXPECT_TRUE(watched.mjpeg.rests());
    EXPECT_EQ(watched.camera->pictures_taken(), 1);
    client = watch(watched);
    client->next_part();
    EXPECT_EQ(watched.camera->pictures_taken(), 2);
}

TEST(Mjpeg, EndsWithItsCamera) {
    auto watched = std::make_unique<Watched>();
    const auto client = watch(*watched);
    watched.reset();
    EXPECT_EQ(client->next_part(), "");
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
