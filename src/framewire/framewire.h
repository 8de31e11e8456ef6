/// @file
/// The C interface of framewire: filter chains, the detector of moving objects, histograms of oriented gradients, the
/// difference codec, sources, sinks and viewers of streams, for C11, C++ and everything that can call C.
///
/// @code
/// fw_image in = {.size = sizeof in, .format = FW_BGR, .width = 640, .height = 480}, out = {.size = sizeof out};
/// fw_chain* chain = NULL;
/// if (fw_chain_create(&chain, "gaussian=5,mosaic=32", &in, NULL) || fw_chain_output(chain, &out)) {
///     fprintf(stderr, "%s\n", fw_last_error());
///     return 1;
/// }
/// in.data[0] = pixels, in.stride[0] = 3 * 640, out.data[0] = result;
/// if (fw_chain_run(chain, &in, &out, NULL)) fprintf(stderr, "%s\n", fw_last_error());
/// fw_chain_destroy(chain);
/// @endcode
///
/// **Errors.** Functions that can fail return a fw_status: FW_OK (0), FW_END at the end of a source, or an error.
/// fw_last_error() then returns the message. Nothing is changed by a call with a wrong argument. C++ exceptions never
/// leave the library.
///
/// **Threads.** A handle may be used by one thread at a time; functions that say so are exceptions. Different handles
/// are independent. Errors belong to the thread whose call failed.
///
/// **Structs.** The member `size` of a struct is its size as the caller compiled it, so that later versions can add
/// members. Members that are 0 have their default. `fw_box`, `fw_track` and `fw_person`, of which there are arrays,
/// never change.
///
/// **Images.** Functions read and write images where they are, in host memory or in the memory of a GPU, and never keep
/// a pointer to them after they return or, on a GPU, after the work on the stream is done. Images that a function reads
/// and those that it writes must not overlap.
///
/// **Streams.** `stream` is a `cudaStream_t` on which the caller's work with device images is queued; NULL is CUDA's
/// legacy default stream. Work of this library starts after everything that was queued there before, and everything
/// queued there later starts after it. If all images of a call are in device memory, the call returns before the work
/// is done. If one of them is in host memory, it returns when the work is done. Without device images, `stream` is
/// ignored. Every function leaves the thread's current GPU as it was.
#ifndef FRAMEWIRE_H
#define FRAMEWIRE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
/// Marks the functions that the library exports.
#define FW_API __attribute__((visibility("default")))
#else
#define FW_API
#endif

/// Result of a function. The errors have the numbers that are exit codes of the program `framewire`.
typedef enum fw_status {
    FW_OK = 0,                  ///< done
    FW_END = 1,                 ///< no error: the source has no more frames, or was stopped
    FW_ERROR_ARGUMENT = 2,      ///< an argument, or a part of a text, is not allowed
    FW_ERROR_NO_INPUT = 66,     ///< the source or server does not exist, or is not a video
    FW_ERROR_SOURCE_LOST = 69,  ///< the source ended too early: truncated, broken or disconnected
    FW_ERROR_INTERNAL = 70,     ///< a bug in framewire
    FW_ERROR_IO = 74,           ///< writing failed
    FW_ERROR_UNAVAILABLE = 78   ///< this machine or build cannot do it: no GPU, too little memory, no such codec
} fw_status;

/// Pixel format of an image. Samples of 10 bits are in 16-bit words of this machine's byte order.
typedef enum fw_format {
    FW_GRAY = 1,  ///< one byte per pixel
    FW_BGR = 2,   ///< three bytes per pixel: blue, green, red
    FW_I420 = 3,  ///< planes Y, U, V; one U and V per 2x2 pixels
    FW_I422 = 4,  ///< planes Y, U, V; one U and V per two pixels of a row
    FW_I444 = 5,  ///< planes Y, U, V of the same size
    FW_NV12 = 6,  ///< planes Y and UV (interleaved); one U and V per 2x2 pixels
    FW_I010 = 7,  ///< FW_I420 of 10 bits, in the lower bits of each word
    FW_I210 = 8,  ///< FW_I422 of 10 bits, in the lower bits of each word
    FW_I410 = 9,  ///< FW_I444 of 10 bits, in the lower bits of each word
    FW_P010 = 10  ///< FW_NV12 of 10 bits, in the upper bits of each word
} fw_format;

