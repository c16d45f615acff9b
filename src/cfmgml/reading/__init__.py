"""Files, folders, tables and labels as people have them, and what to remark on them."""
