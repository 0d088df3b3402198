import json
import logging
import os
import sqlite3
import threading
from contextlib import asynccontextmanager, closing

from assay_webhook import WebhookError, webhook
from fastapi import FastAPI, Request, Response

# During a rotation these are two secrets, separated by a space. Each delivery opens with either.
open_delivery = webhook(
    secrets=os.environ["ASSAY_WEBHOOK_SECRETS"].split(),
    keys=[os.environ["ASSAY_PRIVATE_KEY"]],
)


# The queue is a table. With several processes use a table of your shared database and a single worker.
def connect():
    database = sqlite3.connect("events.sqlite")
    database.execute("create table if not exists events (id text primary key, event text)")
    return closing(database)


def handle(event):
    """Your work. An event can be handled twice, if the server stops in the middle of it."""
    if event["type"] == "verification.session.succeeded":
        pass  # event["data"]["claims"] has what the person shared.
    print("handled", event["id"], event["type"], event["metadata"]["client_reference_id"], flush=True)


wake = threading.Event()


def work():
    while True:
        wake.clear()
        with connect() as database:
            rows = database.execute("select id, event from events where event is not null order by rowid").fetchall()
            for event_id, event in rows:
                try:
                    handle(json.loads(event))
                except Exception:
                    logging.exception("%s waits for the next time", event_id)
                    continue
                # The id stays, so that an event that comes again is known. The claims go.
                with database:
                    database.execute("update events set event = null where id = ?", (event_id,))
        wake.wait(10)


@asynccontextmanager
async def lifespan(_app):
    threading.Thread(target=work, daemon=True).start()
    yield


app = FastAPI(lifespan=lifespan)


@app.post("/webhooks/assay")
async def receive(request: Request) -> Response:
    try:
        event = open_delivery(request.headers, await request.body())
    except WebhookError as error:
        logging.warning("%s", error)
        return Response(error.code, 400)
    with connect() as database, database:
        row = (event["id"], json.dumps(event))
        database.execute("insert into events (id, event) values (?, ?) on conflict do nothing", row)
    wake.set()
    return Response(status_code=204)
