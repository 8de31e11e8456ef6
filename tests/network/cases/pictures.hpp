#pragma once

// Takes pictures from HTTP clients and recordings, and compares them with the frames of a test-camera.

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

/// Returns all pictures of a file, a recording or an image. Fails the test if it cannot be read to its end.
std::vector<Pixels> pictures_of_file(const std::string& path);
/// Decodes the bytes of an image file, temporarily stored in `folder`; `ending` is "jpg" or "png".
Pixels decoded(const std::string& file, const std::string& ending, const e2e::TemporaryFolder& folder);

/// Returns the reason why a picture is not, within the threshold on every byte, the frame whose number it bears; empty
/// if it is.
std::string outside_bound(const Pixels& picture, const FrameLog& log, int threshold);
/// Does the same as outside_bound() for a JPEG, which changes single bytes by more. Compares the means of blocks of 8 x
/// 8 pixels, which a JPEG nearly preserves: they may differ by the threshold plus 5 (with noise of 16 levels, 3.5 was
/// measured). If a square of the camera is a frame late, they differ by 30.
std::string outside_jpeg_bound(const Pixels& picture, const FrameLog& log, int threshold);
/// Returns the number of the frame that a picture bears; 0 if it bears none.
std::uint32_t stamp_of(const Pixels& picture, const FrameLog& log);

/// Downloads a file such as "snapshot.png" of the camera "main" over HTTP; fails the test on any status but 200.
std::string file_over_http(std::uint16_t port, const std::string& name);

/// Client of the camera's Motion JPEG that reads only on request.
class MjpegClient {
public:
    /// Uses small receive buffers, so that unread data soon waits at the server.
    explicit MjpegClient(std::uint16_t port);

    /// Returns the file of the next picture; empty if the stream has ended or nothing arrives for 10 s.
    std::string next();

private:
    net::testing::HttpClient client_;
};

}  // namespace framewire::network
