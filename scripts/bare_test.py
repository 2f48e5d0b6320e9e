"""Uses a running Dateline like a newcomer: publishes a post in the sandbox, sends views, and prints the counts."""

import json
import sys
import time
import urllib.request

HOST, TOKEN, COMMAND = sys.argv[1:4]
PAGE = "/story"


def call(method, path, body=None, token=TOKEN):
    headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(HOST + path, data=data, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def publish():
    post = call("POST", "/api/v1/posts", {"content": "Xin chào từ Dateline", "scheduled_time": at(2)})
    for _ in range(300):
        post = call("GET", "/api/v1/posts/" + post["id"])
        if post["status"] == "posted":
            print("posted", post["targets"][0].get("url", ""))
            return
        time.sleep(0.1)
    sys.exit("the post is " + post["status"])


def at(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))


def read():
    made = call("POST", "/api/v1/sites", {"name": "News"})
    agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    views = [{"page": PAGE, "user": f"reader {n}", "address": f"203.0.113.{n}", "user_agent": agent} for n in range(5)]
    call("POST", "/v1/batch", views, made["secret_key"])
    time.sleep(3)  # counting appends to disk every second


def counts():
    site = call("GET", "/api/v1/sites")["sites"][0]["id"]
    stats = call("GET", f"/api/v1/sites/{site}/pages/stats?page={PAGE}")
    print(json.dumps([[page["views"], page.get("unique_visitors")] for page in stats["pages"]]))


{"publish": publish, "read": read, "counts": counts}[COMMAND]()
