#include "network/cases/rig.hpp"

#include "e2e/places.hpp"
#include "framewire/core/time.hpp"
#include "framewire/net/testing/test_http.hpp"
#include "kit/images.hpp"
#include "network/link/descriptor.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iostream>
#include <limits>

namespace framewire::network {

bool long_cases() { return kit::at_length(); }

void tell(const std::string& what, double value, const std::string& unit) {
    std::cout << fmt::format("  figure: {} = {:.4g} {}\n", what, value, unit) << std::flush;
}

double resident_bytes(pid_t process) {
    std::ifstream file(fmt::format("/proc/{}/statm", process));
    double all = 0, resident = 0;
    file >> all >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double cpu_seconds(pid_t process) {
    std::ifstream file(fmt::format("/proc/{}/stat", process));
    file.ignore(std::numeric_limits<std::streamsize>::max(), ')');
    std::string word;
    for (int i = 0; i < 11; ++i) file >> word;
    double user = 0, system = 0;
    file >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

Camera::Camera(const e2e::TemporaryFolder& folder, const std::string& name, const std::string& size, double fps,
               std::optional<int> port, int noise, double kept_seconds, const Words& look)
    : log_(folder / (name + ".log")) {
    std::string to;
    if (port) {
        to = fmt::format("http:{}", *port);
        source_ = fmt::format("http://127.0.0.1:{}/{}.y4m", *port, name);
    } else {
        const auto pipe = folder / (name + ".bgr");
        EXPECT_EQ(mkfifo(pipe.c_str(), 0600), 0);
        to = "pipe:" + pipe;
        source_ = fmt::format("raw:{}:size={}:fps={}:format=bgr", pipe, size, fps);
    }
    command_ = {std::string(e2e::test_programs_path) + "/test-camera",
                log_,
                to,
                "size=" + size,
                fmt::format("fps={}", fps),
                fmt::format("noise={}", noise),
                fmt::format("kept={}", kept_seconds)};
    command_.insert(command_.end(), look.begin(), look.end());
    start();
}

void Camera::start() {
    program_ = std::make_unique<e2e::Program>(command_);
    EXPECT_TRUE(program_->wait_for_err("camera ready")) << program_->err();
}

void Camera::kill() {
    program_->signal(SIGKILL);
    program_->wait();
}

namespace {

Words serve_command(Words arguments, const Link* link, std::uint16_t port) {
    const auto address = link ? link->listen_address() : "127.0.0.1:0";
    const auto host = address.substr(0, address.rfind(':') + 1);
    arguments.insert(arguments.begin(),
                     {"serve", "--backend", "cpu", "--rate", "max", "--listen", host + std::to_string(port)});
    if (link && link->can_lose()) arguments.push_back("--no-token");  // no other process uses the link's networks
    auto command = e2e::framewire(std::move(arguments));
    return link ? link->at_servers(std::move(command)) : command;
}

Words crowd_command(Words words, const Link* link) {
    words.insert(words.begin(), std::string(e2e::test_programs_path) + "/test-load");
    return link ? link->at_viewers(std::move(words)) : words;
}

}  // namespace

Served::Served(Words arguments, Link* link, std::uint16_t port)
    : program_(serve_command(std::move(arguments), link, port)) {
    const std::string before_url = " at ";  // the program prints "serving SOURCE at URL"
    EXPECT_TRUE(program_.wait_for_err(before_url + "tcp://")) << program_.err();
    const auto words = program_.err();
    const auto begin = words.find(before_url + "tcp://") + before_url.size();
    url_ = words.substr(begin, words.find('\n', begin) - begin);
    const auto colon = url_.rfind(':'), slash = url_.find('/', colon);
    port_ = static_cast<std::uint16_t>(std::stoi(url_.substr(colon + 1)));
    if (link) url_ = "tcp://" + link->reach(port_) + url_.substr(slash);
}

Json order(const Served& server, const std::string& method, const std::string& what, const Json& body) {
    const auto text = body.dump();
    const auto ask = [&] {
        return net::testing::HttpClient(server.port())
            .ask(fmt::format("{} /api/cameras/main/{}", method, what),
                 fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", text.size()), text);
    };
    auto answer = ask();
    // Under a sanitizer, the server may need more time for its next frame than the response waits.
    for (int again = 0; kit::brief() && again < 20 && (answer.status == 0 || answer.status == 409); ++again)
        answer = ask();
    EXPECT_EQ(answer.status, 200) << what << " " << text << ": " << answer.body;
    return Json::parse(answer.body, nullptr, false);
}

Crowd::Crowd(const Words& words, const Link* link) : program_(crowd_command(words, link)) {}

Json Crowd::result() {
    const auto ended = program_.wait(std::chrono::seconds(900));
    EXPECT_EQ(ended.code, 0) << ended.err;
    auto json = Json::parse(ended.out, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << ended.out << ended.err;
    return json;
}

Words view_command(Words arguments) {
    arguments.insert(arguments.begin(), {"view", "--no-window"});
    return e2e::framewire(std::move(arguments));
}

int free_port() {
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(bind(socket.number(), reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &length), 0);
    return ntohs(address.sin_port);
}

std::unique_ptr<Link> best_link() {
    std::string why;
    if (auto link = make_packet_link(why)) return link;
    std::cout << "  " << why << "; using a proxy without packet loss instead\n";
    return make_proxy_link();
}

LinkSettings line_settings(const std::string& text) {
    LinkSettings settings;
    read_link_settings(text, settings);
    return settings;
}

double now_ms() { return std::chrono::duration<double, std::milli>(Clock::now().time_since_epoch()).count(); }

std::vector<double> latencies(const Json& viewer, double from_ms, double to_ms) {
    std::vector<double> found;
    for (const auto& arrival : viewer["arrivals"])
        if (const double at = arrival[0]; at >= from_ms && at < to_ms) found.push_back(arrival[1]);
    return found;
}

}  // namespace framewire::network
