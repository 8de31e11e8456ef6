#include "framewire/session/cameras/camera_text.hpp"

#include "framewire/media/media_testing.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace framewire::session {
namespace camera_text_test {

TEST(CameraText, SplitsAtTheFirstEqualsSign) {
    const auto expect = [](const char* text, const char* name, const char* rest) {
        const auto parts = camera_source(text);
        EXPECT_EQ(parts.name, name) << text;
        EXPECT_EQ(parts.rest, rest) << text;
    };
    expect("door=synth", "door", "synth");
    expect("door=synth:size=64x48", "door", "synth:size=64x48");
    expect("Yard_2.b-c=rtsp://a/b?c=d", "Yard_2.b-c", "rtsp://a/b?c=d");
    expect("door=", "door", "");
    expect("..=synth", "..", "synth");
    for (const auto* text : {"synth", "synth:size=64x48", "rtsp://a/b?c=d", "./a=b.mp4", "folder/a=b.mp4", "=synth",
                             "a b=synth", "lavfi:color=c=red"})
        expect(text, "", text);
}

TEST(CameraText, PrefersAnExistingFile) {
    const testing::TemporaryFolder folder;
    const auto here = std::filesystem::current_path();
    std::filesystem::current_path(std::filesystem::path(folder / "x").parent_path());
    testing::write_file("a=b.bgr", "0", 1);
    const auto there = camera_source("a=b.bgr"), elsewhere = camera_source("a=c.bgr");
    std::filesystem::current_path(here);
    EXPECT_EQ(there.name, "");
    EXPECT_EQ(there.rest, "a=b.bgr");
    EXPECT_EQ(elsewhere.name, "a");
}

TEST(CameraText, AcceptsOnlyKnownNamesInOtherTexts) {
    const std::vector<std::string> names{"door", "yard"};
    EXPECT_EQ(camera_text("door=gaussian=5", names).name, "door");
    EXPECT_EQ(camera_text("door=gaussian=5", names).rest, "gaussian=5");
    EXPECT_EQ(camera_text("gaussian=5", names).name, "");
    EXPECT_EQ(camera_text("gaussian=5", names).rest, "gaussian=5");
    EXPECT_EQ(camera_text("gray", names).rest, "gray");
}

TEST(CameraText, ReplacesThePlaceholder) {
    EXPECT_EQ(with_camera_name("day/{name}-{name}.fwd:key=2", "door"), "day/door-door.fwd:key=2");
    EXPECT_EQ(with_camera_name("{nam}{name", "door"), "{nam}{name");
    EXPECT_EQ(with_camera_name("", "door"), "");
}

}  // namespace camera_text_test
}  // namespace framewire::session
