#pragma once

#include <atomic>
#include <utility>

namespace framewire::delta {

/// A frame that is under way, counted among all and among those of its stream for as long as this lives, or until it
/// ends. The counts live longer. Move-only.
class UnderWay {
public:
    UnderWay() = default;
    UnderWay(std::atomic<int>& all, std::atomic<int>& of_stream) : all_(&all), of_stream_(&of_stream) {
        ++all;
        ++of_stream;
    }
    UnderWay(UnderWay&& other) noexcept : all_(std::exchange(other.all_, nullptr)), of_stream_(other.of_stream_) {}
    UnderWay& operator=(UnderWay&& other) noexcept {
        end();
        all_ = std::exchange(other.all_, nullptr);
        of_stream_ = other.of_stream_;
        return *this;
    }
    ~UnderWay() { end(); }

    void end() {
        if (auto* all = std::exchange(all_, nullptr)) {
            --*all;
            --*of_stream_;
        }
    }

private:
    std::atomic<int>* all_ = nullptr;  // none: it has ended
    std::atomic<int>* of_stream_ = nullptr;
};

}  // namespace framewire::delta
