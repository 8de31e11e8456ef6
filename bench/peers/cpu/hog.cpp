#include "framewire/hog/hog.hpp"
#include "framewire/core/error.hpp"
#include "peers/others.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#if FRAMEWIRE_OPENCV
#include <opencv2/objdetect.hpp>
#endif

namespace framewire::bench {
namespace hog_contest {

#if FRAMEWIRE_OPENCV
constexpr double least_likeness = 0.9;

// Compares both descriptors by the cosine of their angle. OpenCV stores blocks, and the cells of each, by columns.
std::string agreement_of(const std::vector<float>& peer, const HogView<const float, MemorySpace::host>& own,
                         const HogParameters& parameters) {
    const auto& shape = own.shape();
    if (peer.size() != static_cast<std::size_t>(shape.count()))
        fail(ErrorCode::internal, "OpenCV returns {} values, framewire {}", peer.size(), shape.count());
    double product = 0, own_square = 0, peer_square = 0;
    const auto* value = peer.data();
    for (int column = 0; column < shape.columns; ++column)
        for (int row = 0; row < shape.rows; ++row)
            for (int x = 0; x < parameters.block; ++x)
                for (int y = 0; y < parameters.block; ++y)
                    for (int bin = 0; bin < parameters.bins; ++bin, ++value) {
                        const double ours =
                            own.row(0, row)[column * shape.values + (y * parameters.block + x) * parameters.bins + bin];
                        product += ours * *value;
                        own_square += ours * ours;
                        peer_square += static_cast<double>(*value) * *value;
                    }
    const double likeness = product / std::sqrt(own_square * peer_square);
    if (!(likeness >= least_likeness))
        fail(ErrorCode::internal,
             "the cosine of OpenCV's descriptor and framewire's is {:.3f}; at least {} is required", likeness,
             least_likeness);
    return fmt::format("cosine {:.3f}", likeness);
}
#endif

}  // namespace hog_contest

void hold_hog_contest(Session& session, const Setting& setting) {
    const HogParameters parameters{.gradient = HogGradient::central, .norm = HogNorm::l2hys};
    // OpenCV only accepts windows of whole cells.
    auto shape = setting.pictures->frame();
    shape.width -= shape.width % parameters.cell;
    shape.height -= shape.height % parameters.cell;
    const auto cropped = [&](int at) {
        const auto frame = setting.frame(at);
        return HostView<std::uint8_t>(frame.data(), shape, frame.row_stride_bytes(), frame.frame_stride_bytes());
    };
    Hog hog(parameters, shape, session.cpu());
    const auto out_shape = hog.output_shape();
    std::vector<float> own(static_cast<std::size_t>(out_shape.count()));
    std::vector<Contestant> contestants{{"framewire cpu", [&](int turn) {
                                             hog.run(cropped(setting.at(turn)),
                                                     HogView<float, MemorySpace::host>(own.data(), out_shape));
                                         }}};
#if FRAMEWIRE_OPENCV
    const int cell = parameters.cell, block = parameters.block * cell;
    const cv::HOGDescriptor peer({shape.width, shape.height}, {block, block}, {cell, cell}, {cell, cell},
                                 parameters.bins);
    std::vector<float> descriptors;
    contestants.push_back({"OpenCV",
                           [&](int turn) {
                               const auto image = cropped(setting.at(turn));
                               peer.compute(cv::Mat(shape.height, shape.width, CV_8UC3, image.data(),
                                                    static_cast<std::size_t>(image.row_stride_bytes())),
                                            descriptors);
                           },
                           [&] {
                               return hog_contest::agreement_of(
                                   descriptors, HogView<const float, MemorySpace::host>(own.data(), out_shape),
                                   parameters);
                           },
                           "OpenCV uses the channel with the steepest gradient, framewire uses gray."});
#endif
    hold_contest(session, setting, "HOG", static_cast<double>(shape.bytes()) + static_cast<double>(out_shape.bytes()),
                 std::move(contestants));
}

}  // namespace framewire::bench
