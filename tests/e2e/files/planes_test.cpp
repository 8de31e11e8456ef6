// Filters that go from planes to planes give the bytes of the way over whole images. That way is had by a filter more
// that changes nothing and does not go by rows.

#include "e2e/program.hpp"
#include "e2e/shell.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace framewire::e2e {
namespace planes_test {

constexpr const char* nothing = "convolve='0 0 0 0 1 0 0 0 0'";

class Planes : public testing::Test {
protected:
    std::string clip(const std::string& form) {
        const auto path = folder_ / "clip.mkv";
        EXPECT_TRUE(ffmpeg("-f lavfi -i testsrc2=size=161x119:rate=10:duration=1 " + form + " " + path));
        return path;
    }

    std::string written(const std::string& clip, const std::string& filters, const std::string& target,
                        const std::string& path, std::vector<std::string> more = {}) {
        std::vector<std::string> words{"run", "--backend", "cpu",   "-y", "-i",
                                       clip,  "-f",        filters, "-o", folder_ / target};
        words.insert(words.end(), more.begin(), more.end());
        const auto made = run_framewire(std::move(words));
        EXPECT_EQ(made.code, 0) << made.err;
        return contents(folder_ / path);
    }

    void expect_same(const std::string& clip, const std::string& filters, const std::string& keys = "") {
        SCOPED_TRACE(filters + keys);
        const auto over_images = written(clip, filters + "," + nothing, "want.y4m" + keys, "want.y4m");
        EXPECT_FALSE(over_images.empty());
        EXPECT_TRUE(written(clip, filters, "out.y4m" + keys, "out.y4m") == over_images);
    }

    TemporaryFolder folder_;
};

TEST_F(Planes, GiveTheBytesOfTheWayOverImages) {
    for (const auto* form :
         {"-c:v libx264 -pix_fmt yuv420p", "-c:v ffv1 -pix_fmt yuv444p", "-c:v mjpeg -pix_fmt yuvj420p",
          "-c:v ffv1 -pix_fmt yuv422p10le", "-c:v ffv1 -pix_fmt yuv420p -chroma_sample_location topleft"}) {
        SCOPED_TRACE(form);
        const auto from = clip(form);
        for (const auto* filters : {"gray", "adjust=saturation=1.7", "fps=20,binarize=fixed"})
            expect_same(from, filters);
        expect_same(from, "gray=channels=1");
        expect_same(from, "adjust=contrast=1.3", ":pixels=yuv422p:range=full");
    }
}

TEST_F(Planes, SayWhatTheStepsTook) {
    const auto stats = folder_ / "stats.json";
    written(clip("-c:v ffv1 -pix_fmt yuv420p"), "adjust=contrast=1.3,binarize=fixed:level=99", "out.y4m", "out.y4m",
            {"--times", "--stats", stats});
    const auto figures = nlohmann::json::parse(contents(stats));
    std::string names;
    for (const auto& step : figures.at("steps")) names += step.at("name").get<std::string>() + " ";
    EXPECT_EQ(names, "read adjust+binarize send ");
    EXPECT_EQ(figures.dump().find("\"threshold\":99") == std::string::npos, false) << figures.dump();
}

}  // namespace planes_test
}  // namespace framewire::e2e
