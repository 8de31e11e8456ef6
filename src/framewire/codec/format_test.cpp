#include "framewire/codec/encoder_ref.hpp"
#include "framewire/codec/reference_pixels.hpp"
#include "framewire/core/error.hpp"
#include "kit/images.hpp"
#include "kit/needs.hpp"
#include "kit/sources.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

// Tests of the streams in `vectors` (format.md, "Vectors"). To write the streams again, run codec_tests
// --gtest_filter='*/Vectors.*' with FRAMEWIRE_WRITE_VECTORS=1 in the environment.

namespace framewire::codec {
namespace {

using namespace reference;
namespace fs = std::filesystem;

const auto vectors = fs::path(kit::sources_path) / "src/framewire/codec/vectors";

struct Frame {
    Bytes packed;
    std::uint64_t hash;  // hash of the picture after the frame

    bool operator==(const Frame&) const = default;
};

struct Stream {
    Shape shape;
    std::vector<Frame> frames;

    bool operator==(const Stream&) const = default;
};

/// Returns the 64-bit FNV-1a hash, as in format.md.
std::uint64_t hash_of(const Bytes& bytes) {
    std::uint64_t hash = 0xCBF29CE484222325u;
    for (const auto byte : bytes) hash = (hash ^ byte) * 0x100000001B3u;
    return hash;
}

struct Recipe {
    std::string name;  ///< path of the stream in `vectors`, without the extension
    Shape shape;
    enum class Kind { exact, bounded, invented } kind;
    int threshold, effort, noise, frames;
};

std::vector<Recipe> recipes() {
    using enum Recipe::Kind;
    return {
        {"exact/gray-1x1", {1, 1, 1, 1}, exact, 0, 0, 20, 4},
        {"exact/bgr-70x31", {1, 31, 70, 3}, exact, 8, 0, 2, 3},
        {"exact/bgr-17x9-noise", {1, 9, 17, 3}, exact, 20, 0, 255, 3},
        {"exact/gray-150x130", {1, 130, 150, 1}, exact, 20, 0, 0, 4},
        {"exact/gray-40x40-states-8", {1, 40, 40, 1}, exact, 20, 0, 255, 2},
        {"exact/bgr-64x64-states-32", {1, 64, 64, 3}, exact, 20, 0, 255, 2},
        {"exact/bgr-5x80-far", {1, 80, 5, 3}, exact, 254, 0, 255, 3},
        {"exact/bgr-150x130-runs", {1, 130, 150, 3}, exact, 0, 0, 0, 3},
        {"exact/gray-150x130-runs", {1, 130, 150, 1}, exact, 0, 0, 0, 3},
        {"bounded/bgr-1x1", {1, 1, 1, 3}, bounded, 8, 2, 20, 4},
        {"bounded/gray-70x31", {1, 31, 70, 1}, bounded, 0, 1, 0, 3},
        {"bounded/bgr-33x20-lossless", {1, 20, 33, 3}, bounded, 0, 2, 4, 3},
        {"bounded/bgr-70x31", {1, 31, 70, 3}, bounded, 8, 2, 3, 4},
        {"bounded/bgr-70x31-far", {1, 31, 70, 3}, bounded, 254, 2, 255, 3},
        {"bounded/bgr-150x130", {1, 130, 150, 3}, bounded, 20, 2, 6, 3},
        {"bounded/gray-150x130", {1, 130, 150, 1}, bounded, 8, 1, 2, 3},
        {"invented/bgr-67x20", {1, 20, 67, 3}, invented, 0, 0, 0, 8},
        {"invented/gray-20x67", {1, 67, 20, 1}, invented, 0, 0, 0, 12},
    };
}

void PrintTo(const Recipe& recipe, std::ostream* out) { *out << recipe.name; }

Stream encoded(const Recipe& recipe) {
    Stream stream{recipe.shape, {}};
    Sender sender(recipe.shape, recipe.threshold, recipe.kind == Recipe::Kind::bounded, recipe.effort);
    HostImage camera(recipe.shape);
    for (int time = 0; time < recipe.frames; ++time) {
        film(camera.view(), time, recipe.noise, 1);
        auto packed = sender.send(std::as_const(camera).view());
        stream.frames.push_back({std::move(packed), hash_of(sender.held())});
    }
    return stream;
}

/// Returns a stream of valid random frames, one of each kind in turn.
Stream invented(const Recipe& recipe) {
    Stream stream{recipe.shape, {}};
    Bytes before(static_cast<std::size_t>(recipe.shape.bytes()));
    std::uint64_t drawn = 0;
    while (static_cast<int>(stream.frames.size()) < recipe.frames) {
        const auto invention = invent(recipe.shape, before, [&](int below) {
            return static_cast<int>(scatter(++drawn) % static_cast<std::uint64_t>(below));
        });
        const auto kind = static_cast<std::size_t>(invention.packed[0]);
        if (!invention.allowed || kind != (stream.frames.size() + 1) % 4) continue;
        stream.frames.push_back({invention.packed, hash_of(invention.after)});
        before = invention.after;
    }
    return stream;
}

Stream make(const Recipe& recipe) { return recipe.kind == Recipe::Kind::invented ? invented(recipe) : encoded(recipe); }

fs::path path_of(const std::string& name) { return vectors / (name + ".stream"); }

void write(const Stream& stream, const fs::path& path) {
    std::ofstream file(path, std::ios::binary);
    const auto number = [&](std::uint64_t value, int bytes) {
        for (int i = 0; i < bytes; ++i) file.put(static_cast<char>(value >> 8 * i));
    };
    const auto& shape = stream.shape;
    file << shape.width << ' ' << shape.height << ' ' << shape.channels << ' ' << stream.frames.size() << '\n';
    for (const auto& [packed, hash] : stream.frames) {
        number(packed.size(), 4);
        file.write(reinterpret_cast<const char*>(packed.data()), static_cast<std::streamsize>(packed.size()));
        number(hash, 8);
    }
    ASSERT_TRUE(file.flush()) << path;
}

Stream read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    Stream stream;
    std::size_t frames = 0;
    file >> stream.shape.width >> stream.shape.height >> stream.shape.channels >> frames;
    file.get();
    const auto number = [&](int bytes) {
        std::uint64_t value = 0;
        for (int i = 0; i < bytes; ++i)
            value |= static_cast<std::uint64_t>(static_cast<unsigned char>(file.get())) << 8 * i;
        return value;
    };
    while (file && stream.frames.size() < frames) {
        Bytes packed(number(4));
        file.read(reinterpret_cast<char*>(packed.data()), static_cast<std::streamsize>(packed.size()));
        stream.frames.push_back({std::move(packed), number(8)});
    }
    EXPECT_TRUE(file && file.peek() == std::ifstream::traits_type::eof()) << path << " is broken";
    return stream;
}

class Vectors : public testing::TestWithParam<Recipe> {
protected:
    void SetUp() override {
        FRAMEWIRE_NEEDS(fs::is_directory(vectors), "no streams to read: they are stored in the source tree");
        if (std::getenv("FRAMEWIRE_WRITE_VECTORS")) write(make(GetParam()), path_of(GetParam().name));
    }
};

TEST_P(Vectors, DecodeIdenticallyWithBothDecoders) {
    const auto stream = read(path_of(GetParam().name));
    ASSERT_FALSE(stream.frames.empty());
    Bytes before(static_cast<std::size_t>(stream.shape.bytes()));
    for (const auto& [packed, hash] : stream.frames) {
        const auto after = unpack_reference(stream.shape, packed, before);
        ASSERT_EQ(hash_of(after), hash);
        kit::for_each_instruction_set(Backend::cpu, [&](const std::string& name) {
            ASSERT_EQ(unpack(stream.shape, packed, before), after) << name;
        });
        before = after;
    }
}

TEST_P(Vectors, MatchTheCurrentEncoders) {
    const auto stream = read(path_of(GetParam().name));
    kit::for_each_instruction_set(Backend::cpu, [&](const std::string& name) {
        EXPECT_EQ(make(GetParam()), stream) << name
                                            << ": the packed format has changed; if this is intended, the first lines "
                                               "of this file say how to regenerate the vectors";
    });
}

INSTANTIATE_TEST_SUITE_P(All, Vectors, testing::ValuesIn(recipes()), [](const auto& one) {
    auto name = one.param.name;
    for (auto& letter : name)
        if (letter == '/' || letter == '-') letter = '_';
    return name;
});

TEST(VectorFiles, ContainRunCodedBlocks) {
    FRAMEWIRE_NEEDS(fs::is_directory(vectors), "no streams to read: they are stored in the source tree");
    for (const auto& recipe : recipes()) {
        if (recipe.name.find("runs") == std::string::npos) continue;
        const auto stream = read(path_of(recipe.name));
        int in_runs = 0, blocks = 0;
        for (const auto& [packed, hash] : stream.frames) {
            Reader reader{packed};
            const int kind = reader.byte();
            reader.byte();
            const auto all =
                read_directory(reader, cut(stream.shape.width, stream.shape.height, reference::block_side).size());
            for (const auto& bytes : all) {
                if (kind != 0 || bytes.empty()) continue;
                ++blocks;
                in_runs += Reader{bytes}.two_words() == 3;
            }
        }
        EXPECT_GT(in_runs, 0) << recipe.name << ", of " << blocks;
    }
}

TEST(VectorFiles, AreExactlyTheTestedVectors) {
    FRAMEWIRE_NEEDS(fs::is_directory(vectors), "no streams to read: they are stored in the source tree");
    std::set<fs::path> wanted, found;
    for (const auto& recipe : recipes()) wanted.insert(path_of(recipe.name));
    for (const auto& entry : fs::recursive_directory_iterator(vectors))
        if (entry.path().extension() == ".stream") found.insert(entry.path());
    EXPECT_EQ(found, wanted);
}

}  // namespace
}  // namespace framewire::codec