/// Memory that holds an image.
typedef enum fw_memory {
    FW_HOST = 0,   ///< memory of the CPU
    FW_DEVICE = 1  ///< memory of the GPU with the number fw_image::device
} fw_memory;

/// Matrix coefficients of YUV (ITU-T H.273).
typedef enum fw_matrix { FW_BT601 = 0, FW_BT709 = 1, FW_BT2020 = 2 } fw_matrix;

/// Position of the chroma samples of 4:2:0 and 4:2:2 relative to their pixels. FW_SITING_MIRRORED_X and _Y are added
/// to results of chains that mirror them by an odd number of pixels.
typedef enum fw_siting {
    FW_SITING_LEFT = 0,        ///< MPEG-2, H.264
    FW_SITING_CENTRE = 1,      ///< JPEG, MPEG-1
    FW_SITING_TOP_LEFT = 2,    ///< BT.2020
    FW_SITING_TOP = 3,         ///< between the pixels of a row, on the upper row
    FW_SITING_MIRRORED_X = 4,  ///< flag
    FW_SITING_MIRRORED_Y = 8   ///< flag
} fw_siting;

/// An image: its format and size and, except in functions that take only these, where it is in memory.
typedef struct fw_image {
    size_t size;         ///< sizeof(fw_image)
    int32_t format;      ///< fw_format
    int32_t width;       ///< pixels, 1 to 16384
    int32_t height;      ///< pixels, 1 to 16384
    int32_t matrix;      ///< fw_matrix; YUV only
    int32_t full_range;  ///< 1: samples use all values; 0: luma 16 to 235 (at 8 bits); YUV only
    int32_t siting;      ///< fw_siting; 4:2:0 and 4:2:2 only
    int32_t memory;      ///< fw_memory
    int32_t device;      ///< number of the GPU, if the memory is FW_DEVICE
    void* data[3];       ///< first byte of each plane; only the first one for FW_GRAY and FW_BGR
    int64_t stride[3];   ///< bytes from row to row of each plane; 0: rows without gaps. Never negative.
} fw_image;

/// Stores the strides of rows without gaps in `image`, whose format and size must be set, and the bytes of all planes
/// in `bytes`, which may be NULL. If `memory` is not NULL, the planes follow each other from there: `data` is set.
/// Thread-safe.
FW_API fw_status fw_image_layout(fw_image* image, void* memory, size_t* bytes);

/// Copies an image to another one of the same format and size, in any memory. See "Images" and "Streams" above; device
/// images must be on the same GPU. Thread-safe.
FW_API fw_status fw_image_copy(const fw_image* from, const fw_image* to, void* stream);

/// Memory of a GPU, for callers that have no other way to allocate it.
typedef struct fw_buffer fw_buffer;

/// Allocates `bytes` bytes on a GPU, aligned to 256. On success `*buffer` must be destroyed with fw_buffer_destroy();
/// otherwise it is NULL. FW_ERROR_UNAVAILABLE without a GPU or enough memory.
FW_API fw_status fw_buffer_create(fw_buffer** buffer, size_t bytes, int32_t device);
/// Frees the memory after the work that is queued on the GPU. NULL is allowed.
FW_API void fw_buffer_destroy(fw_buffer* buffer);
/// Returns the address of the memory; NULL for NULL.
FW_API void* fw_buffer_data(const fw_buffer* buffer);

/// Makes work that is queued on the stream `after` from now on wait for everything queued on `before`. Both are streams
/// of GPU `device`. Does not block. Thread-safe.
FW_API fw_status fw_stream_order(int32_t device, void* before, void* after);

/// Processor that does the work of a handle.
typedef enum fw_backend {
    FW_BACKEND_AUTO = 0,  ///< a GPU if this machine has one that this build can use, else the CPU
    FW_BACKEND_CPU = 1,   ///< the CPU; device images are refused
    FW_BACKEND_CUDA = 2   ///< a GPU; host images are copied there and back
} fw_backend;

