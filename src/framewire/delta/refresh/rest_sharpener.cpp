// Constructor and host variants of RestSharpener. The device variants are in gpu/rest_on_gpu.cpp, which only builds
// with CUDA contain.

#include "framewire/delta/refresh/rest_sharpener.hpp"

#include "framewire/delta/packing/packed.hpp"
#include "framewire/delta/refresh/sharpener_state.hpp"

namespace framewire::delta {

RestSharpener::RestSharpener(const Shape& shape, double seconds, int threshold, Executor& executor) {
    validate_one_frame(shape, "what is to be sharpened");
    state_ = std::make_unique<State>(shape, seconds, threshold);
    executor.in_its_space([&]<MemorySpace space>() {
        if constexpr (space == MemorySpace::host)
            state_->on_host.emplace(shape, executor.pool());
        else
            state_->on_gpu.emplace(shape, executor);
    });
}
RestSharpener::~RestSharpener() = default;
RestSharpener::RestSharpener(RestSharpener&&) noexcept = default;
RestSharpener& RestSharpener::operator=(RestSharpener&&) noexcept = default;

void RestSharpener::begin_anew() { state_->budget.begin_anew(); }

void RestSharpener::take_step(const ChangesView<MemorySpace::host>& changes) { state_->on_host->take_step(changes); }
void RestSharpener::take_step(std::span<const Summary> blocks) { state_->on_host->take_step(blocks); }

void RestSharpener::sharpen(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, const Moment& moment,
                            SharperStep& step) {
    const auto turn = state_->begin(camera, reference, moment, step);
    state_->on_host->sharpen(camera, reference, turn, step);
}

void RestSharpener::took(const SharperStep& step, std::int64_t bytes) { state_->budget.took(step, bytes); }

}  // namespace framewire::delta
