variable "environment" {
  type = string
}

variable "tables" {
  description = "Tables by name."
  type = map(object({
    partition = string
    sort      = optional(string)
    capacity  = optional(number)
    indexes = optional(list(object({
      name       = string
      partition  = string
      sort       = string
      attributes = list(string)
    })), [])
    types = map(string)
  }))
  default = {
    orders = {
      partition = "customerId"
      sort      = "orderedAt"
      indexes   = [{ name = "byStatus", partition = "status", sort = "orderedAt", attributes = ["total"] }]
      types     = { customerId = "S", orderedAt = "N", status = "S" }
    }
    users = {
      partition = "userId"
      capacity  = 5
      types     = { userId = "S" }
    }
  }
}
