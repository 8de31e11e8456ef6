#include "framewire/detect/objects.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

namespace framewire {
namespace {

constexpr int downloaded_at_once = 256;  // objects per frame that are copied before their number is known

}  // namespace

DetectedObjects::DetectedObjects(int frames, int capacity, Executor& executor)
    : lists_(executor, frames, capacity), transfer_(executor) {
    if (executor.backend() == Backend::cpu) return;
    // Copies include entries that no object has used yet, so they must be initialised.
    cuda::fill(lists<MemorySpace::device>().components, 0,
               static_cast<std::size_t>(frames) * static_cast<std::size_t>(capacity) * sizeof(Component),
               executor.stream());
}

// Queues the download of the counts and of the first `first` entries per frame.
void DetectedObjects::download(int first) {
    downloaded_ = first;
    transfer_.down(
        [&](const cuda::Stream& stream) { framewire::download(lists_.device(), lists_.host(), downloaded_, stream); });
}

void DetectedObjects::download() { download(std::min(downloaded_at_once, lists_.host().capacity())); }

// Almost always one copy suffices. If a frame has more objects, all objects are copied again.
void DetectedObjects::wait() {
    transfer_.wait();
    const auto lists = this->lists<MemorySpace::host>();
    const int most = std::min(*std::max_element(lists.found, lists.found + lists_.host().frames()), lists.capacity);
    // Nothing more is needed if every frame's objects have been copied.
    if (downloaded_ == 0 || most <= downloaded_) return;
    download(most);
    transfer_.wait();
}

std::span<const Component> DetectedObjects::of_frame(int frame) const {
    const auto lists = this->lists<MemorySpace::host>();
    return {lists.of_frame(frame), static_cast<std::size_t>(std::min(lists.found[frame], lists.capacity))};
}

}  // namespace framewire

// Text formats of detected objects: JSON lines, COCO and MOT. Numbers are formatted with fmt; only names go
// through the JSON library, because they need escaping.

