"""Every number of the service, each with its source.

Sources are rules of ``docs/rules``, which name AWS documents.
"""

from __future__ import annotations

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB
GIB: Final = 1024 * MIB

# Items and values
ITEM_BYTES: Final = 400 * KIB  # Source: SIZ-3, CAP-105
PARTITION_KEY_BYTES: Final = 2048  # Source: KV-2
SORT_KEY_BYTES: Final = 1024  # Source: KV-2
NESTING_LEVELS: Final = 32  # Source: TYP-5; a scalar in 31 containers is the 32nd level
TRANSACTION_VALUE_LEVELS: Final = 33  # Source: TYP-5, of a value of an expression
ATTRIBUTE_NAME_BYTES: Final = 65_535  # Source: TYP-6
NUMBER_DIGITS: Final = 38  # Source: NUM-3
NUMBER_MAX_EXPONENT: Final = 125  # Source: NUM-4, of the leading digit
NUMBER_MIN_EXPONENT: Final = -130  # Source: NUM-4, of the leading digit

# Requests and responses
PAGE_BYTES: Final = MIB  # Source: SIZ-6, CAP-206
BATCH_GET_BYTES: Final = 16 * MIB  # Source: SIZ-7, CAP-213
BATCH_GET_KEYS: Final = 100  # Source: BGI-1
BATCH_WRITE_REQUESTS: Final = 25  # Source: BWI-1
IMPORTS_AT_ONCE: Final = 50  # Source: S3X-20
BATCH_WRITE_BYTES: Final = 16 * MIB  # Source: BWI-4
TRANSACTION_BYTES: Final = 4 * MIB  # Source: SIZ-7, TXW-10
TRANSACTION_ACTIONS: Final = 100  # Source: TXW-1
TOKEN_SECONDS: Final = 600  # Source: TXW-9
REQUEST_BYTES: Final = 16 * MIB  # Source: WIR-16
PLACEHOLDER_BYTES: Final = 2 * MIB  # Source: PLH-6
SEGMENTS: Final = 1_000_000  # Source: SCN-2

# Expressions
EXPRESSION_BYTES: Final = 4096  # Source: EXP-4
EXPRESSION_OPERATORS: Final = 300  # Source: EXP-5
IN_OPERANDS: Final = 100  # Source: EXP-6
PATH_COMPONENTS: Final = 32  # Source: EXP-7

# Tables and indexes
GLOBAL_INDEXES: Final = 20  # Source: CT-6
LOCAL_INDEXES: Final = 5  # Source: CT-5
INDEX_PARTITION_ATTRIBUTES: Final = 4  # Source: MAK-2
INDEX_SORT_ATTRIBUTES: Final = 4  # Source: MAK-2
NON_KEY_ATTRIBUTES: Final = 20  # Source: CT-8, of one index
PROJECTED_ATTRIBUTES: Final = 100  # Source: CT-8, over all INCLUDE indexes
TAGS: Final = 50  # Source: TAG-2

# Vector indexes
VECTOR_INDEXES: Final = 5  # Source: VIX-6, of one table
VECTOR_DIMENSIONS: Final = 4096  # Source: VIX-1
SEARCH_PARTITIONS: Final = 1  # Source: VIX-1, HASH attributes of a search schema
SEARCH_FILTERS: Final = 18  # Source: VIX-1, INLINE_FILTER attributes of a search schema
SEARCH_RESULTS: Final = 100  # Source: VIX-44, the largest TopK
SEARCH_BYTES: Final = 16 * MIB  # Source: VIX-40, of one answer
VECTOR_REQUEST_BYTES: Final = KIB  # Source: VIX-61, VIX-63, the least that is charged
VECTOR_SEARCH_BYTES: Final = GIB  # Source: VIX-45, per second and HASH value
VECTOR_WRITE_BYTES: Final = 10 * MIB  # Source: VIX-45, per second and HASH value

# Bulk puts
BULK_OBJECTS: Final = 50_000  # Source: BLK-5
BULK_OBJECT_BYTES: Final = 5 * GIB  # Source: BLK-5
BULK_TOKEN_SECONDS: Final = 8 * 3600  # Source: BLK-1

# Capacity
WRITE_BLOCK_BYTES: Final = KIB  # Source: CAP-301
READ_BLOCK_BYTES: Final = 4 * KIB  # Source: CAP-201
PARTITION_WRITE_UNITS: Final = 1_000  # Source: CAP-501, per second
PARTITION_READ_UNITS: Final = 3_000  # Source: CAP-501, per second
PARTITION_UNITS: Final = (PARTITION_READ_UNITS, PARTITION_WRITE_UNITS)  # by axis
PARTITION_BYTES: Final = 10 * GIB  # Source: CAP-501
COLLECTION_BYTES: Final = 10 * GIB  # Source: CAP-111
BURST_SECONDS: Final = 300  # Source: CAP-601
ON_DEMAND_PARTITIONS: Final = 4  # Source: CAP-502, CAP-509; of a new table
TABLE_QUOTA_UNITS: Final = 40_000  # Source: CAP-615, per second and axis
ACCOUNT_QUOTA_UNITS: Final = 80_000  # Source: CAP-615, provisioned sum per axis
STORAGE_OVERHEAD_BYTES: Final = 100  # Source: CAP-110, per item and per index entry
TRANSACTION_FACTOR: Final = 2  # Source: CAP-305

# Streams and time to live
STREAM_RETENTION_SECONDS: Final = 24 * 3600  # Source: STM-9
ITERATOR_SECONDS: Final = 15 * 60  # Source: STM-4
STREAM_RECORDS: Final = 1000  # Source: STM-5
TTL_PAST_SECONDS: Final = 5 * 365 * 24 * 3600  # Source: TTL-4, five years
