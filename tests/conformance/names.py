"""The names of players, as section 5 of the standard (NAMES) has them."""
import unicodedata


# Default ignorable code points that are of no category in HIDDEN, and blank characters.
IGNORABLE = ((0x34F, 0x34F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2060, 0x206F), (0x3164, 0x3164),
             (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF))
BLANK = (0x2800, 0x13441, 0x13442, 0x16FE4, 0x1D159)
HIDDEN, MARKS = ("Cc", "Cf", "Zl", "Zp", "Zs"), ("Mn", "Me")


def is_seen(x):
    c = ord(x)
    return x == " " or not (unicodedata.category(x) in HIDDEN or any(a <= c <= b for a, b in IGNORABLE) or c in BLANK or
                            c & 0xFFFE == 0xFFFE or 0xFDD0 <= c <= 0xFDEF)


def is_text(b):
    """Whether the bytes are UTF-8, and all of them can be seen."""
    try:
        text = b.decode()
    except UnicodeDecodeError:
        return False
    return (all(map(is_seen, text)) and text == text.strip(" ") and
            not any(a == " " and unicodedata.category(x) in MARKS for a, x in zip(" " + text, text)))


def read_names(m, players):
    """The (player, since, name) of a NAMES in a world of so many players; None: it is malformed."""
    names = list(zip(m[1::3], m[2::3], m[3::3]))
    good = len(m) == 1 + 3 * len(names) and 1 <= len(names) <= 16 and all(
        type(player) is int and 0 <= player < players and type(since) is int and 0 <= since < 0xFFFFFFFF and
        isinstance(name, bytes) and 1 <= len(name) <= 32 and is_text(name) for player, since, name in names)
    return names if good and all(a[0] < b[0] for a, b in zip(names, names[1:])) else None


class Names:
    def __init__(self):
        self.named, self.changed = {}, {}                   # by player: (seq, since, name); its newest roster change

    def take(self, seq, names):
        for player, *name in names:
            if seq >= self.named.get(player, (0,))[0]:
                self.named[player] = (seq, *name)

    def snapshot(self, s, players):
        """A SNAPSHOT was accepted: it drops players, and lists roster changes."""
        self.take(s.seq, [(unit - 1, 0, None) for unit in s.dropped if 1 <= unit <= players])
        for player, tick, _ in s.roster:
            self.changed[player] = max(tick, self.changed.get(player, -1))

    def of(self, player):
        """The player's name; None: it is not known."""
        _, since, name = self.named.get(player, (0, 0, None))
        return name if self.changed.get(player, -1) < since else None
