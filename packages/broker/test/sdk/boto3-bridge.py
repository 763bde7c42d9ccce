"""Lets a test drive boto3: one request a line of JSON on standard input, one answer a line on standard output.

A request is {"id", "endpoint", "service", "action", "input"}, the service sqs if it is left out; its answer {"id", "output"} or {"id", "error": {"code", "status",
"message"}}. Without an action the answer lists the actions that this boto3 has. Bytes travel as {"$bytes": base64}.
Requests run in threads of their own, so that a long poll holds up nobody. Ends when standard input does.
"""

import base64
import json
import sys
import threading

import boto3
import botocore.config
import botocore.exceptions

IN_PARALLEL_MAX = 8

clients = {}
lock = threading.Lock()
places = threading.Semaphore(IN_PARALLEL_MAX)


def client_for(service, endpoint):
    with lock:
        if (service, endpoint) not in clients:
            config = botocore.config.Config(retries={"max_attempts": 0})
            client = boto3.client(service, endpoint_url=endpoint, config=config)
            clients[service, endpoint] = client
        return clients[service, endpoint]


def from_json(pairs):
    return base64.b64decode(pairs["$bytes"]) if "$bytes" in pairs else pairs


def to_json(value):
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode()}
    return str(value)


def answer(request):
    client = client_for(request.get("service", "sqs"), request["endpoint"])
    methods = {action: method for method, action in client.meta.method_to_api_mapping.items()}
    if "action" not in request:
        return {"output": sorted(methods)}
    try:
        return {"output": getattr(client, methods[request["action"]])(**request["input"])}
    except botocore.exceptions.ClientError as error:
        details = error.response["Error"]
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        found = {"code": details["Code"], "status": status, "message": details["Message"]}
        return {"error": found}
    except Exception as error:
        return {"error": {"code": type(error).__name__, "message": str(error)}}


def serve(line):
    with places:
        request = json.loads(line, object_hook=from_json)
        text = json.dumps({"id": request["id"], **answer(request)}, default=to_json)
    with lock:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


for line in sys.stdin:
    threading.Thread(target=serve, args=(line,)).start()
