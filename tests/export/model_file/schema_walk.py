"""A small validator for the keywords of JSON Schema that the published schema uses."""

TYPES = {"object": dict, "array": list, "string": str, "null": type(None)}
KNOWN = {
    "$schema", "$defs", "$ref", "title", "description", "oneOf", "anyOf", "enum", "type",
    "properties", "required", "additionalProperties", "items", "prefixItems", "minItems",
    "maxItems", "maxLength", "minimum", "maximum", "exclusiveMinimum",
}  # fmt: skip


def faults(value, schema, root=None, place=""):
    """Return the places where a value violates a schema."""
    root = schema if root is None else root
    assert set(schema) <= KNOWN, set(schema) - KNOWN
    if "$ref" in schema:
        return faults(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, place)
    if "oneOf" in schema or "anyOf" in schema:
        found = [
            faults(value, one, root, place) for one in schema.get("oneOf", schema.get("anyOf"))
        ]
        fitting = sum(not each for each in found)
        return [] if fitting == 1 or (fitting and "anyOf" in schema) else [place]
    if (
        not _is_one_of(value, schema)
        or not _has_type(value, schema)
        or not _in_range(value, schema)
    ):
        return [place]
    if isinstance(value, dict):
        return _faults_of_object(value, schema, root, place)
    return _faults_of_list(value, schema, root, place) if isinstance(value, list) else []


def _is_one_of(value, schema):
    same = [type(value) is type(one) and value == one for one in schema.get("enum", ())]
    return any(same) if "enum" in schema else True


def _has_type(value, schema):
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return not kinds or any(_is(value, kind) for kind in kinds)


def _is(value, kind):
    if kind == "boolean" or isinstance(value, bool):
        return kind == "boolean" and isinstance(value, bool)
    if kind in ("integer", "number"):
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return whole if kind == "integer" else isinstance(value, int | float)
    return isinstance(value, TYPES[kind])


def _in_range(value, schema):
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (
            value >= schema.get("minimum", value)
            and value <= schema.get("maximum", value)
            and ("exclusiveMinimum" not in schema or value > schema["exclusiveMinimum"])
        )
    return not isinstance(value, str) or len(value) <= schema.get("maxLength", len(value))


def _faults_of_object(value, schema, root, place):
    known, dot = schema.get("properties", {}), "." if place else ""
    found = [f"{place}{dot}{key}" for key in schema.get("required", ()) if key not in value]
    for key, one in value.items():
        inner = known.get(key, schema.get("additionalProperties", {}))
        at = f"{place}{dot}{key}"
        found += [at] if inner is False else faults(one, inner, root, at)
    return found


def _faults_of_list(value, schema, root, place):
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return [place]
    first = schema.get("prefixItems", [])
    forms = [*first, *[schema.get("items", {})] * max(len(value) - len(first), 0)]
    pairs = zip(value, forms, strict=False)
    return [f for i, (v, s) in enumerate(pairs) for f in faults(v, s, root, f"{place}[{i}]")]
