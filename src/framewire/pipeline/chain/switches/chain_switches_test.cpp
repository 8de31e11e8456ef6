#include "framewire/pipeline/chain/switches/chain_switches.hpp"

#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace framewire {
namespace chain_switches_test {

constexpr Shape colour{1, 20, 30, 3};

std::vector<std::string> names_of(const Chain& chain) {
    std::vector<std::string> names;
    for (const auto& call : chain.calls) names.emplace_back(call.filter->name);
    return names;
}

std::string refusal(ChainSwitches& switches, std::size_t number) {
    try {
        switches.set(number, false);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST(ChainSwitches, SwitchFiltersOffAndOn) {
    ChainSwitches switches(parse_chain("gaussian=5:sigma=1, mosaic=32 ,text='a, b'"), colour);
    const std::vector<FilterSwitch> all{{"gaussian=5:sigma=1"}, {"mosaic=32"}, {"text='a, b'"}};
    EXPECT_EQ(switches.all(), all);
    switches.set(2, false);
    EXPECT_EQ(names_of(switches.active()), (std::vector<std::string>{"gaussian", "text"}));
    EXPECT_FALSE(switches.all()[1].on);
    switches.set(2, true);
    switches.set(1, false);
    EXPECT_EQ(names_of(switches.active()), (std::vector<std::string>{"mosaic", "text"}));
}

TEST(ChainSwitches, FiltersThatChangeTheShapeStayOn) {
    ChainSwitches switches(parse_chain("flip=horizontal,scale=15:10,gray=channels=1,gray"), colour);
    EXPECT_EQ(refusal(switches, 1), "");
    EXPECT_NE(refusal(switches, 2).find("changes the size"), std::string::npos);
    EXPECT_NE(refusal(switches, 3).find("changes the size"), std::string::npos);
    EXPECT_NE(refusal(switches, 0).find("the chain has 4"), std::string::npos);
    EXPECT_NE(refusal(switches, 5).find("no filter 5"), std::string::npos);
    EXPECT_EQ(names_of(switches.active()).size(), 3U);
}

TEST(ChainSwitches, FiltersBeforeARateChangeStayOn) {
    ChainSwitches switches(parse_chain("gray,fps=10,median=3"), colour);
    EXPECT_NE(refusal(switches, 1).find("before fps"), std::string::npos);
    EXPECT_NE(refusal(switches, 2).find("how many frames"), std::string::npos);
    EXPECT_EQ(refusal(switches, 3), "");
}

TEST(ChainSwitches, AnotherChainKeepsSwitchedOffFilters) {
    ChainSwitches switches(parse_chain("gaussian=5,mosaic=32,gray=channels=3,mosaic=8"), colour);
    for (const std::size_t number : {1, 2, 3}) switches.set(number, false);
    switches.take(parse_chain("mosaic=8,gaussian=7,mosaic=32,median=3"), colour);
    EXPECT_EQ(names_of(switches.active()), (std::vector<std::string>{"mosaic", "median"}));
    EXPECT_TRUE(switches.all()[0].on) << "the other one of its name was off";
    EXPECT_THROW(switches.take(parse_chain("crop=900:900"), colour), Error);
    EXPECT_EQ(switches.all().size(), 4U) << "nothing changed";
    switches.take(parse_chain("scale=15:10"), colour);
    EXPECT_EQ(names_of(switches.active()).size(), 1U);
}

}  // namespace chain_switches_test
}  // namespace framewire
