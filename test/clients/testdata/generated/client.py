"""A client that openapi-generator makes for Python."""
import json
import os
import sys

import errata_api as errata


def client(key):
    return errata.ApiClient(errata.Configuration(host=os.environ["URL"], access_token=key))


def send():
    event = errata.Event(message="order 42 failed", exception_class="OrderError", line=errata.TextOrInteger(51),
                         fingerprint=[errata.TextOrNumber("order"), errata.TextOrNumber(42)])
    with client(os.environ["INGEST"]) as api:
        taken = errata.SendingApi(api).send_events(errata.OneOrMoreEvents([event, event]))
        assert taken.data.accepted == 2, taken


def read():
    with client(os.environ["ADMIN"]) as api:
        errors = errata.ErrorsApi(api)
        page = errors.list_errors(search="ORDER 42", order="count", limit=5)
        row = page.data[0]
        detail = errors.get_error(row.signature).data
        change = errata.LogSettingsChange(query_logging=errata.Switch(errata.Flag.NUMBER_1), module_log=errata.Switch(False))
        settings = errata.LogSettingsApi(api).update_log_settings(change).data
        deleted = errors.delete_errors(errata.Signatures(signatures=[row.signature])).data
        try:
            errors.get_error(row.signature)
            code = ""
        except errata.ApiException as e:
            code = errata.Error.from_json(e.body).error.code.value
    seen = row.first_seen.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    print(json.dumps({
        "total": page.meta.total, "signature": row.signature, "count": row.count, "first_seen": seen, "message": detail.payload.message,
        "logging": settings.query_logging, "deleted": deleted.count, "code": code,
    }))


{"send": send, "read": read}[sys.argv[1]]()
