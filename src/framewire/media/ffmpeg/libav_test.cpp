#include "framewire/media/ffmpeg/libav.hpp"

#include <gtest/gtest.h>

#include <string>

namespace framewire::filter_graph_test {
namespace {

std::string graph_of(const std::string& filter) {
    return "buffer@in=video_size=16x8:pix_fmt=gray:time_base=1/30," + filter + ",buffersink@out";
}

TEST(FilterGraph, FiltersEachPicture) {
    FilterGraph graph(graph_of("negate"), 2);
    for (const int value : {10, 200}) {
        const auto picture = make_frame(AV_PIX_FMT_GRAY8, 16, 8);
        for (int y = 0; y < 8; ++y)
            for (int x = 0; x < 16; ++x)
                picture->data[0][y * picture->linesize[0] + x] = static_cast<std::uint8_t>(value);
        picture->pts = value;
        const auto& result = graph.run(*picture);
        ASSERT_EQ(result.width, 16);
        ASSERT_EQ(result.height, 8);
        EXPECT_EQ(result.pts, value);
        EXPECT_EQ(result.data[0][7 * result.linesize[0] + 15], 255 - value);
        EXPECT_EQ(picture->data[0][0], value);
    }
}

TEST(FilterGraph, NamesAMissingFilter) {
    initialise_ffmpeg();  // redirects FFmpeg's log
    try {
        FilterGraph graph(graph_of("nosuchfilter"));
        FAIL() << "there is no such filter";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::config);
        EXPECT_NE(std::string(error.what()).find("nosuchfilter"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace framewire::filter_graph_test
