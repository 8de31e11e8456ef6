#include "framewire/jobs/gpu_fleet.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/cuda/device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>
#include <utility>

namespace framewire::jobs {

std::string to_string(const Processor& processor) {
    return processor.backend == BackendChoice::cpu ? "the CPU" : fmt::format("GPU {}", processor.gpu);
}

std::vector<int> parse_gpus(std::string_view text, std::span<const int> there) {
    if (text == "all") return {there.begin(), there.end()};
    std::vector<int> gpus;
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find(',', begin), text.size());
        const auto* const last = text.data() + end;
        int gpu = 0;
        const auto [at, error] = std::from_chars(text.data() + begin, last, gpu);
        if (error != std::errc() || at != last || gpu < 0)
            fail(ErrorCode::usage, "--gpus {}: no list of GPUs; allowed: all, or numbers such as 0 or 0,2", text);
        if (std::ranges::find(gpus, gpu) != gpus.end())
            fail(ErrorCode::usage, "--gpus {}: GPU {} is named twice", text, gpu);
        gpus.push_back(gpu);
        begin = end + 1;
    }
    for (const int gpu : gpus)
        if (std::ranges::find(there, gpu) == there.end()) {
            if (there.empty())
                fail(ErrorCode::config, "--gpus {}: there is no GPU {}: {}", text, gpu, cuda::why_no_device());
            fail(ErrorCode::config, "--gpus {}: there is no GPU {}; allowed: {}", text, gpu, fmt::join(there, ", "));
        }
    return gpus;
}

std::shared_ptr<GpuFleet> make_gpu_fleet(BackendChoice backend, const std::string& gpus) {
    if (backend == BackendChoice::cpu) {
        if (!gpus.empty()) fail(ErrorCode::usage, "--gpus {} cannot be combined with --backend cpu", gpus);
        return nullptr;
    }
    std::vector<int> there;
    for (const auto& device : cuda::devices()) there.push_back(device.index);
    auto chosen = gpus.empty() ? there : parse_gpus(gpus, there);
    if (chosen.empty()) return nullptr;
    if (gpus.empty()) chosen.resize(1);
    std::vector<Processor> processors;
    for (const int gpu : chosen) processors.push_back({BackendChoice::cuda, gpu});
    std::optional<Processor> last_resort;
    if (backend == BackendChoice::automatic) last_resort = {BackendChoice::cpu};
    return std::make_shared<GpuFleet>(std::move(processors), last_resort);
}

struct GpuFleet::State {
    struct Place {
        Processor processor;
        double load = 0;  // guarded by `mutex`
        int jobs = 0;     // guarded by `mutex`
        std::atomic<bool> failed = false;
    };

    // Returns the place for the next job; null if there is none. The caller holds `mutex`.
    Place* least_loaded() {
        Place* best = nullptr;
        for (auto& place : std::span(places.data(), gpus))
            if (!place.failed && (!best || std::pair(place.load, place.jobs) < std::pair(best->load, best->jobs)))
                best = &place;
        if (best || gpus == places.size()) return best;
        return &places.back();
    }

    void mark_failed(std::size_t index, std::string_view why) {
        auto& place = places[index];
        if (!place.failed.exchange(true))
            log_error("{} failed: {}; it is not used any more", to_string(place.processor), why);
    }

    mutable std::mutex mutex;
    std::vector<Place> places;  // the processors, and after them the last resort
    std::size_t gpus = 0;       // number of places without the last resort
};

GpuFleet::GpuFleet(std::vector<Processor> processors, std::optional<Processor> last_resort)
    : state_(std::make_shared<State>()) {
    if (processors.empty()) fail(ErrorCode::internal, "a fleet without GPUs");
    state_->gpus = processors.size();
    if (last_resort) processors.push_back(*last_resort);
    state_->places = std::vector<State::Place>(processors.size());
    for (std::size_t index = 0; index < processors.size(); ++index) state_->places[index].processor = processors[index];
}

GpuFleet::~GpuFleet() = default;

std::shared_ptr<GpuShare> GpuFleet::take(double load) {
    const std::lock_guard lock(state_->mutex);
    auto* const place = state_->least_loaded();
    if (!place) fail(ErrorCode::config, "no GPU is left that works; --backend auto would go on with the CPU");
    place->load += load;
    ++place->jobs;
    return std::shared_ptr<GpuShare>(
        new GpuShare(state_, static_cast<std::size_t>(place - state_->places.data()), load));
}

void GpuFleet::mark_failed(int index, std::string_view why) {
    state_->mark_failed(static_cast<std::size_t>(index), why);
}

std::vector<double> GpuFleet::loads() const {
    const std::lock_guard lock(state_->mutex);
    std::vector<double> loads;
    for (const auto& place : std::span(state_->places.data(), state_->gpus)) loads.push_back(place.load);
    return loads;
}

GpuShare::GpuShare(std::shared_ptr<GpuFleet::State> fleet, std::size_t index, double load)
    : fleet_(std::move(fleet)), index_(index), load_(load) {}

// Sums of floating-point loads do not cancel exactly, so an idle place is set to 0.
GpuShare::~GpuShare() {
    const std::lock_guard lock(fleet_->mutex);
    auto& place = fleet_->places[index_];
    place.load = --place.jobs > 0 ? place.load - load_ : 0;
}

const Processor& GpuShare::processor() const { return fleet_->places[index_].processor; }

void GpuShare::set_load(double load) {
    const std::lock_guard lock(fleet_->mutex);
    fleet_->places[index_].load += load - std::exchange(load_, load);
}

void GpuShare::require_working() const {
    if (fleet_->places[index_].failed) fail(ErrorCode::internal, "{} has failed", to_string(processor()));
}

bool GpuShare::has_failed() {
    const auto& place = fleet_->places[index_];
    if (!place.failed && place.processor.backend != BackendChoice::cpu)
        if (const auto why = cuda::why_failed(place.processor.gpu); !why.empty()) fleet_->mark_failed(index_, why);
    return place.failed;
}

bool GpuShare::must_move() {
    if (!has_failed()) return false;
    const std::lock_guard lock(fleet_->mutex);
    return fleet_->least_loaded() != nullptr;
}

}  // namespace framewire::jobs
