#pragma once

#include "framewire/net/http.hpp"
#include "framewire/net/server.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace framewire::service {

/// A server with the part of Frigate's API that creates and ends events, on loopback. Thread-safe.
class FakeFrigate {
public:
    /// A request that was answered with success.
    struct Entry {
        std::string camera, label, id;
        nlohmann::json create{};
        std::optional<nlohmann::json> end{};
    };

    /// `cameras` are the names in its configuration. Port 0: any free port.
    explicit FakeFrigate(std::vector<std::string> cameras, std::uint16_t port = 0)
        : cameras_(std::move(cameras)), listener_(options(port)) {
        using namespace net::http;
        auto site = std::make_shared<Site>();
        site->add({Method::post, "/api/events/{camera}/{label}/create", Access::control,
                   [this](const Request& request) { return create(request); }});
        site->add({Method::put, "/api/events/{id}/end", Access::control,
                   [this](const Request& request) { return end(request); }});
        listener_.set_site(site);
    }
    ~FakeFrigate() { listener_.set_site(nullptr); }

    std::uint16_t port() const { return listener_.address().port; }
    std::vector<Entry> entries() const {
        const std::lock_guard lock(mutex_);
        return entries_;
    }
    /// Returns the number of requests, including those that were refused.
    int requests() const {
        const std::lock_guard lock(mutex_);
        return requests_;
    }
    /// Answers all requests with this status until it is 0.
    void answer_with(int status) {
        const std::lock_guard lock(mutex_);
        status_ = status;
    }
    /// Answers the next ends with 404, as Frigate does before it has written the event to its database.
    void forget_ends(int times) {
        const std::lock_guard lock(mutex_);
        missing_ = times;
    }
    /// Answers ends that have a time with 400, as Frigate does if it precedes the start by its own clock.
    void refuse_end_times() {
        const std::lock_guard lock(mutex_);
        refuses_times_ = true;
    }
    /// Answers creations with this id.
    void set_id(const std::string& id) {
        const std::lock_guard lock(mutex_);
        id_ = id;
    }

private:
    static net::ListenerOptions options(std::uint16_t port) {
        net::ListenerOptions options;
        options.listen = {"127.0.0.1", port};
        return options;
    }
    static net::http::Response answer(int status, const std::string& message) {
        return net::http::json_response(nlohmann::json{{"success", status == 200}, {"message", message}}.dump(),
                                        status);
    }

    net::http::Response create(const net::http::Request& request) {
        const std::lock_guard lock(mutex_);
        ++requests_;
        if (status_ != 0) return answer(status_, "busy");
        const auto& camera = request.parameters.at("camera");
        if (std::ranges::find(cameras_, camera) == cameras_.end())
            return answer(404, camera + " is not a valid camera.");
        const auto id = id_.empty() ? "1763924400.5-" + std::to_string(entries_.size()) : id_;
        entries_.push_back({camera, request.parameters.at("label"), id, nlohmann::json::parse(request.body)});
        return net::http::json_response(
            nlohmann::json{{"success", true}, {"message", "Successfully created event."}, {"event_id", id}}.dump());
    }

    net::http::Response end(const net::http::Request& request) {
        const std::lock_guard lock(mutex_);
        ++requests_;
        if (status_ != 0) return answer(status_, "busy");
        if (missing_ > 0) return --missing_, answer(404, "Event not found.");
        auto body = nlohmann::json::parse(request.body);
        if (refuses_times_ && body.contains("end_time")) return answer(400, "end_time cannot be before start_time");
        for (auto& entry : entries_)
            if (entry.id == request.parameters.at("id")) {
                entry.end = std::move(body);
                return answer(200, "Event successfully ended.");
            }
        return answer(404, "Event not found.");
    }

    const std::vector<std::string> cameras_;
    mutable std::mutex mutex_;
    std::vector<Entry> entries_;
    std::string id_;
    int requests_ = 0, status_ = 0, missing_ = 0;
    bool refuses_times_ = false;
    // last, because its threads use the other members
    net::Listener listener_;
};

}  // namespace framewire::service
