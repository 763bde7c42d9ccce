"""The message contract in Python, with the standard library alone: keys, event ids, canonical JSON, times, bodies.

docs/contracts/vectors.md specifies it bit by bit. Run the module with the test vectors as its argument to check it:

    python3 contract.py ../../docs/contracts/vectors.json
"""

import calendar
import hashlib
import json
import re
import struct
import sys
from datetime import date, timedelta
from urllib.parse import quote


def key(*parts):
    """Joins parts so that no two lists of parts give one key: what could be a separator is encoded."""
    return "/".join(_part(part) for part in parts)


def _part(part):
    if isinstance(part, str):
        return quote(part, safe=":+=,@-_.!~*'()")
    if isinstance(part, bool):
        return "#true" if part else "#false"
    if isinstance(part, BigInt):
        return f"#{int(part)}n"
    if isinstance(part, (int, float)):
        return "#-0" if part == 0 and str(part).startswith("-") else f"#{number_text(part)}"
    raise TypeError(f"{part!r} identifies nothing")


class BigInt(int):
    """An integer that is written with all its digits; JavaScript has a type of its own for those."""


def event_id(source, dedupe_key, event_time):
    """A UUID v7 with the time of the event; the other bits are from source and key, so a replay has the same id."""
    milliseconds = max(0, epoch_ms(event_time))
    digest = hashlib.sha256(f"{source}\n{dedupe_key}".encode()).digest()
    hashed = int.from_bytes(digest[:4], "big") << 42 | int.from_bytes(digest[10:16], "big") & (1 << 42) - 1
    random_a, random_b = hashed >> 62, hashed & (1 << 62) - 1
    value = milliseconds << 80 | 0x7 << 76 | random_a << 64 | 0x2 << 62 | random_b
    text = f"{value:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def canonical(value):
    """The one text of a JSON value (RFC 8785)."""
    if isinstance(value, dict):
        # The order of UTF-16 code units, which is not that of code points.
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number_text(value)
    return json.dumps(value, ensure_ascii=False)


def number_text(number):
    """A number as ECMAScript writes it: the shortest digits that identify the 64-bit float."""
    number = float(number)
    if number == 0:
        return "0"
    sign, text = ("-", repr(-number)) if number < 0 else ("", repr(number))
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(exponent or 0)
    digits = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"


TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)


def is_time(text):
    """Whether the text is an RFC 3339 time, exactly."""
    found = TIME.fullmatch(text)
    if found is None:
        return False
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    if not 1 <= month <= 12 or not 1 <= day <= calendar.monthrange(year or 4, month)[1]:
        return False
    if hour > 23 or minute > 59 or int(found[9] or 0) > 23 or int(found[10] or 0) > 59:
        return False
    if second < 60:
        return True
    # A leap second ends a month in UTC.
    days, in_day = divmod(epoch_ms(text) // 60_000 + 1, 24 * 60)
    return second == 60 and in_day == 0 and (date(1970, 1, 1) + timedelta(days=days)).day == 1


def epoch_ms(text):
    """Milliseconds since 1970; further digits are cut off, and a leap second counts as the second before it."""
    year, month, day, hour, minute, second, fraction, sign, hours, minutes = TIME.fullmatch(text).groups()
    days = (date(int(year), int(month), int(day)) - date(1970, 1, 1)).days
    offset = (int(hours or 0) * 60 + int(minutes or 0)) * (-1 if sign == "-" else 1)
    seconds = days * 86_400 + int(hour) * 3_600 + (int(minute) - offset) * 60 + min(int(second), 59)
    return seconds * 1_000 + int(((fraction or "") + "000")[:3])


MEMBERS = {"event_id", "event_source", "event_time", "dedupe_key", "payload"}
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
SOURCE = re.compile(r"[a-z0-9][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*){2}")


class Repeated(ValueError):
    pass


class Changed(ValueError):
    pass


def refusal(body, namespace="kfm"):
    """The code of what is wrong with a body; None if it is an envelope of the contract."""
    try:
        value = json.loads(body, object_pairs_hook=_members, parse_int=_integer)
    except Repeated:
        return "member-repeated"
    except Changed:
        return "number-not-canonical"
    except ValueError:
        return "body-not-envelope"
    if not isinstance(value, dict):
        return "body-not-envelope"
    if not isinstance(value.get("dedupe_key"), str) or value["dedupe_key"].strip() == "":
        return "key-missing" if MEMBERS - value.keys() == {"dedupe_key"} else "body-not-envelope"
    if value.keys() != MEMBERS or not isinstance(value["payload"], dict):
        return "body-not-envelope"
    if not UUID.fullmatch(str(value["event_id"])):
        return "event-id-invalid"
    source = str(value["event_source"])
    if not SOURCE.fullmatch(source):
        return "source-invalid"
    if not is_time(str(value["event_time"])):
        return "time-invalid"
    return None if source.split(".")[0] == namespace else "source-invalid"


def _members(pairs):
    if len({name for name, _ in pairs}) < len(pairs):
        raise Repeated
    return dict(pairs)


def _integer(text):
    if abs(int(text)) > 2**53 - 1:
        raise Changed
    return int(text)


def check(vectors):
    """How this module differs from the test vectors, one line each."""
    parts = {"string": str, "number": float, "bigint": BigInt, "boolean": bool, "date": str}
    for case in vectors["canonical"]:
        yield case["text"], canonical(case["value"])
    for case in vectors["numbers"]:
        yield case["text"], number_text(struct.unpack(">d", bytes.fromhex(case["ieee754"]))[0])
    for case in vectors["keys"]:
        # A date is marked like a number, and is its RFC 3339 text with milliseconds in UTC.
        texts = [
            "#" + value if kind == "date" else key(parts[kind](value))
            for part in case["parts"]
            for kind, value in part.items()
        ]
        yield case["key"], "/".join(texts)
    for case in vectors["event_ids"]:
        yield case["event_id"], event_id(case["source"], case["key"], case["time"])
    for case in vectors["times"]["valid"]:
        yield case["epoch_ms"], epoch_ms(case["time"]) if is_time(case["time"]) else None
    for time in vectors["times"]["invalid"]:
        yield f"{time} is refused", f"{time} is {'taken' if is_time(time) else 'refused'}"
    for case in vectors["bodies"]:
        yield case.get("refused"), refusal(case["body"])
        if "sha256" in case:
            yield case["sha256"], hashlib.sha256(case["body"].encode()).hexdigest()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        pairs = list(check(json.load(file)))
    wrong = [f"expected {expected!r}, got {got!r}" for expected, got in pairs if expected != got]
    print("\n".join(wrong) or f"{len(pairs)} test vectors hold")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
