#include "framewire/core/text/paths.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace framewire {
namespace paths_test {

TEST(WithoutPaths, KeepsFileNames) {
    const std::pair<const char*, const char*> cases[] = {
        {"cannot write /srv/kept/door-1.fwd: No space left on device",
         "cannot write door-1.fwd: No space left on device"},
        {"/srv/kept/door.png is there already", "door.png is there already"},
        {"there is no folder /srv/kept/.", "there is no folder kept."},
        {"no folder '/srv/my films/a b.mp4', sadly", "no folder 'a b.mp4', sadly"},
        {"filesystem error: cannot rename [/srv/a b/c.part] [/srv/a b/c]",
         "filesystem error: cannot rename [c.part] [c]"},
        {"font=/usr/share/x.ttf:size=3", "font=x.ttf:size=3"},
        {"door:/srv/x", "door:x"},
        {"file:///etc/passwd", "file:passwd"},
        {"(/etc/a/)", "(a)"},
    };
    for (const auto& [text, shown] : cases) EXPECT_EQ(without_paths(text), shown) << text;
}

TEST(WithoutPaths, LeavesOtherTextAlone) {
    for (const std::string text :
         {"", "rtsp://camera.local/stream: lost", "1 Mbit/s and/or 2", "a / b", "*/", "{name}/x", "application/json",
          "filters, column 1: no filter 'grey'; did you mean 'gray'?"})
        EXPECT_EQ(without_paths(text), text);
    const auto once = without_paths("cannot open /a/b/c.mp4 or '/d e/f'");
    EXPECT_EQ(without_paths(once), once);
}

}  // namespace paths_test
}  // namespace framewire
