#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace framewire::bench {

/// A video file's packets in memory, as NVIDIA's parser takes them: H.264 and HEVC with start codes.
struct EncodedVideo {
    std::string codec;  ///< FFmpeg's name: "h264"
    std::vector<std::vector<std::uint8_t>> packets;
};

/// Reads a file. Throws Error{no_input} if FFmpeg cannot, Error{config} if this build has no FFmpeg.
EncodedVideo read_encoded(const std::string& path);

/// Returns why there is no CuvidDecoder on this machine or in this build; empty if there is.
std::string why_no_cuvid();

/// NVDEC through NVIDIA's own interface (cuvid), which FFmpeg uses, too: parses packets, decodes them, and maps and
/// unmaps each picture. Nothing is copied. Decodes 4:2:0 with 8 bits. May be used by any thread, one at a time.
class CuvidDecoder {
public:
    /// Receives the samples of a picture: rows of luma, then of U, then of V.
    using Receiver = std::function<void(const std::vector<std::uint8_t>&)>;

    /// Prepares to decode `video`, which must outlive the object. With a receiver, pictures are copied to the host.
    /// Throws Error{config} if why_no_cuvid().
    explicit CuvidDecoder(const EncodedVideo& video, Receiver receiver = {});
    ~CuvidDecoder();
    CuvidDecoder(const CuvidDecoder&) = delete;
    CuvidDecoder& operator=(const CuvidDecoder&) = delete;

    /// Decodes the next packet, the first one after the last. The first call opens the decoder. Returns the number of
    /// pictures that were mapped. Throws Error{config} if the GPU does not decode the video.
    int step();

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace framewire::bench
