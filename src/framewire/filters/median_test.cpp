#include "framewire/filters/median.hpp"
#include "framewire/filters/window_ref.hpp"
#include "kit/window_check.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace framewire {
namespace {

using kit::borders;
using MedianTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(MedianTest);

void check_size(Backend backend, int size, int channels, kit::NamedBorder border, std::vector<Shape> shapes = {}) {
    kit::check_window<MedianParameters>(backend, median_info(), median_reference, size, channels, border,
                                        std::move(shapes));
}

// Returns shapes that keep the reference cheap: smaller than the window, about a vector or a tile wide, and with
// partial tiles.
std::vector<Shape> few_shapes(int channels) {
    return {
        {1, 1, 1, channels}, {1, 3, 5, channels}, {2, 17, 15, channels}, {1, 1, 70, channels}, {1, 19, 101, channels}};
}

TEST_P(MedianTest, MatchesTheReferenceForEveryShape) {
    for (const int channels : {3, 1}) check_size(GetParam(), 3, channels, borders[0]);
}

void check_border(Backend backend, kit::NamedBorder border) {
    int turn = static_cast<int>(border.border);
    for (const int size : {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21})
        for (const int channels : kit::channel_counts(turn++))
            check_size(backend, size, channels, border, few_shapes(channels));
}
FRAMEWIRE_TEST_EVERY_BORDER(MedianTest, check_border)

TEST_P(MedianTest, MatchesTheReferenceForLargeSizes) {
    for (const auto& border : borders)
        for (const int size : {23, 31, 51, 101}) check_size(GetParam(), size, 3, border, {{1, 3, 5, 3}, {2, 9, 40, 3}});
    // These images have several windows, strips and bands of the sliding histograms.
    check_size(GetParam(), 17, 3, borders[0], {{1, 90, 450, 3}});
    // The limits of sm_75 allow no more.
    const bool least = GetParam() == Backend::cuda && cuda::limits().block_shared_bytes == 64 * 1024;
    const int largest = least ? 231 : max_median_size;
    check_size(GetParam(), largest, 1, borders[0], {{1, 2, 3, 1}, {1, 3, 20, 1}});
    check_size(GetParam(), largest, 3, borders[2], {{1, 2, 5, 3}});
}

ParameterValues values_of(const char* size) { return with_defaults(median_info(), {{"size", size}}); }

TEST(Median, RejectsInvalidSizes) {
    auto& executor = kit::executor(Backend::cpu);
    for (const auto* size : {"-1", "0", "2", "4", "254", "256", "257"}) {
        try {
            median_info().make(values_of(size), {1, 4, 4, 3}, executor);
            ADD_FAILURE() << "size " << size << " was accepted";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage);
            EXPECT_NE(std::string(error.what()).find("; allowed: an odd whole number from 1 to 255"), std::string::npos)
                << error.what();
        }
    }
}

TEST(Median, RejectsInvalidShapes) {
    auto& executor = kit::executor(Backend::cpu);
    EXPECT_THROW(Median({}, {1, 4, 4, 2}, executor), Error);
    EXPECT_THROW(Median({}, {1, 0, 4, 3}, executor), Error);
    Median median({}, {1, 4, 4, 3}, executor);
    HostImage in({1, 4, 4, 3}), narrow({1, 4, 3, 3});
    EXPECT_THROW(median.run(FilterImages<MemorySpace::host>{in.view(), {}, narrow.view()}), Error);
}

TEST(Median, DeclaresThatSizesAreOdd) {
    const auto info = median_info();
    EXPECT_EQ(info.parameters.front().name, "size");
    EXPECT_TRUE(info.parameters.front().odd_only);
}

}  // namespace
}  // namespace framewire
