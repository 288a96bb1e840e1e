(assert "a")
