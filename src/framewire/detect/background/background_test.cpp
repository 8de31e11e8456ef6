#include "framewire/detect/background/background.hpp"

#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace framewire {
namespace background_test {

std::string message(std::string_view text) {
    try {
        parse_background(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        return error.what();
    }
    return "";
}

TEST(Background, ParsesEveryForm) {
    EXPECT_EQ(parse_background("first"), BackgroundModel(FirstFrame{}));
    EXPECT_EQ(parse_background("mean:0.02"), BackgroundModel(RunningMean{0.02}));
    EXPECT_EQ(parse_background("mean:1"), BackgroundModel(RunningMean{1}));
    EXPECT_EQ(parse_background("empty room.png"), BackgroundModel(BackgroundImage{"empty room.png"}));
    EXPECT_EQ(parse_background("./first"), BackgroundModel(BackgroundImage{"./first"}));
    EXPECT_EQ(parse_background("mixture"), BackgroundModel(MixtureParameters{}));
    EXPECT_EQ(parse_background("mixture:history=300:var_threshold=20.5:shadows=1:learning_rate=-1"),
              BackgroundModel(MixtureParameters{.history = 300, .var_threshold = 20.5f, .shadows = true}));
}

TEST(Background, ExistsOnceLaterFramesOutweighTheFirst) {
    const auto frames = [](const char* text) { return frames_before_background(parse_background(text)); };
    EXPECT_EQ(frames("room.png"), 0);
    EXPECT_EQ(frames("first"), 1);
    EXPECT_EQ(frames("mean:1"), 2) << "the second frame's background is the first frame alone";
    EXPECT_EQ(frames("mean:0.5"), 2);
    EXPECT_EQ(frames("mean:0.4"), 3) << "0.6, 0.36";
    EXPECT_EQ(frames("mean:0.02"), 36) << "0.98^34 is 0.503";
    EXPECT_EQ(frames("mixture"), 5) << "3/4 5/6 7/8 9/10 is 0.49";
    EXPECT_EQ(frames("mixture:history=1"), 2);
    EXPECT_EQ(frames("mixture:learning_rate=0.02"), 36);
    EXPECT_EQ(frames("mixture:learning_rate=0"), 1) << "as with first";
}

TEST(Background, SaysWhatIsAllowed) {
    for (const auto* text : {"mean", "mean:", "mean:0", "mean:1.5", "mean:nan", "mean:0.1x"})
        EXPECT_NE(message(text).find("above 0 up to 1"), std::string::npos) << text;
    for (const auto* text : {"", "frist", "first:", "mixtures"})
        EXPECT_NE(message(text).find("there are first, mean:RATE, mixture"), std::string::npos) << text;
    EXPECT_NE(message("frist").find("did you mean 'first'?"), std::string::npos);
    EXPECT_EQ(message("mixture:histroy=5"),
              "mixture has no parameter 'histroy'; its parameters are history, var_threshold, var_threshold_gen, "
              "mixtures, var_init, var_min, var_max, complexity_reduction, background_ratio, shadows, "
              "shadow_threshold, learning_rate, learn_every; did you mean 'history'?");
    EXPECT_NE(message("mixture:history").find("'history' is no key=value"), std::string::npos);
    EXPECT_EQ(message("mixture:history=5.5"),
              "mixture: history '5.5' is no whole number; allowed is a whole number from 1 to 1000000");
    EXPECT_EQ(message("mixture:history=0"),
              "mixture: history '0' is out of range; allowed is a whole number from 1 to 1000000");
    EXPECT_NE(message("mixture:var_min=nan").find("var_min 'nan' is no number"), std::string::npos);
    EXPECT_NE(message("mixture:var_min=80").find("var_min 80 is above var_max, which is 75"), std::string::npos);
    EXPECT_NE(message("mixture:learning_rate=-0.5").find("0 to 1, and -1 for automatic"), std::string::npos);
    EXPECT_NE(message("mixture:shadows=yes").find("0 or 1"), std::string::npos);
    EXPECT_EQ(message("mixture:shadow_threshold=0.4"), "mixture: shadow_threshold does not count without shadows=1");
    EXPECT_EQ(message("mixture:shadow_threshold=0.4:shadows=1"), "");
    EXPECT_NE(message("mixture::").find("'' is no key=value"), std::string::npos);
}

}  // namespace background_test
}  // namespace framewire
