/* Prints the moving objects of a video: frame, box, area and tracks.
 *
 *     cc -std=c11 detect.c $(pkg-config --cflags --libs framewire-c) -o detect
 *     ./detect in.mp4 min-area=400
 */
#include <framewire/framewire.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    fw_info info = {.size = sizeof info};
    fw_image image = {.size = sizeof image};
    fw_time time = {.size = sizeof time};
    fw_source* source = NULL;
    fw_detector* detector = NULL;
    fw_tracker* tracker = NULL;
    void* memory = NULL;
    size_t bytes;
    fw_status status;

    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: detect SRC [SETTINGS]\n");
        return 2;
    }
    if ((status = fw_source_open(&source, argv[1], NULL)) || (status = fw_source_info(source, &image, &info)) ||
        (status = fw_image_layout(&image, NULL, &bytes)) || !(memory = malloc(bytes)) ||
        (status = fw_image_layout(&image, memory, NULL)))
        goto done;
    if ((status = fw_detector_create(&detector, argc > 2 ? argv[2] : NULL, &image,
                                     (double)info.rate_numerator / (double)info.rate_denominator, NULL)) ||
        (status = fw_tracker_create(&tracker, NULL, image.width, image.height)))
        goto done;
    while (!(status = fw_source_read(source, &image, &time, NULL))) {
        const fw_box* boxes;
        const fw_track* tracks;
        size_t count, track_count;
        if ((status = fw_detector_process(detector, &image, NULL, &boxes, &count)) ||
            (status = fw_tracker_update(tracker, boxes, count, time.seconds, &tracks, &track_count)))
            goto done;
        for (size_t i = 0; i < count; ++i) {
            printf("%lld %d %d %d %d %d", (long long)time.index, (int)boxes[i].x, (int)boxes[i].y, (int)boxes[i].width,
                   (int)boxes[i].height, (int)boxes[i].area);
            for (size_t track = 0; track < track_count; ++track)
                if (tracks[track].box == (int64_t)i) printf(" track %lld", (long long)tracks[track].id);
            printf("\n");
        }
    }

done:
    if (status != FW_END) fprintf(stderr, "%s\n", fw_last_error());
    fw_tracker_destroy(tracker);
    fw_detector_destroy(detector);
    fw_source_close(source);
    free(memory);
    return status == FW_END ? 0 : (int)status;
}
