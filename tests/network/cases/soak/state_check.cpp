#include "network/cases/soak/state_check.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/media.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

namespace framewire::network {
namespace {

using service::LiveZone;

std::vector<Zone> areas(const std::vector<LiveZone>& zones, LiveZone::Kind kind) {
    std::vector<Zone> found;
    for (const auto& zone : zones)
        if (zone.kind == kind) found.push_back(zone.area);
    return found;
}

// Returns true if all pixels of each cell have one colour. A state's cell mean belongs to an older frame until it
// differs by more than the threshold, and refinement uses its own cell grid, so this applies to the cells of both
// grids.
bool is_flat(HostView<const std::uint8_t> picture, const Zone& zone, int cell_px, int refined_px) {
    const int channels = picture.shape().channels;
    const auto corner = [&](int at, int begin) {
        const int in_cell = begin + (at - begin) / cell_px * cell_px;
        return std::max(in_cell, at / refined_px * refined_px);
    };
    for (int y = zone.y; y < zone.y + zone.height; ++y) {
        const auto* row = picture.row(0, y);
        const auto* above = picture.row(0, corner(y, zone.y));
        for (int x = zone.x; x < zone.x + zone.width; ++x)
            for (int channel = 0; channel < channels; ++channel)
                if (row[x * channels + channel] != above[corner(x, zone.x) * channels + channel]) return false;
    }
    return true;
}

bool is_black(HostView<const std::uint8_t> picture, const Zone& zone) {
    const int channels = picture.shape().channels;
    for (int y = zone.y; y < zone.y + zone.height; ++y) {
        const auto* row = picture.row(0, y);
        if (std::any_of(row + zone.x * channels, row + (zone.x + zone.width) * channels,
                        [](std::uint8_t byte) { return byte != 0; }))
            return false;
    }
    return true;
}

// Returns the area of the sub-blocks of bounded prediction that lie entirely inside a zone; empty if there are none.
Zone whole_sub_blocks(const Zone& zone) {
    constexpr int side_px = 8;
    const int left = (zone.x + side_px - 1) / side_px * side_px, top = (zone.y + side_px - 1) / side_px * side_px;
    const int right = (zone.x + zone.width) / side_px * side_px, bottom = (zone.y + zone.height) / side_px * side_px;
    return {left, top, std::max(0, right - left), std::max(0, bottom - top)};
}

bool overlap(const Zone& a, const Zone& b) {
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

std::string text_of(const SeenState& state) {
    return fmt::format("frame {}, version {} within {}", state.frame, state.version, state.threshold);
}

}  // namespace

StateCheck::Reference::Reference(const CameraSettings& settings_, const Shape& frame, Executor& executor)
    : settings(settings_),
      hidden(areas(settings.zones, LiveZone::Kind::mosaic), areas(settings.zones, LiveZone::Kind::privacy), frame),
      plan(parse_chain(settings.chain_in_force()), frame, executor),
      is_plain(plan.empty()),
      captured(frame),
      filtered(plan.output_shape()) {}

StateCheck::StateCheck(const Scene& scene, const FrameLog& log, const RequestLog& requests,
                       std::vector<std::string> folders)
    : scene_(scene),
      log_(log),
      requests_(requests),
      folders_(std::move(folders)),
      executor_(BackendChoice::cpu, 1),
      listed_(folders_.size()),
      checked_(folders_.size()),
      newest_(folders_.size(), -1),
      states_(folders_.size()),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void StateCheck::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        scan();
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
}

// Checks the states that the previous scan found: by now, the responses to the requests in force for their frames have
// been recorded.
void StateCheck::scan() {
    for (std::size_t folder = 0; folder < folders_.size(); ++folder) {
        std::set<std::string> ready;
        {
            const std::lock_guard lock(mutex_);
            ready.swap(listed_[folder]);
            for (const auto& entry : std::filesystem::directory_iterator(folders_[folder])) {
                const auto name = entry.path().filename().string();
                const auto state = parse_seen_state(name);
                if (!state || checked_[folder].contains(name) || ready.contains(name)) continue;
                newest_[folder] = std::max(newest_[folder], state->frame);
                listed_[folder].insert(name);
            }
        }
        for (const auto& name : ready) {
            const std::lock_guard lock(mutex_);
            check_file(folder, name);
        }
    }
}

void StateCheck::check_file(std::size_t folder, const std::string& name) {
    const auto path = folders_[folder] + "/" + name;
    std::ifstream file(path, std::ios::binary);
    const std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::filesystem::resize_file(path, 0);  // the name is kept, so that no viewer writes the file again
    checked_[folder].insert(name);
    auto state = parse_seen_state(name).value();
    if (static_cast<std::int64_t>(bytes.size()) != state.shape.bytes())
        return violation_locked(fmt::format("{} has {} bytes", text_of(state), bytes.size()));
    const HostView<const std::uint8_t> picture(bytes.data(), state.shape);
    state.hash = hash_of(picture);

    const auto [there, is_new] = states_[folder].try_emplace({state.frame, state.version}, Found{state, {}});
    if (!is_new) {
        if (there->second.state != state)
            violation_locked(
                fmt::format("two different pictures of the same state in {}: {}", folders_[folder], text_of(state)));
        return;
    }
    ++findings_.states;
    const Content content{state.frame, state.threshold, state.hash};
    const auto known = known_.find(content);
    const auto matches = known != known_.end() ? known->second : matches_locked(state.frame, state.threshold, picture);
    known_[content] = there->second.matches = matches;
    if (folder == 0) frames_of_hash_[state.hash].insert(state.frame);
    if (!matches.empty()) return;
    auto text = fmt::format("a picture in {} matches no settings: {}", folders_[folder], text_of(state));
    const auto captured = log_.captured(static_cast<std::uint32_t>(state.frame) + 1);
    if (!captured) return violation_locked(text + "; the camera did not send this frame");
    for (const auto request : requests_.possible(*captured))
        text += fmt::format("; request {}: {}", request,
                            difference(reference(request), state.frame, state.threshold, picture));
    violation_locked(text);
}

StateCheck::Reference& StateCheck::reference(std::size_t request) {
    auto& there = references_[request];
    if (!there) there = std::make_unique<Reference>(requests_.entry(request).settings, scene_.shape(), executor_);
    return *there;
}

std::vector<std::size_t> StateCheck::matches(std::int64_t frame, int threshold, HostView<const std::uint8_t> picture) {
    const std::lock_guard lock(mutex_);
    return matches_locked(frame, threshold, picture);
}

std::vector<std::size_t> StateCheck::matches_locked(std::int64_t frame, int threshold,
                                                    HostView<const std::uint8_t> picture) {
    std::vector<std::size_t> found;
    const auto captured = log_.captured(static_cast<std::uint32_t>(frame) + 1);
    if (!captured) return found;
    for (const auto request : requests_.possible(*captured))
        if (agrees(reference(request), frame, threshold, picture)) found.push_back(request);
    // Requests are in order, so the references of much older requests are not needed again.
    while (references_.size() > 64) references_.erase(references_.begin());
    return found;
}

bool StateCheck::agrees(Reference& reference, std::int64_t frame, int threshold, HostView<const std::uint8_t> picture) {
    return difference(reference, frame, threshold, picture).empty();
}

// Returns the difference between a picture and the one that these settings must give; empty if there is none.
std::string StateCheck::difference(Reference& reference, std::int64_t frame, int threshold,
                                   HostView<const std::uint8_t> picture) {
    const auto& settings = reference.settings;
    if (threshold > settings.threshold_in_force())
        return fmt::format("the threshold is above {}", settings.threshold_in_force());
    if (picture.shape() != reference.plan.output_shape())
        return fmt::format("the size is not {}", to_string(reference.plan.output_shape()));
    scene_.draw(static_cast<std::uint32_t>(frame) + 1, reference.captured.view());
    reference.hidden.run(reference.captured.view());
    reference.plan.run(std::as_const(reference.captured).view(), reference.filtered.view());
    const auto* wanted = reference.filtered.view().data();
    const auto bytes = picture.shape().bytes();
    for (std::int64_t byte = 0; byte < bytes; ++byte)
        if (std::abs(picture.data()[byte] - wanted[byte]) > threshold)
            return fmt::format("byte {} is {}, not {}", byte, picture.data()[byte], wanted[byte]);
    if (!reference.is_plain) return {};
    for (const auto& zone : settings.zones)
        if (!hides(reference, zone, threshold, picture))
            return fmt::format("the {} zone {},{},{},{} is visible in the mode {}", to_string(zone.kind), zone.area.x,
                               zone.area.y, zone.area.width, zone.area.height, to_string(settings.mode));
    return {};
}

bool StateCheck::hides(const Reference& reference, const LiveZone& zone, int threshold,
                       HostView<const std::uint8_t> picture) const {
    constexpr int refined_px = 16;  // side of the cells that refinement uses
    // In bounded mode a sub-block is predicted as a whole, so a sub-block at a zone's edge is black only within the
    // threshold.
    const bool may_vary = reference.settings.mode == codec::Mode::bounded && threshold > 0;
    if (zone.kind == LiveZone::Kind::privacy)
        return is_black(picture, may_vary ? whole_sub_blocks(zone.area) : zone.area);
    const bool is_covered = std::ranges::any_of(
        reference.settings.zones, [&](const auto& other) { return &other != &zone && overlap(other.area, zone.area); });
    return is_covered || may_vary || is_flat(picture, zone.area, PrivacyMasks::cell_px(scene_.shape()), refined_px);
}

std::int64_t StateCheck::newest_frame(std::size_t folder) const {
    const std::lock_guard lock(mutex_);
    return newest_[folder];
}

void StateCheck::violation(const std::string& text) {
    const std::lock_guard lock(mutex_);
    violation_locked(text);
}

void StateCheck::violation_locked(const std::string& text) {
    if (++findings_.violations <= 20) findings_.first_violations.push_back(text);
}

void StateCheck::finish() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    if (finished_) return;
    finished_ = true;
    scan();
    scan();
    const std::lock_guard lock(mutex_);
    check_order_of_settings();
    for (std::size_t folder = 1; folder < folders_.size(); ++folder) check_relay(folder);
    std::set<std::int64_t> frames;
    for (const auto& states : states_)
        for (const auto& [key, found] : states) frames.insert(key.first);
    findings_.frames = static_cast<std::int64_t>(frames.size());
}