/// Selects where the work of a handle is done. Results do not depend on it, except for the last bits of HOG
/// descriptors.
typedef struct fw_settings {
    size_t size;      ///< sizeof(fw_settings)
    int32_t backend;  ///< fw_backend
    int32_t device;   ///< number of the GPU
    int32_t threads;  ///< threads of the CPU, at most 1024; 0: one per processor
} fw_settings;

/// Returns the version of the library, such as "0.1.0". Thread-safe.
FW_API const char* fw_version(void);
/// Returns the message of the last error on this thread: what is wrong, where, and what is allowed. Messages about a
/// chain end with the chain and a line with a caret below the wrong place. Never NULL; empty before the first error.
/// Valid until the next call on this thread that fails.
FW_API const char* fw_last_error(void);
/// Returns the name of a status, such as "FW_ERROR_ARGUMENT", or "unknown" for another number. Thread-safe.
FW_API const char* fw_status_name(fw_status status);
/// Returns the number of GPUs that this build can use; 0 without CUDA. Thread-safe.
FW_API int fw_device_count(void);
/// Returns a JSON array that describes all filters of chains: names, parameters, ranges and defaults. Valid until the
/// process ends. Thread-safe. NULL only if memory runs out.
FW_API const char* fw_filters_json(void);

/// Severity of a log line.
typedef enum fw_log_level {
    FW_LOG_DEBUG = 1,    ///< details
    FW_LOG_INFO = 2,     ///< decisions, such as the chosen backend
    FW_LOG_WARNING = 3,  ///< something was done in another way than one may expect
    FW_LOG_ERROR = 4,    ///< something failed that no function reports
    FW_LOG_OFF = 5       ///< no line at all
} fw_log_level;

/// Receives a log line without a line break, on whichever thread logs, one call at a time. It must not call this
/// library.
typedef void (*fw_log_sink)(void* user, fw_log_level level, const char* text);

/// Sends the log lines of the process from `least` on to `sink`, which is called with `user`. If `sink` is NULL, they
/// go to standard error, where warnings and errors also go before the first call. Thread-safe.
FW_API fw_status fw_set_log(fw_log_level least, fw_log_sink sink, void* user);

/// A filter chain for images of one format and size. Filters may use earlier images, which are those of earlier runs.
typedef struct fw_chain fw_chain;

/// Checks the text of a chain, as far as that is possible without a size. FW_ERROR_ARGUMENT if it is wrong, with a
/// caret line. Thread-safe.
FW_API fw_status fw_chain_check(const char* text);
/// Makes a chain of filters from a text such as "gaussian=5,mosaic=32" (docs/filters), for images with the format and
/// size of `image`, whose memory is ignored. Each filter works in the format in which its image arrives, if it can, so
/// that results are those of `framewire run` for frames of that format. `settings` may be NULL. On success `*chain`
/// must be destroyed with fw_chain_destroy(); otherwise it is NULL. Errors: FW_ERROR_ARGUMENT if the text is wrong,
/// with a caret line; FW_ERROR_UNAVAILABLE without the backend.
FW_API fw_status fw_chain_create(fw_chain** chain, const char* text, const fw_image* image,
                                 const fw_settings* settings);
/// Destroys a chain after its queued work is done. NULL is allowed.
FW_API void fw_chain_destroy(fw_chain* chain);
/// Stores format, size and strides (without gaps) of the chain's results in `image`, whose `size` must be set. Its
/// `data`, `memory` and `device` are not changed.
FW_API fw_status fw_chain_output(const fw_chain* chain, fw_image* image);
/// Sets what the filter `text` shows for the next image: its number and its time in seconds.
FW_API fw_status fw_chain_set_time(fw_chain* chain, int64_t index, double seconds);
/// Applies the chain to the next image `in`, which has the format and size of the chain, and writes the result to
/// `out`, which has those of fw_chain_output(). Allocates nothing after the first runs. See "Images" and "Streams"
/// above. Device images must be on the chain's GPU and are not copied.
FW_API fw_status fw_chain_run(fw_chain* chain, const fw_image* in, const fw_image* out, void* stream);
/// Forgets earlier images: the next run is like the first one.
FW_API fw_status fw_chain_reset(fw_chain* chain);
/// Stores a text that says how the chain runs: a line for each filter and conversion, with its format and the reason.
/// It is valid until the next call with this chain.
FW_API fw_status fw_chain_explain(fw_chain* chain, const char** text);

