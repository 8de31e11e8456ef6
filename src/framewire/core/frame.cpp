#include "framewire/core/frame.hpp"

#include "framewire/core/error.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace framewire {

struct Frame::Slot {
    HostImage image;
    FrameTime time{};
    std::atomic<int> references{0};
    // Held while the slot is in use, so that frames may outlive the pool object.
    std::shared_ptr<FramePool::State> owner;
    FramePool::State* state = nullptr;
};

struct FramePool::State {
    Shape shape;
    std::vector<Frame::Slot> slots;
    std::mutex mutex;
    std::condition_variable freed;
    std::vector<Frame::Slot*> free;
    bool closed = false;

    State(Shape shape_, int frames) : shape(shape_), slots(static_cast<std::size_t>(frames)) {}

    // With the lock held and a slot free.
    Frame::Slot* take(const std::shared_ptr<State>& self) {
        auto* slot = free.back();
        free.pop_back();
        slot->owner = self;
        slot->references.store(1, std::memory_order_relaxed);
        slot->time = {};
        return slot;
    }

    void give_back(Frame::Slot* slot) noexcept {
        // The last reference may be what keeps this object alive: let go of it outside the lock.
        auto keep = std::move(slot->owner);
        {
            const std::lock_guard lock(mutex);
            free.push_back(slot);  // capacity for every slot was reserved: cannot throw
        }
        freed.notify_one();
    }
};

Frame::Frame(const Frame& other) noexcept : slot_(other.slot_) {
    if (slot_) slot_->references.fetch_add(1, std::memory_order_relaxed);
}

Frame::~Frame() {
    if (slot_ && slot_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) slot_->state->give_back(slot_);
}

HostView<std::uint8_t> Frame::view() const { return slot_->image.view(); }
FrameTime& Frame::time() const { return slot_->time; }

FramePool::FramePool(Shape shape, int frames, HostMemory& memory) {
    validate(shape, "a frame");
    if (frames < 1) fail(ErrorCode::usage, "a pool of {} frames asked for; at least 1 is needed", frames);
    state_ = std::make_shared<State>(shape, frames);
    state_->free.reserve(static_cast<std::size_t>(frames));
    for (auto& slot : state_->slots) {
        slot.image = HostImage(shape, memory);
        slot.state = state_.get();
        state_->free.push_back(&slot);
    }
}

FramePool::~FramePool() = default;
FramePool::FramePool(FramePool&&) noexcept = default;
FramePool& FramePool::operator=(FramePool&&) noexcept = default;

const Shape& FramePool::shape() const { return state_->shape; }

Frame FramePool::acquire() {
    std::unique_lock lock(state_->mutex);
    state_->freed.wait(lock, [&] { return state_->closed || !state_->free.empty(); });
    if (state_->closed) return {};
    return Frame(state_->take(state_));
}

Frame FramePool::try_acquire() {
    const std::lock_guard lock(state_->mutex);
    if (state_->closed || state_->free.empty()) return {};
    return Frame(state_->take(state_));
}

void FramePool::close() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->closed = true;
    }
    state_->freed.notify_all();
}

}  // namespace framewire
