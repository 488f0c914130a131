variable "name" {}
variable "table" {}
variable "on_spare" {
  type = bool
}

resource "aws_dynamodb_table" "this" {
  count = 1

  name           = var.name
  billing_mode   = var.on_spare ? "PAY_PER_REQUEST" : "PROVISIONED"
  hash_key       = var.table.partition
  range_key      = var.table.sort
  read_capacity  = var.table.capacity
  write_capacity = var.table.capacity

  dynamic "attribute" {
    for_each = var.table.types
    content {
      name = attribute.key
      type = attribute.value
    }
  }

  dynamic "global_secondary_index" {
    for_each = var.table.indexes
    iterator = index
    content {
      name               = index.value.name
      projection_type    = "INCLUDE"
      non_key_attributes = index.value.attributes

      key_schema {
        attribute_name = index.value.partition
        key_type       = "HASH"
      }
      key_schema {
        attribute_name = index.value.sort
        key_type       = "RANGE"
      }
    }
  }

  lifecycle {
    prevent_destroy = true
  }
}
