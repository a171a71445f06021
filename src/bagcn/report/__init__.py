"""Results for readers: tables, figures, pages."""
