// Tests that filters which run directly on planes give the same bytes as on whole images. The test forces the latter
// with an additional filter that changes nothing and does not run by rows.

#include "e2e/program.hpp"
#include "e2e/shell.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace framewire::e2e {
namespace {

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

TEST_F(Planes, OutputsEqualThoseOfWholeImages) {
    struct Case {
        const char *form, *filters, *keys;
    };
    for (const auto& one :
         {Case{"-c:v libx264 -pix_fmt yuv420p", "gray", ""}, Case{"-c:v ffv1 -pix_fmt yuv444p", "flip,gray", ""},
          Case{"-c:v mjpeg -pix_fmt yuvj420p", "fps=20,binarize=fixed", ""},
          Case{"-c:v ffv1 -pix_fmt yuv422p10le", "adjust=saturation=1.7", ":pixels=yuv422p:range=full"},
          Case{"-c:v ffv1 -pix_fmt yuv420p -chroma_sample_location topleft",
               "adjust=contrast=3,scale=50%,text=ab:size=12", ""},
          Case{"-c:v ffv1 -pix_fmt yuv420p", "gray=channels=1", ""}}) {
        SCOPED_TRACE(one.form);
        expect_same(clip(one.form), one.filters, one.keys);
    }
}

TEST_F(Planes, TimesAreReportedPerStep) {
    const auto stats = folder_ / "stats.json";
    written(clip("-c:v ffv1 -pix_fmt yuv420p"), "adjust=contrast=1.3,gray,binarize=fixed:level=99", "out.y4m",
            "out.y4m", {"--times", "--stats", stats});
    const auto figures = nlohmann::json::parse(contents(stats));
    std::string names;
    for (const auto& step : figures.at("steps")) names += step.at("step").get<std::string>() + " ";
    EXPECT_EQ(names, "read adjust gray+binarize send ");
    EXPECT_EQ(figures.at("filters").at(0).at("threshold"), 99);
}

TEST_F(Planes, FiltersOnPlanesAreTimedOneByOne) {
    const auto stats = folder_ / "stats.json";
    written(clip("-c:v libx264 -pix_fmt yuv420p -vf scale=160:120"), "rotate=90,scale=50%", "out.y4m", "out.y4m",
            {"--times", "--stats", stats});
    const auto figures = nlohmann::json::parse(contents(stats));
    std::string names;
    for (const auto& step : figures.at("steps")) names += step.at("step").get<std::string>() + " ";
    EXPECT_EQ(names, "read rotate scale convert send ") << "because turned chroma is elsewhere";
}

}  // namespace
}  // namespace framewire::e2e
