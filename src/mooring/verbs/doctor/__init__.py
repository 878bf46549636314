"""Doctor: everything configured goes in; what to fix comes out, and for each server the first stage that fails.

`diagnose.py` puts the report together, `trial.py` really tries servers, and `repairs.py` fixes what is safe to fix.
Each other file looks for one kind of trouble.
"""
