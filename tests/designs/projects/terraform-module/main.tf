locals {
  types = {
    customerId = "S"
    orderedAt  = "N"
    status     = "S"
  }
}

module "orders" {
  source  = "terraform-aws-modules/dynamodb-table/aws"
  version = "~> 5.0"

  name      = "shop-orders"
  hash_key  = "customerId"
  range_key = "orderedAt"

  attributes = [for name, type in local.types : { name = name, type = type }]

  global_secondary_indexes = [
    {
      name               = "byStatus"
      hash_key           = "status"
      range_key          = "orderedAt"
      projection_type    = "INCLUDE"
      non_key_attributes = ["total"]
    }
  ]
}

module "users" {
  source = "terraform-aws-modules/dynamodb-table/aws"

  name           = "shop-users"
  billing_mode   = "PROVISIONED"
  read_capacity  = 5
  write_capacity = 5
  hash_key       = "userId"
  attributes     = [{ name = "userId", type = "S" }]
}
