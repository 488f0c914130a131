"""Protocol: what every door that speaks the service's wire needs, and nothing of a transport.

This room decides how a body is read and written, which region a signature names, and which fields
an answer has. What a door does with that, on a socket or inside of an SDK, is the door's own.
"""

from emulator.protocol.bodies import AMZ_JSON, decode_json, encode_in_pieces, encode_json
from emulator.protocol.call import Call
from emulator.protocol.fields import next_request_id, request_ids, response_fields, response_lines
from emulator.protocol.signature import (
    check_signing_time,
    credentials_of,
    is_signed,
    region_of_credentials,
    signed_access_key,
    signed_region,
)

__all__ = [
    "AMZ_JSON",
    "Call",
    "check_signing_time",
    "credentials_of",
    "decode_json",
    "encode_in_pieces",
    "encode_json",
    "is_signed",
    "next_request_id",
    "region_of_credentials",
    "request_ids",
    "response_fields",
    "response_lines",
    "signed_access_key",
    "signed_region",
]
