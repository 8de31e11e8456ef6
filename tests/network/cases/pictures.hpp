#pragma once

// Pictures as clients of HTTP and recordings have them, held against the frames of a test-camera.

#include "e2e/program.hpp"
#include "framewire/core/view.hpp"
#include "framewire/net/testing/test_http.hpp"
#include "network/camera/frame_log.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace framewire::network {

using Pixels = std::vector<std::uint8_t>;

/// All pictures of a file, a recording or an image. A test failure if it cannot be read to its end.
std::vector<Pixels> pictures_of_file(const std::string& path);
/// The one picture of an image file's bytes, which lie in `folder` meanwhile; `ending` is "jpg" or "png".
Pixels decoded(const std::string& file, const std::string& ending, const e2e::TemporaryFolder& folder);

/// Says why a picture is not the frame whose number it bears within the threshold on every byte; empty if it is.
std::string outside_bound(const Pixels& picture, const FrameLog& log, int threshold);
/// The same for a picture that came as a JPEG, which moves single bytes further. Compares the means of blocks of 8 x 8
/// pixels, which a JPEG nearly keeps: they may differ by the threshold and 5 (with noise of 16 levels, 3.5 were
/// measured). Where a square of the camera is a frame behind they differ by 30.
std::string outside_jpeg_bound(const Pixels& picture, const FrameLog& log, int threshold);
/// The number of the frame that a picture bears; 0 for none.
std::uint32_t stamp_of(const Pixels& picture, const FrameLog& log);

/// A file that HTTP gave, "snapshot.png" of the camera "main"; anything but 200 is a test failure.
std::string file_over_http(std::uint16_t port, const std::string& name);

/// A client of the camera's Motion JPEG that reads only when it is asked to.
class MjpegClient {
public:
    /// Reads through small buffers, so that what is not read soon waits at the server.
    explicit MjpegClient(std::uint16_t port);

    /// The next picture's file; empty if the stream has ended or nothing comes for 10 s.
    std::string next();

private:
    net::testing::HttpClient client_;
};

}  // namespace framewire::network