/// A moving object, or another connected part of a mask.
typedef struct fw_box {
    int32_t x, y, width, height;  ///< bounding box in pixels
    int32_t area;                 ///< pixels of the object
    int32_t reserved;             ///< 0
    double centre_x, centre_y;    ///< centroid in pixels; 0 in boxes of a viewer
} fw_box;

/// A detector of moving objects for images of one size. It learns the background from the images, so these must be
/// consecutive frames of one camera.
typedef struct fw_detector fw_detector;

/// Makes a detector. `text` has the options of `framewire detect` without dashes, such as "threshold=25:min-area=400"
/// (docs/detect); NULL or "" means the defaults. `image` gives the size and the format, FW_GRAY or FW_BGR. `rate` is
/// the number of frames per second, by which the background keeps objects that stop; 0: unknown. `settings` may be
/// NULL. On success `*detector` must be destroyed with fw_detector_destroy(); otherwise it is NULL.
FW_API fw_status fw_detector_create(fw_detector** detector, const char* text, const fw_image* image, double rate,
                                    const fw_settings* settings);
/// Destroys a detector. NULL is allowed.
FW_API void fw_detector_destroy(fw_detector* detector);
/// Detects objects in the next image. Stores their number in `count` and a pointer to them in `boxes`, in raster order
/// of their first pixels; they are valid until the next call with this detector. Returns when done, also for device
/// images.
FW_API fw_status fw_detector_process(fw_detector* detector, const fw_image* image, void* stream, const fw_box** boxes,
                                     size_t* count);
/// Writes the mask of the last image to `mask`, a FW_GRAY host image of the same size: 255 for moving pixels, else 0.
/// FW_ERROR_ARGUMENT before the first image.
FW_API fw_status fw_detector_mask(fw_detector* detector, const fw_image* mask);
/// Searches objects only where `region`, a FW_GRAY host image of the same size, is not 0; everywhere if it is NULL.
/// Forgets the background.
FW_API fw_status fw_detector_set_region(fw_detector* detector, const fw_image* region);
/// Compares images with `picture`, a host image of the same size, FW_GRAY or FW_BGR, instead of the first image. Only
/// for detectors made with "method=report" and no background of their own.
FW_API fw_status fw_detector_set_background(fw_detector* detector, const fw_image* picture);
/// Forgets the background that was learned: the next image is like the first one. A region and a picture stay.
FW_API fw_status fw_detector_reset(fw_detector* detector);

/// A tracked object in one frame.
typedef struct fw_track {
    int64_t id;                     ///< positive, and never used for another object
    double x, y, width, height;     ///< box in pixels
    double velocity_x, velocity_y;  ///< of the centre, in pixels per second
    double age_s;                   ///< seconds since the first box
    double unseen_s;                ///< seconds since the last box; 0 if the frame has one
    int64_t box;                    ///< index of its box in the frame, or -1
} fw_track;

/// Gives the boxes of consecutive frames an identity.
typedef struct fw_tracker fw_tracker;

/// Makes a tracker for frames of this size. `text` has the parameters of `--track`, such as "confirm=0.2:keep=1.5";
/// NULL or "" means the defaults. On success `*tracker` must be destroyed with fw_tracker_destroy(); otherwise it is
/// NULL.
FW_API fw_status fw_tracker_create(fw_tracker** tracker, const char* text, int32_t width, int32_t height);
/// Destroys a tracker. NULL is allowed.
FW_API void fw_tracker_destroy(fw_tracker* tracker);
/// Takes the boxes of the frame at `seconds`, and stores the tracks that are confirmed in `tracks` and `track_count`,
/// in ascending order of their ids; valid until the next call with this tracker. `boxes` may be NULL if `count` is 0.
FW_API fw_status fw_tracker_update(fw_tracker* tracker, const fw_box* boxes, size_t count, double seconds,
                                   const fw_track** tracks, size_t* track_count);

