/* Watches a stream of `framewire serve` and prints the number, time and threshold of each picture.
 *
 *     cc -std=c11 watch.c $(pkg-config --cflags --libs framewire-c) -o watch
 *     ./watch tcp://127.0.0.1:7878/main
 */
#include <framewire/framewire.h>

#include <stdio.h>

int main(int argc, char** argv) {
    fw_view view = {.size = sizeof view};
    fw_viewer* viewer = NULL;
    fw_status status;

    if (argc != 2) {
        fprintf(stderr, "usage: watch tcp://HOST:PORT/NAME\n");
        return 2;
    }
    if (!(status = fw_viewer_connect(&viewer, argv[1], NULL)))
        while (!(status = fw_viewer_next(viewer, NULL, &view)))
            printf("%lld %.3f %d\n", (long long)view.index, view.seconds, (int)view.threshold);
    if (status != FW_END) fprintf(stderr, "%s\n", fw_last_error());
    fw_viewer_close(viewer);
    return status == FW_END ? 0 : (int)status;
}
