environment = "shop"
