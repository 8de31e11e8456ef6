#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/plan/chain_plan.hpp"
#include "framewire/plan/privacy_masks.hpp"
#include "network/camera/frame_log.hpp"
#include "network/camera/scene.hpp"
#include "network/cases/soak/requests.hpp"
#include "network/load/state_store.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace framewire::network {

/// Checks the states that viewers write into folders (StateStore), one folder per server, while they arrive:
/// - a version of a server is one picture for all viewers;
/// - a picture is within its threshold of the camera's frame, masked and filtered according to one set of settings that
/// may
///   be in force for that frame, and its threshold is no greater than that of these settings; zones of a chain without
///   other filters hide every byte;
/// - later states never return to earlier settings, and the first state of settings that change the picture is exact;
/// - pictures of relays and recordings are states of the first server.
/// All methods may be called from any thread.
class StateCheck {
public:
    /// The first folder belongs to the camera's server, the others to relays. All arguments must outlive this object.
    StateCheck(const Scene& scene, const FrameLog& log, const RequestLog& requests, std::vector<std::string> folders);
    ~StateCheck() { finish(); }

    /// Returns the number of the newest frame that has a state in a folder; -1 before the first.
    std::int64_t newest_frame(std::size_t folder) const;
    /// Returns the requests whose settings a picture matches, among those that may be in force for its frame.
    std::vector<std::size_t> matches(std::int64_t frame, int threshold, HostView<const std::uint8_t> picture);
    /// Checks the remaining states and compares the servers with each other. Call it after the last state has been
    /// written.
    void finish();
    /// Checks that each picture of a file is a state of the first server, for the frame given by the picture's time. A
    /// picture that no viewer saw is compared with that frame. Call it after finish().
    void check_recording(const std::string& path, double fps);
    void violation(const std::string& text);

    struct Findings {
        std::int64_t states = 0;    ///< number of different versions of all servers
        std::int64_t frames = 0;    ///< number of frames that have states
        std::int64_t unseen = 0;    ///< number of relay states that no viewer of the first server saw
        std::int64_t exact = 0;     ///< number of first states of settings that were found to be exact
        std::int64_t recorded = 0;  ///< number of recorded pictures, including those that no viewer saw
        std::int64_t recorded_unseen = 0;
        std::int64_t violations = 0;
        std::vector<std::string> first_violations{};
    };
    Findings findings() const;

private:
    // Appearance of the camera's frames with the settings of one request.
    struct Reference {
        explicit Reference(const CameraSettings& settings, const Shape& frame, Executor& executor);
        CameraSettings settings;
        PrivacyMasks hidden;
        ChainPlan plan;
        bool is_plain;
        HostImage captured, filtered;
    };
    struct Found {
        SeenState state;
        std::vector<std::size_t> matches;
    };
    using Content = std::tuple<std::int64_t, int, std::uint64_t>;  // frame, threshold, hash

    void run(const std::stop_token& stop);
    void scan();
    void check_file(std::size_t folder, const std::string& name);
    Reference& reference(std::size_t request);
    bool agrees(Reference& reference, std::int64_t frame, int threshold, HostView<const std::uint8_t> picture);
    std::string difference(Reference& reference, std::int64_t frame, int threshold,
                           HostView<const std::uint8_t> picture);
    bool hides(const Reference& reference, const service::LiveZone& zone, int threshold,
               HostView<const std::uint8_t> picture) const;
    std::vector<std::size_t> matches_locked(std::int64_t frame, int threshold, HostView<const std::uint8_t> picture);
    void violation_locked(const std::string& text);
    void check_order_of_settings();
    void check_relay(std::size_t folder);

    const Scene& scene_;
    const FrameLog& log_;
    const RequestLog& requests_;
    std::vector<std::string> folders_;

    mutable std::mutex mutex_;
    Executor executor_;
    std::map<std::size_t, std::unique_ptr<Reference>> references_;
    std::vector<std::set<std::string>> listed_, checked_;                          // file names per folder
    std::vector<std::int64_t> newest_;                                             // newest frame number per folder
    std::map<Content, std::vector<std::size_t>> known_;                            // requests whose settings each
                                                                                   // picture matched
    std::vector<std::map<std::pair<std::int64_t, std::uint64_t>, Found>> states_;  // states by frame and version, per
                                                                                   // folder
    std::unordered_map<std::uint64_t, std::set<std::int64_t>> frames_of_hash_;     // frames of the first server that
                                                                                   // have a picture with this hash
    Findings findings_{};
    bool finished_ = false;
    std::jthread thread_;
};

}  // namespace framewire::network
