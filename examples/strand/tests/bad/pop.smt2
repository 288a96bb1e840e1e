(pop 1)
