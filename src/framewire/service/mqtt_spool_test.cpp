#include "framewire/service/mqtt_spool.hpp"
#include "framewire/media/media_testing.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <vector>

namespace framewire::service {
namespace {

using testing::read_file;
using testing::TemporaryFolder;
using testing::write_file;

SharedEvent event(int number, bool motion = false) {
    const auto id = fmt::format("door-1-{}", number);
    return motion ? motion_event("door", id, {}, true, number) : objects_event("door", id, {}, {});
}

std::vector<std::string> handed_out(EventSpool& spool) {
    std::vector<std::string> all;
    while (const auto next = spool.hand_out()) all.push_back(next->event->json);
    return all;
}

std::vector<std::string> of(std::initializer_list<int> numbers) {
    std::vector<std::string> all;
    for (const int number : numbers) all.push_back(event(number)->json);
    return all;
}

std::string text_of(const std::string& path) {
    const auto bytes = read_file(path);
    return {bytes.begin(), bytes.end()};
}

TEST(EventSpool, HandsOutEventsInOrder) {
    EventSpool spool(100, "");
    for (int number = 1; number <= 3; ++number) spool.add(event(number));
    const auto first = spool.hand_out();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->event->json, event(1)->json);
    EXPECT_EQ(handed_out(spool), of({2, 3}));
    EXPECT_FALSE(spool.hand_out());
    EXPECT_EQ(spool.size(), 3u) << "they may have to be sent again";
    spool.forget(first->number);
    spool.forget(first->number);
    EXPECT_EQ(spool.size(), 2u);
    EXPECT_FALSE(spool.is_kept());
    spool.add(event(4, true));
    EXPECT_TRUE(spool.has_motion_of("door"));
    EXPECT_FALSE(spool.has_motion_of("yard"));
}

TEST(EventSpool, DropsTheOldestWaitingEvent) {
    EventSpool spool(3, "");
    spool.add(event(1));
    // handed out, so it must not be dropped
    ASSERT_TRUE(spool.hand_out());
    for (int number = 2; number <= 5; ++number) spool.add(event(number));
    EXPECT_EQ(spool.dropped(), 2);
    EXPECT_EQ(spool.size(), 3u);
    EXPECT_EQ(handed_out(spool), of({4, 5}));
}

TEST(EventSpool, RestoresEventsFromItsFile) {
    const TemporaryFolder folder;
    const auto path = folder / "spool";
    {
        EventSpool spool(100, path);
        EXPECT_TRUE(spool.is_kept());
        for (int number = 1; number <= 4; ++number) spool.add(event(number));
        spool.forget(spool.hand_out()->number);
        // handed out but not forgotten, because delivery was not confirmed
        ASSERT_TRUE(spool.hand_out());
    }
    struct stat about {};
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777u, 0600u);
    {
        EventSpool spool(100, path);
        EXPECT_EQ(handed_out(spool), of({2, 3, 4}));
        spool.add(event(5));
    }
    EventSpool less(2, path);
    EXPECT_EQ(less.dropped(), 2);
    EXPECT_EQ(handed_out(less), of({4, 5}));
}

TEST(EventSpool, RecoversFromATruncatedOrDamagedFile) {
    const TemporaryFolder folder;
    const auto path = folder / "spool";
    {
        EventSpool spool(100, path);
        for (int number = 1; number <= 4; ++number) spool.add(event(number));
    }
    const auto whole = text_of(path);
    // A file that is truncated anywhere still has the events before that point.
    for (std::size_t bytes = 0; bytes < whole.size(); bytes += 11) {
        write_file(path, whole.substr(0, bytes));
        EventSpool spool(100, path);
        EXPECT_LE(spool.size(), 4u);
        const auto all = of({1, 2, 3, 4});
        const auto rest = handed_out(spool);
        EXPECT_TRUE(std::equal(rest.begin(), rest.end(), all.begin())) << bytes;
    }
    auto damaged = whole;
    damaged.replace(damaged.find("\n+2 ") + 1, 2, "#2");
    damaged += "-99\n-\n+\n+7\n+7 {}\n" + std::string(1 << 20, 'x') + "\n\n+18446744073709551616 {}\n";
    write_file(path, damaged);
    EventSpool spool(100, path);
    EXPECT_EQ(handed_out(spool), of({1, 3, 4}));
}

TEST(EventSpool, RejectsOtherFiles) {
    const TemporaryFolder folder;
    const auto path = folder / "notes";
    for (const std::string text : {"my notes\nof today\n", "a longer text without any line break"}) {
        write_file(path, text);
        EXPECT_THROW(EventSpool(100, path), Error);
        EXPECT_EQ(text_of(path), text);
    }
    EXPECT_THROW(EventSpool(100, folder / ""), Error);
    EXPECT_THROW(EventSpool(100, folder / "no/such"), Error);
}

TEST(EventSpool, LocksItsFile) {
    const TemporaryFolder folder;
    const auto path = folder / "spool";
    const EventSpool first(100, path);
    try {
        EventSpool second(100, path);
        ADD_FAILURE() << "two have one file";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::config);
        EXPECT_NE(std::string(error.what()).find("in use"), std::string::npos) << error.what();
    }
}

// The file stays small however many events pass through the queue, and always holds those that still wait.
TEST(EventSpool, KeepsItsFileSmall) {
    const TemporaryFolder folder;
    const auto path = folder / "spool";
    std::size_t most = 0;
    {
        EventSpool spool(100, path);
        for (int number = 1; number <= 60'000; ++number) {
            spool.add(event(number));
            if (number > 50) spool.forget(spool.hand_out()->number);
            struct stat about {};
            if (number % 1000 == 0 && ::stat(path.c_str(), &about) == 0)
                most = std::max(most, static_cast<std::size_t>(about.st_size));
        }
        EXPECT_EQ(spool.size(), 50u);
        EXPECT_TRUE(spool.is_kept());
    }
    EXPECT_LT(most, 5u << 20);
    EventSpool again(100, path);
    EXPECT_EQ(handed_out(again).back(), event(60'000)->json);
    EXPECT_EQ(again.size(), 50u);
}

}  // namespace
}  // namespace framewire::service
