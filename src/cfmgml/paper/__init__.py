"""The paper's experiments: its data sets, its printed figures, what they claim. Only `cfmgml reproduce` needs this."""
