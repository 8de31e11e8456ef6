#include "limits/cuvid.hpp"

#include "framewire/core/error.hpp"

#if FRAMEWIRE_CUVID
#include "framewire/media/ffmpeg/libav.hpp"

extern "C" {
#include <libavcodec/bsf.h>
}

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <utility>

#define FFNV_LOG_FUNC(context, ...)  // why_no_cuvid() has the reason
#define FFNV_DEBUG_LOG_FUNC(context, ...)
#include <ffnvcodec/dynlink_loader.h>
#endif

namespace framewire::bench {

#if FRAMEWIRE_CUVID

namespace {

// The parser delivers a picture when this many later ones are being decoded; NVIDIA recommends 2 to 4.
constexpr unsigned display_delay = 4;
constexpr unsigned output_surfaces = 2;  // mapped at the same time; each picture is unmapped at once

struct FreeFilter {
    void operator()(AVBSFContext* filter) const { av_bsf_free(&filter); }
};

void require(int error, const std::string& what) {
    if (error < 0) fail(ErrorCode::no_input, "{}: {}", what, ffmpeg_error(error));
}

// Returns the name of the bitstream filter that gives packets start codes; null if they need none.
const char* start_codes(AVCodecID codec) {
    switch (codec) {
        case AV_CODEC_ID_H264: return "h264_mp4toannexb";
        case AV_CODEC_ID_HEVC: return "hevc_mp4toannexb";
        default: return nullptr;
    }
}

std::optional<cudaVideoCodec> codec_of(const std::string& name) {
    if (name == "h264") return cudaVideoCodec_H264;
    if (name == "hevc") return cudaVideoCodec_HEVC;
    if (name == "vp8") return cudaVideoCodec_VP8;
    if (name == "vp9") return cudaVideoCodec_VP9;
    if (name == "av1") return cudaVideoCodec_AV1;
    if (name == "mjpeg") return cudaVideoCodec_JPEG;
    return {};
}

// NVIDIA's libraries and the primary context of the first GPU, which CUDA's runtime uses, too. Kept until the process
// ends, because the driver must not be unloaded while CUDA uses it.
struct Driver {
    CudaFunctions* cuda = nullptr;
    CuvidFunctions* cuvid = nullptr;
    CUcontext context = nullptr;
    std::string flaw;

