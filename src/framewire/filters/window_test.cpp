#include "framewire/filters/window.hpp"
#include "framewire/filters/mean.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace framewire {
namespace {

std::vector<int> indices(int begin, int end, int size, Border border) {
    std::vector<int> found;
    for (int index = begin; index < end; ++index) found.push_back(border_index(index, size, border));
    return found;
}

using Indices = std::vector<int>;

TEST(Border, MapsIndicesForEachKind) {
    EXPECT_EQ(indices(-5, 8, 3, Border::reflect101), (Indices{1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1}));
    EXPECT_EQ(indices(-3, 5, 2, Border::reflect101), (Indices{1, 0, 1, 0, 1, 0, 1, 0}));
    EXPECT_EQ(indices(-3, 4, 1, Border::reflect101), (Indices{0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(indices(-2, 5, 3, Border::replicate), (Indices{0, 0, 0, 1, 2, 2, 2}));
    EXPECT_EQ(indices(-2, 5, 3, Border::zero), (Indices{-1, -1, 0, 1, 2, -1, -1}));
}

TEST(Border, PadsRowsOfPixels) {
    const std::uint8_t row[] = {1, 2, 3, 4, 5, 6};  // two BGR pixels
    std::vector<std::uint8_t> padded(15);
    using Bytes = std::vector<std::uint8_t>;
    pad_row_part(row, 2, 3, -1, 4, Border::reflect101, padded.data());
    EXPECT_EQ(padded, (Bytes{4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}));
    pad_row_part(row, 2, 3, -2, 3, Border::replicate, padded.data());
    EXPECT_EQ(padded, (Bytes{1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
    pad_row_part(row, 2, 3, -2, 3, Border::zero, padded.data());
    EXPECT_EQ(padded, (Bytes{0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0}));
    pad_row_part(nullptr, 2, 3, -2, 3, Border::zero, padded.data());
    EXPECT_EQ(padded, Bytes(15, 0));
}

TEST(Border, PadsAnyPartOfARow) {
    std::vector<std::uint8_t> row(7), whole(7 + 40), part;
    for (std::size_t x = 0; x < row.size(); ++x) row[x] = static_cast<std::uint8_t>(x + 1);
    for (const auto border : {Border::reflect101, Border::replicate, Border::zero}) {
        pad_row_part(row.data(), 7, 1, -20, 27, border, whole.data());
        for (int begin = -20; begin <= 27; ++begin)
            for (int end = begin; end <= 27; ++end) {
                part.assign(static_cast<std::size_t>(end - begin) + 1, 99);
                pad_row_part(row.data(), 7, 1, begin, end, border, part.data());
                std::vector<std::uint8_t> want(whole.begin() + begin + 20, whole.begin() + end + 20);
                want.push_back(99);
                ASSERT_EQ(part, want) << begin << " to " << end;
            }
    }
}

TEST(Border, ParsesEveryName) {
    const auto of = [](const char* name) {
        const auto values = with_defaults(mean_info(), {{"border", name}});
        return *value_named(border_names, values.text("border"));
    };
    EXPECT_EQ(of("reflect101"), Border::reflect101);
    EXPECT_EQ(of("replicate"), Border::replicate);
    EXPECT_EQ(of("zero"), Border::zero);
    EXPECT_EQ(with_defaults(mean_info(), {}).text("border"), "reflect101");
}

}  // namespace
}  // namespace framewire