/// Histograms of oriented gradients for images of one size.
typedef struct fw_hog fw_hog;

/// Makes the plan of descriptors. `text` has the options of `framewire hog` without dashes, such as
/// "cell=8:bins=9:norm=l2hys", which may begin with "descriptor=people" (docs/hog); NULL or "" means the defaults.
/// `image` gives the size and the format, FW_GRAY or FW_BGR. `settings` may be NULL. On success `*hog` must be
/// destroyed with fw_hog_destroy(); otherwise it is NULL.
FW_API fw_status fw_hog_create(fw_hog** hog, const char* text, const fw_image* image, const fw_settings* settings);
/// Destroys a plan after its queued work is done. NULL is allowed.
FW_API void fw_hog_destroy(fw_hog* hog);
/// Stores the shape of the descriptors of an image: rows and columns of cells or blocks, and values of each.
FW_API fw_status fw_hog_shape(const fw_hog* hog, int32_t* rows, int32_t* columns, int32_t* values);
/// Computes the descriptors of an image: `count` floats, which must be rows x columns x values. `descriptors` is in the
/// same memory as the image.
FW_API fw_status fw_hog_compute(fw_hog* hog, const fw_image* image, float* descriptors, size_t count, void* stream);

/// A person in an image, or what else a model was trained to find.
typedef struct fw_person {
    int32_t x, y, width, height;  ///< window in pixels, inside the image
    double score;                 ///< distance from the model's decision, above the threshold
} fw_person;

/// Detector of people in images of one size, at all positions and sizes. Images need not be of one camera.
typedef struct fw_people fw_people;

/// Makes a detector from the file `model`, as `framewire hog --train` writes it, or OpenCV's (docs/hog). `text` has the
/// options of `framewire hog --people` without dashes, such as "threshold=0.5:group=overlap"; NULL or "" means the
/// defaults. `image` gives the size and the format, FW_GRAY or FW_BGR. `settings` may be NULL. On success `*people`
/// must be destroyed with fw_people_destroy(); otherwise it is NULL. Errors: FW_ERROR_NO_INPUT if the file is not a
/// model; FW_ERROR_ARGUMENT if the text is wrong or images are smaller than the smallest window.
FW_API fw_status fw_people_create(fw_people** people, const char* model, const char* text, const fw_image* image,
                                  const fw_settings* settings);
/// Destroys a detector. NULL is allowed.
FW_API void fw_people_destroy(fw_people* people);
/// Finds people in an image. Stores their number in `count` and a pointer to them in `found`, best first; they are
/// valid until the next call with this detector. Returns when done, also for device images.
FW_API fw_status fw_people_process(fw_people* people, const fw_image* image, void* stream, const fw_person** found,
                                   size_t* count);

/// Encoder of a difference stream (src/framewire/codec/format.md) for images of one size.
typedef struct fw_encoder fw_encoder;

/// Makes an encoder. `text` has the options of `framewire serve` without dashes, such as "threshold=20:mode=bounded";
/// NULL or "" means the defaults. `image` gives the size and the format, FW_GRAY or FW_BGR. `settings` may be NULL. On
/// success `*encoder` must be destroyed with fw_encoder_destroy(); otherwise it is NULL.
FW_API fw_status fw_encoder_create(fw_encoder** encoder, const char* text, const fw_image* image,
                                   const fw_settings* settings);
/// Destroys an encoder. NULL is allowed.
FW_API void fw_encoder_destroy(fw_encoder* encoder);
/// Encodes the next image. If `keyframe` is 0, the result is what has changed by more than the threshold since the
/// earlier images, except for the first one, which is a keyframe. Stores the packed bytes in `bytes` and their number
/// in `count`; valid until the next call with this encoder. Returns when done, also for device images.
FW_API fw_status fw_encoder_encode(fw_encoder* encoder, const fw_image* image, int keyframe, void* stream,
                                   const uint8_t** bytes, size_t* count);

