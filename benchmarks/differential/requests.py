"""Seeded requests of every kind on items: expressions, batches, transactions, PartiQL, faults.

Keys and attributes are few, so that requests meet: a condition holds about as often as it fails, an
index entry comes and goes, and a transaction meets an item that is there.
"""

import random

TABLES = {
    "hash": {
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    },
    "range": {
        "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "N"},
            {"AttributeName": "gpk", "AttributeType": "S"},
            {"AttributeName": "lsk", "AttributeType": "S"},
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "global",
                "KeySchema": [
                    {"AttributeName": "gpk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a"]},
            }
        ],
        "LocalSecondaryIndexes": [
            {
                "IndexName": "local",
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "lsk", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    },
}
ATTRIBUTES = ("a", "b", "c", "m", "l", "s", "gpk", "lsk")
CAPACITY = ("NONE", "TOTAL", "INDEXES", "INDEXES")
RETURN_VALUES = ("NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW")
SHARE_OF_FAULTS = 0.08


def create_requests():
    """Return the CreateTable requests of the tables."""
    return [
        {"TableName": name, "BillingMode": "PAY_PER_REQUEST", **schema}
        for name, schema in TABLES.items()
    ]


class Requests:
    """An endless, repeatable supply of requests."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self._makers = [
            (18, self.put),
            (10, self.get),
            (8, self.delete),
            (22, self.update),
            (16, self.query),
            (6, self.scan),
            (4, self.batch_get),
            (4, self.batch_write),
            (5, self.transact_write),
            (3, self.transact_get),
            (16, self.statement),
            (3, self.batch_statement),
            (3, self.transact_statement),
        ]

    def __iter__(self):
        weights = [weight for weight, _ in self._makers]
        while True:
            _, make = self.random.choices(self._makers, weights)[0]
            operation, request = make()
            if self.random.random() < SHARE_OF_FAULTS:
                self._spoil(request)
            yield operation, request

    # Values

    def table(self):
        return self.random.choice(tuple(TABLES))

    def key(self, table):
        key = {"pk": {"S": self.random.choice("pqrs")}}
        if table == "range":
            key["sk"] = {"N": str(self.random.choice([-1, 0, 1, 2, 10]))}
        return key

    def scalar(self):
        pick = self.random.choice
        return pick(
            [
                {"S": pick(["", "x", "xy", "y" * 40, "\u00e9", "1"])},
                {"N": pick(["0", "1", "-1", "2.50", "1e3", "0.0001", "12345678901234567890"])},
                {"B": pick(["", "AA==", "AQI="])},
                {"BOOL": pick([True, False])},
                {"NULL": True},
            ]
        )

    def value(self):
        pick = self.random.choice
        if self.random.random() < 0.6:
            return self.scalar()
        return pick(
            [
                {"SS": self.random.sample(["x", "y", "z"], pick([1, 2]))},
                {"NS": self.random.sample(["1", "2", "3.0"], pick([1, 2]))},
                {"L": [self.scalar() for _ in range(pick([0, 1, 2]))]},
                {"M": {name: self.scalar() for name in self.random.sample("ab", pick([0, 1, 2]))}},
                {"S": "w" * pick([900, 1100, 4200])},
            ]
        )

    def attribute(self, name):
        """Return a value that fits an attribute, most of the time."""
        if name in ("gpk", "lsk") and self.random.random() < 0.97:
            return {"S": self.random.choice(["g", "h", "i"])}
        if name == "s":
            return {"SS": self.random.sample(["x", "y", "z"], self.random.choice([1, 2, 3]))}
        if name == "m":
            return {"M": {key: self.scalar() for key in self.random.sample("abc", 2)}}
        if name == "l":
            return {"L": [self.scalar() for _ in range(self.random.choice([0, 1, 3]))]}
        return self.value()

    def item(self, table):
        names = self.random.sample(ATTRIBUTES, self.random.choice([0, 1, 2, 4]))
        return self.key(table) | {name: self.attribute(name) for name in names}

    # Expressions

    def path(self):
        return self.random.choice(["a", "b", "c", "m.a", "m.b", "l[0]", "l[1]", "s", "#n"])

    def condition(self, values, depth=0):
        name = f":v{len(values)}"
        path, pick = self.path(), self.random.choice
        if depth < 2 and self.random.random() < 0.25:
            left = self.condition(values, depth + 1)
            right = self.condition(values, depth + 1)
            return pick([f"({left} AND {right})", f"({left} OR {right})", f"NOT ({left})"])
        form = pick(
            [
                "compare",
                "exists",
                "not_exists",
                "begins",
                "contains",
                "type",
                "size",
                "in",
                "between",
            ]
        )
        if form in ("exists", "not_exists"):
            return f"attribute_{form}({path})"
        values[name] = self.scalar()
        if form == "begins":
            values[name] = pick([{"S": "x"}, {"S": ""}, {"B": "AA=="}])
            return f"begins_with({path}, {name})"
        if form == "contains":
            return f"contains({path}, {name})"
        if form == "type":
            values[name] = {"S": pick(["S", "N", "SS", "M", "L", "NULL", "BOOL"])}
            return f"attribute_type({path}, {name})"
        if form == "size":
            values[name] = {"N": "2"}
            return f"size({path}) {pick(['<', '>=', '='])} {name}"
        if form == "in":
            return f"{path} IN ({name})"
        if form == "between":
            values[name] = {"N": "0"}
            values[f"{name}b"] = {"N": "5"}
            return f"{path} BETWEEN {name} AND {name}b"
        return f"{path} {pick(['=', '<>', '<', '<=', '>', '>='])} {name}"

    def update_expression(self, values):
        clauses = []
        kinds = self.random.sample(
            ["SET", "REMOVE", "ADD", "DELETE"], self.random.choice([1, 1, 2])
        )
        targets = self.random.sample(["a", "b", "c", "m.a", "l[0]", "s", "gpk", "lsk"], 4)
        for kind in kinds:
            path, name = targets.pop(), f":u{len(values)}"
            if kind == "SET":
                form = self.random.choice(["plain", "plain", "if_not_exists", "plus", "append"])
                values[name] = self.attribute(path) if path in ATTRIBUTES else self.value()
                if form == "plus":
                    values[name] = {"N": "5"}
                    clauses.append(f"SET {path} = {path} + {name}")
                elif form == "if_not_exists":
                    clauses.append(f"SET {path} = if_not_exists({path}, {name})")
                elif form == "append":
                    values[name] = {"L": [self.scalar()]}
                    clauses.append(f"SET {path} = list_append({path}, {name})")
                else:
                    clauses.append(f"SET {path} = {name}")
            elif kind == "REMOVE":
                clauses.append(f"REMOVE {path}")
            else:
                values[name] = self.random.choice([{"N": "1"}, {"SS": ["x"]}, {"NS": ["1"]}])
                if kind == "DELETE" and "N" in values[name]:
                    values[name] = {"SS": ["y"]}
                clauses.append(f"{kind} {path} {name}")
        return " ".join(clauses)

    def _with_values(self, request, values):
        if values:
            request["ExpressionAttributeValues"] = values
        written = " ".join(str(part) for name, part in request.items() if "Expression" in name)
        if "#n" in written:
            request["ExpressionAttributeNames"] = {"#n": "b"}
        return request

    def _options(self, request, *choices):
        request["ReturnConsumedCapacity"] = self.random.choice(CAPACITY)
        if choices:
            request["ReturnValues"] = self.random.choice(choices)
        return request

    # Operations

    def put(self):
        table, values = self.table(), {}
        request = {"TableName": table, "Item": self.item(table)}
        if self.random.random() < 0.3:
            request["ConditionExpression"] = self.condition(values)
        return "PutItem", self._options(self._with_values(request, values), "NONE", "ALL_OLD")

    def get(self):
        table = self.table()
        request = {"TableName": table, "Key": self.key(table)}
        if self.random.random() < 0.5:
            request["ConsistentRead"] = True
        if self.random.random() < 0.3:
            request["ProjectionExpression"] = "a, m.a, l[0], pk"
        return "GetItem", self._options(request)

    def delete(self):
        table, values = self.table(), {}
        request = {"TableName": table, "Key": self.key(table)}
        if self.random.random() < 0.3:
            request["ConditionExpression"] = self.condition(values)
        return "DeleteItem", self._options(self._with_values(request, values), "NONE", "ALL_OLD")

    def update(self):
        table, values = self.table(), {}
        request = {"TableName": table, "Key": self.key(table)}
        request["UpdateExpression"] = self.update_expression(values)
        if self.random.random() < 0.2:
            request["ConditionExpression"] = self.condition(values)
        return "UpdateItem", self._options(self._with_values(request, values), *RETURN_VALUES)

    def query(self):
        values = {":p": {"S": self.random.choice("pqrs")}}
        request = {"TableName": "range", "KeyConditionExpression": "pk = :p"}
        index = self.random.choice([None, None, "global", "local"])
        if index is not None:
            request["IndexName"] = index
        if index == "global":
            values = {":p": {"S": self.random.choice("ghi")}}
            request["KeyConditionExpression"] = "gpk = :p"
        elif self.random.random() < 0.4:
            sort = "lsk" if index == "local" else "sk"
            values[":s"] = {"S": "h"} if index == "local" else {"N": "1"}
            relation = self.random.choice(["=", "<", "<=", ">", ">="])
            request["KeyConditionExpression"] += f" AND {sort} {relation} :s"
        if self.random.random() < 0.3:
            request["FilterExpression"] = self.condition(values)
        if self.random.random() < 0.3:
            request["Limit"] = self.random.choice([1, 2, 5])
        if self.random.random() < 0.3:
            request["ScanIndexForward"] = False
        if self.random.random() < 0.15:
            request["Select"] = "COUNT"
        return "Query", self._options(self._with_values(request, values))

    def scan(self):
        table, values = self.table(), {}
        request = {"TableName": table, "ConsistentRead": self.random.random() < 0.3}
        if self.random.random() < 0.6:
            request["FilterExpression"] = self.condition(values)
        if table == "range" and self.random.random() < 0.3:
            request |= {"IndexName": "global", "ConsistentRead": False}
        return "Scan", self._options(self._with_values(request, values))

    def batch_get(self):
        tables = self.random.sample(tuple(TABLES), self.random.choice([1, 2]))
        keys = {table: {"Keys": self._keys(table, 3)} for table in tables}
        return "BatchGetItem", self._options({"RequestItems": keys})

    def batch_write(self):
        writes = {}
        for table in self.random.sample(tuple(TABLES), self.random.choice([1, 2])):
            writes[table] = [
                {"DeleteRequest": {"Key": key}}
                if self.random.random() < 0.4
                else {"PutRequest": {"Item": self.item(table) | key}}
                for key in self._keys(table, 3)
            ]
        return "BatchWriteItem", self._options({"RequestItems": writes})

    def _keys(self, table, most):
        keys = [self.key(table) for _ in range(self.random.randint(1, most))]
        return [key for number, key in enumerate(keys) if key not in keys[:number]]

    def transact_write(self):
        actions = []
        for table in self.random.choices(tuple(TABLES), k=self.random.choice([1, 2, 3])):
            values, key = {}, self.key(table)
            kind = self.random.choice(["Put", "Delete", "Update", "ConditionCheck"])
            body = {"TableName": table}
            if kind == "Put":
                body["Item"] = self.item(table) | key
            else:
                body["Key"] = key
            if kind == "Update":
                body["UpdateExpression"] = self.update_expression(values)
            if kind == "ConditionCheck" or self.random.random() < 0.2:
                body["ConditionExpression"] = self.condition(values)
            actions.append({kind: self._with_values(body, values)})
        return "TransactWriteItems", self._options({"TransactItems": actions})

    def transact_get(self):
        gets = [
            {"Get": {"TableName": table, "Key": self.key(table)}}
            for table in self.random.choices(tuple(TABLES), k=self.random.choice([1, 2]))
        ]
        return "TransactGetItems", self._options({"TransactItems": gets})

    # PartiQL

    def _where(self, table, parameters):
        key = self.key(table)
        parameters += key.values()
        return "pk = ?" if table == "hash" else "pk = ? AND sk = ?"

    def _statement(self):
        table, parameters, pick = self.table(), [], self.random.choice
        form = pick(["key", "where", "insert", "update", "update", "delete", "index", "projection"])
        if form == "insert":
            item = self.item(table)
            parameters += item.values()
            body = ", ".join(f"'{name}': ?" for name in item)
            return f'INSERT INTO "{table}" VALUE {{{body}}}', parameters
        if form == "update":
            clauses = []
            for name in self.random.sample(["a", "b", "c"], pick([1, 2])):
                if self.random.random() < 0.25:
                    clauses.append(f"REMOVE {name}")
                else:
                    clauses.append(f"SET {name} = ?")
                    parameters.append(self.value())
            where = self._where(table, parameters)
            returning = pick(["", "", " RETURNING ALL NEW *", " RETURNING MODIFIED OLD *"])
            return f'UPDATE "{table}" {" ".join(clauses)} WHERE {where}{returning}', parameters
        if form == "delete":
            where = self._where(table, parameters)
            return (
                f'DELETE FROM "{table}" WHERE {where}{pick(["", " RETURNING ALL OLD *"])}',
                parameters,
            )
        if form == "index":
            parameters.append({"S": pick(["g", "h"])})
            return 'SELECT * FROM "range"."global" WHERE gpk = ?', parameters
        columns = pick(["*", "pk, a", "a, b"]) if form == "projection" else "*"
        if form == "where":
            parameters += [{"S": pick("pqrs")}, self.scalar()]
            relation = pick(["=", "<>", "<", ">="])
            tail = pick([f"a {relation} ?", "a IN [?]", "contains(b, ?)", "begins_with(a, ?)"])
            return f'SELECT {columns} FROM "{table}" WHERE pk = ? AND {tail}', parameters
        return f'SELECT {columns} FROM "{table}" WHERE {self._where(table, parameters)}', parameters

    def statement(self):
        text, parameters = self._statement()
        request = {"Statement": text}
        if parameters:
            request["Parameters"] = parameters
        return "ExecuteStatement", self._options(request)

    def batch_statement(self):
        statements = [self._statement() for _ in range(self.random.choice([1, 2]))]
        return "BatchExecuteStatement", self._options(
            {"Statements": [{"Statement": text, "Parameters": given} for text, given in statements]}
        )

    def transact_statement(self):
        statements = [self._statement() for _ in range(self.random.choice([1, 2]))]
        return "ExecuteTransaction", self._options(
            {
                "TransactStatements": [
                    {"Statement": text, "Parameters": given} for text, given in statements
                ]
            }
        )

    # Faults

    def _spoil(self, request):
        """Make one fault in a request."""
        pick = self.random.choice
        fault = pick(["table", "capacity", "key", "value", "name", "expression", "limit"])
        if fault == "table" and "TableName" in request:
            request["TableName"] = pick(["nothing", "x", "a b"])
        elif fault == "capacity":
            request["ReturnConsumedCapacity"] = "SOME"
        elif fault == "key" and "Key" in request:
            request["Key"] = pick([{}, {"pk": {"N": "1"}}, {"pk": {"S": ""}}, {"x": {"S": "y"}}])
        elif fault == "value" and "ExpressionAttributeValues" in request:
            request["ExpressionAttributeValues"][":extra"] = {"S": "x"}
        elif fault == "name":
            request["ExpressionAttributeNames"] = {"#extra": "a"}
        elif fault == "expression":
            for name in ("UpdateExpression", "ConditionExpression", "FilterExpression"):
                if name in request:
                    request[name] = pick(["a = ", "SET", ":v0 < :v0", "a <> missing(b)"])
                    break
        elif fault == "limit" and "KeyConditionExpression" in request:
            request["Limit"] = 0
