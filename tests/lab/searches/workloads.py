"""The access patterns whose designs are known, as a person would write them down."""

from emulator.lab import Field, Hotspot, Pattern, Weights, Workload, Zipf

SHORT = {"duration": 15, "warm_up": 10}


def orders():
    """Orders by id, and the newest of a status; statuses change."""
    status = Field("status", values=("OPEN", "PAID", "SENT"), distribution=Weights((7, 2, 1)))
    return Workload(
        fields=[Field("orderId", unique="random"), status],
        patterns=[
            Pattern("place", "PutItem", rate=1_500, size=800),
            Pattern("get", "GetItem", rate=300, by=("orderId",), size=800),
            Pattern("send", "UpdateItem", rate=100, by=("orderId",), changes=("status",), size=800),
            Pattern("newest", "Query", rate=5, by=("status",), items=20, size=800),
        ],
        **SHORT,
    )


def users_by_country():
    """Users of countries, one of which has most of them."""
    country = Field("country", count=50, distribution=Zipf(1.5))
    known = ("country", "userId")
    return Workload(
        fields=[country, Field("userId", count=10_000, per="country")],
        patterns=[
            Pattern("save", "PutItem", rate=2_000, size=500),
            Pattern("get", "GetItem", rate=2_000, by=known, size=500),
        ],
        **SHORT,
    )


def reviews():
    """Reviews by id, and those of a product, some of which are popular."""
    product = Field("productId", count=5_000, distribution=Zipf(1.3))
    return Workload(
        fields=[Field("reviewId", unique="random"), product],
        patterns=[
            Pattern("write", "PutItem", rate=1_000, size=1_000),
            Pattern("get", "GetItem", rate=300, by=("reviewId",), size=1_000),
            Pattern("of a product", "Query", rate=50, by=("productId",), items=10, size=1_000),
        ],
        **SHORT,
    )


def tenants():
    """Events of tenants, one of which has a third of them."""
    tenant = Field("tenantId", count=200, distribution=Hotspot(0.005, 0.3))
    return Workload(
        fields=[tenant, Field("eventId", unique="random")],
        patterns=[
            Pattern("write", "PutItem", rate=2_500, size=400),
            Pattern("of a tenant", "Query", rate=5, by=("tenantId",), items=50, size=400),
        ],
        **SHORT,
    )


def counter():
    """Profiles of ten kilobytes with a counter of views."""
    known = {"by": ("userId",), "size": 10_000}
    return Workload(
        fields=[Field("userId", count=10_000), Field("views", count=1_000_000)],
        patterns=[
            Pattern("save", "PutItem", rate=2, **known),
            Pattern("profile", "GetItem", rate=20, **known),
            Pattern("count", "UpdateItem", rate=200, changes=("views",), **known),
        ],
        attributes={"bio": 9_000},
        **SHORT,
    )


def tournaments():
    """Matches by id, and by tournament and region, round and bracket."""
    place = ("tournamentId", "region")
    return Workload(
        fields=[
            Field("matchId", unique="random"),
            Field("tournamentId", count=500),
            Field("region", count=20),
            Field("round", count=5),
            Field("bracket", count=3),
        ],
        patterns=[
            Pattern("record", "PutItem", rate=100, size=500),
            Pattern("match", "GetItem", rate=50, by=("matchId",), size=500),
            Pattern("of a region", "Query", rate=20, by=place, size=500),
            Pattern("of a round", "Query", rate=20, by=(*place, "round"), size=500),
            Pattern("of a bracket", "Query", rate=20, by=(*place, "round", "bracket"), size=500),
        ],
        **SHORT,
    )


def eleven_patterns():
    """Users, their devices and the devices' events: rule L3."""
    user, device = ("userId",), ("userId", "deviceId")
    of_user, of_device = {"entity": "user"}, {"entity": "device"}
    of_event = {"entity": "event"}
    read = ("userId", "deviceId", "timestamp")
    return Workload(
        fields=[
            Field("userId", count=1_000),
            Field("deviceId", count=10, per="userId"),
            Field("eventType", count=8),
        ],
        patterns=[
            Pattern("sign up", "PutItem", rate=2, by=user, fields=user, **of_user),
            Pattern("profile", "GetItem", rate=100, by=user, **of_user),
            Pattern("change profile", "UpdateItem", rate=5, by=user, **of_user),
            Pattern("register", "PutItem", rate=5, by=device, fields=device, **of_device),
            Pattern("devices", "Query", rate=100, by=user, **of_device),
            Pattern("one device", "GetItem", rate=50, by=device, **of_device),
            Pattern("rename", "UpdateItem", rate=2, by=device, **of_device),
            Pattern("record", "PutItem", rate=200, fields=(*device, "eventType"), **of_event),
            Pattern("events", "Query", rate=40, by=device, items=30, **of_event),
            Pattern("everything", "Query", rate=5, by=user),
            Pattern(
                "of a type", "Query", rate=1, by=("eventType",), items=9, reads=read, **of_event
            ),
        ],
        **SHORT,
    )
