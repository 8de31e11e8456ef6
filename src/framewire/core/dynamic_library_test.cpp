#include "framewire/core/dynamic_library.hpp"
#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace framewire::dynamic_library_test {
namespace {

std::string complaint_of(const char* file, const char* function) {
    try {
        DynamicLibrary(file).function<int()>(function);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::config);
        return error.what();
    }
    return {};
}

TEST(DynamicLibrary, FindsFunctionsByName) {
    const DynamicLibrary library("libm.so.6");
    EXPECT_EQ(library.function<double(double)>("floor")(2.5), 2.0);
}

TEST(DynamicLibrary, ReportsMissingFilesAndSymbols) {
    const auto file = complaint_of("libframewire-none.so.1", "floor");
    EXPECT_NE(file.find("cannot load libframewire-none.so.1"), std::string::npos) << file;
    const auto function = complaint_of("libm.so.6", "framewire_none");
    EXPECT_NE(function.find("libm.so.6 has no function framewire_none"), std::string::npos) << function;
}

}  // namespace
}  // namespace framewire::dynamic_library_test
