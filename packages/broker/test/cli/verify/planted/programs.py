"""Planted producers in Python, with the standard library alone; the argument selects how to send.

Each way that starts with "good" keeps the contract; every other one breaks it as its name says.
"""

import hashlib
import json
import os
import socket
import sys
import time


def post(headers, body):
    """By hand: the modules for HTTP take longer to load than everything else here, and this runs hundreds of times."""
    host, port = os.environ["AWS_ENDPOINT_URL"].removeprefix("http://").split(":")
    head = f"POST / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(head.encode() + body)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    if b" 200 " not in answer.split(b"\r\n", 1)[0]:
        sys.exit(answer.decode())
    return answer.split(b"\r\n\r\n", 1)[1]


def call(action, **fields):
    headers = f"X-Amz-Target: AmazonSQS.{action}\r\nContent-Type: application/x-amz-json-1.0\r\n"
    return json.loads(post(headers, json.dumps(fields).encode()))


def publish(body):
    from urllib.parse import urlencode

    form = {
        "Action": "Publish",
        "Version": "2010-03-31",
        "TopicArn": os.environ["TOPIC_ARN"],
        "Message": body,
        "MessageGroupId": "g",
    }
    post("Content-Type: application/x-www-form-urlencoded\r\n", urlencode(form).encode())


def new_id():
    import uuid

    return str(uuid.uuid4())


def temporary_folder():
    import tempfile

    return tempfile.gettempdir()


def chance():
    return os.urandom(8).hex()


def envelope(key, payload=None, source=None, event_time="2025-12-04T00:00:00Z", event_id=None):
    """Each way has a source of its own, so that none shares a key with another."""
    source = source or f"kfm.planted.{sys.argv[1]}"
    digest = hashlib.md5(f"{source} {key}".encode()).hexdigest()
    derived = f"{digest[:8]}-{digest[8:12]}-7{digest[13:16]}-8{digest[17:20]}-{digest[20:]}"
    members = {
        "event_id": event_id or derived,
        "event_source": source,
        "event_time": event_time,
        "dedupe_key": key,
        "payload": {"order": 1} if payload is None else payload,
    }
    return json.dumps(members, sort_keys=True)


def send(body, group="g", queue=None, **fields):
    call("SendMessage", QueueUrl=queue or os.environ["QUEUE_URL"], MessageBody=body, MessageGroupId=group, **fields)


def attribute(name, value):
    return {"MessageAttributes": {name: {"DataType": "String", "StringValue": value}}}


def second_queue():
    send(envelope("a"))
    made = call("CreateQueue", QueueName="audit.fifo", Attributes={"FifoQueue": "true", "ContentBasedDeduplication": "true"})
    send(envelope("a", {"at": time.time()}), queue=made["QueueUrl"])


def two_queues():
    send(envelope("a"))
    made = call("CreateQueue", QueueName="audit.fifo", Attributes={"FifoQueue": "true", "ContentBasedDeduplication": "true"})
    send(envelope("a", {"copy": True}), queue=made["QueueUrl"])


def later():
    """The third run is like the first, and the fourth is the first that never is again: as if a day had begun meanwhile."""
    with open("runs.txt", "r+") as file:
        count = len(file.read()) + 1
        file.write("x")
    send(envelope("a", {"day": {1: 1, 2: 0, 3: 1}.get(count, 2)}))


def from_input(body):
    for line in filter(str.strip, sys.stdin):
        send(body(json.loads(line)))


def dated(row):
    """Refuses what is no day, so that a dash before it cannot be mistaken."""
    time.strptime(row["day"], "%Y-%m-%d")
    return envelope(f"{row['shop']}-{row['day']}-{row['id']}" if "-" not in row["id"] else sys.exit("no id"), row)


