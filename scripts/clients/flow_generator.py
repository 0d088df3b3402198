# Run beside the package that openapi-generator makes.
import os

import openapi_client as api

configuration = api.Configuration(host=os.environ["BASE"], access_token=os.environ["ASSAY_API_KEY"])
with api.ApiClient(configuration) as client:
    sessions, webhooks = api.SessionsApi(client), api.WebhooksApi(client)
    body = api.CreateSessionBody(
        client_reference_id="python-generator",
        share_fields={"age_over_18": api.AskedField(required=True, reason="We may only serve adults")},
    )
    session = sessions.create_session(create_session_body=body).data
    read = sessions.get_session(session.id).data
    assert read.status == api.SessionStatus.CREATED and read.failure_code is None
    page = sessions.list_sessions(client_reference_id="python-generator")
    assert len(page.data) == 1 and not page.pagination.has_more
    sessions.cancel_session(session.id)
    url = "https://partner.example.com/hook"
    created = webhooks.create_webhook_endpoint(api.CreateWebhookEndpointBody(url=url)).data
    sent = webhooks.test_webhook_endpoint(created.endpoint.id).data
    assert sent.event.type == api.EventType.WEBHOOK_DOT_ENDPOINT_DOT_TEST
print("flow passed")