// Assigns each state the earliest settings that it matches and that are not older than the previous state's.
void StateCheck::check_order_of_settings() {
    std::size_t settings = 0;
    const Found* before = nullptr;
    for (const auto& [key, found] : states_[0]) {
        if (found.matches.empty()) continue;
        const auto next = std::ranges::find_if(found.matches, [&](auto request) { return request >= settings; });
        if (next == found.matches.end()) {
            violation_locked(fmt::format("{} has the settings of requests {} after those of request {}",
                                         text_of(found.state), found.matches, settings));
            continue;
        }
        settings = *next;
        // If these two versions are consecutive, the first certainly has the previous settings, and the second has the
        // new ones.
        if (before && found.state.version == before->state.version + 1 &&
            found.matches.front() == before->matches.back() + 1 &&
            changes_picture(requests_.entry(before->matches.back()).settings,
                            requests_.entry(found.matches.front()).settings)) {
            ++findings_.exact;
            if (found.state.threshold != 0)
                violation_locked(fmt::format("{} is the first state of request {}, but not exact", text_of(found.state),
                                             found.matches.front()));
        }
        before = &found;
    }
}

// Checks that each state of a relay is a state of the first server; states that no viewer of the first server saw
// cannot be compared.
void StateCheck::check_relay(std::size_t folder) {
    const auto& first = states_[0];
    for (const auto& [key, found] : states_[folder]) {
        const auto begin = first.lower_bound({key.first, 0}), end = first.lower_bound({key.first + 1, 0});
        if (std::any_of(begin, end, [&](const auto& state) { return state.second.state.hash == found.state.hash; }))
            continue;
        bool is_complete = begin != first.begin() && end != first.end() && begin != end;
        for (auto at = is_complete ? std::prev(begin) : end; is_complete && at != end; ++at)
            is_complete = std::next(at)->first.second == at->first.second + 1;
        if (!is_complete)
            ++findings_.unseen;
        else
            violation_locked(
                fmt::format("{} in {} is not a state of the first server", text_of(found.state), folders_[folder]));
    }
}

