/// Marks: named places in the code, counted in test builds, so that a random test can show that it
/// has been everywhere. Where HC_MARKS is not 1 they are nothing at all.
#pragma once

#ifndef HC_MARKS
#define HC_MARKS 0
#endif

#if HC_MARKS
/// One place; several may share a name.
struct hc_mark {
    const char *name;
    unsigned long count; ///< how often it was passed in this process
};

/// Passes the mark `name`. The places are found between __start_hc_marks and __stop_hc_marks, which
/// the linker defines around the section of their addresses.
#define HC_MARK(name_)                                                                             \
    do {                                                                                           \
        static struct hc_mark mark = {(name_), 0};                                                 \
        static struct hc_mark *const mark_at __attribute__((section("hc_marks"), used)) = &mark;   \
        mark.count++;                                                                              \
        (void)mark_at;                                                                             \
    } while (0)
#else
#define HC_MARK(name_) ((void)0)
#endif
