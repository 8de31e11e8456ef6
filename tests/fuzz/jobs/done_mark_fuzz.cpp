// Fuzzes done markers: only the marker that was written when the work was finished may count as done.

#include "framewire/core/error.hpp"
#include "framewire/jobs/shard.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace framewire::done_mark_fuzz {
namespace {

// Folder with a finished item of work, removed at the end.
class Work {
public:
    Work() {
        auto name = (std::filesystem::temp_directory_path() / "framewire-fuzz-XXXXXX").string();
        if (!::mkdtemp(name.data())) std::exit(1);  // a failure of the machine, not a finding
        folder_ = name;
        write(making_.inputs.emplace_back(name + "/in.y4m"), "input");
        write(making_.outputs.emplace_back(name + "/out.mkv"), "output");
        // Use a fixed time in whole seconds, so that a corpus is valid on every machine.
        const std::filesystem::file_time_type long_ago{};
        std::filesystem::last_write_time(making_.inputs[0], long_ago);
        jobs::ItemInTheMaking making(markers());
        making.begin(making_);
        making.finish(making_);
        mark_ = folder_ / ".framewire" / "out.mkv.done";
        std::ifstream file(mark_, std::ios::binary);
        text_.assign(std::istreambuf_iterator<char>(file), {});
        if (text_.empty()) std::abort();
    }
    ~Work() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    const std::string& text() const { return text_; }
    jobs::ItemState state_with(const std::string& mark) const {
        write(mark_, mark);
        return markers().state(making_);
    }

private:
    jobs::DoneMarkers markers() const { return {folder_, "out.mkv"}; }
    static void write(const std::string& path, const std::string& text) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    }

    std::filesystem::path folder_, mark_;
    jobs::Making making_{.version = "framewire 1", .options = {"-f", "gray"}};
    std::string text_;
};

std::string without_last_break(std::string text) {
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

}  // namespace
}  // namespace framewire::done_mark_fuzz

// Overwrites the valid marker: the first byte is the offset of the other bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    using Is = jobs::ItemState::Is;
    static const done_mark_fuzz::Work work;
    const std::string own(reinterpret_cast<const char*>(data), size);
    auto changed = work.text();
    if (size > 1) changed.replace(std::min<std::size_t>(data[0], changed.size()), size - 1, own, 1);
    for (const auto& text : {own, changed}) {
        const auto state = work.state_with(text);
        const bool same = done_mark_fuzz::without_last_break(text) == done_mark_fuzz::without_last_break(work.text());
        if ((state.is == Is::done) != same) std::abort();
        if (state.is == Is::unfinished || (state.is == Is::changed && state.what.empty())) std::abort();
    }
    return 0;
}
