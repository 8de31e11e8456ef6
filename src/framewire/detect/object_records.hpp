#pragma once

#include "framewire/detect/labelling/components.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// The objects of one frame.
struct ObjectRecord {
    std::int64_t frame = 0;  ///< number in its source
    double time_s = 0;       ///< in its source
    int width = 0, height = 0;
    std::span<const Component> objects{};
    std::span<const float> scores{};  ///< of each object, or none at all; finite
    std::string_view source{};        ///< in JSON lines: the name of the image that the frame is; empty: it has none
};

/// `{"frame":0,"time":0.000000,"width":768,"height":576,"objects":[{"id":1,"box":[x,y,w,h],"area":n,"centroid":[x,y]}]}`
/// and a newline: one line of a JSON lines file. Centroids are in pixels, with two decimals. Scores follow as
/// `,"score":1.2345`, and a source's name stands behind the frame's number as `"source":"name.jpg"`, with U+FFFD for
/// bytes that are no UTF-8.
std::string to_json_line(const ObjectRecord& objects);

/// Only what stands in such a line after "objects":, with its brackets.
std::string objects_json(std::span<const Component> objects, std::span<const float> scores = {});

enum class RecordFormat {
    jsonl,  ///< a to_json_line() for each frame
    coco,   ///< one JSON object for all, in COCO's form for detection
    mot     ///< the MOT challenge's detections: frame,-1,left,top,width,height,1,-1,-1,-1, counted from 1
};

/// Reads "jsonl", "coco" or "mot"; throws Error{usage} on anything else.
RecordFormat parse_record_format(std::string_view text);

/// Turns frames of objects into the text of a file, piece by piece; the pieces one after the other are the file.
class ObjectRecords {
public:
    explicit ObjectRecords(RecordFormat format) : format_(format) {}

    /// What comes before the first frame.
    std::string begin() const;
    std::string add(const ObjectRecord& objects);
    /// What comes after the last frame.
    std::string end() const;

private:
    struct Picture {
        std::int64_t frame;
        int width, height;
    };

    RecordFormat format_;
    std::vector<Picture> pictures_;  // COCO lists them after the objects
    std::int64_t objects_ = 0;
};

}  // namespace framewire
