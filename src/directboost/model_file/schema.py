"""The published JSON schema of the format, from the description that the reader goes by."""

from typing import Any

from .layout import FORMAT_VERSION, FORMS, NAMED
from .parameters import definition


def schema() -> dict[str, Any]:
    """Return the JSON schema, draft 2020-12, of a document."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"directboost model, format {FORMAT_VERSION}",
        "oneOf": [{"$ref": f"#/$defs/{form}"} for form in FORMS],
        "$defs": {
            **{form: record.schema() for form, record in FORMS.items()},
            **{named.name: named.definition() for named in NAMED},
            "value": definition(),
        },
    }
