#include "framewire/media/formats/npy.hpp"
#include "framewire/media/media_testing.hpp"

#include <cstring>

namespace framewire {
namespace npy_test {

using namespace testing;

// A file in NumPy's format 1.0, parsed by its specification: magic, version, 2 bytes of length, text, values.
struct Npy {
    std::string text;  // without the padding
    std::vector<float> values;
};

Npy read_npy(const std::string& path) {
    const auto bytes = read_file(path);
    Npy npy;
    const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    EXPECT_EQ(all.substr(0, 8), std::string_view("\x93NUMPY\x01\x00", 8));
    const auto length = static_cast<std::size_t>(bytes.at(8)) + 256u * bytes.at(9);
    EXPECT_EQ((10 + length) % 64, 0u) << "values begin at a multiple of 64";
    EXPECT_EQ(all.at(10 + length - 1), '\n');
    npy.text = all.substr(10, all.find_last_not_of(" \n", 10 + length - 1) + 1 - 10);
    npy.values.resize((all.size() - 10 - length) / sizeof(float));
    EXPECT_EQ(10 + length + npy.values.size() * sizeof(float), all.size());
    std::memcpy(npy.values.data(), all.data() + 10 + length, npy.values.size() * sizeof(float));
    return npy;
}

TEST(Npy, WritesOneArray) {
    const TemporaryFolder folder;
    const std::vector<float> values{0, 1.5f, -2, 3e30f, 4, 5};
    NpyFile file(folder / "a.npy", {2, 3}, false);
    file.write(values.data(), values.size());
    file.finish();
    const auto npy = read_npy(folder / "a.npy");
    EXPECT_EQ(npy.text, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
    EXPECT_EQ(npy.values, values);
}

TEST(Npy, WritesOneDimensionAsATuple) {
    const TemporaryFolder folder;
    const float value = 7;
    NpyFile file(folder / "a.npy", {1}, false);
    file.write(&value, 1);
    file.finish();
    EXPECT_EQ(read_npy(folder / "a.npy").text, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }");
}

TEST(Npy, GrowsByWholeArrays) {
    const TemporaryFolder folder;
    NpyFile file(folder / "v.npy", {4096, 4096, 1}, true);
    std::vector<float> values(4096 * 4096);
    for (float number = 1; number <= 2; ++number) {
        values.back() = number;
        file.write(values.data(), values.size());
    }
    EXPECT_EQ(error_of([&] { file.write(values.data(), values.size() - 1); }), ErrorCode::usage);
    file.finish();
    const auto npy = read_npy(folder / "v.npy");
    EXPECT_EQ(npy.text, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4096, 4096, 1), }");
    ASSERT_EQ(npy.values.size(), 2 * values.size());
    EXPECT_EQ(npy.values.at(values.size() - 1), 1);
    EXPECT_EQ(npy.values.back(), 2);
}

TEST(Npy, AppearsOnlyWhenComplete) {
    const TemporaryFolder folder;
    const float value = 1;
    {
        NpyFile file(folder / "a.npy", {1}, true);
        file.write(&value, 1);
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "a.npy"));
}

TEST(Npy, RejectsOtherSizesAndTypes) {
    const TemporaryFolder folder;
    const float value = 1;
    NpyFile one(folder / "a.npy", {1}, false);
    EXPECT_EQ(error_of([&] { one.finish(); }), ErrorCode::usage);
    one.write(&value, 1);
    EXPECT_EQ(error_of([&] { one.write(&value, 1); }), ErrorCode::usage);
    EXPECT_EQ(error_of([] { NpyFile("/dev/null", {1}, true); }), ErrorCode::usage);
    EXPECT_EQ(error_of([] { NpyFile("/no/such/folder/a.npy", {1}, true); }), ErrorCode::io);
}

}  // namespace npy_test
}  // namespace framewire
