"""The quadratic program of the maximum margin: an active set, descent on the dual, an interior point."""
