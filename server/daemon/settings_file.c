/// Owns the lines of a file of settings: inih splits them, and each one that is not taken is a
/// fault.
#define _GNU_SOURCE // O_CLOEXEC, getline

#include "server/daemon/settings_file.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// One reading of a file.
struct reading {
    struct hc_settings *settings;
    FILE *stream;
    struct hc_setting_place place; ///< the line that was read last
    char *text;                    ///< [room] the line
    size_t room, read;             ///< `read`: bytes of all lines so far
    bool pending;                  ///< inih has to find a name and a value in the line
    char too_long[80];             ///< the fault of a line that is too long for inih
};

static void add_fault(struct reading *reading, const char *name, const char *value,
                      const char *why) {
    hc_setting_faults_add(reading->settings->faults, &reading->place, name, value, why);
}

// ---- Lines --------------------------------------------------------------------------------------

/// Ends the line before: inih has left it out if it is no `name = value`.
static void end_line(struct reading *reading) {
    if (reading->pending)
        add_fault(reading, NULL, NULL, "must be `name = value`, or a comment that begins with #");
    reading->pending = false;
}

/// The fault of a line of `size` bytes that inih must not see; NULL: none.
static const char *fault_of(struct reading *reading, const char *begin, size_t size, int room) {
    size_t most = (size_t)room - 3; // beside the line's end and the terminator
    if (reading->read > HC_SV_SETTINGS_FILE_MAX)
        return "the file is larger than 1 MiB"; // it has grown since it was opened
    if (strlen(reading->text) != size)
        return "the line holds a zero byte";
    if (begin[0] == '[')
        return "settings have no sections; leave this line out";
    // inih takes the rest of a longer line for another one.
    snprintf(reading->too_long, sizeof(reading->too_long), "the line is longer than %zu bytes",
             most);
    return strcspn(begin, "\r\n") > most ? reading->too_long : NULL;
}

/// Reads a line for inih, as fgets does, without the blanks at its begin, by which inih would take
/// it for a part of the line before.
static char *next_line(char *out, int room, void *context) {
    struct reading *reading = context;
    end_line(reading);
    ssize_t size = getline(&reading->text, &reading->room, reading->stream);
    if (size < 0 || reading->read > HC_SV_SETTINGS_FILE_MAX)
        return NULL;
    const char *begin = reading->text;
    reading->read += (size_t)size;
    if (reading->place.line++ == 0 && strncmp(begin, "\xEF\xBB\xBF", 3) == 0)
        begin += 3;
    begin += strspn(begin, " \t\r\n\f\v");
    const char *why = fault_of(reading, begin, (size_t)size, room);
    if (why != NULL) {
        add_fault(reading, NULL, NULL, why);
        begin = "\n";
    }
    reading->pending = strchr("#;\n", begin[0]) == NULL;
    snprintf(out, (size_t)room, "%s", begin);
    return out;
}

// ---- Settings -----------------------------------------------------------------------------------

/// The number of the program's setting of this name that files may set; the count: there is none.
static unsigned find(struct reading *reading, const char *name, const char *value) {
    const struct hc_settings *settings = reading->settings;
    unsigned i = 0;
    while (i < settings->count && ((settings->rows[i].programs & settings->program) == 0 ||
                                   strcmp(settings->rows[i].name, name) != 0))
        i++;
    if (i == settings->count) {
        add_fault(reading, name, value, "is no setting");
        return settings->count;
    }
    if (settings->rows[i].group >= 0)
        return i;
    add_fault(reading, name, value, "is an option of the command line alone");
    return settings->count;
}

/// Takes a name and its value.
static int take(void *context, const char *section, const char *name, const char *value) {
    struct reading *reading = context;
    const struct hc_settings *settings = reading->settings;
    (void)section;
    reading->pending = false;
    unsigned i = find(reading, name, value);
    if (i == settings->count)
        return 1;
    char why[HC_SETTING_TEXT_MAX] = "must be ";
    struct hc_setting_place *place = &settings->places[i];
    if (place->file == reading->place.file) {
        snprintf(why, sizeof(why), "is set in line %u already", place->line);
        add_fault(reading, name, value, why);
        return 1;
    }
    snprintf(settings->texts[i], sizeof(settings->texts[i]), "%s", value);
    if (!hc_setting_take(&settings->rows[i], settings->texts[i], settings->values)) {
        size_t at = strlen(why);
        hc_setting_allow(&settings->rows[i], why + at, sizeof(why) - at);
        add_fault(reading, name, value, why);
    }
    settings->given[i] = true;
    *place = reading->place;
    return 1;
}

// ---- Files --------------------------------------------------------------------------------------

/// Opens the file; NULL: it cannot be, and `*why` says so.
static FILE *open_file(const char *path, const char **why) {
    struct stat status;
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        *why = strerror(errno);
        return NULL;
    }
    FILE *stream = NULL;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        *why = "is no regular file";
    else if (status.st_size > HC_SV_SETTINGS_FILE_MAX)
        *why = "is larger than 1 MiB";
    else if ((stream = fdopen(descriptor, "r")) == NULL)
        *why = strerror(errno);
    if (stream == NULL)
        close(descriptor);
    return stream;
}

void hc_sv_settings_file_read(struct hc_settings *settings, const char *path) {
    struct reading reading = {.settings = settings, .place = {.file = path}};
    const char *why = NULL;
    reading.stream = open_file(path, &why);
    if (reading.stream != NULL) {
        if (ini_parse_stream(next_line, &reading, take, &reading) < 0)
            why = "there is no memory to read it";
        else if (ferror(reading.stream))
            why = "cannot be read";
        end_line(&reading);
        fclose(reading.stream);
    }
    if (why != NULL) {
        reading.place.line = 0;
        add_fault(&reading, NULL, NULL, why);
    }
    free(reading.text);
}
