// Measures the speed of reading and writing files in memory, as whole jobs do.

#include "limits/limits.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/thread_pool.hpp"
#include "kit/programs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <set>

namespace framewire::bench {
namespace {

constexpr int frames = 16;

class File {
public:
    explicit File(const std::string& path) : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        if (descriptor_ < 0) fail(ErrorCode::io, "cannot make {}", path);
    }
    ~File() { ::close(descriptor_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    void empty() const {
        if (::ftruncate(descriptor_, 0) != 0) fail(ErrorCode::io, "cannot truncate the file in memory");
    }
    void write(const std::uint8_t* frame, int index) const {
        require_whole(::pwrite(descriptor_, frame, size, static_cast<off_t>(index) * bench_frame.bytes()));
    }
    void read(std::uint8_t* frame, int index) const {
        require_whole(::pread(descriptor_, frame, size, static_cast<off_t>(index) * bench_frame.bytes()));
    }

private:
    static constexpr auto size = static_cast<std::size_t>(bench_frame.bytes());
    static void require_whole(ssize_t moved) {
        if (moved != bench_frame.bytes())
            fail(ErrorCode::io, "a read or write of the file in memory was shorter than a frame");
    }
    int descriptor_;
};

// Times reads or writes. Each thread has its own file, because the kernel allows one write at a time per file. A turn
// is one frame per thread.
Timing measure(Session& session, int threads, bool writes) {
    const MemoryFolder folder;
    const ThreadPool pool(threads);
    std::vector<std::unique_ptr<File>> files;
    std::vector<HostImage> own;
    for (int thread = 0; thread < threads; ++thread) {
        files.push_back(std::make_unique<File>(folder / std::to_string(thread)));
        own.emplace_back(bench_frame);
        std::memset(own.back().view().data(), thread + 1, static_cast<std::size_t>(bench_frame.bytes()));
        for (int frame = 0; frame < frames; ++frame) files.back()->write(own.back().view().data(), frame);
    }
    int turn = 0;
    const auto timing = session.time_cpu({[&] {
        pool.for_chunks(threads, 1, [&](std::int64_t thread, std::int64_t, std::int64_t) {
            const auto at = static_cast<std::size_t>(thread);
            if (!writes) return files[at]->read(own[at].view().data(), turn);
            if (turn == 0) files[at]->empty();  // new pages, as for a job's output
            files[at]->write(own[at].view().data(), turn);
        });
        turn = (turn + 1) % frames;
    }});
    return divided(timing[0], threads);
}

}  // namespace

std::vector<Limit> file_limits(const Session& session) {
    std::vector<Limit> all;
    for (const bool writes : {false, true})
        for (const int threads : std::set{1, session.threads()}) {
            const auto name = fmt::format("tmpfs {}{}", writes ? "write" : "read", threads > 1 ? ", all threads" : "");
            all.push_back({name,
                           "cpu",
                           static_cast<double>(2 * bench_frame.bytes()),
                           [threads, writes](Session& in) { return measure(in, threads, writes); },
                           {{"threads", std::to_string(threads)}}});
        }
    return all;
}

}  // namespace framewire::bench
