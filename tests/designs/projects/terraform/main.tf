terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 6.29"
    }
  }
}

locals {
  prefix = lower(var.environment)
}

module "table" {
  source   = "./modules/table"
  for_each = var.tables

  name     = "${local.prefix}-${each.key}"
  table    = each.value
  on_spare = each.value.capacity == null # nobody has said a capacity
}
