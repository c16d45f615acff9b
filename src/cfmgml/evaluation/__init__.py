"""Methods compared by cross-validation: folds, measurements as rows, tables and a report, for anybody's bags."""