// Matches a recording with the states. Once one picture is found among them, the times give the frame number of every
// other picture.
void StateCheck::check_recording(const std::string& path, double fps) {
    struct Recorded {
        double seconds = 0;
        std::uint64_t hash = 0;
        HostImage unseen{};  // the picture, if no viewer saw it, otherwise empty
    };
    const auto source = open_source(path);
    HostImage image(source->info().shape);
    std::vector<Recorded> pictures;
    std::optional<double> begin_frame;  // frame number at time 0
    const std::lock_guard lock(mutex_);
    for (FrameTime time; source->read(image.view(), time);) {
        auto& picture = pictures.emplace_back(time.seconds, hash_of(std::as_const(image).view()));
        const auto known = frames_of_hash_.find(picture.hash);
        if (known == frames_of_hash_.end()) {
            picture.unseen = HostImage(image.shape());
            copy(std::as_const(image).view(), picture.unseen.view());
        } else if (!begin_frame && known->second.size() == 1) {
            begin_frame = static_cast<double>(*known->second.begin()) - time.seconds * fps;
        }
    }
    if (!begin_frame) return violation_locked(path + " contains no picture that a viewer saw");
    for (const auto& picture : pictures) {
        ++findings_.recorded;
        const auto frame = std::llround(*begin_frame + picture.seconds * fps);
        const auto known = frames_of_hash_.find(picture.hash);
        if (known != frames_of_hash_.end()) {
            if (!known->second.contains(frame))
                violation_locked(
                    fmt::format("{} has a picture of frames {} instead of frame {}", path, known->second, frame));
            continue;
        }
        ++findings_.recorded_unseen;
        const auto captured = log_.captured(static_cast<std::uint32_t>(frame) + 1);
        const auto requests = captured ? requests_.possible(*captured) : std::vector<std::size_t>{};
        if (std::ranges::none_of(requests, [&](auto request) {
                auto& made = reference(request);
                return agrees(made, frame, made.settings.threshold_in_force(), picture.unseen.view());
            }))
            violation_locked(fmt::format("{} has a picture that matches no settings instead of frame {}", path, frame));
    }
}

StateCheck::Findings StateCheck::findings() const {
    const std::lock_guard lock(mutex_);
    return findings_;
}

}  // namespace framewire::network
