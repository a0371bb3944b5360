"""XXH3-64 of up to 128 bytes, with a seed; the standard names it, its own paper defines it."""

_S = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364")
_M = (1 << 64) - 1


def _rd(b, o, n=8):
    return int.from_bytes(b[o:o + n], "little")


def _fold(a, b):
    return (a * b & _M) ^ (a * b >> 64)


def _mix16(d, o, s, seed):
    return _fold(_rd(d, o) ^ (_rd(_S, s) + seed & _M), _rd(d, o + 8) ^ (_rd(_S, s + 8) - seed & _M))


def _avalanche(h, a, m, b, m2=1, c=32):
    h = (h ^ h >> a) * m & _M
    h = (h ^ h >> b) * m2 & _M
    return h ^ h >> c


def xxh3(d, seed=0):
    n = len(d)
    if n > 128:
        raise ValueError("longer than this protocol needs")
    if n <= 3:
        x = (_rd(_S, 56) ^ _rd(_S, 64) ^ seed if n == 0 else
             (d[0] << 16 | d[n >> 1] << 24 | d[-1] | n << 8) ^ ((_rd(_S, 0, 4) ^ _rd(_S, 4, 4)) + seed & _M))
        return _avalanche(x, 33, 0xC2B2AE3D27D4EB4F, 29, 0x165667B19E3779F9)
    if n <= 8:
        seed ^= int.from_bytes((seed & 0xFFFFFFFF).to_bytes(4, "little"), "big") << 32
        h = (_rd(d, n - 4, 4) + (_rd(d, 0, 4) << 32)) ^ ((_rd(_S, 8) ^ _rd(_S, 16)) - seed & _M)
        h ^= (h << 49 | h >> 15) & _M ^ (h << 24 | h >> 40) & _M
        h = h * 0x9FB21C651E98DF25 & _M
        h = (h ^ (h >> 35) + n) * 0x9FB21C651E98DF25 & _M
        return h ^ h >> 28
    if n <= 16:
        lo = _rd(d, 0) ^ ((_rd(_S, 24) ^ _rd(_S, 32)) + seed & _M)
        hi = _rd(d, n - 8) ^ ((_rd(_S, 40) ^ _rd(_S, 48)) - seed & _M)
        h = n + int.from_bytes(lo.to_bytes(8, "little"), "big") + hi + _fold(lo, hi) & _M
    else:
        h = n * 0x9E3779B185EBCA87
        for i in range((n - 1) // 32 + 1):
            h += _mix16(d, 16 * i, 32 * i, seed) + _mix16(d, n - 16 * (i + 1), 32 * i + 16, seed)
        h &= _M
    return _avalanche(h, 37, 0x165667919E3779F9, 32, 1, 64)
