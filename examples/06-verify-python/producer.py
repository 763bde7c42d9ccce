"""A producer in Python that keeps to the message contract, with boto3 and nothing else.

Reads scenes from standard input, one JSON object a line, and sends each as the envelope of the contract. Try it:

    oncemq verify --exec "python3 producer.py" --queue scenes.fifo --input scenes.jsonl

Everything in the body is a function of the scene, so a second run sends the same bytes and the queue suppresses them.
"""

import hashlib
import json
import os
import sys
from datetime import datetime
from urllib.parse import quote

import boto3

SOURCE = "kfm.remote-sensing.landsat-refresh"


def key(*parts):
    """Joins texts so that no two lists of texts give one key: what could be a separator is encoded."""
    return "/".join(quote(part, safe=":+=,@-_.!~*'()") for part in parts)


def event_id(dedupe_key, event_time):
    """A UUID v7 with the time of the event; the other bits are from source and key, so a replay has the same id."""
    milliseconds = int(datetime.fromisoformat(event_time.replace("Z", "+00:00")).timestamp() * 1000)
    bits = int.from_bytes(hashlib.sha256(f"{SOURCE}\n{dedupe_key}".encode()).digest()[:10], "big")
    value = (milliseconds & (2**48 - 1)) << 80 | bits
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    text = f"{value:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def envelope(scene):
    dedupe_key = key("landsat", scene["tile"], scene["day"])
    event_time = f"{scene['day']}T00:00:00Z"
    return {
        "event_id": event_id(dedupe_key, event_time),
        "event_source": SOURCE,
        "event_time": event_time,
        "dedupe_key": dedupe_key,
        "payload": scene,
    }


def main():
    sqs = boto3.client("sqs")
    for line in filter(str.strip, sys.stdin):
        scene = json.loads(line)
        body = json.dumps(envelope(scene), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        sqs.send_message(
            QueueUrl=os.environ["QUEUE_URL"],
            MessageBody=body,
            MessageGroupId=scene["tile"],
        )


if __name__ == "__main__":
    main()