    Driver() {
        if (cuda_load_functions(&cuda, nullptr) != 0) {
            flaw = "libcuda.so.1, a part of NVIDIA's driver, is missing";
        } else if (cuvid_load_functions(&cuvid, nullptr) != 0) {
            flaw = "libnvcuvid.so.1, a part of NVIDIA's driver, is missing";
        } else {
            CUdevice device{};
            if (cuda->cuInit(0) != CUDA_SUCCESS || cuda->cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
                cuda->cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS)
                flaw = "CUDA cannot be initialised";
        }
    }
    void check(CUresult result, const char* what) const {
        if (result == CUDA_SUCCESS) return;
        const char* name = nullptr;
        cuda->cuGetErrorName(result, &name);
        fail(ErrorCode::config, "{}: {}", what, name ? name : fmt::format("error {}", static_cast<int>(result)));
    }
};

const Driver& driver() {
    static const Driver one;
    return one;
}

// Makes the context current on this thread.
class Current {
public:
    Current() { driver().check(driver().cuda->cuCtxPushCurrent(driver().context), "cuCtxPushCurrent"); }
    ~Current() {
        CUcontext context{};
        driver().cuda->cuCtxPopCurrent(&context);
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
};

}  // namespace

EncodedVideo read_encoded(const std::string& path) {
    initialise_ffmpeg();
    AVFormatContext* opened = nullptr;
    if (const int error = avformat_open_input(&opened, path.c_str(), nullptr, nullptr); error < 0)
        fail(ErrorCode::no_input, "{}: {}", path, ffmpeg_error(error));
    const InputPointer format(opened);
    require(avformat_find_stream_info(opened, nullptr), path);
    const int stream = av_find_best_stream(opened, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
    require(stream, path);
    const auto& parameters = *opened->streams[stream]->codecpar;

    AVBSFContext* made = nullptr;
    if (const char* name = start_codes(parameters.codec_id)) {
        const auto* known = av_bsf_get_by_name(name);
        if (!known) fail(ErrorCode::config, "this FFmpeg has no bitstream filter {}", name);
        require(av_bsf_alloc(known, &made), path);
    } else {
        require(av_bsf_get_null_filter(&made), path);
    }
    const std::unique_ptr<AVBSFContext, FreeFilter> filter(made);
    require(avcodec_parameters_copy(made->par_in, &parameters), path);
    require(av_bsf_init(made), path);

    EncodedVideo video{avcodec_get_name(parameters.codec_id), {}};
    const auto packet = make_packet();
    const auto take = [&] {
        while (av_bsf_receive_packet(made, packet.get()) >= 0) {
            video.packets.emplace_back(packet->data, packet->data + packet->size);
            av_packet_unref(packet.get());
        }
    };
    while (av_read_frame(opened, packet.get()) >= 0) {
        if (packet->stream_index != stream) {
            av_packet_unref(packet.get());
            continue;
        }
        require(av_bsf_send_packet(made, packet.get()), path);
        take();
    }
    require(av_bsf_send_packet(made, nullptr), path);
    take();
    if (video.packets.empty()) fail(ErrorCode::no_input, "{} has no frames", path);
    return video;
}

std::string why_no_cuvid() { return driver().flaw; }

struct CuvidDecoder::Parts {
    const EncodedVideo& video;
    Receiver receiver;
    cudaVideoCodec codec{};
    CUvideoparser parser = nullptr;
    CUvideodecoder decoder = nullptr;
    CUVIDEOFORMAT format{};  // of the open decoder
    unsigned surfaces = 0;
    std::size_t next = 0;
    int mapped = 0;
    std::exception_ptr error;  // thrown in a callback, through which no exception may pass

    Parts(const EncodedVideo& of, Receiver to) : video(of), receiver(std::move(to)) {
        const auto known = codec_of(video.codec);
        if (!known) fail(ErrorCode::config, "cuvid: {} is not among the codecs of this bench", video.codec);
        codec = *known;
        CUVIDPARSERPARAMS parameters{};
        parameters.CodecType = codec;
        parameters.ulMaxNumDecodeSurfaces = 1;  // replaced by what open() returns
        parameters.ulMaxDisplayDelay = display_delay;
        parameters.pUserData = this;
        parameters.pfnSequenceCallback = [](void* self, CUVIDEOFORMAT* what) {
            return static_cast<Parts*>(self)->guarded([&](Parts& parts) { return parts.open(*what); });
        };
        parameters.pfnDecodePicture = [](void* self, CUVIDPICPARAMS* what) {
            return static_cast<Parts*>(self)->guarded([&](Parts& parts) { return parts.decode(*what); });
        };
        parameters.pfnDisplayPicture = [](void* self, CUVIDPARSERDISPINFO* what) {
            return static_cast<Parts*>(self)->guarded([&](Parts& parts) { return what ? parts.map(*what) : 1; });
        };
        driver().check(driver().cuvid->cuvidCreateVideoParser(&parser, &parameters), "cuvidCreateVideoParser");
    }

    ~Parts() {
        driver().cuvid->cuvidDestroyVideoParser(parser);
        if (decoder) driver().cuvid->cuvidDestroyDecoder(decoder);
    }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    template <typename Call>
    int guarded(const Call& call) noexcept {
        try {
            return call(*this);
        } catch (...) {
            if (!error) error = std::current_exception();
            return 0;  // the parser reports a failure
        }
    }

    // Opens the decoder, or accepts the headers of the video's next turn. Returns the number of surfaces.
    int open(const CUVIDEOFORMAT& what) {
        if (decoder) {
            if (what.coded_width != format.coded_width || what.coded_height != format.coded_height ||
                what.min_num_decode_surfaces + display_delay > surfaces)
                fail(ErrorCode::config, "cuvid: the format changes in the middle of the video");
            return static_cast<int>(surfaces);
        }
        if (what.chroma_format != cudaVideoChromaFormat_420 || what.bit_depth_luma_minus8 != 0)
            fail(ErrorCode::config, "cuvid: this bench decodes 4:2:0 with 8 bits");
        if (what.display_area.left != 0 || what.display_area.top != 0)
            fail(ErrorCode::config, "cuvid: pictures that are cropped at the left or upper border are not supported");
        CUVIDDECODECAPS able{};
        able.eCodecType = codec;
        able.eChromaFormat = what.chroma_format;
        driver().check(driver().cuvid->cuvidGetDecoderCaps(&able), "cuvidGetDecoderCaps");
        if (!able.bIsSupported || what.coded_width > able.nMaxWidth || what.coded_height > able.nMaxHeight)
            fail(ErrorCode::config, "cuvid: this GPU does not decode {} of {}x{}", video.codec, what.coded_width,
                 what.coded_height);
        format = what;
        surfaces = what.min_num_decode_surfaces + display_delay;
        CUVIDDECODECREATEINFO info{};
        info.CodecType = codec;
        info.ChromaFormat = what.chroma_format;
        info.OutputFormat = cudaVideoSurfaceFormat_NV12;
        info.DeinterlaceMode = cudaVideoDeinterlaceMode_Weave;
        info.ulCreationFlags = cudaVideoCreate_PreferCUVID;
        info.ulWidth = info.ulTargetWidth = what.coded_width;
        info.ulHeight = info.ulTargetHeight = what.coded_height;
        info.ulNumDecodeSurfaces = surfaces;
        info.ulNumOutputSurfaces = output_surfaces;
        driver().check(driver().cuvid->cuvidCreateDecoder(&decoder, &info), "cuvidCreateDecoder");
        return static_cast<int>(surfaces);
    }

    int decode(CUVIDPICPARAMS& picture) {
        driver().check(driver().cuvid->cuvidDecodePicture(decoder, &picture), "cuvidDecodePicture");
        return 1;
    }

    int map(const CUVIDPARSERDISPINFO& picture) {
        CUVIDPROCPARAMS processing{};
        processing.progressive_frame = picture.progressive_frame;
        processing.second_field = picture.repeat_first_field + 1;
        processing.top_field_first = picture.top_field_first;
        processing.unpaired_field = picture.repeat_first_field < 0;
        CUdeviceptr at{};
        unsigned pitch = 0;
        driver().check(driver().cuvid->cuvidMapVideoFrame(decoder, picture.picture_index, &at, &pitch, &processing),
                       "cuvidMapVideoFrame");
        if (receiver) guarded([&](Parts& parts) { return parts.copy(at, pitch), 1; });
        driver().check(driver().cuvid->cuvidUnmapVideoFrame(decoder, at), "cuvidUnmapVideoFrame");
        ++mapped;
        return error ? 0 : 1;
    }

    // Copies a picture to the host and separates U from V, which NV12 has in turn.
    void copy(CUdeviceptr at, unsigned pitch) const {
        const auto width = static_cast<std::size_t>(format.display_area.right);
        const auto height = static_cast<std::size_t>(format.display_area.bottom);
        const std::size_t luma_rows = (format.coded_height + 1) / 2 * 2;  // chroma begins below the coded rows
        std::vector<std::uint8_t> surface(pitch * (luma_rows + (format.coded_height + 1) / 2));
        driver().check(driver().cuda->cuMemcpyDtoH(surface.data(), at, surface.size()), "cuMemcpyDtoH");
        std::vector<std::uint8_t> samples;
        samples.reserve(width * height * 3 / 2 + width + height);
        for (std::size_t y = 0; y < height; ++y)
            samples.insert(samples.end(), &surface[y * pitch], &surface[y * pitch] + width);
        for (const std::size_t channel : {0, 1})
            for (std::size_t y = 0; y < (height + 1) / 2; ++y)
                for (std::size_t x = 0; x < (width + 1) / 2; ++x)
                    samples.push_back(surface[(luma_rows + y) * pitch + 2 * x + channel]);
        receiver(samples);
    }

    int step() {
        const auto& bytes = video.packets[next];
        next = (next + 1) % video.packets.size();
        CUVIDSOURCEDATAPACKET packet{};
        packet.payload = bytes.data();
        packet.payload_size = static_cast<tcu_ulong>(bytes.size());
        mapped = 0;
        const auto result = driver().cuvid->cuvidParseVideoData(parser, &packet);
        if (error) std::rethrow_exception(error);
        driver().check(result, "cuvidParseVideoData");
        return mapped;
    }
};

CuvidDecoder::CuvidDecoder(const EncodedVideo& video, Receiver receiver) {
    if (!driver().flaw.empty()) fail(ErrorCode::config, "{}", driver().flaw);
    const Current current;
    parts_ = std::make_unique<Parts>(video, std::move(receiver));
}

CuvidDecoder::~CuvidDecoder() {
    const Current current;
    parts_.reset();
}

int CuvidDecoder::step() {
    const Current current;
    return parts_->step();
}

#else

namespace {
constexpr const char* flaw = "this build lacks FFmpeg or the headers of libffmpeg-nvenc-dev";
}

EncodedVideo read_encoded(const std::string&) { fail(ErrorCode::config, "{}", flaw); }
std::string why_no_cuvid() { return flaw; }
struct CuvidDecoder::Parts {};
CuvidDecoder::CuvidDecoder(const EncodedVideo&, Receiver) { fail(ErrorCode::config, "{}", flaw); }
CuvidDecoder::~CuvidDecoder() = default;
int CuvidDecoder::step() { fail(ErrorCode::config, "{}", flaw); }

#endif

}  // namespace framewire::bench
