/// Fuzzes configuration files: whatever a file holds, it is a fault with a line or a setting within
/// its range, and a configuration that is taken and printed is taken again with the same values.
///
/// The input is the file.
#define _GNU_SOURCE // memfd_create

#include "hindcast/check.h"
#include "server/daemon/options.h"
#include "server/daemon/settings_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TEXT_MAX = 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// A file in memory with these bytes, and its path.
static int make_file(const uint8_t *data, size_t size, char *path, size_t path_size) {
    int descriptor = memfd_create("settings", MFD_CLOEXEC);
    HC_ASSERT(descriptor >= 0);
    HC_ASSERT(write(descriptor, data, size) == (ssize_t)size);
    snprintf(path, path_size, "/proc/self/fd/%d", descriptor);
    return descriptor;
}

/// Reads a file over the defaults.
static void read_file(struct hc_sv_reading *reading, const struct hc_sv_options *initial,
                      const char *path) {
    struct hc_settings settings = {.rows = hc_sv_settings,
                                   .count = HC_SV_SETTING_COUNT,
                                   .program = 1,
                                   .defaults = initial,
                                   .values = &reading->options,
                                   .given = reading->options.given,
                                   .places = reading->places,
                                   .texts = reading->texts,
                                   .faults = &reading->faults};
    memset(reading, 0, sizeof *reading);
    reading->options = *initial;
    hc_sv_settings_file_read(&settings, path);
}

/// Faults can be shown, and name a line of the file.
static void check_faults(const struct hc_setting_faults *faults, size_t lines) {
    for (unsigned i = 0; i < faults->count && i < HC_SETTING_FAULTS_MAX; i++) {
        const struct hc_setting_fault *fault = &faults->kept[i];
        HC_ASSERT(fault->place.line >= 1 && fault->place.line <= lines);
        HC_ASSERT(fault->why[0] != '\0');
        const char *texts[] = {fault->name, fault->value, fault->why};
        for (unsigned t = 0; t < 3; t++)
            for (const char *at = texts[t]; *at != '\0'; at++)
                HC_ASSERT(*at >= ' ' && *at <= '~');
    }
}

/// Writes the settings that a reading has given as a file, and reads them again.
static void read_again(const struct hc_sv_reading *reading, const struct hc_sv_options *initial) {
    static struct hc_sv_reading again;
    static char file[HC_SV_SETTING_COUNT * TEXT_MAX];
    char path[64], value[TEXT_MAX];
    size_t size = 0;
    for (unsigned i = 0; i < HC_SV_SETTING_COUNT; i++) {
        const struct hc_setting *row = &hc_sv_settings[i];
        if (!reading->options.given[i])
            continue;
        HC_ASSERT(row->group >= 0);
        HC_ASSERT(hc_setting_format(row, &reading->options, value, sizeof value));
        // A line that was as long as may be has no room for the blanks.
        size += (size_t)snprintf(file + size, sizeof file - size, "%s=%s\n", row->name, value);
    }
    int descriptor = make_file((const uint8_t *)file, size, path, sizeof path);
    read_file(&again, initial, path);
    close(descriptor);
    HC_ASSERT(again.faults.count == 0);
    for (unsigned i = 0; i < HC_SV_SETTING_COUNT; i++)
        HC_ASSERT(again.options.given[i] == reading->options.given[i] &&
                  hc_setting_equal(&hc_sv_settings[i], &again.options, &reading->options));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct hc_sv_reading reading;
    const struct hc_sv_options initial = hc_sv_options_default();
    char path[64];
    size_t lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    int descriptor = make_file(data, size, path, sizeof path);
    read_file(&reading, &initial, path);
    close(descriptor);
    check_faults(&reading.faults, lines);
    if (reading.faults.count == 0)
        read_again(&reading, &initial);
    return 0;
}
