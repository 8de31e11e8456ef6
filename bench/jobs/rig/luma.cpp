#include "jobs/rig/luma.hpp"

#include "framewire/core/error.hpp"

#include <cmath>
#include <fstream>
#include <utility>

namespace framewire::bench {

Luma read_luma(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string line;
    std::getline(file, line);
    Luma luma{parse_y4m_header(line, path, std::int64_t{max_side_px} * max_side_px), {}};
    const auto pixels = std::int64_t{luma.header.width} * luma.header.height;
    while (std::getline(file, line)) {
        std::string frame(static_cast<std::size_t>(luma.header.picture_bytes()), '\0');
        if (!file.read(frame.data(), luma.header.picture_bytes()))
            fail(ErrorCode::internal, "{} ends in the middle of a frame", path);
        frame.resize(static_cast<std::size_t>(pixels));
        if (luma.header.coding.full_range)
            for (auto& value : frame)
                value = static_cast<char>(16 + (static_cast<unsigned char>(value) * 219 + 127) / 255);
        luma.frames.push_back(std::move(frame));
    }
    return luma;
}

double luma_psnr(const Luma& one, const Luma& other) {
    double sum = 0, count = 0;
    for (std::size_t frame = 0; frame < one.frames.size(); ++frame)
        for (std::size_t at = 0; at < one.frames[frame].size(); ++at, ++count)
            sum += std::pow(
                static_cast<unsigned char>(one.frames[frame][at]) - static_cast<unsigned char>(other.frames[frame][at]),
                2);
    return sum == 0 ? 99 : 10 * std::log10(255.0 * 255.0 * count / sum);
}

}  // namespace framewire::bench
