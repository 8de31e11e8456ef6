#pragma once

namespace framewire::bench {

/// A filter in the syntax of both programs.
struct SharedFilter {
    const char *name, *framewire, *ffmpeg;
    double least_db;               ///< required similarity of luma; lower if the methods differ
    bool encoded_briefly = false;  ///< brief runs encode it to H.264, too
    /// The filter works on gray. framewire's gray is that of BT.601, while FFmpeg's filters take luma; with `--matrix
    /// bt601` the two are the same.
    bool gray_is_luma = false;
};

/// Required similarity in dB: `same` for equal pictures, `alike` for filters with the same purpose, `any` if only the
/// size is comparable.
inline constexpr double same = 32, alike = 18, any = 5;

/// Filters that both programs have. FFmpeg's filters work on YUV, framewire's on BGR.
inline constexpr SharedFilter shared_filters[]{
    {"no filter", "", "null", 60, true},
    {"adjust", "adjust=brightness=20:contrast=1.2", "eq=brightness=0.067:contrast=1.2:saturation=1.2", alike, true},
    {"gray", "gray", "hue=s=0", same, true, true},
    {"binarize", "binarize=fixed:level=128", "lutyuv=y='if(gt(val,126),235,16)':u=128:v=128", same, true, true},
    {"mean 3", "mean=3", "avgblur=1", same, true},
    {"mean 21", "mean=21", "avgblur=10", same - 6, true},
    {"gaussian, sigma 1", "gaussian=7:sigma=1", "gblur=sigma=1", same, true},
    {"gaussian, sigma 5", "gaussian=31:sigma=5", "gblur=sigma=5", same - 6, true},
    {"median 3", "median=3", "median=1", alike, true},
    {"median 5", "median=5", "median=2", alike},
    {"median 15", "median=15", "median=7", alike},
    {"mosaic 16", "mosaic=16", "pixelize=w=16:h=16", same - 6},
    {"convolve 3x3", "convolve='0 -1 0 -1 5 -1 0 -1 0'",
     "convolution='0 -1 0 -1 5 -1 0 -1 0:0 -1 0 -1 5 -1 0 -1 0:0 -1 0 -1 5 -1 0 -1 0'", alike},
    {"convolve 5x5", "convolve='1 4 6 4 1 4 16 24 16 4 6 24 36 24 6 4 16 24 16 4 1 4 6 4 1':divisor=256",
     "convolution=0m='1 4 6 4 1 4 16 24 16 4 6 24 36 24 6 4 16 24 16 4 1 4 6 4 1':0rdiv=0.00390625:"
     "1m='1 4 6 4 1 4 16 24 16 4 6 24 36 24 6 4 16 24 16 4 1 4 6 4 1':1rdiv=0.00390625:"
     "2m='1 4 6 4 1 4 16 24 16 4 6 24 36 24 6 4 16 24 16 4 1 4 6 4 1':2rdiv=0.00390625",
     same},
    {"dilate 3x3", "dilate=3:shape=rect", "dilation", alike},
    {"erode 3x3", "erode=3:shape=rect", "erosion", alike},
    {"text", "text=framewire:x=40:y=40:size=48", "drawtext=text=framewire:x=40:y=40:fontsize=48:fontcolor=white",
     alike},
    {"scale to half, area", "scale=50%:50%:area", "scale=iw/2:ih/2:flags=area", same},
    {"scale to half, bilinear", "scale=50%:50%:bilinear", "scale=iw/2:ih/2:flags=bilinear", same},
    {"scale to half, bicubic", "scale=50%:50%:bicubic", "scale=iw/2:ih/2:flags=bicubic", same},
    {"scale to half, lanczos", "scale=50%:50%:lanczos", "scale=iw/2:ih/2:flags=lanczos", same - 4},
    {"scale to 4/3, bicubic", "scale=iw*4/3:-2:bicubic", "scale=iw*4/3:-2:flags=bicubic", same},
    {"crop to half", "crop=50%:50%", "crop=iw/2:ih/2", same},
    {"pad", "pad=iw+64:ih+32:32:16", "pad=iw+64:ih+32:32:16", same},
    {"flip", "flip", "hflip", same},
    {"flip, vertical", "flip=vertical", "vflip", same},
    {"rotate by 90", "rotate=90", "transpose=clock", same},
    {"rotate by 11", "rotate=11:size=same", "rotate=11*PI/180", alike},
    {"fps 10", "fps=10", "fps=10", any},
    {"deinterlace, linear", "deinterlace=linear", "pp=li", any},
    {"deinterlace, blend", "deinterlace=blend", "pp=lb", any},
    {"deinterlace, adaptive", "deinterlace", "yadif", any},
    {"gaussian beside its original", "gaussian=7:sigma=1,compare", "split[a][b];[b]gblur=sigma=1[c];[a][c]hstack",
     same},
};

}  // namespace framewire::bench
