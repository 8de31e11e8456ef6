#include "framewire/media/media_testing.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

// The content of a file may refer to other files, but they are read only if the file has a playlist extension.

namespace framewire {
namespace {

using namespace testing;

// Folder with a video that was not requested, and files that refer to it.
class Limits : public ::testing::Test {
protected:
    Limits() {
        EXPECT_TRUE(ffmpeg("-f lavfi -i testsrc=size=64x48:rate=25 -frames:v 10 -c:v libx264 -f mpegts " +
                           (folder_ / "secret.ts")));
        EXPECT_TRUE(ffmpeg("-f lavfi -i testsrc=size=64x48:rate=25 -frames:v 1 " + (folder_ / "secret.jpg")));
    }

    void write_hls(const std::string& name, const std::string& part = "secret.ts") const {
        write_file(folder_ / name,
                   "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:0.4,\n" +
                       part + "\n#EXT-X-ENDLIST\n");
    }
    void write_concat(const std::string& name) const {
        write_file(folder_ / name, "ffconcat version 1.0\nfile secret.ts\n");
    }

    TemporaryFolder folder_;
};

TEST_F(Limits, RejectsPlaylistsWithoutAPlaylistExtension) {
    for (const auto* name :
         {"a.mp4", "a.mkv", "a.ts", "a.jpg", "a.JPEG", "a.webp", "a.tif", "a", "a.txt", "a.m3u8.mp4"}) {
        write_hls(name);
        const auto hls = read_video(folder_ / name);
        EXPECT_EQ(hls.error, ErrorCode::no_input) << name;
        EXPECT_TRUE(hls.frames.empty()) << name;
        EXPECT_NE(hls.message.find("HTTP Live Streaming"), std::string::npos) << hls.message;
        EXPECT_NE(hls.message.find(".m3u8"), std::string::npos) << hls.message;
        write_concat(name);
        const auto concat = read_video(folder_ / name);
        EXPECT_EQ(concat.error, ErrorCode::no_input) << name;
        EXPECT_NE(concat.message.find("concat"), std::string::npos) << concat.message;
    }
}

TEST_F(Limits, FollowsPlaylistsWithTheMatchingExtension) {
    for (const auto* name : {"a.m3u8", "a.M3U"}) {
        write_hls(name);
        const auto reading = read_video(folder_ / name);
        EXPECT_FALSE(reading.error) << name << " " << reading.message;
        EXPECT_EQ(reading.frames.size(), 10U) << name;
    }
    write_concat("a.ffconcat");
    EXPECT_EQ(read_video(folder_ / "a.ffconcat").frames.size(), 10U);
    ASSERT_TRUE(ffmpeg(fmt::format("-i {} -c:v libx264 -f dash {}", folder_ / "secret.ts", folder_ / "a.mpd")));
    EXPECT_EQ(read_video(folder_ / "a.mpd").frames.size(), 10U);
}

TEST_F(Limits, RejectsPlaylistsWithAMismatchedExtension) {
    write_concat("a.m3u8");
    write_hls("a.ffconcat");
    write_hls("a.mpd");
    for (const auto* name : {"a.m3u8", "a.ffconcat", "a.mpd"}) {
        const auto reading = read_video(folder_ / name);
        EXPECT_EQ(reading.error, ErrorCode::no_input) << name;
        EXPECT_NE(reading.message.find("is not a video"), std::string::npos) << reading.message;
    }
}

// Playlists that name servers, scripts, or text files that FFmpeg would render as a terminal.
TEST_F(Limits, PlaylistsMayOnlyReferToLocalMedia) {
    write_file(folder_ / "words.ts", "These are words, many of them.\n");
    write_concat("script.ts");
    for (const auto* part : {"words.ts", "script.ts", "http://127.0.0.1:1/a.ts", "tcp://127.0.0.1:1/a.ts"}) {
        write_hls("a.m3u8", part);
        const auto reading = read_video(folder_ / "a.m3u8");
        EXPECT_TRUE(reading.error) << part;
        EXPECT_TRUE(reading.frames.empty()) << part;
    }
}

TEST_F(Limits, ImagesAreReadOnlyByImageDemuxers) {
    std::filesystem::copy(folder_ / "secret.ts", folder_ / "a.jpg");
    const auto video = read_video(folder_ / "a.jpg");
    EXPECT_EQ(video.error, ErrorCode::no_input);
    EXPECT_NE(video.message.find("is not an image: it contains MPEG-TS"), std::string::npos) << video.message;
    const auto want = read_video(folder_ / "secret.jpg").frames;
    ASSERT_EQ(want.size(), 1U);
    // Images may have the extensions of other images and of videos.
    for (const auto* name : {"b.webp", "b.bmp", "b.mp4"}) {
        std::filesystem::copy(folder_ / "secret.jpg", folder_ / name);
        EXPECT_EQ(read_video(folder_ / name).frames, want) << name;
    }
}

TEST_F(Limits, RejectsSessionDescriptions) {
    write_file(folder_ / "a.mp4",
               "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\n"
               "a=rtpmap:96 H264/90000\n");
    const auto reading = read_video(folder_ / "a.mp4");
    EXPECT_EQ(reading.error, ErrorCode::no_input);
    EXPECT_NE(reading.message.find("it contains SDP"), std::string::npos) << reading.message;
}

}  // namespace
}  // namespace framewire

