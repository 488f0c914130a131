"""Where the files of exports, imports and bulk puts lie: the object store beside the tables.

``Settings(s3=...)`` says which one: a folder whose sub-folders are buckets (``FolderStore``), or an
S3 client as boto3 makes them (``ClientStore``), which reaches whatever it is made for: moto's S3 in
the same process, or a server. This room needs neither boto3 nor moto. A job asks for the store and
reads or writes whole objects:

    store = needed_store(account.settings.s3, "ImportTable")  # refused if there is none
    for key in store.keys("bucket", "prefix/"):  # in the order of their UTF-8 bytes
        for line in lines_of(store.read("bucket", key), "GZIP"):
            ...
    store.write("bucket", "report.json", b"{}")

What goes wrong is a ``StoreFault`` with the code and the message that a failed job is described
with; an object that is not what it should be is a ``DamagedObject``, behind the lines that could be
read.
"""

from emulator.objects.compression import DamagedObject, lines_of
from emulator.objects.places import check_place, needed_store
from emulator.objects.store import ObjectStore, StoreFault, no_such_bucket, no_such_key

__all__ = [
    "DamagedObject",
    "ObjectStore",
    "StoreFault",
    "check_place",
    "lines_of",
    "needed_store",
    "no_such_bucket",
    "no_such_key",
]
