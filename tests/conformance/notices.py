"""Notices of the server, as section 5 of the standard (NOTICE) has them."""
from names import is_text


def read_notice(m):
    """The (number, kind, seconds, where, text) of a NOTICE; None: it is malformed."""
    good = len(m) == 6 and all(type(x) is int for x in m[1:4]) and all(isinstance(x, bytes) for x in m[4:]) and \
        1 <= m[1] <= 0xFFFFFFFF and 1 <= m[2] <= 255 and 0 <= m[3] <= 86400 and \
        len(m[4]) <= 100 and all(0x21 <= x <= 0x7E for x in m[4]) and len(m[5]) <= 200 and (not m[5] or is_text(m[5]))
    return tuple(m[1:]) if good else None


class Notices:
    def __init__(self):
        self.newest, self.taken, self.again = 0, [], 0

    def begin(self, resumed):
        """A connection begins: only one that is resumed knows what came before."""
        if not resumed:
            self.newest = 0

    def take(self, number, *notice):
        if number > self.newest:
            self.newest = number
            self.taken.append(notice)
        else:
            self.again += 1