ways = {
    "good": lambda: [send(envelope(key)) for key in "ab"],
    "good-replay": lambda: [send(envelope("a")) for _ in "ab"],
    "good-attempt": lambda: send(envelope("a"), **attribute("attempt", chance())),
    "good-sources": lambda: [send(envelope("a", source=f"kfm.planted.{name}")) for name in ("one", "two")],
    "good-pipeline": lambda: send(envelope("a", source="kfm.planted.pipeline")),
    "other-pipeline": lambda: send(envelope("a", {"order": 2}, source="kfm.planted.pipeline")),
    "good-keyed": lambda: send(json.dumps({"dedupe_key": "a", "order": 1})),
    "bound": lambda: send(envelope("a")),
    "good-input": lambda: from_input(lambda row: envelope(row["id"], row)),
    "good-queues": two_queues,
    "good-topic": lambda: publish(envelope("a")),
    "good-at-home": lambda: sys.exit("not at home") if "oncemq" in os.environ["HOME"] else send(envelope("a")),
    "home-and-run": lambda: sys.exit("not at home")
    if "oncemq" in os.environ["HOME"]
    else send(envelope(f"a {os.environ.get('CI_PIPELINE_ID')}")),
    "today": lambda: send(envelope(f"a {time.strftime('%Y-%m-%d')}")),
    "utc-year": lambda: send(envelope("a", {"year": time.gmtime().tm_year})),
    "time": lambda: send(envelope("a", {"at": time.time()})),
    "uuid": lambda: send(envelope("a", event_id=new_id())),
    "random-group": lambda: send(envelope("a"), group=chance()),
    "local-time": lambda: send(envelope("a", {"at": time.strftime("%H:%M", time.localtime(0))})),
    "hash": lambda: send(envelope(f"a {hash('a')}")),
    "set-order": lambda: send(envelope("a", {"tags": list({str(number) for number in range(20)})})),
    "host": lambda: send(envelope(f"a {socket.gethostname()}")),
    "home": lambda: send(envelope("a", {"home": os.path.expanduser("~")})),
    "temporary": lambda: send(envelope("a", {"folder": temporary_folder()})),
    "directory": lambda: send(envelope("a", {"folder": os.getcwd()})),
    "run-id": lambda: send(envelope(f"a {os.environ.get('CI_PIPELINE_ID')}")),
    "later": later,
    "pid": lambda: send(envelope(f"a {os.getpid()}")),
    "member-order": lambda: from_input(lambda row: envelope(str(row), row)),
    "none": lambda: send(envelope(f"a {os.environ.get('NOT_THERE')}")),
    "object": lambda: send(envelope(f"a {object.__new__(type('Order', (), {'__repr__': lambda self: '<x.Order object at 0x7f00>'}))}")),
    "one-key": lambda: [send(envelope("a", {"order": order})) for order in (1, 2)],
    "attributes": lambda: [send(envelope("a"), **attribute("shop", shop)) for shop in ("north", "south")],
    "groups": lambda: [send(envelope("a"), group=group) for group in ("north", "south")],
    "one-id": lambda: [send(envelope(key), MessageDeduplicationId="a") for key in "ab"],
    "other-id": lambda: send(envelope("a"), MessageDeduplicationId="b"),
    "second-queue": second_queue,
    "topic": lambda: publish(envelope("a", {"at": time.time()})),
    "good-pairs": lambda: from_input(lambda row: envelope(json.dumps([row["shop"], row["id"]]), row)),
    "good-pairs-dated": lambda: from_input(dated),
    "pairs-dash": lambda: from_input(lambda row: envelope(f"{row['shop']}-{row['id']}", row)),
    "pairs-joined": lambda: from_input(lambda row: envelope(json.dumps([row["id"], ",".join(row["tags"])]), row)),
    "pairs-hashed": lambda: from_input(
        lambda row: envelope(hashlib.sha256(f"{row['shop']}|{row['id']}".encode()).hexdigest(), row)
    ),
    "pairs-number": lambda: from_input(lambda row: envelope(f"{row['id']}{row['n']}", row)),
    "nothing": lambda: None,
}

ways[sys.argv[1]]()
