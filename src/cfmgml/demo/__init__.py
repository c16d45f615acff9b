"""What `cfmgml demo` shows: handwritten digits as a table and a page, and two models to try in the browser."""
