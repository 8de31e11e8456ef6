#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/framewire.h"
#include "framewire/media/media.hpp"
#include "framewire/plan/frame_plan.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace framewire::c {

/// Returns true if `text` contains `part`.
inline bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

/// The call must succeed.
#define FW_OK_OR_FAIL(call) ASSERT_EQ((call), FW_OK) << fw_last_error()
/// The call must refuse an argument with a message that begins with the function and contains `text`.
inline void expect_refused(fw_status status, const std::string& call, const std::string& text) {
    EXPECT_EQ(status, FW_ERROR_ARGUMENT) << call;
    const std::string message = fw_last_error(), begin = call.substr(0, call.find('(')) + "(): ";
    EXPECT_EQ(message.substr(0, begin.size()), begin) << message;
    EXPECT_PRED2(has, message, text);
}
#define EXPECT_REFUSED(call, text) expect_refused((call), #call, text)

template <class Handle>
struct Destroy {
    void operator()(fw_chain* handle) const { fw_chain_destroy(handle); }
    void operator()(fw_detector* handle) const { fw_detector_destroy(handle); }
    void operator()(fw_tracker* handle) const { fw_tracker_destroy(handle); }
    void operator()(fw_hog* handle) const { fw_hog_destroy(handle); }
    void operator()(fw_people* handle) const { fw_people_destroy(handle); }
    void operator()(fw_encoder* handle) const { fw_encoder_destroy(handle); }
    void operator()(fw_decoder* handle) const { fw_decoder_destroy(handle); }
    void operator()(fw_source* handle) const { fw_source_close(handle); }
    void operator()(fw_sink* handle) const { fw_sink_close(handle); }
    void operator()(fw_viewer* handle) const { fw_viewer_close(handle); }
};
template <class Handle>
using Owned = std::unique_ptr<Handle, Destroy<Handle>>;

/// Owns a handle that `make` stores.
template <class Handle, class Make>
Owned<Handle> made(Make&& make) {
    Handle* handle = nullptr;
    const auto status = make(&handle);
    EXPECT_EQ(status, FW_OK) << fw_last_error();
    return Owned<Handle>(handle);
}

inline fw_image description(fw_format format, int width, int height) {
    fw_image image{};
    image.size = sizeof image;
    image.format = format;
    image.width = width;
    image.height = height;
    return image;
}

inline fw_settings settings(Backend backend) {
    return {sizeof(fw_settings), backend == Backend::cpu ? FW_BACKEND_CPU : FW_BACKEND_CUDA, 0, 0};
}

/// An image in host memory, whose rows may be longer than their pixels if it is gray or BGR.
struct Picture {
    explicit Picture(const fw_image& described, int padding = 0) : image(described) {
        std::size_t bytes = 0;
        EXPECT_EQ(fw_image_layout(&image, nullptr, &bytes), FW_OK) << fw_last_error();
        memory.resize(bytes + static_cast<std::size_t>(padding * image.height));
        EXPECT_EQ(fw_image_layout(&image, memory.data(), nullptr), FW_OK) << fw_last_error();
        image.stride[0] += padding;
    }
    void fill_with_noise(std::uint32_t seed) {
        for (auto& byte : memory) byte = static_cast<std::uint8_t>((seed = seed * 1664525u + 1013904223u) >> 24);
        if (image.format >= FW_I010)  // words of 10 bits
            for (std::size_t i = 1; i < memory.size(); i += 2)
                image.format == FW_P010 ? memory[i - 1] &= 0xc0 : memory[i] &= 3;
    }
    HostView<std::uint8_t> view() {
        return {memory.data(),
                {1, image.height, image.width, image.format == FW_GRAY ? 1 : 3},
                image.stride[0],
                image.stride[0] * image.height};
    }

    fw_image image;
    std::vector<std::uint8_t> memory;
};

/// Format of a description, for references.
inline FrameFormat reference_format(const fw_image& image) {
    if (image.format == FW_GRAY || image.format == FW_BGR)
        return FrameFormat(Shape{1, image.height, image.width, image.format == FW_GRAY ? 1 : 3});
    const YuvFormat formats[] = {yuv_420,
                                 yuv_422,
                                 yuv_444,
                                 yuv_nv12,
                                 {ChromaSampling::s420, false, 10},
                                 {ChromaSampling::s422, false, 10},
                                 {ChromaSampling::s444, false, 10},
                                 yuv_p010};
    return FrameFormat(YuvInfo{
        formats[image.format - FW_I420], {YuvMatrix::bt709, true}, siting_top_left, 1, image.height, image.width});
}

/// Result of a chain by FramePlan, as bytes without gaps.
inline std::vector<std::uint8_t> reference_result(const std::string& text, Picture& in, int runs) {
    auto& executor = kit::executor(Backend::cpu);
    const auto format = reference_format(in.image);
    FramePlan plan(parse_chain(text), format, executor);
    std::vector<std::uint8_t> result(static_cast<std::size_t>(plan.result().bytes()));
    const auto view = [](const FrameFormat& of, std::uint8_t* data) {
        return of.planes() ? PictureView<std::uint8_t, MemorySpace::host>(HostYuv<std::uint8_t>(data, *of.planes()))
                           : PictureView<std::uint8_t, MemorySpace::host>(HostView<std::uint8_t>(data, of.shape()));
    };
    const auto from = view(format, in.memory.data());
    for (int run = 0; run < runs; ++run) plan.run(from, from, view(plan.result(), result.data()));
    return result;
}

/// Frames of a scene with moving objects.
class Scene {
public:
    explicit Scene(const char* text = "synth:size=320x240:objects=3:frames=40:seed=3")
        : source_(open_source(text)),
          picture_(description(FW_BGR, source_->info().shape.width, source_->info().shape.height)) {}
    bool next() {
        if (!source_->read(picture_.view(), time_)) return false;
        return true;
    }
    Picture& picture() { return picture_; }
    const FrameTime& time() const { return time_; }

private:
    std::unique_ptr<Source> source_;
    Picture picture_;
    FrameTime time_;
};

/// Folder of a test's files, removed at its end.
class Folder {
public:
    Folder() {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directory(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    std::string operator/(const char* name) const { return path_ / name; }

private:
    std::filesystem::path path_ =
        std::filesystem::temp_directory_path() /
        ("c-interface-" +
         std::to_string(std::hash<std::string>()(::testing::UnitTest::GetInstance()->current_test_info()->name())));
};

/// Fixture of tests on every backend.
class HandleTest : public kit::BackendTest {
protected:
    fw_settings settings_ = settings(GetParam());
};

}  // namespace framewire::c
