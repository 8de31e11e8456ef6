#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/detect/components.hpp"
#include "framewire/detect/tracker.hpp"
#include "framewire/detect/zones.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// The objects that a detector finds in one batch: lists in the memory of its backend and, after a download, on
/// the host. Several downloads may be in flight while the detector continues. Move-only.
class DetectedObjects {
public:
    DetectedObjects() = default;
    /// Makes lists for `frames` frames per run, with room for `capacity` objects each. Throws Error{config} if
    /// there is not enough memory.
    DetectedObjects(int frames, int capacity, Executor& executor);

    /// Returns the lists that a run writes, in the memory space of the backend.
    template <MemorySpace space>
    ComponentLists<space> lists() const {
        return lists_.in<space>().lists();
    }

    /// Queues a copy to the host that waits for the work queued so far on the executor's stream.
    void download();
    /// Blocks until the download is done; throws if it, or the work before it, failed. Only entries in use are
    /// copied, which takes a second copy if there are unusually many.
    void wait();

    /// Returns the objects of a frame on the host, at most `capacity`, in raster order.
    std::span<const Component> of_frame(int frame = 0) const;
    /// Returns how many objects the frame would have without the limit.
    std::int64_t found(int frame = 0) const { return lists<MemorySpace::host>().found[frame]; }
    /// Returns how many objects exceed the limit.
    std::int64_t left_out(int frame = 0) const { return found(frame) - std::ssize(of_frame(frame)); }

private:
    // Downloads the first `first` entries of each frame.
    void download(int first);

    cuda::MirroredBuffer<ComponentBuffer> lists_;
    int downloaded_ = 0;       // entries per frame that are being copied
    cuda::Transfer transfer_;  // last member: it waits before the lists are destroyed
};

/// The objects of one frame, for a file.
struct ObjectRecord {
    std::int64_t frame = 0;  ///< 0-based number in its source
    double time_s = 0;       ///< seconds since the start of its source
    int width = 0, height = 0;
    std::span<const Component> objects{};
    std::span<const float> scores{};  ///< one finite score per object, or empty
    std::string_view source{};        ///< JSON lines only: name of the image that the frame comes from; empty if none
    std::optional<std::span<const Track>> tracks{};      ///< the frame's tracks; empty if objects are not tracked
    std::optional<std::span<const ZoneEvent>> events{};  ///< JSON lines only: events in zones, if there are zones
};

/// Returns the frame as one line of a JSON lines file, with a newline (wrapped here):
///
///     {"frame":0,"time":0.000000,"width":768,"height":576,
///      "objects":[{"id":1,"box":[x,y,w,h],"area":n,"centroid":[x,y]}]}
///
/// Centroids are in pixels, with two decimals. Scores follow the centroid as `,"score":1.2345`. The name of a source
/// follows the frame number as `"source":"name.jpg"`, with U+FFFD for bytes that are not valid UTF-8.
///
/// An object with a track has that track's box, rounded to pixels, and ends with
/// `,"track":7,"age":1.200,"velocity":[31.0,-2.5]`, in seconds and pixels per second. An object that several tracks
/// share is listed once for each. Tracks without an object in the frame are not listed.
///
/// Events follow the objects as `"events":[...]`, see events_json().
std::string to_json_line(const ObjectRecord& objects);

/// Returns only the value of "objects" in to_json_line(), with its brackets.
std::string objects_json(std::span<const Component> objects, std::span<const float> scores = {},
                         std::span<const Track> tracks = {});

/// File formats of objects.
enum class RecordFormat {
    jsonl,  ///< one to_json_line() per frame
    coco,   ///< one JSON object for the whole file, in the COCO format for detection
    mot     ///< the MOT challenge's frame,id,left,top,width,height,1,-1,-1,-1, 1-based; without tracks the id is -1
};

/// Parses "jsonl", "coco" or "mot". Throws Error{usage} for any other text.
RecordFormat parse_record_format(std::string_view text);

/// Converts frames of objects to the text of a file, piece by piece. The pieces in order are the file.
class ObjectRecords {
public:
    /// Starts a file of the given format.
    explicit ObjectRecords(RecordFormat format) : format_(format) {}

    /// Returns the text before the first frame.
    std::string begin() const;
    /// Returns the text of one frame.
    std::string add(const ObjectRecord& objects);
    /// Returns the text after the last frame.
    std::string end() const;

private:
    // Size of a frame, for the list of images in COCO.
    struct Picture {
        std::int64_t frame;
        int width, height;
    };

    RecordFormat format_;
    std::vector<Picture> pictures_;  // COCO lists the images after the objects
    std::int64_t objects_ = 0;
};

}  // namespace framewire
