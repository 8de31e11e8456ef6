#include "framewire/session/input/public_name.hpp"

#include <gtest/gtest.h>

namespace framewire::session {
namespace public_name_test {

TEST(PublicName, OmitsFoldersUsersAndQueries) {
    EXPECT_EQ(public_name("/home/me/private/clip.mkv"), "clip.mkv");
    EXPECT_EQ(public_name("clip.mkv"), "clip.mkv");
    EXPECT_EQ(public_name("rtsp://me:secret@camera.local/stream?token=1"), "rtsp://camera.local/stream");
    EXPECT_EQ(public_name("http://camera.local/stream"), "http://camera.local/stream");
}

}  // namespace public_name_test
}  // namespace framewire::session
