# Run beside the package that openapi-python-client makes.
import os

from assay_client import AuthenticatedClient
from assay_client.api.sessions import cancel_session, create_session, get_session, list_sessions
from assay_client.api.webhooks import create_webhook_endpoint, test_webhook_endpoint
from assay_client.models import CreateSessionBody, CreateWebhookEndpointBody, EventType, SessionStatus

client = AuthenticatedClient(base_url=os.environ["BASE"], token=os.environ["ASSAY_API_KEY"])
body = CreateSessionBody.from_dict(
    {
        "client_reference_id": "python-client",
        "share_fields": {"age_over_18": {"required": True, "reason": "We may only serve adults"}},
    }
)
session = create_session.sync(client=client, body=body).data
read = get_session.sync(session.id, client=client).data
assert read.status == SessionStatus.CREATED and read.failure_code is None
page = list_sessions.sync(client=client, client_reference_id="python-client")
assert len(page.data) == 1 and not page.pagination.has_more
assert cancel_session.sync_detailed(session.id, client=client).status_code == 204
endpoint = CreateWebhookEndpointBody(url="https://partner.example.com/hook")
created = create_webhook_endpoint.sync(client=client, body=endpoint).data
sent = test_webhook_endpoint.sync(created.endpoint.id, client=client).data
assert sent.event.type_ == EventType.WEBHOOK_ENDPOINT_TEST
print("flow passed")
