#pragma once

#include "framewire/core/error.hpp"
#include "framewire/service/live_camera.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace framewire::service::web {

/// A camera without a source that records the control requests it receives.
class FakeCamera : public LiveCamera {
public:
    explicit FakeCamera(const std::string& name, const Shape& shape = {1, 12, 16, 3}) : name_(name), shape_(shape) {
        state_ = {.name = name,
                  .source = "synth",
                  .up = true,
                  .reconnects = 2,
                  .may_be_set = true,
                  .source_shape = shape,
                  .shape = shape,
                  .rate = 30,
                  .chain = "gaussian=5",
                  .threshold = 20,
                  .threshold_max = 20,
                  .command = "framewire serve -i synth"};
        state_.controls.filters = {{.text = "gaussian=5"}};
        state_.plan = {"cpu", {{"gaussian=5", "4:2:0"}, {"convert", "4:2:0 to BGR", "the output takes images"}}};
    }

    /// Shows a new picture with all bytes equal to `value`. `seconds` is the time of its frame.
    void show(std::uint8_t value, double seconds = 0) {
        value_ = value;
        seconds_ = seconds;
        ++version_;
    }
    /// Shows a new picture with all bytes equal to `value`, and withdraws all older ones, as a request for a privacy
    /// mask does before it is answered.
    void show_instead(std::uint8_t value) {
        show(value);
        oldest_ = version_.load();
    }
    /// Sets whether control requests are accepted.
    void allow_requests(bool allowed) { state_.may_be_set = allowed; }
    /// Removes the plan, as for a camera whose stream is forwarded unchanged.
    void forget_plan() { state_.plan.reset(); }
    /// Sets the camera's sound. Call it before the camera is shared.
    void set_sound(std::shared_ptr<SoundTap> sound) { sound_ = std::move(sound); }
    /// Returns the number of pictures taken by clients.
    int pictures_taken() const { return taken_; }
    /// Statistics that the camera reports; tests modify them.
    StatisticsSnapshot& figures_reported() { return figures_; }

    const std::string& name() const override { return name_; }
    LiveCameraState state() const override { return state_; }
    StatisticsSnapshot figures() const override { return figures_; }
    net::StreamMetrics viewers() const override {
        return {.viewers = 3,
                .viewers_total = 5,
                .dropped = 1,
                .keyframe_bytes = 100,
                .delta_frame_bytes = 20,
                .other_bytes = 4};
    }
    std::optional<Picture> picture() const override {
        if (version_ == 0) return std::nullopt;
        ++taken_;
        Picture picture{HostImage(shape_), version_, seconds_};
        for (int y = 0; y < shape_.height; ++y)
            for (int x = 0; x < shape_.row_bytes(); ++x) picture.image.view().row(0, y)[x] = value_;
        return picture;
    }
    std::uint64_t picture_version() const override { return version_; }
    std::uint64_t oldest_picture_version() const override { return oldest_; }
    std::shared_ptr<SoundTap> sound() const override { return sound_; }

    // Control requests only change the reported state. The chain "bad" is refused.
    void set_chain(const std::string& text) override {
        if (text == "bad") fail(ErrorCode::usage, "there is no filter 'bad'");
        state_.chain = text;
    }
    void control(const ControlRequest& request) override {
        if (const auto* set = std::get_if<Adjustment>(&request)) state_.controls.adjustment = *set;
        if (const auto* filter = std::get_if<FilterRequest>(&request))
            state_.controls.filters.at(filter->number - 1).on = filter->on;
    }
    void set_threshold(std::optional<int> threshold, std::optional<codec::Mode> mode) override {
        state_.threshold = threshold.value_or(state_.threshold);
        state_.mode = mode.value_or(state_.mode);
    }
    void set_zones(const std::vector<LiveZone>& zones) override { state_.zones = zones; }
    void set_event_zones(const ZoneSet& zones) override { state_.event_zones = zones; }
    std::string start_recording() override {
        state_.recording = {.file = name_ + ".fwd", .seconds = 1.5, .bytes = 1234};
        return state_.recording->file;
    }
    void stop_recording() override { state_.recording.reset(); }
    std::string save_snapshot() override { return name_ + ".png"; }

private:
    std::string name_;
    Shape shape_;
    LiveCameraState state_;
    StatisticsSnapshot figures_;
    std::atomic<std::uint8_t> value_{0};
    std::atomic<double> seconds_{0};
    std::atomic<std::uint64_t> version_{0}, oldest_{0};
    mutable std::atomic<int> taken_{0};
    std::shared_ptr<SoundTap> sound_;
};

}  // namespace framewire::service::web
