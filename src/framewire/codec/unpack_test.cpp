#include "framewire/codec/encoder_ref.hpp"
#include "framewire/codec/reference_pixels.hpp"
#include "framewire/core/error.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <string>

namespace framewire::codec {
namespace {

using namespace reference;

class Random {
public:
    explicit Random(std::uint64_t salt) : random_(kit::seed() + salt) {}
    int operator()(int below) { return static_cast<int>(random_() % static_cast<std::uint64_t>(below)); }
    Shape shape() { return {1, 1 + (*this)(100), 1 + (*this)(150), (*this)(2) ? 1 : 3}; }
    int threshold() { return std::array{0, 1, 8, 20, 90, 254}[static_cast<std::size_t>((*this)(6))]; }

private:
    std::mt19937_64 random_;
};

/// Returns the result of `read`, or nothing if it throws.
std::optional<Bytes> taken(const std::function<Bytes()>& read) {
    try {
        return read();
    } catch (const Error&) {
        return {};
    }
}

std::string to_string(const Shape& shape, const Bytes& packed) {
    return framewire::to_string(shape) + ", kind " + std::to_string(packed[0]) + ", threshold " +
           std::to_string(packed[1]);
}

TEST(UnpackReference, DecodesFramesFromAllEncoders) {
    Random random(1);
    for (int round = 0; round < (kit::brief() ? 6 : 40); ++round) {
        const auto shape = random.shape();
        const int threshold = random.threshold(), noise = random(2) * random(30), effort = random(3);
        for (const bool bounded : {false, true}) {
            Sender sender(shape, threshold, bounded, effort);
            HostImage camera(shape);
            Bytes seen(static_cast<std::size_t>(shape.bytes()));
            for (int frame = 0; frame < 4; ++frame) {
                film(camera.view(), frame, noise, kit::seed());
                const auto packed = sender.send(std::as_const(camera).view());
                SCOPED_TRACE(to_string(shape, packed) + ", noise " + std::to_string(noise) + ", effort " +
                             std::to_string(effort));
                const auto unpacked = unpack(shape, packed, seen);
                seen = unpack_reference(shape, packed, seen);
                ASSERT_EQ(seen, sender.held());
                ASSERT_EQ(unpacked, seen);
                ASSERT_LE(packed.size(), max_packed_bytes(shape));
                const auto wanted = bytes_of(std::as_const(camera).view());
                for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_LE(std::abs(seen[i] - wanted[i]), threshold);
            }
        }
    }
}

TEST(UnpackReference, AgreesWithTheUnpackerOnRandomStreams) {
    Random random(2);
    int allowed[4] = {}, beyond[4] = {};
    for (int round = 0; round < (kit::brief() ? 150 : 1000); ++round) {
        const auto shape = random.shape();
        HostImage before(shape);
        film(before.view(), 0, 5, kit::seed());
        const auto bytes = bytes_of(std::as_const(before).view());
        const auto invention = invent(shape, bytes, [&](int below) { return random(below); });
        SCOPED_TRACE(to_string(shape, invention.packed));
        ++(invention.allowed ? allowed : beyond)[invention.packed[0]];
        const auto want = invention.allowed ? std::optional(invention.after) : std::nullopt;
        ASSERT_EQ(taken([&] { return unpack_reference(shape, invention.packed, bytes); }), want);
        kit::for_each_instruction_set(Backend::cpu, [&](const std::string& name) {
            ASSERT_EQ(taken([&] { return unpack(shape, invention.packed, bytes); }), want) << name;
        });
    }
    for (const int kind : {0, 1, 2, 3}) EXPECT_GT(allowed[kind], 0) << "of kind " << kind;
    for (const int kind : {0, 2, 3}) EXPECT_GT(beyond[kind], 0) << "of kind " << kind;
}

TEST(UnpackReference, AgreesWithTheUnpackerOnDamagedStreams) {
    Random random(3);
    int whole = 0, refused = 0;
    for (int round = 0; round < (kit::brief() ? 10 : 60); ++round) {
        const auto shape = random.shape();
        Sender sender(shape, random.threshold(), random(2), 1);
        HostImage camera(shape);
        Bytes before(static_cast<std::size_t>(shape.bytes())), packed;
        for (int frame = 0; frame <= random(2); ++frame) {
            before = sender.held();
            film(camera.view(), frame, 3, kit::seed());
            packed = sender.send(std::as_const(camera).view());
        }
        for (int damage = 0; damage < 30; ++damage) {
            auto bytes = packed;
            const auto size = static_cast<int>(packed.size());
            const auto place = random(2) ? random(size) : random(std::min(size, 10));  // the directory is at the front
            auto& byte = bytes[static_cast<std::size_t>(place)];
            switch (random(5)) {
                case 0: byte = static_cast<std::uint8_t>(byte ^ 1 << random(8)); break;
                case 1: byte = static_cast<std::uint8_t>(random(256)); break;
                case 2: bytes.erase(bytes.begin() + place); break;
                case 3: bytes.insert(bytes.begin() + place, static_cast<std::uint8_t>(random(4))); break;
                case 4: bytes.resize(static_cast<std::size_t>(place)); break;
            }
            const auto want = taken([&] { return unpack_reference(shape, bytes, before); });
            ASSERT_EQ(taken([&] { return unpack(shape, bytes, before); }), want)
                << to_string(shape, packed) << ", place " << place << " of " << size;
            ++(want ? whole : refused);
        }
    }
    EXPECT_GT(whole, 0);
    EXPECT_GT(refused, 0);
}

// Symbol source in which every magnitude is the largest that can be signalled: 512 in the first pixel, and 256 more
// with each pixel to the right or below.
struct LargestSteps final : reference::Symbols {
    std::vector<Said> said;
    const reference::StepModels& models = reference::step_models(0);

    int symbol(const Model& model) override {
        const auto is_one_of = [&](const std::vector<Model>& group) {
            return &model >= group.data() && &model < group.data() + group.size();
        };
        int symbol = 0;  // up
        if (is_one_of(models.mode)) symbol = 4;
        if (is_one_of(models.changed)) symbol = 1;
        if (is_one_of(models.magnitude)) symbol = 19;
        const auto start = std::accumulate(model.begin(), model.begin() + symbol, 0);
        say(start, model[static_cast<std::size_t>(symbol)]);
        return symbol;
    }
    int bits(int count) override {
        const int value = count == 2 ? 0 : (1 << count) - 1;
        say(value * (scale >> count), scale >> count);
        return value;
    }
    void say(int start, int frequency) {
        said.push_back({0, static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(frequency)});
    }
};

TEST(UnpackReference, DecodesTheLargestMagnitudes) {
    for (const int channels : {1, 3}) {
        const Shape shape{1, 64, 64, channels};
        const Bytes before(static_cast<std::size_t>(shape.bytes()));
        const Picture was{shape, before};
        Picture after = was;
        LargestSteps steps;
        steps.bits(2);                  // the set of models
        steps.say(0, states_model[0]);  // one state
        read_prediction(steps, steps.models, {0, 0, 64, 64}, 254, true, was, after);
        Bytes block, packed{3, 254};
        write_symbols(steps.said, 1, 0, block);
        append_number(packed, block.size());
        packed.insert(packed.end(), block.begin(), block.end());
        ASSERT_EQ(unpack_reference(shape, packed, before), after.bytes);
        ASSERT_EQ(unpack(shape, packed, before), after.bytes);
        EXPECT_EQ(after.bytes, Bytes(before.size(), 255));
    }
}

}  // namespace
}  // namespace framewire::codec
