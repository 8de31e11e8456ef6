// Tests of fw_encoder and fw_decoder, whose reference is StreamEncoder.

#include "framewire/c/c_testing.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/plan/stream_encoder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace framewire::c {
namespace {

class CCodecTest : public HandleTest {};
FRAMEWIRE_ON_EVERY_BACKEND(CCodecTest);

TEST_P(CCodecTest, EncodedFramesAreThoseOfTheEncoderAndDecodeToItsReference) {
    for (const auto* text : {"", "mode=lossless", "mode=bounded:threshold=9"}) {
        SCOPED_TRACE(text);
        Scene scene("synth:size=160x120:objects=2:noise=3:frames=8");
        const auto& described = scene.picture().image;
        const auto encoder =
            made<fw_encoder>([&](auto** made) { return fw_encoder_create(made, text, &described, &settings_); });
        const auto decoder =
            made<fw_decoder>([&](auto** made) { return fw_decoder_create(made, &described, nullptr); });
        StreamEncoder reference(codec::parse_encoder(text), scene.picture().view().shape(),
                                kit::executor(Backend::cpu));
        Frame frame(scene.picture().view().shape(), kit::executor(Backend::cpu));
        Picture decoded(described, 7);
        for (int number = 0; scene.next(); ++number) {
            const bool keyframe = number == 5;
            const std::uint8_t* bytes = nullptr;
            std::size_t count = 0;
            FW_OK_OR_FAIL(fw_encoder_encode(encoder.get(), &scene.picture().image, keyframe, nullptr, &bytes, &count));
            copy(scene.picture().view(), frame.fill_on_host());
            const auto want =
                reference.encode(frame, keyframe ? codec::PackAs::keyframe : codec::PackAs::delta_frame).packed;
            ASSERT_EQ(std::vector(bytes, bytes + count), std::vector(want.begin(), want.end())) << number;
            FW_OK_OR_FAIL(fw_decoder_decode(decoder.get(), bytes, count, number % 2 ? nullptr : &decoded.image));
            if (number % 2 == 0) {
                EXPECT_EQ(kit::first_difference(decoded.view(), reference.reference()), std::nullopt);
            }
        }
    }
}

TEST_P(CCodecTest, CodecsRefuseWrongArgumentsAndDamagedBytes) {
    Picture image(description(FW_BGR, 70, 31));
    image.fill_with_noise(1);
    fw_encoder* no_encoder = nullptr;
    fw_decoder* no_decoder = nullptr;
    EXPECT_REFUSED(fw_encoder_create(nullptr, "", &image.image, &settings_), "encoder is NULL");
    EXPECT_REFUSED(fw_encoder_create(&no_encoder, "", nullptr, &settings_), "image is NULL");
    EXPECT_EQ(fw_encoder_create(&no_encoder, "threshold=255", &image.image, &settings_), FW_ERROR_ARGUMENT);
    EXPECT_PRED2(has, fw_last_error(), "254");
    EXPECT_REFUSED(fw_decoder_create(nullptr, &image.image, nullptr), "decoder is NULL");
    EXPECT_REFUSED(fw_decoder_create(&no_decoder, nullptr, nullptr), "image is NULL");
    auto many = settings_;
    many.threads = -1;
    EXPECT_REFUSED(fw_decoder_create(&no_decoder, &image.image, &many), "settings->threads is -1");
    const auto encoder =
        made<fw_encoder>([&](auto** made) { return fw_encoder_create(made, "", &image.image, &settings_); });
    const auto decoder = made<fw_decoder>([&](auto** made) { return fw_decoder_create(made, &image.image, nullptr); });
    const std::uint8_t* bytes = nullptr;
    std::size_t count = 0;
    EXPECT_REFUSED(fw_encoder_encode(nullptr, &image.image, 0, nullptr, &bytes, &count), "encoder is NULL");
    EXPECT_REFUSED(fw_encoder_encode(encoder.get(), nullptr, 0, nullptr, &bytes, &count), "image is NULL");
    EXPECT_REFUSED(fw_encoder_encode(encoder.get(), &image.image, 0, nullptr, nullptr, &count), "bytes is NULL");
    EXPECT_REFUSED(fw_encoder_encode(encoder.get(), &image.image, 0, nullptr, &bytes, nullptr), "count is NULL");

    FW_OK_OR_FAIL(fw_encoder_encode(encoder.get(), &image.image, 0, nullptr, &bytes, &count));
    const std::vector<std::uint8_t> keyframe(bytes, bytes + count);
    image.fill_with_noise(2);
    FW_OK_OR_FAIL(fw_encoder_encode(encoder.get(), &image.image, 0, nullptr, &bytes, &count));
    const std::vector<std::uint8_t> delta(bytes, bytes + count);
    EXPECT_REFUSED(fw_decoder_decode(nullptr, keyframe.data(), keyframe.size(), nullptr), "decoder is NULL");
    EXPECT_REFUSED(fw_decoder_decode(decoder.get(), nullptr, 5, nullptr), "bytes is NULL");
    const auto decode = [&](const std::vector<std::uint8_t>& packed, const fw_image* to = nullptr) {
        return fw_decoder_decode(decoder.get(), packed.data(), packed.size(), to);
    };
    EXPECT_EQ(decode({keyframe.begin(), keyframe.begin() + 1}), FW_ERROR_SOURCE_LOST);
    EXPECT_EQ(decode(delta), FW_ERROR_SOURCE_LOST);
    EXPECT_PRED2(has, fw_last_error(), "before the first keyframe");
    EXPECT_EQ(decode({keyframe.begin(), keyframe.end() - 9}), FW_ERROR_SOURCE_LOST);
    EXPECT_EQ(decode(delta), FW_ERROR_SOURCE_LOST);
    EXPECT_EQ(decode(keyframe), FW_OK);
    for (std::size_t size = 2; size < delta.size(); size += 97)
        EXPECT_EQ(decode({delta.begin(), delta.begin() + static_cast<std::ptrdiff_t>(size)}), FW_ERROR_SOURCE_LOST);
    Picture out(description(FW_BGR, 70, 31)), wrong(description(FW_BGR, 70, 30));
    EXPECT_REFUSED(fw_decoder_decode(decoder.get(), delta.data(), delta.size(), &wrong.image), "must be 70x31 BGR");
    out.image.memory = FW_DEVICE;
    EXPECT_REFUSED(fw_decoder_decode(decoder.get(), delta.data(), delta.size(), &out.image),
                   "image is in device memory; host memory is required");
    out.image.memory = FW_HOST;
    EXPECT_EQ(decode(delta, &out.image), FW_OK);
    fw_encoder_destroy(nullptr);
    fw_decoder_destroy(nullptr);
}

}  // namespace
}  // namespace framewire::c
