#include "framewire/net/limits/pinned_bytes.hpp"

#include <gtest/gtest.h>

namespace framewire::net {
namespace pinned_bytes_test {

TEST(PinnedBytes, CountsSharedMessagesOnce) {
    const auto message = [](std::size_t bytes) { return std::make_shared<const Bytes>(bytes); };
    const auto a = message(100), b = message(20), c = message(3);
    PinnedBytes pinned;
    EXPECT_EQ(pinned.growth({a, b}), 120u);
    pinned.add({a, b});
    EXPECT_EQ(pinned.growth({b, c}), 3u);
    pinned.add({b, c});
    EXPECT_EQ(pinned.total(), 123u);
    pinned.remove({a, b});
    EXPECT_EQ(pinned.total(), 23u) << "b is still on its way to somebody";
    pinned.remove({b, c});
    EXPECT_EQ(pinned.total(), 0u);
    EXPECT_EQ(pinned.growth({a}), 100u);
}

}  // namespace pinned_bytes_test
}  // namespace framewire::net
