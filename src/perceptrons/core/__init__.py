"""Learners without scikit-learn: specs of their parameters, what they take, how they learn and predict."""
