(frobnicate)
