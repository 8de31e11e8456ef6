#pragma once

#include "view/camera/camera.hpp"

#include "framewire/jobs/show.hpp"

#include <memory>
#include <string>
#include <vector>

namespace framewire::app {

/// A camera that shows a local source through filters. Its second picture is the unfiltered original.
class LocalCamera final : public ShownCamera {
public:
    /// Opens the source. The camera replaces `on_frame` in the options. Throws as ShowJob does.
    explicit LocalCamera(jobs::ShowOptions options);

    bool give(const TakePicture& take, std::size_t number) override;
    std::string name() const override { return job_->source().name; }
    Rational rate() const override { return job_->source().rate; }
    std::string trouble() const override;
    /// Returns true while the job runs, and also after it failed, so that the user can read the reason.
    bool holds_window() const override { return !over() || !failure_text().empty(); }
    std::vector<Figure> figures() override;
    std::optional<service::Controls> controls() const override { return job_->controls(); }
    void control(const service::ControlRequest& request) override { job_->control(request); }
    jobs::ShowJob* playing() override { return job_.get(); }
    const jobs::ShowJob* playing() const override { return job_.get(); }

private:
    void run() override { job_->run(); }

    NewestPicture original_;
    std::unique_ptr<jobs::ShowJob> job_;
    Clock::time_point opened_at_ = Clock::now();
    RateSince frames_, bytes_;
};

/// Returns the playback position of a job as text: "0:01.50 / 0:04.00  frame 7".
std::string position_text(const jobs::ShowJob& job);

}  // namespace framewire::app
