"""The paper's experiments: protocol, results, tables and the report."""
