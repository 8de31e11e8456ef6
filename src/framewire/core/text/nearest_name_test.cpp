#include "framewire/core/text/nearest_name.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace framewire {
namespace nearest_name_test {

const std::vector<std::string_view> names = {"gray", "gaussian", "median", "mean", "mosaic"};

TEST(NearestName, HasTheFewestLettersToChange) {
    EXPECT_EQ(nearest_name("grey", names), "gray");
    EXPECT_EQ(nearest_name("grya", names), "gray");
    EXPECT_EQ(nearest_name("gauss", names), "gaussian");
    EXPECT_EQ(nearest_name("medan", names), "median");
    EXPECT_EQ(nearest_name("mea", names), "mean");
    EXPECT_EQ(nearest_name("gray", names), "gray");
    // Two swapped letters count as one mistake.
    const std::vector<std::string_view> short_names = {"raw", "run"};
    EXPECT_EQ(nearest_name("rnu", short_names), "run");
    EXPECT_EQ(nearest_name("nru", short_names), "");
}

TEST(NearestName, IsEmptyWhenNoCandidateIsNear) {
    EXPECT_EQ(nearest_name("sobel", names), "");
    EXPECT_EQ(nearest_name("", names), "");
    EXPECT_EQ(nearest_name("gray", {}), "");
    EXPECT_EQ(nearest_name(std::string(1'000'000, 'g'), names), "");
    EXPECT_EQ(did_you_mean("sobel", names), "");
    EXPECT_EQ(did_you_mean("grey", names), "; did you mean 'gray'?");
}

}  // namespace nearest_name_test
}  // namespace framewire