/// Decoder of a difference stream for images of one size.
typedef struct fw_decoder fw_decoder;

/// Makes a decoder for images with the size and the format, FW_GRAY or FW_BGR, of `image`. Decoders work on the CPU. Of
/// `settings`, which may be NULL, only the threads matter. On success `*decoder` must be destroyed with
/// fw_decoder_destroy(); otherwise it is NULL.
FW_API fw_status fw_decoder_create(fw_decoder** decoder, const fw_image* image, const fw_settings* settings);
/// Destroys a decoder. NULL is allowed.
FW_API void fw_decoder_destroy(fw_decoder* decoder);
/// Decodes the packed bytes of the next image and copies the picture to `image`, a host image, unless that is NULL.
/// `bytes` may be of unknown origin. FW_ERROR_SOURCE_LOST if they are damaged, or if there was no keyframe; the
/// picture then stays as it was or, after a damaged keyframe, is unknown until the next keyframe.
FW_API fw_status fw_decoder_decode(fw_decoder* decoder, const uint8_t* bytes, size_t count, const fw_image* image);

/// Properties of a source or a stream, besides the format of its frames.
typedef struct fw_info {
    size_t size;               ///< sizeof(fw_info)
    int64_t rate_numerator;    ///< nominal frames per second, as a ratio
    int64_t rate_denominator;  ///< nominal frames per second, as a ratio
    int64_t frames;            ///< number of frames, or -1 if it is unknown
    int32_t live;              ///< 1 for cameras and the network, else 0
    int32_t threshold;         ///< bound of each byte's error for a difference stream, else -1
} fw_info;

/// Position of a frame in its source.
typedef struct fw_time {
    size_t size;      ///< sizeof(fw_time)
    int64_t index;    ///< number of the frame, from 0; dropped frames leave gaps
    double seconds;   ///< time from the start of the source
    double duration;  ///< seconds for which the frame is shown; 0 if the source does not say it
} fw_time;

/// A source of frames: a file, a camera, a network address or the synthetic camera.
typedef struct fw_source fw_source;

/// How a source is opened.
typedef struct fw_source_options {
    size_t size;           ///< sizeof(fw_source_options)
    int32_t native;        ///< 1: frames keep their format, such as FW_I420, if this interface has it; 0: gray or BGR
    int32_t on_device;     ///< 1: frames are read into device memory, and decoded on that GPU if it can
    int32_t device;        ///< number of the GPU, if `on_device` is 1
    int32_t loop;          ///< 1: a source that ends starts again
    double start_seconds;  ///< earlier frames are skipped
    double duration_seconds;  ///< only so many seconds are read; 0: all
    double timeout_seconds;   ///< longest wait for data of a camera or the network; 0: 10 s
    int32_t width, height;    ///< size that is asked of a camera; 0: the camera's choice
    double rate;              ///< frames per second that are asked of a camera; 0: the camera's choice
} fw_source_options;

/// Opens a source, such as "clip.mp4", "/dev/video0", "rtsp://..." or "synth:size=640x480" (docs/sources.md). `options`
/// may be NULL. On success `*source` must be closed with fw_source_close(); otherwise it is NULL.
FW_API fw_status fw_source_open(fw_source** source, const char* text, const fw_source_options* options);
/// Closes a source. NULL is allowed.
FW_API void fw_source_close(fw_source* source);
/// Stores format, size and strides (without gaps) of the source's frames in `image`, and its properties in `info`. The
/// `size` of both must be set; one of them may be NULL.
FW_API fw_status fw_source_info(const fw_source* source, fw_image* image, fw_info* info);
/// Reads the next frame into `image`, which has the format and size of fw_source_info() and is in device memory if the
/// source was opened with `on_device`, and stores its time in `time`, which may be NULL. Returns FW_END after the last
/// frame, and after fw_source_stop(). Blocks until there is a frame.
FW_API fw_status fw_source_read(fw_source* source, const fw_image* image, fw_time* time, void* stream);
/// Goes to the first frame at or after `seconds`. FW_ERROR_UNAVAILABLE if the source cannot seek.
FW_API fw_status fw_source_seek(fw_source* source, double seconds);
/// Ends the current read and all later ones. Any thread may call it while another one reads.
FW_API fw_status fw_source_stop(fw_source* source);