namespace framewire {
namespace {

// Calls `body(object, track, index)` for every object and each of its tracks; `track` is null if the object has none.
template <class Body>
void for_each_listed(std::span<const Component> objects, std::span<const Track> tracks, Body&& body) {
    for (std::size_t index = 0; index < objects.size(); ++index) {
        bool any = false;
        for (const auto& track : tracks) {
            if (track.object != static_cast<int>(index)) continue;
            body(objects[index], &track, index);
            any = true;
        }
        if (!any) body(objects[index], nullptr, index);
    }
}

// Returns the object with the track's box, rounded to pixels, if there is a track.
Component with_box(Component object, const Track* track) {
    if (!track) return object;
    const auto pixels = [](double value) { return static_cast<std::int32_t>(std::lround(value)); };
    object.x = pixels(track->x);
    object.y = pixels(track->y);
    object.width = std::max(1, pixels(track->x + track->width) - object.x);
    object.height = std::max(1, pixels(track->y + track->height) - object.y);
    return object;
}

std::span<const Track> tracks_of(const ObjectRecord& frame) { return frame.tracks.value_or(std::span<const Track>()); }

// Returns the objects of a frame as COCO annotations. Their ids continue from `objects_before`, which it
// advances.
std::string coco_objects(const ObjectRecord& frame, std::int64_t& objects_before) {
    std::string text;
    for_each_listed(frame.objects, tracks_of(frame), [&](const Component& found, const Track* track, std::size_t) {
        const auto object = with_box(found, track);
        const auto id = track ? fmt::format(R"(,"track_id":{})", track->id) : std::string();
        fmt::format_to(std::back_inserter(text),
                       R"({}{{"id":{},"image_id":{},"category_id":1,"bbox":[{},{},{},{}],"area":{},"iscrowd":0{}}})",
                       objects_before == 0 ? "\n" : ",\n", objects_before + 1, frame.frame, object.x, object.y,
                       object.width, object.height, object.area, id);
        ++objects_before;
    });
    return text;
}

// Returns the tracks of a frame, or its objects if they are not tracked, as lines of the MOT challenge, whose numbers
// are 1-based.
std::string mot_objects(const ObjectRecord& frame) {
    std::string text;
    if (frame.tracks) {
        for (const auto& track : *frame.tracks)
            if (track.object >= 0)
                fmt::format_to(std::back_inserter(text), "{},{},{:.2f},{:.2f},{:.2f},{:.2f},1,-1,-1,-1\n",
                               frame.frame + 1, track.id, track.x + 1, track.y + 1, track.width, track.height);
        return text;
    }
    for (const auto& object : frame.objects)
        fmt::format_to(std::back_inserter(text), "{},-1,{},{},{},{},1,-1,-1,-1\n", frame.frame + 1, object.x + 1,
                       object.y + 1, object.width, object.height);
    return text;
}

}  // namespace

std::string objects_json(std::span<const Component> objects, std::span<const float> scores,
                         std::span<const Track> tracks) {
    std::string list = "[";
    for_each_listed(objects, tracks, [&](const Component& found, const Track* track, std::size_t index) {
        const auto object = with_box(found, track);
        const auto area = static_cast<double>(object.area);
        fmt::format_to(std::back_inserter(list),
                       R"({}{{"id":{},"box":[{},{},{},{}],"area":{},"centroid":[{:.2f},{:.2f}])",
                       list.size() == 1 ? "" : ",", object.id, object.x, object.y, object.width, object.height,
                       object.area, static_cast<double>(object.sum_x) / area, static_cast<double>(object.sum_y) / area);
        // Scores exist for detections by a classifier only.
        if (!scores.empty()) fmt::format_to(std::back_inserter(list), R"(,"score":{:.4f})", scores[index]);
        if (track)
            fmt::format_to(std::back_inserter(list), R"(,"track":{},"age":{:.3f},"velocity":[{:.1f},{:.1f}])",
                           track->id, track->age_s, track->velocity_x, track->velocity_y);
        list += '}';
    });
    return list + "]";
}

std::string to_json_line(const ObjectRecord& frame) {
    auto line = fmt::format(R"({{"frame":{})", frame.frame);
    if (!frame.source.empty()) line += R"(,"source":)" + json_text(nlohmann::json(frame.source));
    fmt::format_to(std::back_inserter(line), R"(,"time":{:.6f},"width":{},"height":{},"objects":)", frame.time_s,
                   frame.width, frame.height);
    line += objects_json(frame.objects, frame.scores, tracks_of(frame));
    if (frame.events) line += R"(,"events":)" + events_json(*frame.events);
    return line + "}\n";
}

RecordFormat parse_record_format(std::string_view text) {
    if (text == "jsonl") return RecordFormat::jsonl;
    if (text == "coco") return RecordFormat::coco;
    if (text == "mot") return RecordFormat::mot;
    fail(ErrorCode::usage, "unknown format '{}'; allowed: jsonl, coco and mot", text);
}

std::string ObjectRecords::begin() const {
    if (format_ != RecordFormat::coco) return {};
    return R"({"categories":[{"id":1,"name":"moving object"}],"annotations":[)";
}

std::string ObjectRecords::add(const ObjectRecord& frame) {
    if (format_ == RecordFormat::jsonl) return to_json_line(frame);
    if (format_ == RecordFormat::mot) return mot_objects(frame);
    // COCO needs the size of every frame, also of those without objects.
    pictures_.push_back({frame.frame, frame.width, frame.height});
    return coco_objects(frame, objects_);
}

std::string ObjectRecords::end() const {
    if (format_ != RecordFormat::coco) return {};
    std::string text = R"(],"images":[)";
    const char* separator = "\n";
    for (const auto& picture : pictures_) {
        fmt::format_to(std::back_inserter(text), R"({}{{"id":{},"width":{},"height":{},"file_name":"frame{:06}"}})",
                       separator, picture.frame, picture.width, picture.height, picture.frame);
        separator = ",\n";
    }
    return text + "]}\n";
}

}  // namespace framewire
