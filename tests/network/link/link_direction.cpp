#include "network/link/link_direction.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <utility>

namespace framewire::network {
namespace {

constexpr std::size_t least_queued_packets = 8;

Clock::duration of_seconds(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

double number_in(std::string_view text, std::string_view setting) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
    const double factor = rest == "k" ? 1e3 : rest == "M" ? 1e6 : rest == "G" ? 1e9 : rest.empty() ? 1 : 0;
    if (error != std::errc() || factor == 0 || value < 0)
        throw std::invalid_argument("expected a non-negative number, optionally with k, M or G: " +
                                    std::string(setting));
    return value * factor;
}

}  // namespace

void read_link_settings(std::string_view text, LinkSettings& settings) {
    while (!text.empty()) {
        const auto setting = text.substr(0, text.find(':'));
        text.remove_prefix(std::min(text.size(), setting.size() + 1));
        const auto equals = std::min(setting.find('='), setting.size());
        const auto name = setting.substr(0, equals);
        const auto value = number_in(setting.substr(std::min(equals + 1, setting.size())), setting);
        if (name == "loss" && value <= 100)
            settings.loss = value / 100;
        else if (name == "delay")
            settings.delay_ms = value;
        else if (name == "rate")
            settings.bits_per_second = value;
        else if (name == "queue")
            settings.queue_ms = value;
        else
            throw std::invalid_argument("unknown link setting: " + std::string(setting));
    }
}

Clock::time_point LinkDirection::head_done() const {
    const auto begin = std::max(free_at_, queue_.front().time);
    if (settings_.bits_per_second <= 0) return begin;
    return begin + of_seconds(8 * static_cast<double>(queue_.front().packet.bytes.size()) / settings_.bits_per_second);
}

void LinkDirection::transmit(Clock::time_point now) {
    while (!queue_.empty()) {
        const auto done = head_done();
        if (done > now) return;
        free_at_ = done;
        queued_bytes_ -= queue_.front().packet.bytes.size();
        last_arrival_ = std::max(last_arrival_, done + of_seconds(1e-3 * settings_.delay_ms));
        way_.push_back({std::move(queue_.front().packet), last_arrival_});
        queue_.pop_front();
    }
}

bool LinkDirection::has_room(Clock::time_point now) {
    transmit(now);
    return settings_.bits_per_second <= 0 || queue_.size() < least_queued_packets ||
           8e3 * static_cast<double>(queued_bytes_) < settings_.queue_ms * settings_.bits_per_second;
}

void LinkDirection::take(Packet packet, Clock::time_point now) {
    ++counts_.taken;
    if (std::uniform_real_distribution<>(0, 1)(random_) < settings_.loss) {
        ++counts_.lost;
    } else if (!has_room(now)) {
        ++counts_.dropped;
    } else {
        queued_bytes_ += packet.bytes.size();
        queue_.push_back({std::move(packet), now});
    }
}

std::optional<Packet> LinkDirection::leave(Clock::time_point now) {
    transmit(now);
    if (way_.empty() || way_.front().time > now) return std::nullopt;
    auto packet = std::move(way_.front().packet);
    way_.pop_front();
    ++counts_.left;
    counts_.left_bytes += static_cast<std::int64_t>(packet.bytes.size());
    return packet;
}

std::optional<Clock::time_point> LinkDirection::next() const {
    std::optional<Clock::time_point> time;
    if (!way_.empty()) time = way_.front().time;
    if (!queue_.empty()) time = time ? std::min(*time, head_done()) : head_done();
    return time;
}

}  // namespace framewire::network
