#pragma once

#include "view/camera/camera.hpp"

#include "framewire/jobs/receive.hpp"

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire::app {

/// A camera that shows a difference stream from a server.
class StreamCamera final : public ShownCamera {
public:
    /// Stores the options without connecting. The camera replaces `on_picture` in them.
    explicit StreamCamera(jobs::ReceiveOptions options);

    /// Connects immediately. If it is not called, start() connects and retries forever. If it was called, a stream that
    /// is missing or lost permanently is an error. Throws as ReceiveJob does.
    const jobs::ReceiveJob& connect();

    std::string name() const override;
    Rational rate() const override;
    std::string trouble() const override;
    std::vector<Figure> figures() override;
    std::optional<service::Controls> controls() const override;
    void control(const service::ControlRequest& request) override;

private:
    void run() override;
    // Runs one connection to its end. Returns false if a retry may succeed.
    bool try_once();
    // Stores the reason why there is no stream.
    void note(std::string missing);
    std::shared_ptr<jobs::ReceiveJob> job() const;
    void set_job(std::shared_ptr<jobs::ReceiveJob> job);

    jobs::ReceiveOptions options_;
    mutable std::mutex mutex_;
    std::shared_ptr<jobs::ReceiveJob> job_;  // guarded by mutex_
    std::string missing_;                    // reason why there is no stream; guarded by mutex_
    RateSince frames_, bytes_;
};

}  // namespace framewire::app
