"""Forge certificates of every kind until the time is over; stop at one that verifies and should not.

Every leaf of every kind of certificate may be forged, one or two at a time, under a seal that fits. Texts are
damaged, too. Nothing but CertificateError may leave ``from_json``, and nothing at all ``verify``.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from typing import Any

import certified
from leaves import changes, excused, forged, leaves, within, written

from perceptrons.certificates.certificate import Certificate, CertificateError

ROUND = 400  # forgeries of one certificate before another is made


def main(argv: list[str] | None = None) -> int:
    """Run for some seconds; 0 if nothing was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    rng, end = random.Random(args.seed), time.monotonic() + args.seconds
    ways, others = certified.ways(), certified.others()
    tried = accepted = 0
    while time.monotonic() < end:
        k = rng.randrange(len(ways) + len(others))
        case = certified.of_way(*ways[k]) if k < len(ways) else others[k - len(ways)]
        for _ in range(ROUND):
            if time.monotonic() >= end:
                break
            tried += 1
            wrong, passed = attack(rng, case)
            accepted += passed
            if wrong:
                name = f"{case.certificate.model['class']} (kind {k})"
                print(f"certificates: FAILED after {tried} forgeries, seed {args.seed}: {name}: {wrong}")
                return 1
    print(f"certificates: {tried} forgeries, {accepted} verify and are proved or reported, none is false")
    return 0


def attack(rng: random.Random, case: Any) -> tuple[str, bool]:
    """What went wrong with one forgery, if anything, and whether it verifies."""
    original = case.certificate.to_json()
    if rng.random() < 0.1:
        return damaged(rng, case, original)
    body, paths, whats = json.loads(original), [], []
    for _ in range(1 if rng.random() < 0.8 else 2):
        found = [(path, value) for path, value in leaves(body) if path != ("sha256",)]
        path, value = rng.choice(found)
        what, change = rng.choice(changes(body, path, value))
        body = forged(body, path, change)
        paths.append(path)
        whats.append(f"{written(path)}: {what}")
    text = json.dumps(body)
    try:
        verification = Certificate.from_json(text).verify(case.X, case.y, kernel=case.kernel)
    except CertificateError:
        return "", False
    except Exception as error:
        return f"{'; '.join(whats)} raised {type(error).__name__}: {error}", False
    if not verification:
        return "", False
    reported = (*case.certificate.verify(case.X, case.y, kernel=case.kernel).reported, *verification.reported)
    bad = [p for p in paths if not excused(p, text, reported, case.X, case.y, case.kernel)]
    if bad and len(paths) == 2:  # two changes may cancel, or change one reported number in two places
        bad = [] if all(within(written(p), (*reported, "run", "updates")) for p in paths) else bad
        bad = bad if json.loads(original) != {**body, "sha256": json.loads(original)["sha256"]} else []
    return ("; ".join(whats) + " verifies" if bad else ""), True


def damaged(rng: random.Random, case: Any, text: str) -> tuple[str, bool]:
    """A text with some characters cut, doubled or replaced: it is refused, or its digest fails."""
    data = list(text)
    for _ in range(rng.randint(1, 3)):
        i, j = sorted(rng.randrange(len(data)) for _ in range(2))
        how = rng.randrange(3)
        if how == 0:
            del data[i : min(j, i + 20)]
        elif how == 1:
            data[i:i] = data[i : min(j, i + 20)]
        else:
            data[i] = rng.choice('0123456789-+.eE"[]{},:nulltrue\\\x00é')
    other = "".join(data)
    try:
        verification = Certificate.from_json(other).verify(case.X, case.y, kernel=case.kernel)
    except CertificateError:
        return "", False
    except Exception as error:
        return f"a damaged text raised {type(error).__name__}: {error}", False
    same = json.loads(other) == json.loads(text)
    return ("a damaged text verifies" if verification and not same else ""), bool(verification)


if __name__ == "__main__":
    sys.exit(main())
