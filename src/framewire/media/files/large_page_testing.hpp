#pragma once

// What tests of files in large pages share.

#include "framewire/media/files/large_page_file.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace framewire::testing {

constexpr int no_large_pages = 99;

/// Makes of an empty folder a file system with large pages that nobody else sees: "200m" is its size. False where that
/// is not permitted, or the kernel has none.
inline bool mount_large_pages(const std::string& folder, const std::string& size) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", folder.c_str(), "tmpfs", 0, ("huge=always,size=" + size).c_str()) != 0)
        return false;
    const auto path = folder + "/probe";
    const int probe = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const bool large = LargePageFile::is(probe);
    ::close(probe);
    std::filesystem::remove(path);
    return large;
}

/// Runs a check in a process of its own. It gives 0, no_large_pages, or the number of what is not as it has to be. Once
/// in a test.
template <class Check>
void expect_with_large_pages(Check&& check) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    static int code;
    EXPECT_EXIT(
        std::_Exit(check()),
        [](int status) {
            code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
            return code == 0 || code == no_large_pages;
        },
        "");
    if (code == no_large_pages)
        GTEST_SKIP() << "no file system with large pages: mounting in a namespace of its own is not permitted here";
}

}  // namespace framewire::testing
