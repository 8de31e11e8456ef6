#include "network/load/state_store.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <functional>
#include <stdexcept>

namespace framewire::network {
namespace {

std::string_view text_of(HostView<const std::uint8_t> picture) {
    return {reinterpret_cast<const char*>(picture.data()), static_cast<std::size_t>(picture.shape().bytes())};
}

}  // namespace

std::string to_name(const SeenState& state) {
    return fmt::format("{}.{}.{}.{}x{}x{}.{:016x}", state.frame, state.version, state.threshold, state.shape.width,
                       state.shape.height, state.shape.channels, state.hash);
}

std::optional<SeenState> parse_seen_state(std::string_view name) {
    SeenState state;
    long long frame = 0;
    unsigned long long version = 0, hash = 0;
    if (std::sscanf(std::string(name).c_str(), "%lld.%llu.%d.%dx%dx%d.%16llx", &frame, &version, &state.threshold,
                    &state.shape.width, &state.shape.height, &state.shape.channels, &hash) != 7)
        return std::nullopt;
    state.frame = frame, state.version = version, state.hash = hash;
    return state;
}

std::uint64_t hash_of(HostView<const std::uint8_t> picture) { return std::hash<std::string_view>{}(text_of(picture)); }

void StateStore::add(const net::StateHeader& state, HostView<const std::uint8_t> picture) {
    const auto name = to_name({state.frame, state.version, state.threshold, picture.shape(), hash_of(picture)});
    {
        const std::lock_guard lock(mutex_);
        if (!known_.insert(name).second) return;
    }
    // A file under its final name is complete, and the first one is kept.
    static std::atomic<int> number = 0;
    const auto path = folder_ + "/" + name, part = fmt::format("{}/part-{}-{}", folder_, getpid(), ++number);
    const auto text = text_of(picture);
    std::ofstream file(part, std::ios::binary);
    if (!file.write(text.data(), static_cast<std::streamsize>(text.size())).flush())
        throw std::runtime_error("cannot write " + part);
    const bool linked = link(part.c_str(), path.c_str()) == 0 || errno == EEXIST;
    unlink(part.c_str());
    if (!linked) throw std::runtime_error("cannot write " + path);
}

}  // namespace framewire::network
