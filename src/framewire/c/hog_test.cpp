// Tests of fw_hog and fw_people, whose references are Hog and PeopleDetector.

#include "framewire/hog/hog.hpp"
#include "framewire/c/c_testing.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/hog/people_detector.hpp"
#include "framewire/media/window_model_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace framewire::c {
namespace {

class CHogTest : public HandleTest {};
FRAMEWIRE_ON_EVERY_BACKEND(CHogTest);

// The backends differ in the last bits of descriptors.
TEST_P(CHogTest, HogComputesTheDescriptorsOfHog) {
    for (const auto* text : {"", "descriptor=people:norm=l2", "cell=16:bins=6:signed=1"}) {
        SCOPED_TRACE(text);
        Picture image(description(FW_BGR, 131, 67));
        image.fill_with_noise(3);
        const auto hog = made<fw_hog>([&](auto** made) { return fw_hog_create(made, text, &image.image, &settings_); });
        Hog reference(parse_hog(text), image.view().shape(), kit::executor(Backend::cpu));
        const auto& shape = reference.output_shape();
        std::int32_t rows = 0, columns = 0, values = 0;
        FW_OK_OR_FAIL(fw_hog_shape(hog.get(), &rows, &columns, &values));
        EXPECT_EQ(std::tie(rows, columns, values), std::tie(shape.rows, shape.columns, shape.values));
        std::vector<float> got(static_cast<std::size_t>(shape.count())), want(got.size());
        FW_OK_OR_FAIL(fw_hog_compute(hog.get(), &image.image, got.data(), got.size(), nullptr));
        reference.run(image.view(), HogView<float, MemorySpace::host>(want.data(), shape));
        const float bound = GetParam() == Backend::cpu ? 0 : 1e-4f * *std::max_element(want.begin(), want.end());
        for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], bound) << i;
    }
}

TEST_P(CHogTest, HogRefusesWrongArguments) {
    Picture image(description(FW_GRAY, 64, 64));
    fw_hog* none = nullptr;
    EXPECT_REFUSED(fw_hog_create(nullptr, "", &image.image, &settings_), "hog is NULL");
    EXPECT_REFUSED(fw_hog_create(&none, "", nullptr, &settings_), "image is NULL");
    for (const auto* text : {"cell=3", "cells=8", "descriptor=none", "votes=cells", "block=2", "cell=8:cell=9"})
        EXPECT_EQ(fw_hog_create(&none, text, &image.image, &settings_), FW_ERROR_ARGUMENT) << text;
    const auto hog = made<fw_hog>([&](auto** made) { return fw_hog_create(made, "", &image.image, &settings_); });
    std::int32_t rows = 0, columns = 0, values = 0;
    EXPECT_REFUSED(fw_hog_shape(nullptr, &rows, &columns, &values), "hog is NULL");
    EXPECT_REFUSED(fw_hog_shape(hog.get(), nullptr, &columns, &values), "rows is NULL");
    EXPECT_REFUSED(fw_hog_shape(hog.get(), &rows, nullptr, &values), "columns is NULL");
    EXPECT_REFUSED(fw_hog_shape(hog.get(), &rows, &columns, nullptr), "values is NULL");
    std::vector<float> values_of(8 * 8 * 9);
    EXPECT_REFUSED(fw_hog_compute(nullptr, &image.image, values_of.data(), 576, nullptr), "hog is NULL");
    EXPECT_REFUSED(fw_hog_compute(hog.get(), nullptr, values_of.data(), 576, nullptr), "image is NULL");
    EXPECT_REFUSED(fw_hog_compute(hog.get(), &image.image, nullptr, 576, nullptr), "descriptors is NULL");
    EXPECT_REFUSED(fw_hog_compute(hog.get(), &image.image, values_of.data(), 575, nullptr),
                   "count is 575; the descriptors are 576 floats");
    fw_hog_destroy(nullptr);
}

// A model of a small window whose weights alternate, so that some windows of any image score more than others.
WindowModel small_model() {
    WindowModel model{.hog = {.norm = HogNorm::l2hys}, .width_px = 16, .height_px = 32};
    model.weights.resize(static_cast<std::size_t>(window_shape(model).count()));
    for (std::size_t i = 0; i < model.weights.size(); ++i) model.weights[i] = i % 3 == 0 ? 0.5f : -0.25f;
    return model;
}

