"""A producer in Python that keeps to the message contract, with boto3 and nothing else. contract.py has the
contract's own functions: copy it into your program.

Reads scenes from standard input, one JSON object a line, and sends each as the envelope of the contract. Try it:

    oncemq verify --exec "python3 producer.py" --queue scenes.fifo --input scenes.jsonl

Everything in the body is a function of the scene, so a second run sends the same bytes and the queue suppresses them.
"""

import json
import os
import sys

import boto3

from contract import canonical, event_id, key

SOURCE = "kfm.remote-sensing.landsat-refresh"


def envelope(scene):
    dedupe_key = key("landsat", scene["tile"], scene["day"])
    event_time = f"{scene['day']}T00:00:00Z"
    return {
        "event_id": event_id(SOURCE, dedupe_key, event_time),
        "event_source": SOURCE,
        "event_time": event_time,
        "dedupe_key": dedupe_key,
        "payload": scene,
    }


def main():
    sqs = boto3.client("sqs")
    for line in filter(str.strip, sys.stdin):
        scene = json.loads(line)
        sqs.send_message(
            QueueUrl=os.environ["QUEUE_URL"],
            MessageBody=canonical(envelope(scene)),
            MessageGroupId=scene["tile"],
        )


if __name__ == "__main__":
    main()
