/// The checks of a plugin's file: the functions that it imports, the variables that it has, and
/// floating point in its code.
#pragma once

#include "check/faults.h"

/// Reports imported functions that no rule may call, by the symbol table of the file (ELF). False:
/// the file cannot be read, or is none of this machine's.
bool hc_ck_library_imports(const char *path, struct hc_ck_faults *faults);

/// Reports variables, which outlive a call, by all symbols of the file. False: it was stripped of
/// them, and its variables, if it has any, are as few bytes as the compiler adds to every plugin.
bool hc_ck_library_variables(const char *path, struct hc_ck_faults *faults);

/// Reports functions that compute with floating point, by their disassembly. False: objdump is not
/// found, or does not know the instructions of this machine.
bool hc_ck_library_floats(const char *path, struct hc_ck_faults *faults);
