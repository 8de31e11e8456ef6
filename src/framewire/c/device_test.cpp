// Tests with images in device memory, which run on a GPU only. References are the results of the CPU.

#include "framewire/cuda/device.hpp"
#include "framewire/c/c_testing.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/foreign.hpp"
#include "framewire/cuda/stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace framewire::c {
namespace {

// Copy of a picture in device memory.
struct DeviceCopy {
    explicit DeviceCopy(const Picture& picture)
        : image(picture.image), memory(picture.memory.size()), bytes(picture.memory.size()) {
        cuda::upload(picture.memory.data(), memory.data(), bytes, stream);
        stream.synchronize();
        image.memory = FW_DEVICE;
        for (auto& data : image.data)
            if (data) data = memory.data() + (static_cast<std::uint8_t*>(data) - picture.memory.data());
    }
    std::vector<std::uint8_t> download() {
        std::vector<std::uint8_t> copy(bytes);
        cuda::download(memory.data(), copy.data(), bytes, stream);
        stream.synchronize();
        return copy;
    }
    // The stream as a caller of the C interface passes it.
    void* handle() const { return cuda::foreign_handles(stream).stream; }

    fw_image image;
    cuda::Stream stream;
    cuda::DeviceBuffer memory;
    std::size_t bytes;
};

class CDeviceTest : public kit::BackendTest {};
INSTANTIATE_TEST_SUITE_P(Backends, CDeviceTest, ::testing::Values(Backend::cuda), kit::backend_name);

// The caller's work on the stream before and after a run is in order with it, although nothing waits.
TEST_P(CDeviceTest, ChainsRunOnTheCallersStream) {
    const auto cuda = settings(Backend::cuda);
    for (const auto format : {FW_GRAY, FW_BGR, FW_I420, FW_NV12, FW_P010})
        for (const auto* text : {"gaussian=5", "noise", "median=9,mosaic=16"}) {
            SCOPED_TRACE(std::to_string(format) + " " + text);
            auto described = description(format, 641, 361);
            described.matrix = FW_BT709, described.full_range = 1, described.siting = FW_SITING_TOP_LEFT;
            Picture in(described);
            const auto chain =
                made<fw_chain>([&](auto** made) { return fw_chain_create(made, text, &described, &cuda); });
            fw_image result{};
            result.size = sizeof result;
            FW_OK_OR_FAIL(fw_chain_output(chain.get(), &result));
            Picture out(result);
            in.fill_with_noise(1);
            DeviceCopy from(in), to(out);
            std::vector<std::uint8_t> got;
            for (int run = 0; run < 4; ++run) {
                // the upload and the download are queued on the same stream as the run
                cuda::upload(in.memory.data(), from.memory.data(), from.bytes, to.stream);
                FW_OK_OR_FAIL(fw_chain_run(chain.get(), &from.image, &to.image, to.handle()));
                got = to.download();
            }
            EXPECT_EQ(got, reference_result(text, in, 4));
            // from host to device memory and back
            FW_OK_OR_FAIL(fw_chain_reset(chain.get()));
            FW_OK_OR_FAIL(fw_chain_run(chain.get(), &in.image, &to.image, nullptr));
            EXPECT_EQ(to.download(), reference_result(text, in, 1));
            FW_OK_OR_FAIL(fw_chain_reset(chain.get()));
            FW_OK_OR_FAIL(fw_chain_run(chain.get(), &from.image, &out.image, nullptr));
            EXPECT_EQ(out.memory, reference_result(text, in, 1));
        }
}

TEST_P(CDeviceTest, DetectorsHogAndEncodersReadDeviceImages) {
    const auto cuda = settings(Backend::cuda), cpu = settings(Backend::cpu);
    Scene scene;
    const auto described = scene.picture().image;
    const auto make_detector = [&](const fw_settings& on) {
        return made<fw_detector>([&](auto** made) { return fw_detector_create(made, "", &described, 25, &on); });
    };
    const auto make_hog = [&](const fw_settings& on) {
        return made<fw_hog>([&](auto** made) { return fw_hog_create(made, "", &described, &on); });
    };
    const auto make_encoder = [&](const fw_settings& on) {
        return made<fw_encoder>([&](auto** made) { return fw_encoder_create(made, "", &described, &on); });
    };
    const auto detector = make_detector(cuda), same_detector = make_detector(cpu);
    const auto hog = make_hog(cuda), same_hog = make_hog(cpu);
    const auto encoder = make_encoder(cuda), same_encoder = make_encoder(cpu);
    std::int32_t rows = 0, columns = 0, values = 0;
    FW_OK_OR_FAIL(fw_hog_shape(hog.get(), &rows, &columns, &values));
    std::vector<float> floats(static_cast<std::size_t>(rows * columns * values)), want(floats.size());
    cuda::DeviceBuffer descriptors(floats.size() * sizeof(float));
    while (scene.next()) {
        DeviceCopy copy(scene.picture());
        const fw_box *boxes = nullptr, *same_boxes = nullptr;
        std::size_t count = 0, same_count = 0;
        FW_OK_OR_FAIL(fw_detector_process(detector.get(), &copy.image, copy.handle(), &boxes, &count));
        FW_OK_OR_FAIL(
            fw_detector_process(same_detector.get(), &scene.picture().image, nullptr, &same_boxes, &same_count));
        ASSERT_EQ(count, same_count);
        if (count > 0) {
            EXPECT_EQ(std::memcmp(boxes, same_boxes, count * sizeof(fw_box)), 0);
        }

        FW_OK_OR_FAIL(fw_hog_compute(hog.get(), &copy.image, descriptors.as<float>(), floats.size(), copy.handle()));
        cuda::download(descriptors.data(), floats.data(), descriptors.bytes(), copy.stream);
        copy.stream.synchronize();
        FW_OK_OR_FAIL(fw_hog_compute(same_hog.get(), &scene.picture().image, want.data(), want.size(), nullptr));
        const float bound = 1e-4f * *std::max_element(want.begin(), want.end());
        for (std::size_t i = 0; i < floats.size(); ++i) ASSERT_NEAR(floats[i], want[i], bound);
        EXPECT_REFUSED(fw_hog_compute(hog.get(), &copy.image, want.data(), want.size(), nullptr),
                       "descriptors is not in the image's memory");

        const std::uint8_t *bytes = nullptr, *same_bytes = nullptr;
        FW_OK_OR_FAIL(fw_encoder_encode(encoder.get(), &copy.image, 0, copy.handle(), &bytes, &count));
        FW_OK_OR_FAIL(
            fw_encoder_encode(same_encoder.get(), &scene.picture().image, 0, nullptr, &same_bytes, &same_count));
        EXPECT_EQ(std::vector(bytes, bytes + count), std::vector(same_bytes, same_bytes + same_count));
    }
}

// With several GPUs, handles work on any of them, and the caller's current one stays.
TEST_P(CDeviceTest, TheCallersCurrentGpuStays) {
    for (const auto& current : cuda::devices())
        for (const auto& gpu : cuda::devices()) {
            const auto kept = [&](fw_status status) {
                return status == FW_OK && cuda::current_device() == current.index;
            };
            auto cuda = settings(Backend::cuda);
            cuda.device = gpu.index;
            cuda::use_device(current.index);
            Picture in(description(FW_BGR, 65, 33)), out(description(FW_BGR, 65, 33)),
                mask(description(FW_GRAY, 65, 33));
            in.fill_with_noise(2);
            fw_buffer* buffer = nullptr;
            fw_chain* chain = nullptr;
            fw_detector* detector = nullptr;
            const fw_box* boxes = nullptr;
            std::size_t count = 0;
            auto there = in.image;
            EXPECT_TRUE(kept(fw_buffer_create(&buffer, in.memory.size(), gpu.index)));
            there.memory = FW_DEVICE;
            there.device = gpu.index;
            EXPECT_TRUE(kept(fw_image_layout(&there, fw_buffer_data(buffer), nullptr)));
            EXPECT_TRUE(kept(fw_image_copy(&in.image, &there, nullptr)));
            EXPECT_TRUE(kept(fw_chain_create(&chain, "median=5", &in.image, &cuda)));
            EXPECT_TRUE(kept(fw_chain_run(chain, &there, &out.image, nullptr)));
            EXPECT_EQ(out.memory, reference_result("median=5", in, 1));
            EXPECT_TRUE(kept(fw_detector_create(&detector, "", &in.image, 0, &cuda)));
            EXPECT_TRUE(kept(fw_detector_process(detector, &there, nullptr, &boxes, &count)));
            EXPECT_TRUE(kept(fw_detector_mask(detector, &mask.image)));
            EXPECT_TRUE(kept(fw_detector_reset(detector)));
            fw_detector_destroy(detector);
            fw_chain_destroy(chain);
            fw_buffer_destroy(buffer);
            EXPECT_TRUE(kept(FW_OK));
        }
    cuda::use_device(0);
}

// Buffers and copies need no other CUDA library.
TEST_P(CDeviceTest, ImagesAreCopiedToBuffersAndBack) {
    Picture from(description(FW_NV12, 65, 33)), to(description(FW_NV12, 65, 33));
    from.fill_with_noise(8);
    fw_buffer *one = nullptr, *other = nullptr;
    FW_OK_OR_FAIL(fw_buffer_create(&one, from.memory.size(), 0));
    FW_OK_OR_FAIL(fw_buffer_create(&other, from.memory.size(), 0));
    auto there = from.image, further = from.image;
    there.memory = further.memory = FW_DEVICE;
    FW_OK_OR_FAIL(fw_image_layout(&there, fw_buffer_data(one), nullptr));
    FW_OK_OR_FAIL(fw_image_layout(&further, fw_buffer_data(other), nullptr));
    FW_OK_OR_FAIL(fw_image_copy(&from.image, &there, nullptr));
    FW_OK_OR_FAIL(fw_image_copy(&there, &further, nullptr));
    FW_OK_OR_FAIL(fw_stream_order(0, nullptr, nullptr));
    FW_OK_OR_FAIL(fw_image_copy(&further, &to.image, nullptr));
    EXPECT_EQ(to.memory, from.memory);
    to.image.memory = FW_DEVICE;
    EXPECT_REFUSED(fw_image_copy(&there, &to.image, nullptr), "to->data[0] is not in the memory of GPU 0");
    fw_buffer_destroy(one);
    fw_buffer_destroy(other);
}

TEST_P(CDeviceTest, SourcesReadIntoDeviceMemory) {
    const Folder folder;
    const auto path = folder / "a.y4m";
    {
        const auto source = open_source("synth:size=98x66:objects=2:frames=4");
        const auto sink = open_sink(path, source->info().shape, source->info().rate);
        HostImage image(source->info().shape);
        for (FrameTime time; source->read(image.view(), time);) sink->write(image.view(), time);
        sink->finish();
    }
    for (const auto& text : {path, std::string("synth:size=98x66:objects=2:frames=4")})
        for (const int native : {0, 1}) {
            SCOPED_TRACE(text + std::to_string(native));
            fw_source_options options{};
            options.size = sizeof options, options.native = native;
            const auto host =
                made<fw_source>([&](auto** made) { return fw_source_open(made, text.c_str(), &options); });
            options.on_device = 1;
            const auto device =
                made<fw_source>([&](auto** made) { return fw_source_open(made, text.c_str(), &options); });
            fw_image described{};
            described.size = sizeof described;
            FW_OK_OR_FAIL(fw_source_info(device.get(), &described, nullptr));
            Picture want(described), other(described);
            DeviceCopy got(other);
            for (int frame = 0; frame < 4; ++frame) {
                FW_OK_OR_FAIL(fw_source_read(host.get(), &want.image, nullptr, nullptr));
                FW_OK_OR_FAIL(fw_source_read(device.get(), &got.image, nullptr, got.handle()));
                EXPECT_EQ(got.download(), want.memory) << frame;
            }
            EXPECT_EQ(fw_source_read(device.get(), &got.image, nullptr, nullptr), FW_END);
            EXPECT_REFUSED(fw_source_read(device.get(), &want.image, nullptr, nullptr), "opened with on_device");
        }
}

}  // namespace
}  // namespace framewire::c
