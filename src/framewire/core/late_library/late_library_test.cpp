#include "framewire/core/late_library/late_library.hpp"

#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace framewire::late_library_test {
namespace {

std::string complaint_of(const char* file, const char* function) {
    try {
        LateLibrary(file).function<int()>(function);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::config);
        return error.what();
    }
    return {};
}

TEST(LateLibrary, FindsFunctionsByName) {
    const LateLibrary library("libm.so.6");
    EXPECT_EQ(library.function<double(double)>("floor")(2.5), 2.0);
}

TEST(LateLibrary, ReportsMissingFilesAndSymbols) {
    const auto file = complaint_of("libframewire-none.so.1", "floor");
    EXPECT_NE(file.find("libframewire-none.so.1 cannot be loaded"), std::string::npos) << file;
    const auto function = complaint_of("libm.so.6", "framewire_none");
    EXPECT_NE(function.find("libm.so.6 lacks framewire_none"), std::string::npos) << function;
}

}  // namespace
}  // namespace framewire::late_library_test
