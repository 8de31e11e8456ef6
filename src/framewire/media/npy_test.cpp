#include "framewire/media/npy.hpp"
#include "framewire/media/media_testing.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <string>

namespace framewire {
namespace {

using namespace testing;

// Parses a file in NumPy's format 1.0 by its specification: magic, version, 2 bytes of length, text, values.
struct Npy {
    std::string text;  // header text without the padding
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

TEST(Npy, AppendsWholeArrays) {
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

TEST(Npy, RejectsMisuseAndUnwritablePaths) {
    const TemporaryFolder folder;
    const float value = 1;
    NpyFile one(folder / "a.npy", {1}, false);
    EXPECT_EQ(error_of([&] { one.finish(); }), ErrorCode::usage);
    one.write(&value, 1);
    EXPECT_EQ(error_of([&] { one.write(&value, 1); }), ErrorCode::usage);
    EXPECT_EQ(error_of([] { NpyFile("/dev/null", {1}, true); }), ErrorCode::usage);
    EXPECT_EQ(error_of([] { NpyFile("/no/such/folder/a.npy", {1}, true); }), ErrorCode::io);
}

using namespace testing;

NpyArray parse(const std::string& bytes) {
    return parse_npy({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, "a.npy");
}

// Builds a file as numpy/lib/format.py specifies it: magic, version, length (2 bytes in 1.0, 4 later), text, values.
std::string npy(const std::string& header, const std::string& values, int major = 1) {
    std::string file = "\x93NUMPY";
    file += {static_cast<char>(major), '\0'};
    for (int byte = 0; byte < (major == 1 ? 2 : 4); ++byte) file += static_cast<char>(header.size() >> (8 * byte));
    return file + header + values;
}

std::string header(const std::string& descr, const std::string& shape, const std::string& order = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

// Returns the bytes of values, reversed for big endian.
template <class Value>
std::string bytes_of(const std::vector<Value>& values, bool big_endian = false) {
    std::string bytes;
    for (const Value value : values) {
        const auto* from = reinterpret_cast<const char*>(&value);
        std::string one(from, sizeof value);
        if (big_endian) std::reverse(one.begin(), one.end());
        bytes += one;
    }
    return bytes;
}

const std::vector<float> values{0, -1.5f, 3e30f, 1e-30f, 5, 6};
const std::vector<double> doubles(values.begin(), values.end());

TEST(NpyReader, ReadsBothTypesAndByteOrders) {
    for (const int major : {1, 2, 3}) {
        EXPECT_EQ(parse(npy(header("<f4", "(2, 3)"), bytes_of(values), major)).values, values);
        EXPECT_EQ(parse(npy(header(">f4", "(2, 3)"), bytes_of(values, true), major)).values, values);
        EXPECT_EQ(parse(npy(header("<f8", "(2, 3)"), bytes_of(doubles), major)).values, values);
        EXPECT_EQ(parse(npy(header(">f8", "(2, 3)"), bytes_of(doubles, true), major)).values, values);
    }
}

TEST(NpyReader, ReadsArraysOfAnyShape) {
    using Sides = std::vector<std::int64_t>;
    EXPECT_EQ(parse(npy(header("<f4", "(6,)"), bytes_of(values))).shape, (Sides{6}));
    EXPECT_EQ(parse(npy(header("<f4", "(1, 2, 3, 1)"), bytes_of(values))).shape, (Sides{1, 2, 3, 1}));
    EXPECT_EQ(parse(npy(header("<f4", "()"), bytes_of<float>({7}))).values, (std::vector<float>{7}));
    EXPECT_EQ(parse(npy(header("<f4", "(0, 3)"), "")).values, std::vector<float>());
    EXPECT_EQ(parse(npy(header("<f4", "(6, 1)", "True"), bytes_of(values))).values, values)
        << "one side is long: both orders are the same";
    EXPECT_EQ(parse(npy("{\"shape\":(6,),\"fortran_order\":False,\"descr\":\"<f4\"}  \n", bytes_of(values))).values,
              values)
        << "any order of keys, either quote";
}

TEST(NpyReader, ReadsFilesWrittenByNpyFile) {
    const TemporaryFolder folder;
    NpyFile file(folder / "a.npy", {3}, true);
    file.write(values.data(), 3);
    file.write(values.data() + 3, 3);
    file.finish();
    const auto array = parse_npy(read_file(folder / "a.npy"), "a.npy");
    EXPECT_EQ(array.shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(array.values, values);
}

TEST(NpyReader, RejectsTruncatedFiles) {
    for (const int major : {1, 2}) {
        const auto whole = npy(header("<f4", "(2, 3)"), bytes_of(values), major);
        for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
            EXPECT_EQ(error_of([&] { parse(whole.substr(0, bytes)); }), ErrorCode::no_input) << bytes;
        EXPECT_EQ(error_of([&] { parse(whole + "x"); }), ErrorCode::no_input);
    }
}

struct Refused {
    const char* name;
    std::string file;
    const char* says;
};

class NpyRefusal : public ::testing::TestWithParam<Refused> {};

TEST_P(NpyRefusal, GivesTheReason) {
    std::string message;
    EXPECT_EQ(error_of([&] { parse(GetParam().file); }, &message), ErrorCode::no_input);
    EXPECT_NE(message.find("a.npy"), std::string::npos) << message;
    EXPECT_NE(message.find(GetParam().says), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    All, NpyRefusal,
    ::testing::Values(
        Refused{"Magic", "\x89PNG and more", "not a NumPy file"},
        Refused{"Version", npy(header("<f4", "(6,)"), bytes_of(values), 4), "format 4.0"},
        Refused{"HeaderBomb", std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12), "4294967295"},
        Refused{"Objects", npy(header("|O", "(1,)"), "pickle"), "'|O'"},
        Refused{"Integers", npy(header("<i4", "(1,)"), "1234"), "'<i4'"},
        Refused{"Records", npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234"),
                "records"},
        Refused{"FortranOrder", npy(header("<f4", "(2, 3)", "True"), bytes_of(values)), "Fortran"},
        Refused{"HugeShape", npy(header("<f4", "(1000000000,)"), "1234"), "4000000000"},
        // 2^32 x 2^32 float32 values are 2^66 bytes, which is 0 in 64 bits.
        Refused{"ShapeThatWraps", npy(header("<f4", "(4294967296, 4294967296)"), ""), "with too many values"},
        Refused{"SideBeyond64Bits", npy(header("<f4", "(99999999999999999999,)"), ""), "invalid NumPy header"},
        Refused{"NegativeSide", npy(header("<f4", "(-1,)"), ""), "invalid NumPy header"},
        Refused{"NoShape", npy("{'descr': '<f4', 'fortran_order': False, }", "1234"), "invalid NumPy header"},
        Refused{"KeyTwice", npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "1234"),
                "invalid NumPy header"},
        Refused{"UnknownKey", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': '1'}", "1234"),
                "invalid NumPy header"},
        Refused{"OpenString", npy("{'descr': '<f4", "1234"), "invalid NumPy header"},
        Refused{"MoreBehind", npy(header("<f4", "(1,)") + "1", "1234"), "invalid NumPy header"}),
    [](const auto& refused) { return refused.param.name; });

}  // namespace
}  // namespace framewire
