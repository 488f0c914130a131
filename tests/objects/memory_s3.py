"""An S3 client in memory: the three methods of boto3's that a store needs."""

import io


class Refusal(Exception):
    """What boto3 raises, as far as a store looks at it."""

    def __init__(self, code):
        super().__init__(f"An error occurred ({code})")
        self.response = {"Error": {"Code": code}}


class MemoryS3:
    """Buckets of objects; a page of a list has two keys.

    Attributes:
        buckets: Bucket to key to content.
    """

    def __init__(self, *buckets):
        self.buckets = {name: {} for name in buckets}

    def _bucket(self, request):
        if request["Bucket"] not in self.buckets:
            raise Refusal("NoSuchBucket")
        return self.buckets[request["Bucket"]]

    def put_object(self, **request):
        self._bucket(request)[request["Key"]] = request["Body"]

    def get_object(self, **request):
        bucket = self._bucket(request)
        if request["Key"] not in bucket:
            raise Refusal("NoSuchKey")
        return {"Body": io.BytesIO(bucket[request["Key"]])}

    def list_objects_v2(self, **request):
        keys = sorted(key for key in self._bucket(request) if key.startswith(request["Prefix"]))
        later = [key for key in keys if key > request.get("ContinuationToken", "")]
        page = {"Contents": [{"Key": key} for key in later[:2]]} if later else {}
        if len(later) > 2:
            page |= {"IsTruncated": True, "NextContinuationToken": later[1]}
        return page
