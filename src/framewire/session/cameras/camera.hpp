#pragma once

#include "framewire/net/listener.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/broadcast/broadcast.hpp"
#include "framewire/session/live/live_options.hpp"
#include "framewire/session/live/live_settings.hpp"
#include "framewire/session/live/served_camera.hpp"
#include "framewire/session/relay/relay.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

namespace framewire::session {

/// One of the cameras that a listener serves, for as long as it is to be: a BroadcastJob, and another one each time its
/// pictures come in another size or are ordered so; or a RelayJob, of the stream of another server.
class Camera {
public:
    /// Opens nothing yet. The listener lives longer; `options` name the stream, and their job's files are not written.
    /// `ordered` is what was ordered of it before.
    Camera(const BroadcastOptions& options, net::Listener& listener, const LiveOptions& live = {},
           LiveSettings ordered = {});
    ~Camera();

    const std::string& name() const { return options_.server.stream; }
    /// Opens all there is. A camera or a network source that is not there may come later, where `may_come_later`; then
    /// this only warns. Throws as BroadcastJob does.
    void open(bool may_come_later);
    /// Logs where viewers find it, once it is open.
    void tell_address() const;
    /// To be called once, after open(). Returns when the source has ended, or when told to stop. Throws what failed on
    /// the way.
    void run();

    /// Of run(), when it threw, too; of all sizes together.
    const BroadcastResult& result() const { return result_; }
    /// As it goes; from any thread.
    StatisticsSnapshot figures() const { return statistics_->snapshot(); }

    /// As it is asked and ordered; lives as long as somebody has it, but takes orders no longer than this camera.
    const std::shared_ptr<ServedCamera>& live() const { return live_; }

private:
    bool open_with_patience();
    void make_job();
    std::unique_ptr<BroadcastJob> job_as_ordered();
    bool go_on();
    void make_next_job();
    void note_recording_failure(const std::exception_ptr& failure);
    template <class Job>
    void run_job(Job& job);
    void run_relay();
    bool relays() const;

    BroadcastOptions options_;
    std::string record_;  // as it was asked for
    int recordings_ = 1;
    std::int64_t counted_frames_ = 0;  // of the sizes before
    std::shared_ptr<Statistics> statistics_ = std::make_shared<Statistics>();
    std::shared_ptr<ServedCamera> live_;
    std::exception_ptr recording_failure_;  // the first; the camera went on
    std::unique_ptr<BroadcastJob> job_;
    std::unique_ptr<RelayJob> relay_;  // one of the two
    BroadcastResult result_;
};

/// The text of a recording's sink for its part `number`, from 2 on: `day.fwd:key=2` becomes `day-2.fwd:key=2`. Throws
/// as fwd::parse_record() does.
std::string recording_part(const std::string& text, int number);

}  // namespace framewire::session
