"""Verifies the delivery on standard input with the library of Standard Webhooks."""
import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError

delivery = json.load(sys.stdin)
webhook = Webhook(delivery["secret"])
event = webhook.verify(delivery["body"], delivery["headers"])
try:
    webhook.verify(delivery["body"] + " ", delivery["headers"])
    sys.exit("the library accepts a changed body")
except WebhookVerificationError:
    print(event["type"])
