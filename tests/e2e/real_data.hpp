#pragma once

#include "kit/sources.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace framewire::e2e {

/// Returns the path of a real picture or clip: in the folder that FRAMEWIRE_REAL_DATA names, or in shared/data beside
/// the checkout. These files are not part of the project.
inline std::string real_data(const std::string& name) {
    const auto* folder = std::getenv("FRAMEWIRE_REAL_DATA");
    return (std::filesystem::path(folder ? folder : std::string(kit::sources_path) + "/../shared/data") / name)
        .lexically_normal();
}

}  // namespace framewire::e2e

/// Skips a test on a machine that lacks this path from real_data().
#define FRAMEWIRE_NEEDS_REAL(path) \
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "the real data " << (path) << " is missing"
