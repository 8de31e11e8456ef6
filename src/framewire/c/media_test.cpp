// Tests of fw_source and fw_sink.

#include "framewire/c/c_testing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace framewire::c {
namespace {

// Writes pictures of a format to a file, and reads them as they are and as images.
TEST(CMedia, SourcesReadWhatSinksWrite) {
    const Folder folder;
    const auto path = folder / "a.y4m";
    auto described = description(FW_I420, 66, 34);
    described.siting = FW_SITING_CENTRE;
    Picture written(described);
    {
        const auto sink =
            made<fw_sink>([&](auto** made) { return fw_sink_open(made, path.c_str(), &described, 25, 2, nullptr); });
        for (std::uint32_t seed = 1; seed <= 3; ++seed) {
            written.fill_with_noise(seed);
            FW_OK_OR_FAIL(fw_sink_write(sink.get(), &written.image, nullptr));
        }
        EXPECT_FALSE(std::filesystem::exists(path));
        FW_OK_OR_FAIL(fw_sink_finish(sink.get()));
        EXPECT_TRUE(std::filesystem::exists(path));
        EXPECT_REFUSED(fw_sink_write(sink.get(), &written.image, nullptr), "the sink is finished");
        EXPECT_REFUSED(fw_sink_finish(sink.get()), "the sink is finished");
    }
    fw_source_options options{};
    options.size = sizeof options;
    for (const int native : {1, 0}) {
        options.native = native;
        const auto source = made<fw_source>([&](auto** made) { return fw_source_open(made, path.c_str(), &options); });
        fw_info info{};
        info.size = sizeof info;
        fw_image format{};
        format.size = sizeof format;
        FW_OK_OR_FAIL(fw_source_info(source.get(), &format, &info));
        EXPECT_EQ(format.format, native ? FW_I420 : FW_BGR);
        EXPECT_EQ(format.width, 66);
        EXPECT_EQ(format.height, 34);
        EXPECT_EQ(format.siting, native ? FW_SITING_CENTRE : 0);
        EXPECT_EQ(info.rate_numerator, 25);
        EXPECT_EQ(info.rate_denominator, 2);
        EXPECT_EQ(info.frames, 3);
        EXPECT_EQ(info.live, 0);
        EXPECT_EQ(info.threshold, -1);
        const auto reference = open_source(path);
        HostImage want(reference->info().shape);
        for (std::uint32_t seed = 1; seed <= 3; ++seed) {
            Picture read(format, native ? 0 : 11);
            fw_time time{};
            time.size = sizeof time;
            FW_OK_OR_FAIL(fw_source_read(source.get(), &read.image, &time, nullptr));
            EXPECT_EQ(time.index, seed - 1);
            EXPECT_DOUBLE_EQ(time.seconds, (seed - 1) / 12.5);
            FrameTime ignored;
            ASSERT_TRUE(reference->read(want.view(), ignored));
            written.fill_with_noise(seed);
            if (native)
                EXPECT_EQ(read.memory, written.memory);
            else
                EXPECT_EQ(kit::first_difference(read.view(), std::as_const(want).view()), std::nullopt);
        }
        Picture more(format);
        EXPECT_EQ(fw_source_read(source.get(), &more.image, nullptr, nullptr), FW_END);
        FW_OK_OR_FAIL(fw_source_seek(source.get(), 0.16));
        FW_OK_OR_FAIL(fw_source_read(source.get(), &more.image, nullptr, nullptr));
        FW_OK_OR_FAIL(fw_source_stop(source.get()));
        EXPECT_EQ(fw_source_read(source.get(), &more.image, nullptr, nullptr), FW_END);
    }
}

// A sink for planes gets images, and one for images gets planes: both as the media library converts them.
TEST(CMedia, SinksConvertWhatTheyGet) {
    const Folder folder;
    Picture image(description(FW_BGR, 64, 48));
    image.fill_with_noise(9);
    const auto write = [&](const char* name, const fw_image& picture) {
        const auto path = folder / name;
        const auto sink =
            made<fw_sink>([&](auto** made) { return fw_sink_open(made, path.c_str(), &picture, 30, 1, nullptr); });
        fw_time time{sizeof(fw_time), 4, 2.5, 0};
        EXPECT_EQ(fw_sink_write(sink.get(), &picture, &time), FW_OK) << fw_last_error();
        EXPECT_EQ(fw_sink_finish(sink.get()), FW_OK) << fw_last_error();
        return path;
    };
    const auto read = [](const std::string& path) {
        const auto source = open_source(path);
        HostImage picture(source->info().shape);
        FrameTime time;
        EXPECT_TRUE(source->read(picture.view(), time));
        return picture;
    };
    {
        const auto got = read(write("image.y4m", image.image));
        const auto sink = open_sink(folder / "want.y4m", {1, 48, 64, 3}, {30, 1});
        sink->write(image.view(), {});
        sink->finish();
        const auto want = read(folder / "want.y4m");
        EXPECT_EQ(kit::first_difference(got.view(), want.view()), std::nullopt);
    }
    {
        Picture planes(description(FW_I444, 64, 48));
        planes.fill_with_noise(4);
        const auto got = read(write("planes.png", planes.image));
        const auto native = read(write("planes.y4m", planes.image));
        EXPECT_EQ(kit::first_difference(got.view(), native.view()), std::nullopt);
    }
}

TEST(CMedia, SourcesAndSinksRefuseWrongArguments) {
    const Folder folder;
    fw_source* none = nullptr;
    EXPECT_REFUSED(fw_source_open(nullptr, "synth:", nullptr), "source is NULL");
    EXPECT_REFUSED(fw_source_open(&none, nullptr, nullptr), "text is NULL");
    EXPECT_EQ(fw_source_open(&none, "/nowhere/a.y4m", nullptr), FW_ERROR_NO_INPUT);
    EXPECT_PRED2(has, fw_last_error(), "/nowhere/a.y4m");
    EXPECT_EQ(fw_source_open(&none, "synth:sise=64x48", nullptr), FW_ERROR_ARGUMENT);
    EXPECT_PRED2(has, fw_last_error(), "size");
    const auto refused_with = [&](auto member, auto value, const char* text) {
        fw_source_options options{};
        options.size = sizeof options;
        options.*member = value;
        EXPECT_REFUSED(fw_source_open(&none, "synth:size=64x48", &options), text);
    };
    refused_with(&fw_source_options::size, std::size_t{3}, "options.size is 3");
    refused_with(&fw_source_options::native, 2, "options->native is 2");
    refused_with(&fw_source_options::on_device, -1, "options->on_device is -1");
    refused_with(&fw_source_options::loop, 5, "options->loop is 5");
    refused_with(&fw_source_options::start_seconds, -1.0, "options->start_seconds is -1");
    refused_with(&fw_source_options::duration_seconds, static_cast<double>(NAN), "options->duration_seconds is");
    refused_with(&fw_source_options::timeout_seconds, 1e9, "options->timeout_seconds is");
    refused_with(&fw_source_options::width, -1, "options->width is -1");
    refused_with(&fw_source_options::height, 1 << 20, "options->height is");
    refused_with(&fw_source_options::rate, 1e5, "options->rate is");
    const auto source =
        made<fw_source>([&](auto** made) { return fw_source_open(made, "synth:size=64x48:frames=3", nullptr); });
    Picture image(description(FW_BGR, 64, 48)), gray(description(FW_GRAY, 64, 48));
    fw_info info{};
    fw_image unsized{};
    EXPECT_REFUSED(fw_source_info(nullptr, nullptr, &info), "source is NULL");
    EXPECT_REFUSED(fw_source_info(source.get(), nullptr, &info), "info.size is 0");
    EXPECT_REFUSED(fw_source_info(source.get(), &unsized, nullptr), "image.size is 0");
    EXPECT_REFUSED(fw_source_read(nullptr, &image.image, nullptr, nullptr), "source is NULL");
    EXPECT_REFUSED(fw_source_read(source.get(), nullptr, nullptr, nullptr), "image is NULL");
    EXPECT_REFUSED(fw_source_read(source.get(), &gray.image, nullptr, nullptr), "must be 64x48 BGR");
    fw_time time{};
    EXPECT_REFUSED(fw_source_read(source.get(), &image.image, &time, nullptr), "time.size is 0");
    image.image.memory = FW_DEVICE;
    EXPECT_REFUSED(fw_source_read(source.get(), &image.image, nullptr, nullptr), "opened without on_device");
    image.image.memory = FW_HOST;
    EXPECT_REFUSED(fw_source_seek(nullptr, 1), "source is NULL");
    EXPECT_REFUSED(fw_source_seek(source.get(), -1), "seconds is -1");
    EXPECT_REFUSED(fw_source_stop(nullptr), "source is NULL");
    fw_source_close(nullptr);

    fw_sink* no_sink = nullptr;
    const auto path = folder / "a.y4m";
    EXPECT_REFUSED(fw_sink_open(nullptr, path.c_str(), &image.image, 30, 1, nullptr), "sink is NULL");
    EXPECT_REFUSED(fw_sink_open(&no_sink, nullptr, &image.image, 30, 1, nullptr), "text is NULL");
    EXPECT_REFUSED(fw_sink_open(&no_sink, path.c_str(), nullptr, 30, 1, nullptr), "image is NULL");
    EXPECT_REFUSED(fw_sink_open(&no_sink, path.c_str(), &image.image, 30, 0, nullptr), "the rate is 30/0; allowed: ");
    EXPECT_REFUSED(fw_sink_open(&no_sink, path.c_str(), &image.image, -1, 1, nullptr), "the rate is -1/1");
    fw_sink_options options{sizeof options, 2};
    EXPECT_REFUSED(fw_sink_open(&no_sink, path.c_str(), &image.image, 30, 1, &options), "options->replace is 2");
    EXPECT_EQ(fw_sink_open(&no_sink, (folder / "a.exe").c_str(), &image.image, 30, 1, nullptr), FW_ERROR_ARGUMENT);
    EXPECT_EQ(fw_sink_open(&no_sink, (folder / "no/a.y4m").c_str(), &image.image, 30, 1, nullptr), FW_ERROR_IO);
    options.replace = 0;
    const auto sink =
        made<fw_sink>([&](auto** made) { return fw_sink_open(made, path.c_str(), &image.image, 30, 1, &options); });
    EXPECT_REFUSED(fw_sink_write(nullptr, &image.image, nullptr), "sink is NULL");
    EXPECT_REFUSED(fw_sink_write(sink.get(), nullptr, nullptr), "image is NULL");
    EXPECT_REFUSED(fw_sink_write(sink.get(), &gray.image, nullptr), "must be 64x48 BGR");
    EXPECT_REFUSED(fw_sink_write(sink.get(), &image.image, &time), "time.size is 0");
    time = {sizeof time, 0, NAN, 0};
    EXPECT_REFUSED(fw_sink_write(sink.get(), &image.image, &time), "time->seconds is");
    image.image.memory = FW_DEVICE;
    EXPECT_REFUSED(fw_sink_write(sink.get(), &image.image, nullptr), "host memory is required");
    EXPECT_REFUSED(fw_sink_finish(nullptr), "sink is NULL");
    fw_sink_close(nullptr);
}

}  // namespace
}  // namespace framewire::c
