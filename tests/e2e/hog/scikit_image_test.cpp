// Comparison with scikit-image's own test output (astronaut_GRAY_hog_L2-Hys.npy): scikit-image's definition, written
// out, gives the values of that file; with four of its parts replaced by the report's, it gives framewire's values. The
// table in docs/hog/README.md shows the effect of each part on the descriptors.

#include "framewire/hog/hog.hpp"
#include "framewire/hog/hog_ref.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/npy.hpp"
#include "kit/images.hpp"
#include "kit/needs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numbers>
#include <string>
#include <vector>

namespace framewire::e2e {
namespace {

constexpr int cell = 8, bins = 9, block = 3, values = block * block * bins;

// Selects the parts that follow the report instead of scikit-image.
struct Parts {
    bool gray = false;   // rounds to 256 levels with the report's weights, instead of not rounding
    bool gamma = false;  // requires gray
    bool sobel = false;  // uses a replicated border, instead of central differences that are 0 there
    bool votes = false;  // votes for the two nearest bins, instead of the bin that contains the angle
};

using Numbers = std::vector<double>;

class Picture {
public:
    explicit Picture(HostView<const std::uint8_t> bgr)
        : height_(bgr.shape().height), width_(bgr.shape().width), ours_(hog_reference({}, bgr)) {
        for (int y = 0; y < height_; ++y)
            for (int x = 0; x < width_; ++x) {
                const auto* pixel = bgr.row(0, y) + 3 * x;
                gray_.push_back(pixel[2] / 255.0 * 0.2125 + pixel[1] / 255.0 * 0.7154 + pixel[0] / 255.0 * 0.0721);
            }
    }

    // Returns the blocks of cells in the order of HogView.
    Numbers descriptors(const Parts& parts) const {
        const int rows = height_ / cell, columns = width_ / cell;
        Numbers cells(static_cast<std::size_t>(rows * columns * bins), 0);
        for (int y = 0; y < rows * cell; ++y)
            for (int x = 0; x < columns * cell; ++x) {
                const auto [gx, gy] = gradient(parts, y, x);
                const auto degrees = std::fmod(std::atan2(gy, gx) * 180 / std::numbers::pi + 180, 180);
                const auto vote = [&](int bin, double share) {
                    cells[static_cast<std::size_t>((y / cell * columns + x / cell) * bins + (bin + bins) % bins)] +=
                        share * std::hypot(gx, gy) / (cell * cell);
                };
                const auto position = degrees / 20;
                if (parts.votes) {
                    const auto lower = std::floor(position - 0.5), share = position - 0.5 - lower;
                    vote(static_cast<int>(lower), 1 - share);
                    vote(static_cast<int>(lower) + 1, share);
                } else {
                    vote(static_cast<int>(position), 1);
                }
            }
        Numbers all;
        for (int y = 0; y + block <= rows; ++y)
            for (int x = 0; x + block <= columns; ++x) {
                Numbers one;
                for (int row = y; row < y + block; ++row) {
                    const auto begin = cells.begin() + (row * columns + x) * bins;
                    one.insert(one.end(), begin, begin + block * bins);
                }
                normalize(one);
                for (auto& value : one) value = std::min(value, 0.2);
                normalize(one);
                all.insert(all.end(), one.begin(), one.end());
            }
        return all;
    }

private:
    double at(const Parts& parts, int y, int x) const {
        const auto index =
            static_cast<std::size_t>(std::clamp(y, 0, height_ - 1) * width_ + std::clamp(x, 0, width_ - 1));
        return parts.gamma ? ours_.gamma[index] : parts.gray ? ours_.gray[index] : gray_[index];
    }

    std::pair<double, double> gradient(const Parts& parts, int y, int x) const {
        if (parts.sobel) {
            double gx = 0, gy = 0;
            for (int i = -1; i <= 1; ++i) {
                gx += (2 - std::abs(i)) * (at(parts, y + i, x + 1) - at(parts, y + i, x - 1));
                gy += (2 - std::abs(i)) * (at(parts, y + 1, x + i) - at(parts, y - 1, x + i));
            }
            return {gx, gy};
        }
        return {x == 0 || x == width_ - 1 ? 0 : at(parts, y, x + 1) - at(parts, y, x - 1),
                y == 0 || y == height_ - 1 ? 0 : at(parts, y + 1, x) - at(parts, y - 1, x)};
    }

