/* Filters a video, like `framewire run -i SRC -f CHAIN -o OUT`. Frames keep the format of the source, such as 4:2:0.
 *
 *     cc -std=c11 filter.c $(pkg-config --cflags --libs framewire-c) -o filter
 *     ./filter in.mp4 'gaussian=5,mosaic=32' out.mp4
 */
#include <framewire/framewire.h>

#include <stdio.h>
#include <stdlib.h>

/* Allocates the memory of an image whose format and size are set. */
static int allocate(fw_image* image) {
    size_t bytes;
    void* memory;
    return !fw_image_layout(image, NULL, &bytes) && (memory = malloc(bytes)) && !fw_image_layout(image, memory, NULL);
}

int main(int argc, char** argv) {
    fw_source_options native = {.size = sizeof native, .native = 1};
    fw_sink_options replace = {.size = sizeof replace, .replace = 1};
    fw_info info = {.size = sizeof info};
    fw_image in = {.size = sizeof in}, out = {.size = sizeof out};
    fw_time time = {.size = sizeof time};
    fw_source* source = NULL;
    fw_chain* chain = NULL;
    fw_sink* sink = NULL;
    fw_status status = FW_OK;

    if (argc != 4) {
        fprintf(stderr, "usage: filter SRC CHAIN OUT\n");
        return 2;
    }
    if ((status = fw_source_open(&source, argv[1], &native)) || (status = fw_source_info(source, &in, &info)))
        goto done;
    if ((status = fw_chain_create(&chain, argv[2], &in, NULL)) || (status = fw_chain_output(chain, &out)) ||
        (status = fw_sink_open(&sink, argv[3], &out, info.rate_numerator, info.rate_denominator, &replace)))
        goto done;
    if (!allocate(&in) || !allocate(&out)) goto done;
    while (!(status = fw_source_read(source, &in, &time, NULL)))
        if ((status = fw_chain_set_time(chain, time.index, time.seconds)) ||
            (status = fw_chain_run(chain, &in, &out, NULL)) || (status = fw_sink_write(sink, &out, &time)))
            goto done;
    if (status == FW_END) status = fw_sink_finish(sink);

done:
    if (status) fprintf(stderr, "%s\n", fw_last_error());
    fw_sink_close(sink);
    fw_chain_destroy(chain);
    fw_source_close(source);
    free(in.data[0]);
    free(out.data[0]);
    return (int)status;
}
