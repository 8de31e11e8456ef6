#include "framewire/session/live/kept/state_keeper.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace framewire::session {
namespace {

constexpr std::chrono::milliseconds between_looks{300};

}  // namespace

StateKeeper::StateKeeper(std::string path, OrderedOfCameras before, std::vector<std::shared_ptr<ServedCamera>> cameras)
    : path_(std::move(path)),
      ordered_(std::move(before)),
      cameras_(std::move(cameras)),
      kept_(to_json(ordered_)),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

StateKeeper::~StateKeeper() {
    thread_.request_stop();
    thread_.join();
    keep();
}

// Polls the settings; writing happens only if they changed.
void StateKeeper::work(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopping;
    std::unique_lock lock(mutex);
    while (!stopping.wait_for(lock, stop, between_looks, [&] { return stop.stop_requested(); })) keep();
}

void StateKeeper::keep_now() {
    const std::lock_guard lock(mutex_);
    for (const auto& camera : cameras_) ordered_[camera->name()] = camera->settings();
    auto json = to_json(ordered_);
    if (json == kept_) return;
    write_state(path_, json);
    kept_ = std::move(json);
}

void StateKeeper::keep() {
    try {
        keep_now();
        warned_ = false;
    } catch (const std::exception& error) {
        if (!std::exchange(warned_, true)) log_warning("what was ordered is not kept: {}", error.what());
    }
}

}  // namespace framewire::session
