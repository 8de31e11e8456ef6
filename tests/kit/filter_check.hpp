#pragma once

#include "framewire/filters/filter.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace framewire::kit {

/// Filter under test: its parameters, as in a chain, and its reference.
struct FilterCheck {
    FilterInfo info;
    std::initializer_list<std::pair<std::string, std::string>> values;  ///< parameters that differ from the defaults
    int channels = 3;                                                   ///< number of channels of the input
    std::function<void(const FilterImages<MemorySpace::host>&)> reference;
    int tolerance = 0;
    std::vector<Shape> shapes{};  ///< if not empty, replaces the usual shapes and the HD one; for slow references
};

/// Runs the filter on one backend with every instruction set, size, batch, layout and fill, and compares whole images
/// with the reference. Also checks that guard bytes around the output are intact, inputs are unchanged, and a second
/// run gives the same bytes. Reports GoogleTest failures.
void check_filter(Backend backend, const FilterCheck& check);

/// Fixture for FRAMEWIRE_ON_EVERY_BACKEND: one test per backend, named after the backend.
class BackendTest : public ::testing::TestWithParam<Backend> {
protected:
    void SetUp() override {
        if (const auto reason = why_not(GetParam())) GTEST_SKIP() << *reason;
    }
};

inline std::string backend_name(const ::testing::TestParamInfo<Backend>& info) {
    return std::string(to_string(info.param));
}

}  // namespace framewire::kit

/// Instantiates a BackendTest suite for every backend of the build.
#define FRAMEWIRE_ON_EVERY_BACKEND(suite)                                                      \
    INSTANTIATE_TEST_SUITE_P(Backends, suite, ::testing::ValuesIn(framewire::kit::backends()), \
                             framewire::kit::backend_name)