/// A destination of frames: a file, a sequence of images, or a network address.
typedef struct fw_sink fw_sink;

/// How a sink is opened.
typedef struct fw_sink_options {
    size_t size;      ///< sizeof(fw_sink_options)
    int32_t replace;  ///< 1: an existing file is replaced; 0: it is an error
} fw_sink_options;

/// Opens a sink, such as "out.mp4" or "out.mkv:codec=ffv1" (docs/outputs.md), for frames with the format and size of
/// `image`. `rate_numerator` / `rate_denominator` is the number of frames per second. `options` may be NULL. On success
/// `*sink` must be closed with fw_sink_close(); otherwise it is NULL.
FW_API fw_status fw_sink_open(fw_sink** sink, const char* text, const fw_image* image, int64_t rate_numerator,
                              int64_t rate_denominator, const fw_sink_options* options);
/// Closes a sink. Without fw_sink_finish(), the file does not get its name. NULL is allowed.
FW_API void fw_sink_close(fw_sink* sink);
/// Writes a frame, a host image. If `time` is NULL, it follows the previous one at the sink's rate.
FW_API fw_status fw_sink_write(fw_sink* sink, const fw_image* image, const fw_time* time);
/// Completes the output and gives the file its name. Afterwards the sink can only be closed.
FW_API fw_status fw_sink_finish(fw_sink* sink);

/// A viewer of a difference stream, as `framewire serve` offers it.
typedef struct fw_viewer fw_viewer;

/// How a viewer connects.
typedef struct fw_viewer_options {
    size_t size;               ///< sizeof(fw_viewer_options)
    const char* token;         ///< access token of the server; NULL: none
    const char* fingerprint;   ///< SHA-256 of the server's certificate; NULL: verified by the system's trusted roots
    double timeout_seconds;    ///< longest time to connect, and longest silence of the server; 0: 5 s
    double reconnect_seconds;  ///< how long to try to reconnect after a loss; 0: not at all
} fw_viewer_options;

/// State of the picture of a viewer.
typedef struct fw_view {
    size_t size;         ///< sizeof(fw_view)
    uint64_t version;    ///< number of the state; refinements of a frame are states of their own
    int64_t index;       ///< number of the frame in the server's source
    double seconds;      ///< time of the frame in the server's source
    double age_seconds;  ///< time since the server captured the frame; negative if unknown
    int32_t threshold;   ///< no byte differs by more than this from the server's frame
    int32_t reserved;    ///< 0
} fw_view;

/// Connects to a stream: tcp://HOST:PORT/NAME, or the same with tls://, ws:// or wss://. `options` may be NULL. On
/// success `*viewer` must be closed with fw_viewer_close(); otherwise it is NULL.
FW_API fw_status fw_viewer_connect(fw_viewer** viewer, const char* url, const fw_viewer_options* options);
/// Disconnects. NULL is allowed.
FW_API void fw_viewer_close(fw_viewer* viewer);
/// Stores format (FW_GRAY or FW_BGR), size and strides of the stream's pictures in `image`, and its properties in
/// `info`. The `size` of both must be set; one of them may be NULL.
FW_API fw_status fw_viewer_info(const fw_viewer* viewer, fw_image* image, fw_info* info);
/// Waits for the next picture and copies it to `image`, a host image, unless that is NULL, and its state to `view`,
/// which may be NULL. Returns FW_END if the server ended the stream, and after fw_viewer_stop().
FW_API fw_status fw_viewer_next(fw_viewer* viewer, const fw_image* image, fw_view* view);
/// Stores the objects that the server detected in the last picture; valid until the next call with this viewer.
FW_API fw_status fw_viewer_boxes(fw_viewer* viewer, const fw_box** boxes, size_t* count);
/// Ends the current wait and all later ones. Any thread may call it while another one waits.
FW_API fw_status fw_viewer_stop(fw_viewer* viewer);

#ifdef __cplusplus
}
#endif

#endif
