"""The names of players, as section 5 of the standard (NAMES) has them."""
import unicodedata


def is_text(b):
    """Whether the bytes are UTF-8 without control, format and separator characters."""
    try:
        return all(unicodedata.category(x) not in ("Cc", "Cf", "Zl", "Zp", "Cs") for x in b.decode())
    except UnicodeDecodeError:
        return False


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
