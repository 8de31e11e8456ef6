#include "framewire/net/access/secret_file.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/testing/test_files.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "kit/captured_log.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <future>
#include <string>
#include <vector>

namespace framewire::net {
namespace secret_file_test {

using testing::expect_code;
using testing::TestFolder;

TEST(SecretFile, IsCreatedOnceWithOwnerPermissions) {
    const TestFolder folder;
    const auto path = folder.path() + "/deep/er/token";
    EXPECT_TRUE(keep_secret(path, [] { return "first"; }));
    EXPECT_FALSE(keep_secret(path, []() -> std::string { throw std::logic_error("it is there already"); }));
    EXPECT_EQ(read_secret_file(path), "first");
    struct stat about {};
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600u);
    for (const auto* made : {"/deep", "/deep/er"}) {
        ASSERT_EQ(::stat((folder.path() + made).c_str(), &about), 0);
        EXPECT_EQ(about.st_mode & 0777, 0700u) << made;
    }
    // No temporary file is left.
    const std::filesystem::directory_iterator files(folder.path() + "/deep/er");
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(SecretFile, ConcurrentCreatorsAgreeOnOneFile) {
    const TestFolder folder;
    const auto path = folder.path() + "/token";
    std::vector<std::future<bool>> makers;
    for (int i = 0; i < 8; ++i)
        makers.push_back(std::async(std::launch::async, [&, i] {
            return keep_secret(path, [i] { return std::string(1000, static_cast<char>('a' + i)); });
        }));
    int kept = 0;
    for (auto& maker : makers) kept += maker.get();
    EXPECT_EQ(kept, 1);
    const auto text = read_secret_file(path);
    EXPECT_EQ(text, std::string(1000, text.at(0)));
}

TEST(SecretFile, WarnsIfOthersMayReadIt) {
    const TestFolder folder;
    const kit::CapturedLog log;
    const auto path = folder.file("open", "text");
    ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
    EXPECT_EQ(read_secret_file(path), "text");
    EXPECT_EQ(log.lines(), 0);
    ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
    EXPECT_EQ(read_secret_file(path), "text");
    EXPECT_NE(log.text().find("may be read by others"), std::string::npos) << log.text();
}

TEST(SecretFile, ReportsErrors) {
    const TestFolder folder;
    expect_code(ErrorCode::no_input, "none cannot be read", [&] { read_secret_file(folder.path() + "/none"); });
    expect_code(ErrorCode::no_input, "cannot be read", [&] { read_secret_file(folder.path()); });
    expect_code(ErrorCode::no_input, "is longer than 65536 bytes",
                [&] { read_secret_file(folder.file("long", std::string(65537, 'a'))); });
    expect_code(ErrorCode::io, "cannot be made",
                [&] { keep_secret(folder.file("file", "") + "/below/token", [] { return "a"; }); });
}

}  // namespace secret_file_test
}  // namespace framewire::net
