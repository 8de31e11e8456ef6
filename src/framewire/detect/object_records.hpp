#pragma once

#include "framewire/detect/labelling/components.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// The objects of one frame, for a file.
struct ObjectRecord {
    std::int64_t frame = 0;  ///< 0-based number in its source
    double time_s = 0;       ///< seconds since the start of its source
    int width = 0, height = 0;
    std::span<const Component> objects{};
    std::span<const float> scores{};  ///< one finite score per object, or empty
    std::string_view source{};        ///< JSON lines only: name of the image that the frame comes from; empty if none
};

/// Returns the frame as one line of a JSON lines file, with a newline (wrapped here):
///
///     {"frame":0,"time":0.000000,"width":768,"height":576,
///      "objects":[{"id":1,"box":[x,y,w,h],"area":n,"centroid":[x,y]}]}
///
/// Centroids are in pixels, with two decimals. Scores follow the centroid as `,"score":1.2345`. The name of a source
/// follows the frame number as `"source":"name.jpg"`, with U+FFFD for bytes that are not valid UTF-8.
std::string to_json_line(const ObjectRecord& objects);

/// Returns only the value of "objects" in such a line, with its brackets.
std::string objects_json(std::span<const Component> objects, std::span<const float> scores = {});

/// File formats of objects.
enum class RecordFormat {
    jsonl,  ///< one to_json_line() per frame
    coco,   ///< one JSON object for the whole file, in the COCO format for detection
    mot     ///< detections of the MOT challenge: frame,-1,left,top,width,height,1,-1,-1,-1, 1-based
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