TEST_P(CHogTest, PeopleAreThoseOfThePeopleDetector) {
    const Folder folder;
    write_window_model(folder / "model.npy", small_model());
    Scene scene;
    for (const auto* text :
         {"", "threshold=-2:group=overlap:scale-step=1.3", "threshold=-1.5:min-height=40:neighbours=0"}) {
        SCOPED_TRACE(text);
        const auto described = scene.picture().image;
        const auto people = made<fw_people>([&](auto** made) {
            return fw_people_create(made, (folder / "model.npy").c_str(), text, &described, &settings_);
        });
        auto& executor = kit::executor(GetParam());
        const Shape shape = scene.picture().view().shape();
        PeopleDetector reference(small_model(), parse_people(text), shape, executor);
        BackendImage frame_there(shape, executor);
        auto want = reference.make_people();
        std::size_t found_in_all = 0;
        for (int frame = 0; frame < 3 && scene.next(); ++frame) {
            const fw_person* found = nullptr;
            std::size_t count = 0;
            FW_OK_OR_FAIL(fw_people_process(people.get(), &scene.picture().image, nullptr, &found, &count));
            frame_there.put(scene.picture().view());
            executor.in_its_space(
                [&]<MemorySpace space>() { reference.run(std::as_const(frame_there).view<space>(), want); });
            want.download();
            want.wait();
            ASSERT_EQ(count, want.detections().size());
            for (std::size_t i = 0; i < count; ++i) {
                const auto& one = want.detections()[i];
                EXPECT_EQ(std::tie(found[i].x, found[i].y, found[i].width, found[i].height),
                          std::tie(one.x, one.y, one.width, one.height));
                EXPECT_EQ(found[i].score, static_cast<double>(one.score));
            }
            found_in_all += count;
        }
        EXPECT_TRUE(*text == 0 || found_in_all > 5) << found_in_all;
    }
}

TEST_P(CHogTest, PeopleRefuseWrongArguments) {
    const Folder folder;
    write_window_model(folder / "model.npy", small_model());
    const auto path = folder / "model.npy";
    Picture image(description(FW_BGR, 64, 64));
    fw_people* none = nullptr;
    EXPECT_REFUSED(fw_people_create(nullptr, path.c_str(), "", &image.image, &settings_), "people is NULL");
    EXPECT_REFUSED(fw_people_create(&none, nullptr, "", &image.image, &settings_), "model is NULL");
    EXPECT_REFUSED(fw_people_create(&none, path.c_str(), "", nullptr, &settings_), "image is NULL");
    EXPECT_EQ(fw_people_create(&none, (folder / "none.npy").c_str(), "", &image.image, &settings_), FW_ERROR_NO_INPUT);
    for (const auto* text : {"threshold=high", "treshold=1", "overlap=0.5:group=neighbours", "scale-step=1"})
        EXPECT_EQ(fw_people_create(&none, path.c_str(), text, &image.image, &settings_), FW_ERROR_ARGUMENT) << text;
    const auto small = description(FW_BGR, 15, 64);
    EXPECT_EQ(fw_people_create(&none, path.c_str(), "", &small, &settings_), FW_ERROR_ARGUMENT);
    EXPECT_PRED2(has, fw_last_error(), "smaller than the smallest window");
    const auto people = made<fw_people>(
        [&](auto** made) { return fw_people_create(made, path.c_str(), nullptr, &image.image, &settings_); });
    const fw_person* found = nullptr;
    std::size_t count = 0;
    EXPECT_REFUSED(fw_people_process(nullptr, &image.image, nullptr, &found, &count), "people is NULL");
    EXPECT_REFUSED(fw_people_process(people.get(), nullptr, nullptr, &found, &count), "image is NULL");
    EXPECT_REFUSED(fw_people_process(people.get(), &small, nullptr, &found, &count), "must be 64x64 BGR");
    EXPECT_REFUSED(fw_people_process(people.get(), &image.image, nullptr, nullptr, &count), "found is NULL");
    EXPECT_REFUSED(fw_people_process(people.get(), &image.image, nullptr, &found, nullptr), "count is NULL");
    fw_people_destroy(nullptr);
}

}  // namespace
}  // namespace framewire::c