// Network sources and sinks, tested with a small server on the loopback interface.

namespace framewire {
namespace {

using namespace testing;
using namespace std::chrono_literals;

// HTTP connection whose request has been read.
class Connection {
public:
    Connection(int socket, std::string request, std::stop_token stop)
        : socket_(socket), request_(std::move(request)), stop_(std::move(stop)) {}

    const std::string& request() const { return request_; }
    void send(std::string_view text) const { send_bytes(text.data(), text.size()); }
    void send_bytes(const void* data, std::size_t bytes) const {
        const auto* from = static_cast<const char*>(data);
        while (bytes > 0) {
            const auto put = ::send(socket_, from, bytes, MSG_NOSIGNAL);
            if (put <= 0) return;
            from += put;
            bytes -= static_cast<std::size_t>(put);
        }
    }
    // Keeps the connection open without sending anything until the server stops.
    void stall() const {
        std::promise<void> down;
        const std::stop_callback on_stop(stop_, [&] { down.set_value(); });
        down.get_future().wait();
    }

private:
    int socket_;
    std::string request_;
    std::stop_token stop_;
};

class HttpServer {
public:
    using Answer = std::function<void(const Connection&, int number)>;

    explicit HttpServer(Answer answer) : answer_(std::move(answer)) {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0 || ::listen(listener_, 8) != 0 ||
            ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0)
            throw std::runtime_error("no port to listen on");
        port_ = ntohs(address.sin_port);
        thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
    }
    ~HttpServer() {
        thread_.request_stop();
        thread_.join();
        ::close(listener_);
    }

    std::string url() const { return fmt::format("http://127.0.0.1:{}/video", port_); }
    int connections() const { return connections_; }

private:
    void serve(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            pollfd waiting{listener_, POLLIN, 0};
            if (::poll(&waiting, 1, 20) <= 0) continue;
            const int socket = ::accept(listener_, nullptr, nullptr);
            if (socket < 0) continue;
            const int number = connections_++;
            std::string request;
            char buffer[1024];
            pollfd asking{socket, POLLIN, 0};
            while (request.find("\r\n\r\n") == std::string::npos && request.size() < 65536) {
                if (::poll(&asking, 1, 1000) <= 0) break;  // a plain TCP client sends no request
                const auto got = ::recv(socket, buffer, sizeof buffer, 0);
                if (got <= 0) break;
                request.append(buffer, static_cast<std::size_t>(got));
            }
            answer_({socket, request, stop}, number);
            ::close(socket);
        }
    }

    Answer answer_;
    int listener_ = -1;
    int port_ = 0;
    std::atomic<int> connections_{0};
    std::jthread thread_;
};

const Shape shape{1, 120, 160, 3};
constexpr std::size_t clip_frames = 50;

// Returns a transport stream in memory.
Bytes clip() {
    const TemporaryFolder folder;
    std::vector<Bytes> frames;
    for (std::size_t number = 0; number < clip_frames; ++number)
        frames.push_back(smooth_frame(shape, static_cast<int>(number)));
    write_video(folder / "a.mkv", shape, frames);
    EXPECT_TRUE(ffmpeg(fmt::format("-i {} -c:v mpeg2video -q:v 3 -g 10 {}", folder / "a.mkv", folder / "a.ts")));
    return read_file(folder / "a.ts");
}

