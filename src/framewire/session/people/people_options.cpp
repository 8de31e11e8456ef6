#include "framewire/session/people/people_options.hpp"

#include "framewire/media/images/image_folder.hpp"
#include "framewire/session/outputs/folders.hpp"

namespace framewire::session {

// A folder of images has a folder of annotated images; any other source has one sink.
JobFiles files_of(const PeopleOptions& options) {
    require_one_standard_output({options.output, options.annotate}, "-o and --annotate");
    auto files = JobFiles()
                     .source(options.input.source)
                     .input("--people", options.model)
                     .output("-o", options.output, json_lines_format);
    if (!is_folder(options.input.source))
        files.sink("--annotate", options.annotate);
    else if (!options.annotate.empty() && is_output_folder(options.annotate) &&
             !is_same_folder(options.annotate, options.input.source))
        files.outputs("--annotate", options.annotate, options.input.source, ".png");
    return files.statistics(options.job.statistics_path);
}

}  // namespace framewire::session