    static void normalize(Numbers& one) {
        double sum = 0;
        for (const auto value : one) sum += value * value;
        for (auto& value : one) value /= std::sqrt(sum + 1e-10);
    }

    int height_, width_;
    HogReference ours_;
    Numbers gray_;
};

template <class A, class B>
double largest_difference(const A& a, const B& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(double(a[i]) - double(b[i])));
    return largest;
}

// Similarity of two images' blocks: the mean of the cosines, and the share of cells that have the same largest bin. The
// share counts only cells that have at least an average part of their block's length. Blocks with almost no gradient
// are not counted.
struct Likeness {
    double cosine = 0, same_bin = 0;
};

template <class A, class B>
Likeness likeness(const A& a, const B& b) {
    double cosines = 0, blocks = 0, cells = 0, same = 0;
    for (std::size_t first = 0; first < a.size(); first += values) {
        double product = 0, of_a = 0, of_b = 0;
        for (std::size_t i = first; i < first + values; ++i) {
            product += double(a[i]) * double(b[i]);
            of_a += double(a[i]) * double(a[i]);
            of_b += double(b[i]) * double(b[i]);
        }
        if (of_a < 0.25 || of_b < 0.25) continue;
        ++blocks;
        cosines += product / std::sqrt(of_a * of_b);
        for (auto i = first; i < first + values; i += bins) {
            double part = 0;
            for (std::size_t bin = 0; bin < bins; ++bin) part += double(b[i + bin]) * double(b[i + bin]);
            if (part < 1.0 / (block * block)) continue;
            const auto largest = [&](const auto& of) {
                const auto begin = of.begin() + static_cast<std::ptrdiff_t>(i);
                return std::max_element(begin, begin + bins) - begin;
            };
            ++cells;
            same += largest(a) == largest(b);
        }
    }
    return {cosines / blocks, same / cells};
}

TEST(ScikitImage, DiffersFromOurDefinitionInFourPoints) {
    // scikit-image's output and its image are not part of framewire; scripts/deps.sh installs them.
    const std::string data = "/usr/lib/python3/dist-packages/skimage/data/";
    const auto picture_path = data + "astronaut.png", want_path = data + "astronaut_GRAY_hog_L2-Hys.npy";
    for (const auto& path : {picture_path, want_path})
        FRAMEWIRE_NEEDS(std::filesystem::exists(path), "there is no " + path + " (Debian: python3-skimage)");
    std::ifstream file(want_path, std::ios::binary);
    const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
    const auto want = parse_npy({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, want_path).values;
    const auto source = open_source(picture_path);
    HostImage image(source->info().shape);
    FrameTime time;
    ASSERT_TRUE(source->read(image.view(), time));

    auto& executor = kit::executor(Backend::cpu);
    Hog hog({.norm = HogNorm::l2hys, .block = block}, image.shape(), executor);
    std::vector<float> framewire(static_cast<std::size_t>(hog.output_shape().count()));
    hog.run(image.view(), HogView<float, MemorySpace::host>(framewire.data(), hog.output_shape()));
    ASSERT_EQ(want.size(), framewire.size());

    const Picture picture(image.view());
    EXPECT_LT(largest_difference(picture.descriptors({}), want), 1e-6);
    EXPECT_LT(largest_difference(picture.descriptors({true, true, true, true}), framewire), 1e-5);

    const auto is_like = [&](const char* what, const auto& got, double cosine, double same_bin) {
        const auto is = likeness(got, want);
        EXPECT_NEAR(is.cosine, cosine, 6e-4) << what;
        EXPECT_NEAR(is.same_bin, same_bin, 6e-4) << what;
    };
    is_like("gray", picture.descriptors({.gray = true}), 0.9823, 0.855);
    is_like("gray and gamma", picture.descriptors({.gray = true, .gamma = true}), 0.9740, 0.825);
    is_like("Sobel", picture.descriptors({.sobel = true}), 0.9408, 0.713);
    is_like("votes", picture.descriptors({.votes = true}), 0.9808, 0.847);
    is_like("all but Sobel", picture.descriptors({.gray = true, .gamma = true, .votes = true}), 0.9703, 0.800);
    is_like("framewire", framewire, 0.9491, 0.709);
}

}  // namespace
}  // namespace framewire::e2e