constexpr std::string_view endless = "HTTP/1.1 200 OK\r\nContent-Type: video/mp2t\r\nConnection: close\r\n\r\n";

TEST(Http, ReadsAWholeFile) {
    const auto bytes = clip();
    const HttpServer server([&](const Connection& connection, int) {
        connection.send(
            fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nAccept-Ranges: bytes\r\n\r\n", bytes.size()));
        connection.send_bytes(bytes.data(), bytes.size());
    });
    const auto reading = read_video(server.url(), {.timeout = 5s});
    EXPECT_FALSE(reading.error) << reading.message;
    EXPECT_EQ(reading.frames.size(), clip_frames);
}

TEST(Http, SendsAPasswordFromAFileWithoutRevealingIt) {
    const TemporaryFolder folder;
    std::ofstream(folder / "secret") << "Tr0ub 4dor\n";
    const auto bytes = clip();
    std::mutex mutex;
    std::string request;
    const HttpServer server([&](const Connection& connection, int) {
        if (connection.request().find("Authorization:") == std::string::npos) {
            connection.send(
                "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"cam\"\r\n"
                "Content-Length: 0\r\nConnection: close\r\n\r\n");
            return;
        }
        {
            const std::lock_guard lock(mutex);
            request = connection.request();
        }
        connection.send(
            fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nAccept-Ranges: bytes\r\n\r\n", bytes.size()));
        connection.send_bytes(bytes.data(), bytes.size());
    });
    auto url = server.url();
    url.insert(url.find("//") + 2, "me:{file:" + (folder / "secret") + "}@");
    const auto reading = read_video(url, {.timeout = 5s});
    EXPECT_FALSE(reading.error) << reading.message;
    EXPECT_EQ(reading.info.name.find("secret"), std::string::npos) << reading.info.name;
    EXPECT_EQ(reading.info.name.find("4dor"), std::string::npos) << reading.info.name;
    const std::lock_guard lock(mutex);
    EXPECT_NE(request.find("Basic bWU6VHIwdWIgNGRvcg=="), std::string::npos) << request;  // base64 of me:Tr0ub 4dor
}

TEST(Http, ResumesAnInterruptedDownload) {
    const auto bytes = clip();
    const HttpServer server([&](const Connection& connection, int number) {
        std::size_t begin = 0;
        if (const auto range = connection.request().find("Range: bytes="); range != std::string::npos)
            begin = std::stoul(connection.request().substr(range + 13));
        begin = std::min(begin, bytes.size());
        connection.send(
            fmt::format("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {}-{}/{}\r\nContent-Length: {}\r\n"
                        "Accept-Ranges: bytes\r\nConnection: close\r\n\r\n",
                        begin, bytes.size() - 1, bytes.size(), bytes.size() - begin));
        const auto rest = bytes.size() - begin;
        connection.send_bytes(bytes.data() + begin, number < 2 ? rest / 2 : rest);
    });
    const auto reading = read_video(server.url(), {.timeout = 5s});
    EXPECT_FALSE(reading.error) << reading.message;
    EXPECT_EQ(reading.frames.size(), clip_frames);
    EXPECT_GE(server.connections(), 3);
}

TEST(Http, ReopensALostBroadcastUntilRetriesRunOut) {
    const auto bytes = clip();
    const HttpServer server([&](const Connection& connection, int number) {
        if (number >= 2) return;  // the server never answers again
        connection.send(endless);
        connection.send_bytes(bytes.data(), bytes.size());
    });
    const auto begin = Clock::now();
    const auto reading = read_video(server.url(), {.timeout = 2s, .retries = 3, .retry_pause = 50ms});
    EXPECT_EQ(reading.error, ErrorCode::source_lost);
    EXPECT_NE(reading.message.find("3 attempts"), std::string::npos) << reading.message;
    EXPECT_TRUE(reading.info.live);
    EXPECT_GE(reading.frames.size(), clip_frames * 3 / 2);
    EXPECT_LE(reading.frames.size(), clip_frames * 2);
    for (std::size_t number = 1; number < reading.times.size(); ++number) {
        EXPECT_GT(reading.times[number].seconds, reading.times[number - 1].seconds);
        EXPECT_EQ(reading.times[number].index, static_cast<std::int64_t>(number));
    }
    EXPECT_LT(milliseconds_since(begin), 15'000);
}

TEST(Http, TimesOutOnASilentServer) {
    const auto bytes = clip();
    const HttpServer server([&](const Connection& connection, int) {
        connection.send(endless);
        connection.send_bytes(bytes.data(), bytes.size() / 2);
        connection.stall();
    });
    const auto begin = Clock::now();
    const auto reading = read_video(server.url(), {.timeout = 700ms, .retries = 1, .retry_pause = 20ms});
    EXPECT_TRUE(reading.error);
    EXPECT_LT(milliseconds_since(begin), 9'000);
}

TEST(Http, TimesOutIfTheServerNeverAnswers) {
    const HttpServer server([](const Connection& connection, int) { connection.stall(); });
    const auto begin = Clock::now();
    EXPECT_EQ(read_video(server.url(), {.timeout = 500ms}).error, ErrorCode::no_input);
    EXPECT_LT(milliseconds_since(begin), 8'000);
}

TEST(Http, ReportsAMissingResource) {
    const HttpServer server([](const Connection& connection, int) {
        connection.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    });
    EXPECT_EQ(read_video(server.url(), {.timeout = 2s}).error, ErrorCode::no_input);
    EXPECT_EQ(read_video("http://127.0.0.1:1/video", {.timeout = 2s}).error, ErrorCode::no_input);
    EXPECT_EQ(read_video("nosuchprotocol://127.0.0.1/", {.timeout = 2s}).error, ErrorCode::no_input);
}

// A server's response must not refer to local files, whatever form it takes.
TEST(Http, APlaylistCannotReferToLocalFiles) {
    const TemporaryFolder folder;
    const auto bytes = clip();
    write_file(folder / "secret.ts", bytes.data(), bytes.size());
    for (const auto* scheme : {"http", "tcp"}) {
        std::string part = "file:" + (folder / "secret.ts");
        std::string url;
        const HttpServer server([&](const Connection& connection, int) {
            if (connection.request().starts_with("GET"))
                connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
            if (connection.request().starts_with("GET /part.ts")) {
                connection.send_bytes(bytes.data(), bytes.size());
                return;
            }
            connection.send(
                "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:0\n"
                "#EXTINF:2.0,\n" +
                part + "\n#EXT-X-ENDLIST\n");
        });
        url = scheme + server.url().substr(4);
        const auto reading = read_video(url, {.timeout = 2s, .retries = 0});
        EXPECT_TRUE(reading.error) << scheme;
        EXPECT_TRUE(reading.frames.empty()) << scheme;
        if (scheme == std::string_view("tcp")) continue;
        part = "part.ts";  // references to the server itself are allowed
        EXPECT_EQ(read_video(url, {.timeout = 5s}).frames.size(), clip_frames);
    }
}

TEST(Network, NamesAndMessagesHideCredentials) {
    const auto bytes = clip();
    const HttpServer server([&](const Connection& connection, int) {
        connection.send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", bytes.size()));
        connection.send_bytes(bytes.data(), bytes.size());
    });
    auto url = server.url() + "?token=geheim&x=1";
    url.insert(7, "me:geheim@");
    const auto reading = read_video(url, {.timeout = 5s}, 1);
    EXPECT_EQ(reading.frames.size(), 1U) << reading.message;
    EXPECT_EQ(reading.info.name, "http://***@" + server.url().substr(7) + "?token=***&x=1");
    EXPECT_EQ(read_video(url, {.timeout = 5s, .loop = true}, 1).info.name, reading.info.name);
    for (const auto* refused : {"rtsp://me:geheim@127.0.0.1:1/x", "http://me:geheim@127.0.0.1:1/x?password=geheim",
                                "tcp://me:geheim@127.0.0.1:1", "nosuchprotocol://me:geheim@127.0.0.1/",
                                "lavfi:movie='http\\://me\\:geheim@127.0.0.1\\:1/x'"}) {
        const auto failed = read_video(refused, {.timeout = 2s, .retries = 0});
        EXPECT_TRUE(failed.error) << refused;
        EXPECT_EQ(failed.message.find("geheim"), std::string::npos) << failed.message;
    }
    for (const auto* refused : {"rtsp://me:geheim@127.0.0.1:1/x", "tcp://me:geheim@127.0.0.1:1"}) {
        std::string message;
        EXPECT_TRUE(error_of([&] { open_sink(refused, shape, {25, 1}, {.timeout = 2s}); }, &message)) << refused;
        EXPECT_EQ(message.find("geheim"), std::string::npos) << message;
        EXPECT_TRUE(error_of([&] { open_sink(refused, shape, {0, 1}); }, &message)) << refused;
        EXPECT_EQ(message.find("geheim"), std::string::npos) << message;
    }
}

// Returns the pictures of an MJPEG camera as multipart content; each part starts with `head`, the first one with
// `first`.
Bytes multipart(const std::vector<Bytes>& pictures, std::string_view first, std::string_view head) {
    Bytes body(first.begin(), first.end());
    for (std::size_t number = 0; number < pictures.size(); ++number) {
        if (number > 0) body.insert(body.end(), head.begin(), head.end());
        body.insert(body.end(), pictures[number].begin(), pictures[number].end());
    }
    body.insert(body.end(), head.begin(), head.end());
    return body;
}

TEST(Http, ReadsCamerasWithLooseMultipartHeaders) {
    const TemporaryFolder folder;
    ASSERT_TRUE(ffmpeg("-f lavfi -i testsrc2=size=160x120:rate=25 -frames:v 20 -c:v mjpeg " + (folder / "%d.jpg")));
    std::vector<Bytes> pictures;
    for (int number = 1; number <= 20; ++number)
        pictures.push_back(read_file(folder / (std::to_string(number) + ".jpg")));
    for (const auto& [first, head] :
         {std::pair{"--b\r\nContent-Type: image/jpeg\r\n\r\n", "\r\n--b\r\nContent-Type: image/jpeg\r\n\r\n"},
          {"--b\r\nContent-Type: image/jpg\r\n\r\n", "\r\n--b\r\nContent-Type: image/jpg\r\n\r\n"},
          {"Content-Type: image/jpeg\r\n\r\n", "\r\n--b\r\nContent-Type: image/jpeg\r\n\r\n"},
          {"", "\r\n--b\r\nContent-Type: image/jpeg\r\n\r\n"},
          {"--b\r\n\r\n", "\r\n--b\r\n\r\n"}}) {
        const auto body = multipart(pictures, first, head);
        const HttpServer server([&](const Connection& connection, int) {
            connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=b\r\nConnection: close\r\n\r\n");
            connection.send_bytes(body.data(), body.size());
        });
        const auto reading = read_video(server.url(), {.timeout = 5s, .retries = 0}, 19);
        EXPECT_EQ(reading.frames.size(), 19U) << first << reading.message;
        EXPECT_TRUE(reading.info.live) << first;
        if (!reading.frames.empty()) {
            EXPECT_GT(psnr(reading.frames[0], read_video(folder / "1.jpg").frames.at(0)), 45) << first;
        }
    }
}

// The server sends more than the socket buffers hold while the recording has read only one frame.
TEST(Http, BuffersABroadcastIfEveryFrameIsKept) {
    const TemporaryFolder folder;
    ASSERT_TRUE(
        ffmpeg("-f lavfi -i \"nullsrc=size=640x480:rate=25,geq=lum='255*random(1)':cb=128:cr=128\" -frames:v 60 "
               "-c:v ffv1 -g 1 -f matroska - > " +
               (folder / "a.mkv")));
    const auto bytes = read_file(folder / "a.mkv");
    ASSERT_GT(bytes.size(), std::size_t{15} << 20);
    std::promise<void> sent, has_been_sent;
    const HttpServer server([&](const Connection& connection, int) {
        connection.send("HTTP/1.1 200 OK\r\nContent-Type: video/x-matroska\r\nConnection: close\r\n\r\n");
        connection.send_bytes(bytes.data(), bytes.size());
        sent.set_value();
        has_been_sent.get_future().wait_for(60s);  // decoders withhold the last frames until the end
    });
    const auto source = open_source(server.url(), {.timeout = 20s, .retries = 0, .every_frame = true});
    ASSERT_TRUE(source->info().live);
    HostImage image(source->info().shape);
    FrameTime time;
    ASSERT_TRUE(source->read(image.view(), time));
    ASSERT_EQ(sent.get_future().wait_for(60s), std::future_status::ready) << "the camera had to wait";
    has_been_sent.set_value();
    for (std::int64_t number = 1; number < 59; ++number) {
        ASSERT_TRUE(source->read(image.view(), time)) << number;
        EXPECT_NEAR(time.seconds, static_cast<double>(number) / 25, 0.002);
    }
}

TEST(Http, StopInterruptsABlockedRead) {
    const auto bytes = clip();
    const HttpServer server([&](const Connection& connection, int) {
        connection.send(endless);
        connection.send_bytes(bytes.data(), bytes.size());
        connection.stall();
    });
    std::stop_source stop;
    const auto source = open_source(server.url(), {.stop = stop.get_token(), .timeout = 60s});
    HostImage image(source->info().shape);
    FrameTime time;
    std::promise<void> reads;
    Clock::time_point stopped;
    std::jthread stopper([&] {
        reads.get_future().wait();
        stopped = Clock::now();
        stop.request_stop();
    });
    ASSERT_TRUE(source->read(image.view(), time));
    reads.set_value();  // without a stop request the client would read everything and wait for more
    while (source->read(image.view(), time)) {
    }
    stopper.join();
    EXPECT_LT(milliseconds_since(stopped), 20'000);
}

TEST(Http, StopInterruptsOpening) {
    std::stop_source stop;
    const HttpServer server([&](const Connection& connection, int) {
        stop.request_stop();  // the request has arrived, and the client waits for the response
        connection.stall();
    });
    const auto begin = Clock::now();
    EXPECT_EQ(read_video(server.url(), {.stop = stop.get_token(), .timeout = 60s}).error, ErrorCode::no_input);
    EXPECT_LT(milliseconds_since(begin), 20'000);
}

TEST(Udp, ReceivesSentFrames) {
    const auto url = fmt::format("udp://127.0.0.1:{}", 20'000 + ::getpid() % 20'000);
    constexpr auto frame_period = 20ms;
    std::jthread sender([&](const std::stop_token& stop) {
        const auto sink = open_sink(url, shape, {25, 1});
        for (int number = 0; !stop.stop_requested(); ++number) {
            sink->write(view_of(smooth_frame(shape, number), shape), {number, number / 25.0, {}});
            std::this_thread::sleep_for(frame_period);
        }
        sink->finish();
    });
    const auto reading = read_video(url + "?overrun_nonfatal=1", {.timeout = 60s, .retries = 0}, 20);
    EXPECT_FALSE(reading.error) << reading.message;
    EXPECT_EQ(reading.frames.size(), 20U);
    EXPECT_TRUE(reading.info.live);
    EXPECT_EQ(reading.info.shape, shape);
}

TEST(Sinks, FailWithAnIoErrorIfNobodyListens) {
    for (const auto* url : {"tcp://127.0.0.1:1", "rtmp://127.0.0.1:1/live/x", "rtsp://127.0.0.1:1/x"})
        EXPECT_EQ(error_of([&] { open_sink(url, shape, {25, 1}, {.timeout = 2s}); }), ErrorCode::io) << url;
}

}  // namespace
}  // namespace framewire

// Files whose timestamps do not start at 0, although the source's times do.

namespace framewire {
namespace {

using namespace testing;

constexpr std::size_t count = 50;
constexpr double step_seconds = 1.0 / 25;

struct Shifted {
    const char* name;
    const char* file;
    const char* encoding;  // arguments for the ffmpeg tool
};

std::ostream& operator<<(std::ostream& out, const Shifted& shifted) { return out << shifted.name; }

class Times : public ::testing::TestWithParam<Shifted> {
protected:
    Times() {
        EXPECT_TRUE(ffmpeg(fmt::format("-f lavfi -i testsrc=size=64x48:rate=25 -frames:v {} {} {}", count,
                                       GetParam().encoding, path_)));
    }

    TemporaryFolder folder_;
    std::string path_ = folder_ / GetParam().file;
};

TEST_P(Times, StartAtZero) {
    const auto reading = read_video(path_);
    EXPECT_FALSE(reading.error) << reading.message;
    ASSERT_EQ(reading.times.size(), count);
    for (std::size_t number = 0; number < count; ++number)
        EXPECT_NEAR(reading.times[number].seconds, static_cast<double>(number) * step_seconds, 0.002) << number;
}

TEST_P(Times, TruncatedFileEndsWithSourceLost) {
    const auto whole = read_file(path_);
    write_file(path_, whole.data(), whole.size() * 3 / 4);
    const auto reading = read_video(path_);
    EXPECT_LT(reading.times.size(), count);
    EXPECT_EQ(reading.error, ErrorCode::source_lost);
}

INSTANTIATE_TEST_SUITE_P(
    All, Times,
    ::testing::Values(Shifted{"matroska", "a.mkv", "-c:v ffv1 -output_ts_offset 5"},
                      Shifted{"matroska_hours", "a.mkv", "-c:v ffv1 -output_ts_offset 100000"},
                      Shifted{"matroska_b_frames", "a.mkv", "-c:v libx264 -bf 3 -g 10 -output_ts_offset 5"},
                      Shifted{"webm", "a.webm", "-c:v libvpx -g 10 -output_ts_offset 5.5"},
                      Shifted{"matroska_before_zero", "a.mkv", "-c:v libx264 -bf 3 -g 10 -output_ts_offset -1"},
                      Shifted{"mp4", "a.mp4", "-c:v libx264 -bf 3 -g 10 -movflags +faststart -output_ts_offset 5"},
                      Shifted{"avi", "a.avi", "-c:v mjpeg"}),
    ::testing::PrintToStringParamName());

TEST(Times, StartAtZeroInTransportStreams) {
    const TemporaryFolder folder;
    // The last offset is two hours before the 33-bit clock wraps around.
    for (const auto* offset : {"5", "-5", "88243"}) {
        ASSERT_TRUE(
            ffmpeg(fmt::format("-f lavfi -i testsrc=size=64x48:rate=25 -frames:v {} -c:v libx264 -bf 3 -g 10 "
                               "-output_ts_offset {} {}",
                               count, offset, folder / "a.ts")));
        const auto reading = read_video(folder / "a.ts");
        EXPECT_FALSE(reading.error) << offset << " " << reading.message;
        ASSERT_EQ(reading.times.size(), count) << offset;
        for (std::size_t number = 0; number < count; ++number)
            EXPECT_NEAR(reading.times[number].seconds, static_cast<double>(number) * step_seconds, 0.002) << number;
    }
}

TEST(Times, ImpossibleTimesAreIgnored) {
    const TemporaryFolder folder;
    ASSERT_TRUE(
        ffmpeg("-f lavfi -i testsrc=size=64x48:rate=25 -frames:v 4 -vf 'setpts=if(gte(N\\,2)\\,4e13+N\\,N)' "
               "-fps_mode passthrough -c:v ffv1 " +
               (folder / "a.mkv")));
    const auto reading = read_video(folder / "a.mkv");
    EXPECT_FALSE(reading.error) << reading.message;
    ASSERT_EQ(reading.times.size(), 4U);
    for (std::size_t number = 0; number < 4; ++number)
        EXPECT_NEAR(reading.times[number].seconds, static_cast<double>(number) * step_seconds, 0.002) << number;
}

// FFmpeg writes the end time as the duration of a Matroska file; mkvmerge counts from the first timestamp.
TEST(Times, AMatroskaDurationMayStartAtTheFirstTimestamp) {
    const TemporaryFolder folder;
    ASSERT_TRUE(
        ffmpeg(fmt::format("-f lavfi -i testsrc=size=64x48:rate=25 -frames:v {} -c:v ffv1 -output_ts_offset 1 {}",
                           count, folder / "a.mkv")));
    auto bytes = read_file(folder / "a.mkv");
    const Bytes duration_of_eight_bytes{0x44, 0x89, 0x88};
    const auto at =
        std::search(bytes.begin(), bytes.end(), duration_of_eight_bytes.begin(), duration_of_eight_bytes.end());
    ASSERT_NE(at, bytes.end());
    const auto duration_ms = std::bit_cast<std::uint64_t>(1000.0 * static_cast<double>(count) * step_seconds);
    for (int byte = 0; byte < 8; ++byte) at[3 + byte] = static_cast<std::uint8_t>(duration_ms >> (56 - 8 * byte));
    write_file(folder / "a.mkv", bytes.data(), bytes.size());
    const auto reading = read_video(folder / "a.mkv");
    EXPECT_FALSE(reading.error) << reading.message;
    EXPECT_EQ(reading.times.size(), count);
}

}  // namespace
}  // namespace framewire
