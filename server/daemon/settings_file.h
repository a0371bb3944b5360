/// A file of settings: `name = value` lines without sections, as inih reads them.
///
/// A name is that of an option without its dashes, once in a file. Blank lines and lines that begin
/// with # or ; are skipped, and so is the rest of a line after a blank and a ;. The value of a flag
/// is true or false. The file must be regular, so that it can be read again.
#pragma once

#include "common/programs/settings.h"

enum { HC_SV_SETTINGS_FILE_MAX = 1 << 20 }; ///< bytes

/// Sets the settings that the file at `path` (borrowed for ever) names, in place of those of files
/// that were read before, and adds a fault for each line that cannot be taken.
void hc_sv_settings_file_read(struct hc_settings *settings, const char *path);
