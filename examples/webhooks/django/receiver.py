import json
import logging
import os
import sys
import threading

from assay_webhook import WebhookError, webhook
from django.conf import settings
from django.core.management import execute_from_command_line
from django.db import connection
from django.http import HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

# During a rotation these are two secrets, separated by a space. Each delivery opens with either.
open_delivery = webhook(
    secrets=os.environ["ASSAY_WEBHOOK_SECRETS"].split(),
    keys=[os.environ["ASSAY_PRIVATE_KEY"]],
)


def run(statement, *values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


def handle(event):
    """Your work. An event can be handled twice, if the server stops in the middle of it."""
    if event["type"] == "verification.session.succeeded":
        pass  # event["data"]["claims"] has what the person shared.
    print("handled", event["id"], event["type"], event["metadata"]["client_reference_id"], flush=True)


def handle_waiting():
    for event_id, event in run("select id, event from assay_events where event is not null"):
        try:
            handle(json.loads(event))
        except Exception:
            logging.exception("%s waits for the next time", event_id)
            continue
        # The id stays, so that an event that comes again is known. The claims go.
        run("update assay_events set event = null where id = %s", event_id)


wake = threading.Event()


def work():
    while True:
        wake.clear()
        handle_waiting()
        wake.wait(10)


@csrf_exempt
@require_POST
def receive(request):
    try:
        event = open_delivery(request.headers, request.body)
    except WebhookError as error:
        logging.warning("%s", error)
        return HttpResponse(error.code, status=400)
    statement = "insert into assay_events (id, event) values (%s, %s) on conflict do nothing"
    run(statement, event["id"], json.dumps(event))
    wake.set()
    return HttpResponse(status=204)


urlpatterns = [path("webhooks/assay", receive)]

# The rest lets this file run by itself. In a project a migration creates the table, and a management command
# or a Celery task calls `handle_waiting`, in one process.
if __name__ == "__main__":
    database = {"ENGINE": "django.db.backends.sqlite3", "NAME": "events.sqlite"}
    settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], DATABASES={"default": database})
    if "runserver" in sys.argv:
        run("create table if not exists assay_events (id varchar(100) primary key, event text)")
        threading.Thread(target=work, daemon=True).start()
    execute_from_command_line(sys.argv)
