#include "framewire/media/files/network_address.hpp"

#include "framewire/media/media_testing.hpp"

#include <cstdlib>
#include <fstream>

namespace framewire {
namespace network_address_test {

using namespace testing;

TEST(NetworkAddress, SecretsComeFromFilesAndTheEnvironment) {
    const TemporaryFolder folder;
    const auto path = folder / "door";
    std::ofstream(path) << "p@ss: w/rd%\nmore\n";
    EXPECT_EQ(network_address("rtsp://me:{file:" + path + "}@h/x"), "rtsp://me:p%40ss%3A%20w%2Frd%25@h/x");
    ::setenv("FRAMEWIRE_TEST_SECRET", "a&b", 1);
    EXPECT_EQ(network_address("http://h/x?token={env:FRAMEWIRE_TEST_SECRET}&y={env:FRAMEWIRE_TEST_SECRET}"),
              "http://h/x?token=a%26b&y=a%26b");
    EXPECT_EQ(network_address("http://u:a b@h/{x}"), "http://u:a%20b@h/{x}");
    EXPECT_EQ(network_address("srt://h:1?passphrase={file:" + path + "}"), "srt://h:1?passphrase=p@ss: w/rd%");
}

TEST(NetworkAddress, RejectsInvalidValuesWithoutShowingThem) {
    const TemporaryFolder folder;
    const auto expect_refused = [&](const std::string& value, ErrorCode code, const std::string& scheme = "rtsp") {
        std::ofstream(folder / "value", std::ios::binary) << value;
        try {
            network_address(scheme + "://me:{file:" + (folder / "value") + "}@h");
            ADD_FAILURE() << "taken: " << value.substr(0, 20);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), code) << error.what();
            if (value.size() < 2) return;
            EXPECT_EQ(std::string(error.what()).find(value), std::string::npos) << error.what();
        }
    };
    expect_refused("", ErrorCode::usage);
    expect_refused("\n", ErrorCode::usage);
    expect_refused(std::string(5000, 'x'), ErrorCode::usage);
    expect_refused(std::string("ab\0cd", 5), ErrorCode::usage);
    expect_refused("Tr0ub&dor", ErrorCode::usage, "srt");
    EXPECT_EQ(error_of([&] { network_address("rtsp://me:{file:" + (folder / "none") + "}@h"); }), ErrorCode::no_input);
    EXPECT_EQ(error_of([] { network_address("rtsp://me:{env:FRAMEWIRE_NO_SUCH}@h"); }), ErrorCode::no_input);
    EXPECT_EQ(error_of([] { network_address("rtsp://me:{env:FRAMEWIRE_NO_SUCH@h"); }), ErrorCode::usage);
}

}  // namespace network_address_test
}  // namespace framewire
