#include "e2e/events/brokers.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <set>
#include <sstream>

namespace framewire::e2e {
namespace brokers {

// Both programs are in /usr/sbin, which is not on every user's path.
const std::string mosquitto = "/usr/sbin/mosquitto", nats = "/usr/sbin/nats-server";

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
}

int free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    auto address = loopback(0);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);
    ::close(socket);
    return ntohs(address.sin_port);
}

bool listens(int port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    const auto address = loopback(port);
    const bool connected = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(socket);
    return connected;
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::vector<std::string> subscriber(const Broker& broker, const std::string& topic,
                                    const std::vector<std::string>& more) {
    std::vector<std::string> command{
        "mosquitto_sub", "-h", "127.0.0.1", "-p", std::to_string(broker.port()), "-q", "1", "-t", topic};
    command.insert(command.end(), more.begin(), more.end());
    return command;
}

}  // namespace brokers

bool brokers_are_installed() {
    for (const auto& program : {brokers::mosquitto, brokers::nats, std::string("/usr/bin/mosquitto_sub")})
        if (!std::filesystem::exists(program)) return false;
    return true;
}

Broker::Broker() : port_(brokers::free_port()) {}

std::string Broker::url(const std::string& prefix) const {
    return fmt::format("mqtt://127.0.0.1:{}/{}", port_, prefix);
}

void Broker::start() {
    program_.emplace(command());
    EXPECT_TRUE(becomes_true([this] { return brokers::listens(port_); })) << program_->err();
}

void Broker::kill() {
    program_->signal(SIGKILL);
    program_->wait();
}

Mosquitto::Mosquitto(const std::string& more) {
    // If started by root, Mosquitto would switch to another user, who cannot write here.
    brokers::write(folder_ / "mosquitto.conf",
                   fmt::format("user root\nper_listener_settings false\npersistence true\npersistence_location {}/\n"
                               "autosave_interval 1\nautosave_on_changes true\nmax_queued_messages 0\n"
                               "listener {} 127.0.0.1\n{}",
                               folder_.path().string(), port_, more));
}

std::vector<std::string> Mosquitto::command() const { return {brokers::mosquitto, "-c", folder_ / "mosquitto.conf"}; }

bool Mosquitto::keeps(const std::string& topic) const {
    const auto file = folder_ / "mosquitto.db";
    return std::filesystem::exists(file) && contents(file).find(topic) != std::string::npos;
}

Nats::Nats() {
    brokers::write(folder_ / "nats.conf",
                   fmt::format("server_name: framewire_test\nhost: 127.0.0.1\nport: -1\n"
                               "jetstream {{ store_dir: \"{}\" }}\nmqtt {{ host: 127.0.0.1, port: {} }}\n",
                               folder_.path().string(), port_));
}

std::vector<std::string> Nats::command() const { return {brokers::nats, "-c", folder_ / "nats.conf"}; }

// NATS writes a session to disk before it acknowledges the subscription to the client.
bool Nats::keeps(const std::string&) const { return true; }

Subscriber::Subscriber(const Broker& broker, const std::string& topic, const std::vector<std::string>& more) {
    auto arguments = more;
    arguments.insert(arguments.end(), {"-i", "watcher", "-c", "-d", "-F", "%t %p"});
    std::string line = "exec stdbuf -oL";
    for (const auto& word : brokers::subscriber(broker, topic, arguments)) line += " '" + word + "'";
    program_.emplace(std::vector<std::string>{"sh", "-c", line + " > " + (folder_ / "messages")});
    const auto subscribed = [this] { return contents(folder_ / "messages").find("Subscribed") != std::string::npos; };
    EXPECT_TRUE(becomes_true([&] { return std::filesystem::exists(folder_ / "messages") && subscribed(); }))
        << program_->err();
    EXPECT_TRUE(becomes_true([&] { return broker.keeps(topic); }));
}

std::vector<Subscriber::Message> Subscriber::messages() const {
    std::vector<Message> all;
    std::istringstream lines(contents(folder_ / "messages"));
    for (std::string line; std::getline(lines, line);) {
        const auto blank = line.find(' ');
        if (lines.eof() || blank == line.npos || line.substr(0, blank).find('/') == line.npos) continue;
        all.push_back({line.substr(0, blank), line.substr(blank + 1)});
    }
    return all;
}

std::vector<nlohmann::json> Subscriber::events() const {
    std::vector<nlohmann::json> all;
    for (const auto& message : messages())
        if (message.topic.ends_with("/events")) all.push_back(nlohmann::json::parse(message.payload));
    return all;
}

bool Subscriber::wait_for(std::size_t count) const {
    return becomes_true([&] { return messages().size() >= count; });
}

bool Subscriber::wait_for_events(std::size_t count) const {
    return becomes_true([&] {
        std::set<std::string> ids;
        for (const auto& event : events()) ids.insert(event["id"].get<std::string>());
        return ids.size() >= count;
    });
}

std::string retained(const Broker& broker, const std::string& topic, const std::vector<std::string>& more) {
    auto arguments = more;
    arguments.insert(arguments.end(), {"-C", "1", "-W", "10"});
    auto text = Program(brokers::subscriber(broker, topic, arguments)).wait().out;
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

}  // namespace framewire::e2e
