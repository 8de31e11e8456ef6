#pragma once

#include "framewire/core/time/frame_time.hpp"
#include "framewire/session/outputs/record_file.hpp"
#include "framewire/session/people/found_people.hpp"
#include "framewire/session/people/people_options.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace framewire::session {

/// The file of the records of people, and what comes of all of them.
class PeopleRecords {
public:
    /// Throws Error{io}. Keeps a reference to `result`, whose sums it writes.
    PeopleRecords(const std::string& path, OutputFileOptions options, PeopleResult& result)
        : file_(path, std::move(options)), result_(&result) {}

    /// The next frame's record; `source` is an image's name, where frames have one. Throws Error{io}.
    void write(const FoundPeople& people, const Shape& frame, const FrameTime& time, std::string_view source = {});
    /// As RecordFile's.
    void finish(Ending ending) { file_.finish(ending); }

    std::int64_t bytes() const { return file_.bytes(); }
    /// How many there are in all, for the statistics.
    void describe(RunDescription& run) const;

private:
    RecordFile file_;
    PeopleResult* result_;
};

}  // namespace framewire::session
