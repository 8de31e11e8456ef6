// A camera that logs what it sent: a wall with moving squares, in a loop, each frame with its number in the corner,
// sent to the reader of the pipe or the address. It does not wait for readers: like a real camera, it drops frames that
// are not read in time.
//   test-camera LOG pipe:PATH|http:PORT [size=WxH] [fps=N] [noise=LEVELS] [scene=room|tones] [level=N] [kept=SECONDS]
//   [frames=N]
// Through a pipe it sends raw BGR frames; over HTTP, gray ones as y4m, to one reader at a time. LOG is a FrameLog file;
// an existing one is continued.

#include "network/camera/frame_log.hpp"
#include "network/camera/scene.hpp"
#include "network/camera/stamp.hpp"
#include "network/link/descriptor.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace framewire::network {
namespace {

struct CameraOptions {
    std::string log, to;
    std::string size = "320x240";
    Scene::Kind scene = Scene::Kind::room;
    double fps = 30, noise = 4, kept_seconds = 3;
    long frames = 0;  // 0: no limit
    std::optional<int> level{};
};

CameraOptions read_options(const std::vector<std::string>& words) {
    if (words.size() < 2) throw std::invalid_argument("expected a log file and a destination");
    CameraOptions options{.log = words[0], .to = words[1]};
    for (std::size_t i = 2; i < words.size(); ++i) {
        const auto equals = words[i].find('=');
        const auto name = words[i].substr(0, equals),
                   value = words[i].substr(std::min(equals, words[i].size() - 1) + 1);
        if (name == "size")
            options.size = value;
        else if (name == "fps")
            options.fps = std::stod(value);
        else if (name == "noise")
            options.noise = std::stod(value);
        else if (name == "scene")
            options.scene = parse_scene(value);
        else if (name == "kept")
            options.kept_seconds = std::stod(value);
        else if (name == "frames")
            options.frames = std::stol(value);
        else if (name == "level")
            options.level = std::stoi(value);
        else
            throw std::invalid_argument("unknown argument: " + words[i]);
    }
    return options;
}

Shape shape_of(const CameraOptions& options, int channels) {
    const auto x = options.size.find('x');
    const Shape shape{1, std::stoi(options.size.substr(x + 1)), std::stoi(options.size.substr(0, x)), channels};
    if (shape.width < stamp_width_px || shape.height < stamp_height_px)
        throw std::invalid_argument("the frame number does not fit into " + options.size);
    return shape;
}

void write_all(int descriptor, const void* bytes, std::size_t count) {
    const auto* from = static_cast<const char*>(bytes);
    while (count > 0) {
        const auto put = write(descriptor, from, count);
        if (put <= 0) throw std::runtime_error("the reader has closed the connection");
        from += put, count -= static_cast<std::size_t>(put);
    }
}

// Current reader; waits for the first reader, and for the next one when it disconnects.
class Reader {
public:
    Reader(const std::string& to, const CameraOptions& options) : options_(options) {
        if (to.starts_with("pipe:")) {
            path_ = to.substr(5);
        } else if (to.starts_with("http:")) {
            listen_at(static_cast<std::uint16_t>(std::stoi(to.substr(5))));
        } else {
            throw std::invalid_argument("expected pipe:PATH or http:PORT, not " + to);
        }
    }

    int channels() const { return path_.empty() ? 1 : 3; }

    void await() {
        if (!path_.empty()) {
            reader_ = Descriptor(open(path_.c_str(), O_WRONLY | O_CLOEXEC));
            if (reader_.number() < 0) throw std::invalid_argument("cannot open the pipe " + path_);
            return;
        }
        reader_ = Descriptor(accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
        const int little = 64 * 1024;  // small, because frames become old while they wait in the buffer
        setsockopt(reader_.number(), SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
        std::string asked;
        char piece[512];
        while (asked.find("\r\n\r\n") == std::string::npos && asked.size() < 16 * 1024) {
            const auto got = read(reader_.number(), piece, sizeof piece);
            if (got <= 0) throw std::runtime_error("the client sent no request");
            asked.append(piece, static_cast<std::size_t>(got));
        }
        const auto size = options_.size.find('x');
        const auto answer = fmt::format(
            "HTTP/1.0 200 OK\r\nContent-Type: video/x-yuv4mpeg\r\nCache-Control: no-store\r\n\r\n"
            "YUV4MPEG2 W{} H{} F{}:1000 Ip A1:1 Cmono XCOLORRANGE=FULL\n",
            options_.size.substr(0, size), options_.size.substr(size + 1), static_cast<int>(options_.fps * 1000));
        write_all(reader_.number(), answer.data(), answer.size());
    }

    void send(const FrameLog& log, std::uint32_t frame) {
        if (path_.empty()) write_all(reader_.number(), "FRAME\n", 6);
        write_all(reader_.number(), log.pixels(frame), static_cast<std::size_t>(log.shape().bytes()));
    }

private:
    void listen_at(std::uint16_t port) {
        listener_ = Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const int on = 1;
        setsockopt(listener_.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        socklen_t length = sizeof address;
        if (bind(listener_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
            listen(listener_.number(), 4) != 0 ||
            getsockname(listener_.number(), reinterpret_cast<sockaddr*>(&address), &length) != 0)
            throw std::invalid_argument("cannot listen");
        fmt::print(stderr, "camera at http://127.0.0.1:{}/cam.y4m\n", ntohs(address.sin_port));
    }

    const CameraOptions& options_;
    std::string path_;
    Descriptor listener_, reader_;
};

void run(const CameraOptions& options) {
    std::signal(SIGPIPE, SIG_IGN);
    Reader reader(options.to, options);
    const auto shape = shape_of(options, reader.channels());
    const Scene scene(options.scene, shape, options.noise, options.level);
    FrameLog log(options.log, shape, static_cast<int>(options.kept_seconds * options.fps) + 3);
    const auto period = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / options.fps));
    fmt::print(stderr, "camera ready\n");
    long sent = 0;
    while (options.frames == 0 || sent < options.frames) {
        try {
            reader.await();
            for (auto due = Clock::now(); options.frames == 0 || sent < options.frames; ++sent) {
                std::this_thread::sleep_until(due);
                while (due <= Clock::now()) due += period;  // drops late frames
                const auto frame = log.newest() + 1;
                const auto pixels = log.next_pixels();
                scene.draw(frame, pixels);
                log.add();
                reader.send(log, frame);
            }
        } catch (const std::runtime_error& gone) {
            fmt::print(stderr, "camera: {}\n", gone.what());
        }
    }
}

}  // namespace
}  // namespace framewire::network

int main(int count, char** words) {
    try {
        framewire::network::run(framewire::network::read_options({words + 1, words + count}));
        return EXIT_SUCCESS;
    } catch (const std::exception& error) {
        fmt::print(stderr, "test-camera: {}\n", error.what());
        return EXIT_FAILURE;
    }
}
