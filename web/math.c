/// Owns the functions of libm that drawings and controls call: the page's own, which are there
/// anyway. No simulation calls them.
#include <math.h>

#define IMPORT(name) __attribute__((import_module("math"), import_name(name)))

IMPORT("acos") extern double import_acos(double x);
IMPORT("atan2") extern double import_atan2(double y, double x);
IMPORT("cos") extern double import_cos(double x);
IMPORT("hypot") extern double import_hypot(double x, double y);
IMPORT("sin") extern double import_sin(double x);

double acos(double x) {
    return import_acos(x);
}

double atan2(double y, double x) {
    return import_atan2(y, x);
}

double cos(double x) {
    return import_cos(x);
}

double hypot(double x, double y) {
    return import_hypot(x, y);
}

double sin(double x) {
    return import_sin(x);
}
